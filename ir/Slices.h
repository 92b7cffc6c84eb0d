//===- Slices.h - values that lie within others -----------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// An operand of tw.join lies in the join's result: whoever reads or writes it
// addresses that memory. Nothing is stored about it; it follows from the use.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "ir/TwOps.h"

namespace tilewright::tw {

/// A piece of a tensor, whole along all axes but one.
struct Slice {
  mlir::Type whole; ///< the tensor whose memory it is
  unsigned axis = 0;
  DimExpr offset; ///< where it begins on that axis
};

/// \returns the join whose result holds `value`, or null.
JoinOp joinOf(mlir::Value value);

/// \returns where an operand of a join lies, in the outermost of joins of joins
/// along one axis; nullopt for values with memory of their own.
std::optional<Slice> sliceOf(mlir::Value value);

/// The same for a block argument of a region, or a value that it yields.
std::optional<Slice> sliceOfArgument(mlir::BlockArgument argument);
std::optional<Slice> sliceOfResult(FusedOp op, unsigned result);

} // namespace tilewright::tw
