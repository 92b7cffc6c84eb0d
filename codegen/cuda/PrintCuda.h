//===- PrintCuda.h - kernels as CUDA C++ ------------------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// A twk.kernel of the model simt becomes one translation unit that a person can
// read: values have names, what is used once stands where it is used, and only
// the helper functions that the kernel calls stand above it. Arithmetic means
// what it means on a CPU: integers wrap, nothing is contracted, and minimum and
// maximum keep NaN.
//
// Two attributes guide it, and change nothing else: twk::nameAttr names a value
// (or a loop's variable; a named constant becomes a constexpr), and
// twk::unrollAttr on a loop asks for `#pragma unroll`.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "ir/twk/TwkOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "tilewright/Status.h"

namespace tilewright {

/// Drops what is computed twice and moves what a loop does not change out of
/// it. \returns failure after an error was emitted.
llvm::LogicalResult prepareForCuda(mlir::ModuleOp kernels);

/// The text of a kernel: `comment` says what it is for, `code` is the rest.
struct CudaSource {
  std::string comment;
  std::string code;

  std::string text() const { return comment + code; }
};

/// \returns the CUDA C++ of a kernel of the model simt. Errors: Internal, when
/// it contains what has no counterpart.
Result<CudaSource> printCuda(twk::KernelOp kernel);

/// Makes the pass `tw-print-cuda` known by name.
void registerPrintCudaPass();

} // namespace tilewright
