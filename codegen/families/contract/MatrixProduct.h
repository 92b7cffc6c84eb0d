//===- MatrixProduct.h - a reduction as a product of matrices ---*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// A sum of products of two loads is a product of matrices when each coordinate
// of the result belongs to one factor or to both: rows are the coordinates of
// the first factor alone, columns those of the second alone, batches those of
// both. The coordinates of the reduction are the depth. The factors' addresses
// are whatever the body computes from the coordinates, so that a convolution is
// one too.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "codegen/families/Region.h"
#include "passes/tile/Tactic.h"

namespace tilewright::families {

/// One factor of a contraction.
struct Factor {
  mlir::Value value; ///< what is multiplied: a scalar of the body
  /// What it is, or is widened from; null where it is computed otherwise (for a
  /// matrix unit it never is). A false guard gives zero.
  mutable tw::LoadOp load; // ODS accessors are not const
  mlir::Type element;      ///< of the tensor: f16, bf16, f32, i8, ui8 or f8
  /// The argument of the body along which neighbours lie side by side in
  /// memory, wherever the others stand; -1: there is none.
  int contiguous = -1;
  /// The same, but perhaps for some positions only.
  int mostlyContiguous = -1;
};

/// \returns the factor that `load` gives in `element`, and along which argument
/// of its body neighbours lie side by side.
Factor factorOf(tw::LoadOp load, mlir::Type element);

/// Coordinates are numbered as the arguments of the reduction's body, and stand
/// from the outermost to the innermost.
struct MatrixProduct {
  mutable tw::ReduceOp reduce;
  Factor a, b; ///< b has the column that is innermost in the result
  llvm::SmallVector<unsigned> batches, rows, columns, depth;

  mlir::Block &body() const { return reduce.getBody().front(); }
  /// \returns the extent of a coordinate.
  tw::DimExpr extentOf(unsigned coordinate) const;
  /// \returns the product of the extents of some.
  tw::DimExpr extentOf(llvm::ArrayRef<unsigned> coordinates) const;
};

/// \returns the form of a region's reduction for matrix units, or why it has
/// none.
std::optional<MatrixProduct> matchMatrixProduct(const FusedRegion &region,
                                                Refusal &refusal);

/// \returns the form of any sum of products, whatever its factors are; nothing
/// if the reduction is none.
std::optional<MatrixProduct> matchSumOfProducts(const FusedRegion &region);

} // namespace tilewright::families
