//===- CompileCuda.h - kernels to cubin and PTX -----------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "codegen/cuda/Nvrtc.h"
#include "codegen/cuda/PrintCuda.h"
#include "targets/TargetSpec.h"
#include <functional>
#include <map>
#include <optional>

namespace tilewright {

/// Keeps what NVRTC made, by keys of 32 hexadecimal digits. Threads may call
/// at the same time. Empty members: nothing is kept.
struct CudaCache {
  std::function<std::optional<std::string>(const std::string &key)> find;
  std::function<void(const std::string &key, const std::string &bytes)> store;
};

struct CudaOptions {
  unsigned threads = 2; ///< that call NVRTC
  CudaCache cache;
  /// Sources in place of generated ones, by kernel.
  std::map<std::string, std::string> overrides;
  /// When set, called with each kernel's source before any is compiled.
  std::function<Status(const std::string &kernel, const std::string &source)>
      dump;
};

/// A kernel in all its forms.
struct CudaKernel {
  std::string name;
  std::string source;
  CudaBinary binary;
  double milliseconds = 0; ///< time in NVRTC; 0 when it came from the cache
};

/// Prints the twk.kernels of `kernels`, which prepareForCuda changes, and
/// compiles them for `target`, a GPU. \returns them in the module's order.
/// Errors: CudaCompilerMissing; KernelRejected for a source of `overrides`;
/// Internal, with the ONNX nodes of the kernel, for any other.
Result<std::vector<CudaKernel>> compileCuda(mlir::ModuleOp kernels,
                                            const TargetSpec &target,
                                            const CudaOptions &options);

} // namespace tilewright
