//===- TwkModels.h - what execution models admit ----------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "ir/twk/TwkOps.h"

namespace tilewright::twk {

/// \returns true for the scalars that a body computes with.
bool isScalarType(mlir::Type type);

/// Whether a kernel of the model `simd`, or `simt`, may contain `op`; `entry`
/// is the kernel's entry block. A failure has emitted an error on `op`.
llvm::LogicalResult verifySimdOp(mlir::Operation *op, mlir::Block &entry);
llvm::LogicalResult verifySimtOp(mlir::Operation *op, mlir::Block &entry);

/// What both models ask of memory: nothing is allocated but on the stack of
/// the entry block, and no buffer is asked for its size.
llvm::LogicalResult verifyMemory(mlir::Operation *op, mlir::Block &entry);

} // namespace tilewright::twk
