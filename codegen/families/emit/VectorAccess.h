//===- VectorAccess.h - what a thread loads at once -----------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "codegen/families/nest/TileDomain.h"

namespace tilewright::families {

/// \returns how many elements along `axis` of the domain (the innermost one of
/// the results) a thread takes so that each access to memory is one of at most
/// 16 bytes, or meets the same element; 1: they do not lie side by side, or not
/// at multiples of so many.
/// \param constantsMayStride loads from constants may be single elements.
int64_t vectorWidth(const FusedRegion &region, const TileDomain &domain,
                    unsigned axis, bool constantsMayStride);

/// The same for what follows a region's reduction, along one coordinate.
int64_t epilogueWidth(const FusedRegion &region, unsigned coordinate);

/// The same for everything that a region of form Rows or Scan loads and stores
/// along the last axis.
int64_t rowVectorWidth(const FusedRegion &region);

/// The same for what a region's reduction loads along one of its own axes.
int64_t foldWidth(const FusedRegion &region, const TileAxis &axis);

} // namespace tilewright::families
