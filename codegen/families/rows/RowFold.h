//===- RowFold.h - elements and folds of a row ----------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// What rows in registers and rows in passes share: which elements a primitive
// reads, and a reduction of elements that the threads of a team have.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "codegen/families/emit/BodyEmitter.h"
#include "passes/tile/Tactic.h"

namespace tilewright::families {

/// \returns the extents of a primitive of a region of form Rows within a row.
llvm::SmallVector<tw::DimExpr> innerExtents(const FusedRegion &region,
                                            mlir::Operation *primitive);

/// \returns why elements of a row cannot be computed one by one, each by the
/// thread that has it.
std::optional<Refusal> refuseRowElements(const FusedRegion &region);

/// Where a load reads, in terms that are the same in all primitives: numbers
/// of coordinates, and constants below zero. Nothing for any other load.
std::optional<llvm::SmallVector<int64_t>> placeOf(tw::LoadOp load);

/// A reduction of a row by a team.
class RowFold {
public:
  /// \param width neighbours that a thread takes at once, as vectors.
  RowFold(KernelFrame &frame, tw::ReduceOp reduce, int64_t width);

  /// Error: UnsupportedType.
  Status check() const;
  /// The operation of the body that accumulate() does itself, or null.
  mlir::Operation *skipped() const { return product; }
  mlir::Value initial();
  /// Adds the element (or vector) for which `emitter` has evaluated the body.
  mlir::Value accumulate(BodyEmitter &emitter, mlir::Value total);
  /// Folds lanes and threads. \returns the result, in its own type.
  Lanes finish(mlir::Value total);

private:
  mlir::Type ofWidth(mlir::Type scalar) const;
  mlir::Value lanesOf(const Lanes &lanes);
  mlir::Value toAccumulator(mlir::Value value);

  KernelFrame &frame;
  LaneBuilder &b;
  mutable tw::ReduceOp reduce;
  int64_t width;
  mlir::Type accumulator;
  bool isFloat, isUnsigned;
  mlir::Operation *product;
};

} // namespace tilewright::families
