//===- Nest.h - the loop nest of a tiled region -----------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// Regions of the forms Pointwise and Reduce become one nest: a task is a tile
// of the parallel axes, in which one axis may run along vector lanes and others
// be unrolled into copies that live in registers.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "codegen/families/emit/KernelFrame.h"
#include "codegen/families/nest/TileDomain.h"
#include "passes/tile/Tactic.h"

namespace tilewright::families {

/// The tile parameters of a nest, numbered by the axes of its TileDomain.
struct NestParameters {
  struct Unroll {
    unsigned axis;
    int64_t count;
  };
  int64_t vectorAxis = -1; ///< the axis along the lanes; -1: none
  int64_t width =
      1; ///< lanes, of the vector axis or of the innermost reduction
  int64_t chunk = 1; ///< elements of the vector axis in one task
  /// Rows of a contraction that go through all panels together: so many
  /// elements of an axis. 0: rows are not blocked.
  int64_t block = 0;
  unsigned blockAxis = 0;
  /// Panels are packed when the kernel runs (PanelPack.h).
  bool packs = false;
  llvm::SmallVector<Unroll> unroll;
  /// Where an unrolled axis turns out shorter than its tile: tiles of so many;
  /// 1: one by one.
  int64_t shortTile = 1;
  /// GPU: vectors of a chunk, one for each place across a team
  /// (KernelFrame.h).
  int64_t across = 1;
  bool innerVector = false; ///< lanes run along the innermost reduction axis
  bool wide = false;        ///< accumulate floats in f64
  bool simt = false;        ///< a task is that of a GPU's thread

  /// \returns how many elements of an axis are in one task.
  int64_t tileOf(unsigned axis) const;

  mlir::DictionaryAttr toAttribute(mlir::MLIRContext *context,
                                   llvm::StringRef tactic) const;
  static NestParameters fromAttribute(mlir::DictionaryAttr attribute);
};

/// About how many scalar steps are worth a thread.
constexpr int64_t stepsPerThread = 16384;

/// \returns about how many steps the loops of the reductions make, at least 1.
int64_t reductionSteps(const TileDomain &domain);

/// \returns the workspace that padding takes, in front of all else.
tw::DimExpr padWorkspace(const FusedRegion &region,
                         const NestParameters &parameters);

/// \returns the tasks and sizes of a nest.
Launch nestLaunch(const FusedRegion &region, const NestParameters &parameters);

/// Builds the kernel of a region of form Pointwise or Reduce.
Result<twk::KernelOp> buildNest(const FusedRegion &region,
                                const NestParameters &parameters,
                                const TargetSpec &target, llvm::StringRef name,
                                mlir::OpBuilder &builder);

} // namespace tilewright::families
