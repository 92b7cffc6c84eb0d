//===- TileDomain.h - coordinates that loops run over -----------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "codegen/families/Region.h"

namespace tilewright::families {

/// A loop coordinate: one coordinate of the region, or several adjacent ones
/// that every access sees as one. It stands in the place of the last of them;
/// the others are zero.
struct TileAxis {
  unsigned last;      ///< number of the region's coordinate
  tw::DimExpr extent; ///< product of the merged extents
};

/// The loop coordinates of a region; axes of extent one have none.
struct TileDomain {
  llvm::SmallVector<TileAxis> parallel;
  /// Of each reduction of Form::Reduce, numbered within it.
  llvm::SmallVector<llvm::SmallVector<TileAxis>> reductions;
};

/// Merges adjacent coordinates wherever all loads of the region use them as
/// adjacent plain indices over a full axis. For Form::Reduce, the axes of
/// each reduction too.
TileDomain tileDomainOf(const FusedRegion &region);

/// The axes of `extents` less those of extent one, none merged.
llvm::SmallVector<TileAxis> plainAxes(llvm::ArrayRef<tw::DimExpr> extents);

} // namespace tilewright::families
