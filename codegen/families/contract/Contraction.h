//===- Contraction.h - rows, columns and batches ----------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "codegen/families/nest/TileDomain.h"

namespace tilewright::families {

/// A sum of products of two factors.
struct Contraction {
  /// One side of the product.
  struct Side {
    mlir::Value factor;               ///< a scalar of the reduction's body
    llvm::SmallVector<TileAxis> axes; ///< that this factor alone depends on
    /// Neighbours along the reduction lie side by side in memory.
    bool isContiguous = false;
  };
  Side rows, columns;
  llvm::SmallVector<TileAxis> batches; ///< that both depend on, or neither
  llvm::SmallVector<TileAxis> reduction;
};

/// \returns the sides of a region of form Reduce, or nothing when it is no sum
/// of products.
std::optional<Contraction> contractionOf(const FusedRegion &region);

} // namespace tilewright::families
