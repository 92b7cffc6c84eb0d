//===- ConcatBody.h - maps that put tensors end to end ----------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "ir/TwOps.h"

namespace tilewright {

/// A piece of a concatenation along `axis`: what one load gives, from `offset`
/// on, `size` elements wide.
struct ConcatPiece {
  tw::LoadOp load;
  tw::DimExpr offset, size;
  /// The tensor is the piece: it is read at the piece's own coordinates.
  bool isWhole = false;
};

struct ConcatBody {
  unsigned axis = 0;
  llvm::SmallVector<ConcatPiece> pieces; // in the order of the axis
};

/// \returns the pieces of a map whose body chooses among loads by ranges of one
/// coordinate that cover the axis; nullopt for every other map. Neighbouring
/// pieces of one tensor are one piece.
std::optional<ConcatBody> analyseConcat(tw::MapOp map);

/// \returns coordinate `axis` minus a size, if `index` is that: nullopt where
/// it is anything else. Zero for the coordinate itself; negative sizes are
/// additions.
std::optional<tw::DimExpr> shiftOf(mlir::Value index,
                                   mlir::BlockArgument coordinate);

} // namespace tilewright
