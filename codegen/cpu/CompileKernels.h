//===- CompileKernels.h - kernels to a native code image --------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// Turns every twk.kernel of a module into machine code for one CPU level, and
// links all of them into one position-independent image that imports nothing:
// the runtime maps it and calls the kernels by name. See
// docs/design/architecture.md for the kernels' C signature.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "codegen/cpu/ObjectCache.h"
#include "targets/TargetSpec.h"
#include "tilewright/Status.h"

#include "mlir/IR/BuiltinOps.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace tilewright {

/// A text that `CpuOptions::dump` receives.
enum class CpuDump { LlvmIr, Assembly };

struct CpuOptions {
  /// Kernels are compiled by so many threads; never more than one when the
  /// MLIRContext has multithreading disabled.
  unsigned threads = 2;
  /// Without this, kernels take denormal numbers for zero, which is a hundred
  /// times as fast where they turn up.
  bool keepDenormals = true;
  /// Object code of earlier compiles; null: none.
  ObjectCache *objects = nullptr;
  /// When set, called for each kernel with its LLVM IR after optimisation and
  /// its assembly, from the threads that compile, one call at a time.
  std::function<void(llvm::StringRef kernel, CpuDump kind,
                     llvm::StringRef text)>
      dump;
};

/// What became of one kernel.
struct CpuKernel {
  std::string name;
  double milliseconds = 0; ///< time to compile, without linking
  size_t objectBytes = 0;
};

/// A shared library in memory, and the kernels in it in the module's order.
struct CpuImage {
  std::vector<uint8_t> bytes;
  std::vector<CpuKernel> kernels;
  double linkMilliseconds = 0;
};

/// Adds the dialects and translations that kernels are lowered through. A
/// context that compiles kernels needs them; compileKernels adds them itself
/// when they are missing, which must not happen while other threads use the
/// context.
void registerCpuDialects(mlir::DialectRegistry &registry);

/// Compiles all twk.kernel operations of `kernels` for `target`. The module is
/// not changed. Errors are internal ones and name the kernel.
Result<CpuImage> compileKernels(mlir::ModuleOp kernels,
                                const TargetSpec &target,
                                const CpuOptions &options = {});

} // namespace tilewright
