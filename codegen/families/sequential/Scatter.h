//===- Scatter.h - writes at computed places ------------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// The writes of a scatter keep their order wherever they may meet. They cannot
// meet where a coordinate of the result is a coordinate of the updates (the
// trailing axes of ScatterND, all axes but one of ScatterElements): tasks share
// such axes, and each walks the updates' other axes in order. So the results
// have the same bits as in one loop.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "codegen/families/emit/KernelFrame.h"
#include "passes/tile/Tactic.h"

namespace tilewright::families {

/// Which axes of a scatter tasks can share.
struct ScatterForm {
  mutable tw::ScatterOp op;
  /// For each axis of the result the coordinate of the updates that it is;
  /// nothing where its position is computed.
  llvm::SmallVector<std::optional<unsigned>> sharedBy;
  /// The other coordinates of the updates.
  llvm::SmallVector<unsigned> walked;
};

ScatterForm scatterFormOf(const FusedRegion &region);
/// The form that shares nothing.
ScatterForm wholeScatterOf(const FusedRegion &region);

struct ScatterParameters {
  int64_t chunk =
      0; ///< of the last axis, if tasks share it; 0: they share none
  int64_t width = 1; ///< lanes along the last axis

  mlir::DictionaryAttr toAttribute(mlir::MLIRContext *context,
                                   llvm::StringRef tactic) const;
  static ScatterParameters fromAttribute(mlir::DictionaryAttr attribute);
};

/// \returns parameters for a processor's threads and vectors.
ScatterParameters chooseScatter(const FusedRegion &region,
                                const TargetSpec &target);

/// \returns the launch: without a chunk, one task.
Launch scatterLaunch(const FusedRegion &region,
                     const ScatterParameters &parameters);

Result<twk::KernelOp> buildScatter(const FusedRegion &region,
                                   const ScatterParameters &parameters,
                                   const TargetSpec &target,
                                   llvm::StringRef name,
                                   mlir::OpBuilder &builder);

// What schedules share:

/// Error: UnsupportedType.
Status checkScatter(tw::ScatterOp scatter);
/// \returns the element of the initial tensor at `at`.
Result<Lanes> loadInitial(KernelFrame &frame, tw::ScatterOp scatter,
                          llvm::ArrayRef<Lanes> at);
/// Writes `value` at `at`, or joins it with what is there.
void emitUpdate(KernelFrame &frame, tw::ScatterOp scatter, const Memory &output,
                llvm::ArrayRef<Lanes> at, const Lanes &value);

} // namespace tilewright::families
