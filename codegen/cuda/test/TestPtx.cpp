//===- TestPtx.cpp - PTX for tests ----------------------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "codegen/cuda/test/TestPtx.h"
#include "codegen/cuda/Nvrtc.h"

#include <gtest/gtest.h>
#include <map>

namespace tilewright::test {

std::string missingNvrtc() {
  Result<const Nvrtc *> nvrtc = Nvrtc::open();
  return nvrtc ? "" : "NVRTC is not installed: scripts/setup.sh brings it";
}

std::string compilePtx(const std::string &source,
                       const std::string &architecture) {
  static std::map<std::pair<std::string, std::string>, std::string> known;
  std::string &ptx = known[{source, architecture}];
  if (ptx.empty()) {
    // A virtual architecture: no machine code is made.
    Result<CudaBinary> binary =
        (*Nvrtc::open())
            ->compile(source, "kernel.cu", "compute_" + architecture.substr(3),
                      {"--fmad=false", "--generate-line-info",
                       "--include-path=" TILEWRIGHT_TEST_CUDA_INCLUDE});
    if (!binary) {
      ADD_FAILURE() << binary.status().message();
      return "";
    }
    ptx = binary->ptx;
  }
  return ptx;
}

} // namespace tilewright::test
