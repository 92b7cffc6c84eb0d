//===- ParallelBodies.h - the same work on other constants ------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// Primitives are *parallel along an axis* of their results when their bodies
// are the same but for constants, which they read at the coordinate of that
// axis, and for an earlier result each, which they read where they are. Over
// concatenated constants they are one primitive.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "ir/TwOps.h"

namespace tilewright {

/// The axis along which a contraction's constant factor makes results of its
/// own: a result coordinate that serves as an index of constants only, once.
std::optional<unsigned> constantAxis(tw::ReduceOp contraction);

/// \returns true if `a` and `b` are parallel along `axis`, where `a` reads
/// `earlierA` and `b` reads `earlierB` (null where there is none).
bool areParallel(mlir::Operation *a, mlir::Operation *b, unsigned axis,
                 mlir::Value earlierA, mlir::Value earlierB);

/// Builds the one primitive for `members`, which are parallel along `axis`; it
/// reads `merged` for the members' earlier results. Constants are concatenated
/// by maps, which are left for folding.
mlir::Operation *buildMerged(mlir::OpBuilder &builder,
                             llvm::ArrayRef<mlir::Operation *> members,
                             unsigned axis, mlir::Value merged);

} // namespace tilewright
