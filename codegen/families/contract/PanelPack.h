//===- PanelPack.h - panels packed when a kernel runs -----------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// A contraction multiplies rows by panels, what changes along the lanes. Where
// a panel is no constant in the order of the loops, its elements lie far apart,
// or they take arithmetic (a cast, a scale). So a worker evaluates a panel
// once, stores it in the workspace as `[reduction in the order of the loops,
// lanes]` and multiplies all rows by that.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "codegen/families/emit/KernelFrame.h"
#include "codegen/families/nest/TileDomain.h"

namespace tilewright::families {

/// The factors of a contraction, seen from its lanes.
struct PanelFactors {
  mlir::Value panel; ///< moves along the lanes
  mlir::Value rows;  ///< does not
};

/// \returns the factors of the contraction that is all of the region's
/// reductions, if a panel can be packed: its loads have no guard and no
/// coordinate from memory, and some axis of the domain moves the rows alone.
std::optional<PanelFactors> panelFactorsOf(const FusedRegion &region,
                                           const TileDomain &domain,
                                           unsigned vectorAxis);

/// How a panel lies in memory before it is packed.
enum class PanelPlace {
  InOrder,   ///< as packing would leave it, or constants that are packed
  Lanes,     ///< lanes are neighbours, steps are far apart
  Scattered, ///< lanes are not neighbours
  Computed,  ///< elements take arithmetic
};

/// \returns the place for `width` lanes.
PanelPlace placeOf(const FusedRegion &region, const TileDomain &domain,
                   const PanelFactors &factors, unsigned vectorAxis,
                   int64_t width);

/// \returns true if the rows' elements of neighbouring steps are neighbours.
bool rowsAreInOrder(const FusedRegion &region, const TileDomain &domain,
                    const PanelFactors &factors);

/// \returns whether the panel changes along an axis of the domain.
bool movesPanel(const FusedRegion &region, const TileDomain &domain,
                const PanelFactors &factors, unsigned axis);

/// The bytes of a packed panel.
tw::DimExpr panelBytes(const FusedRegion &region, const TileDomain &domain,
                       int64_t width);

/// A panel in the workspace.
struct PackedPanel {
  PanelFactors factors;
  Memory memory; ///< of the factor's scalars
  int64_t width; ///< lanes of a row of the panel
  /// The lane at which the tile begins; null: the first.
  mlir::Value lane = nullptr;
};

/// \returns the number of the step at the coordinates of the reduction, in the
/// order of the loops `axes`.
Lanes stepNumber(KernelFrame &frame, llvm::ArrayRef<TileAxis> axes,
                 llvm::ArrayRef<Lanes> coordinates);

/// Evaluates a panel at the parallel coordinates of a tile, whose lanes are
/// those of the builder's width, and stores it.
Status packPanel(KernelFrame &frame, tw::ReduceOp reduce,
                 llvm::ArrayRef<TileAxis> axes, const PackedPanel &panel,
                 llvm::ArrayRef<Lanes> parallel, mlir::Value activeLanes);

} // namespace tilewright::families
