//===- Lowering.h - one kernel to the LLVM dialect --------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// The steps of lowerKernel, in their order. Each takes the module that holds
// one kernel; a failure has emitted a diagnostic.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "ir/twk/TwkOps.h"
#include "targets/TargetSpec.h"

#include "mlir/IR/BuiltinOps.h"

namespace tilewright {

/// Replaces what the level has no instruction for by arithmetic that it has:
/// math functions, conversions of small floats, remainders.
llvm::LogicalResult expandOperations(mlir::ModuleOp module,
                                     const TargetSpec &target,
                                     bool keepDenormals);

/// Replaces the twk.kernel by two functions: an internal one with one argument
/// per buffer and size, and the exported one, of the runtime's C signature,
/// that unpacks KernelArgs, sets up the floating-point environment and calls
/// it.
void lowerKernelAbi(twk::KernelOp kernel, bool keepDenormals);

/// Turns everything else into the LLVM dialect.
llvm::LogicalResult lowerToLlvmDialect(mlir::ModuleOp module,
                                       llvm::StringRef dataLayout);

/// All of the above.
llvm::LogicalResult lowerKernel(mlir::ModuleOp module, const TargetSpec &target,
                                llvm::StringRef dataLayout, bool keepDenormals);

} // namespace tilewright
