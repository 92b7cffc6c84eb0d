//===- Guards.h - loops of a reduction that stay inside ---------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// A padded convolution reads its input under a guard. Most of its loops never
// leave the input, and where they do, a guard that does not change along the
// innermost loops is decided outside of them.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "codegen/families/nest/TileDomain.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace tilewright::families {

/// The guarded loads of a reduction's body whose guards are the same in all
/// lanes.
struct GuardPlan {
  llvm::SmallVector<tw::LoadOp> loads;
  /// The reduction's loops from this one on change no guard.
  unsigned plainFrom = 0;
  /// Those loops are so short that a decision for each run of them would cost
  /// as much as the run.
  bool isShort = false;
  /// Every guard is a conjunction of bounds on sums of coordinates, so that a
  /// box of coordinates is inside when its corners are.
  bool isConvex = false;
  /// The guarded loads have lanes side by side, so that a guard can be a mask.
  bool isMask = false;

  bool empty() const { return loads.empty(); }
};

/// \returns the plan for a reduction of a region of form Reduce, with the loops
/// `reduction`, whose lanes run along `vectorAxis` (of the domain; -1: along
/// the innermost reduction axis, if `innerVector`). Empty where a guard varies
/// along the lanes.
GuardPlan guardPlanOf(tw::ReduceOp reduce, const TileDomain &domain,
                      llvm::ArrayRef<TileAxis> reduction, int64_t vectorAxis,
                      bool innerVector);

/// True if `value` depends on `coordinate` within its body.
bool dependsOn(mlir::Value value, mlir::BlockArgument coordinate);

/// \returns the operations of a body that `values` need, themselves included.
llvm::SmallPtrSet<mlir::Operation *, 16>
neededFor(llvm::ArrayRef<mlir::Value> values);

/// A run of elements that stands in for those outside a load's tensor: the
/// load moves by one element along a single loop, and has no lanes.
struct PadRun {
  tw::LoadOp load;
  tw::DimExpr extent; ///< elements of the run
};

/// \returns the loads of `plan`, that of the same reduction, for which kernels
/// keep a run of padding in their workspace.
llvm::SmallVector<PadRun> padRunsOf(tw::ReduceOp reduce,
                                    const TileDomain &domain,
                                    llvm::ArrayRef<TileAxis> reduction,
                                    const GuardPlan &plan, int64_t vectorAxis,
                                    bool innerVector);

} // namespace tilewright::families
