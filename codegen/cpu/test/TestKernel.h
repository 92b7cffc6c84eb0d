//===- TestKernel.h - compile and call kernels in tests ---------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "codegen/cpu/CompileKernels.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace tilewright::test {

/// Parses kernels in their textual form and compiles them.
Result<CpuImage> compileText(const std::string &text, const TargetSpec &target,
                             const CpuOptions &options = {});

/// A kernel image that is loaded into this process.
class LoadedImage {
public:
  explicit LoadedImage(const CpuImage &image);
  ~LoadedImage();
  LoadedImage(const LoadedImage &) = delete;
  LoadedImage &operator=(const LoadedImage &) = delete;

  bool isLoaded() const { return handle; }

  /// Calls a kernel as the runtime does.
  /// \returns the status word, or -1 when the kernel is missing.
  int call(const std::string &name, std::vector<void *> buffers,
           std::vector<int64_t> sizes, int64_t begin, int64_t end);

private:
  void *handle = nullptr;
  // Open while loaded: the loader tells images apart by their path.
  int file = -1;
  std::vector<char> workspace;
};

/// \returns the text of a kernel with buffers b0, b1 … of the element types
/// given and sizes n0, n1 …, around `body`.
std::string kernelText(const std::string &name,
                       const std::vector<std::string> &elements,
                       unsigned numSizes, const std::string &body);

/// Runs each case at every level, compiling everywhere and running where the
/// machine can.
class EveryLevel : public testing::TestWithParam<const TargetSpec *> {
protected:
  const TargetSpec &target() const { return *GetParam(); }

  /// Compiles `text` and loads it. Null, with the case skipped or failed, when
  /// it cannot run here.
  std::unique_ptr<LoadedImage> load(const std::string &text,
                                    const CpuOptions &options = {});
};

/// For INSTANTIATE_TEST_SUITE_P.
std::vector<const TargetSpec *> everyLevel();
std::string levelName(const testing::TestParamInfo<const TargetSpec *> &info);

} // namespace tilewright::test
