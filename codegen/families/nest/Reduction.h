//===- Reduction.h - loops that fold a body ---------------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "codegen/families/contract/PanelPack.h"
#include "codegen/families/emit/Guards.h"
#include "codegen/families/emit/KernelFrame.h"

namespace tilewright::families {

/// How a reduction's loops run.
struct ReductionPlan {
  tw::ReduceOp op;
  llvm::SmallVector<TileAxis> axes; ///< numbered within the reduction
  /// Lanes along the innermost axis, folded across at the end; 1: the lanes,
  /// if any, are those of a parallel coordinate.
  int64_t innerWidth = 1;
  /// Accumulate floats in f64.
  bool wide = false;
  /// Guards that are decided outside of the inner loops; empty: none.
  GuardPlan guards;
  /// The copies are neighbours along one coordinate, in order.
  bool copiesAreLine = true;
  /// For loads of `guards`: memory of the kernel's own that holds padding.
  llvm::DenseMap<mlir::Operation *, Memory> pads;
  /// One factor is read from here; null: both are as the body says.
  const PackedPanel *panel = nullptr;
};

/// The fold of two accumulators (scalars or vectors of one type). Of zeros with
/// different signs either is the maximum and the minimum.
mlir::Value fold(LaneBuilder &b, tw::FoldKind kind, bool isUnsigned,
                 mlir::Value x, mlir::Value y);
/// The value that `kind` starts from, in `type`.
mlir::TypedAttr identityOf(tw::FoldKind kind, mlir::Type type, bool isUnsigned);

/// Emits the reduction for several copies at once, each given by its parallel
/// coordinates. \returns the results, in the result's element type.
Result<llvm::SmallVector<Lanes>>
emitReduction(KernelFrame &frame, const ReductionPlan &plan,
              llvm::ArrayRef<llvm::SmallVector<Lanes>> copies,
              mlir::Value activeLanes);

} // namespace tilewright::families
