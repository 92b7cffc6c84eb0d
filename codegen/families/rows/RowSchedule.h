//===- RowSchedule.h - passes over a row ----------------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// Which folds of a region of form Rows share a pass over the row. A fold waits
// for the scalars of the row that its terms read, unless they only shift what
// is folded: sums of exponentials and of squares of differences are collected
// beside a shift of the thread's own and moved to the right one afterwards.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "codegen/families/Region.h"
#include "llvm/ADT/DenseMap.h"

namespace tilewright::families {

/// An operand and where in it a load reads (placeOf).
using RowPlace = std::pair<void *, llvm::SmallVector<int64_t>>;

/// \returns the operand's element that a load of this row alone reads, or
/// nothing.
std::optional<RowPlace> placeInRow(const FusedRegion &region, tw::LoadOp load);

/// The terms f(x - shift) of a sum, where all of a row share the shift.
struct ShiftedTerm {
  mlir::Operation *exponential = nullptr; ///< f; null: the square
  mlir::Value x, shift;                   ///< scalars of one body
};

/// A fold in a pass. With `shifted`, the shift may be known after the pass
/// only.
struct ScheduledFold {
  tw::ReduceOp reduce;
  std::optional<ShiftedTerm> shifted;
};

/// One pass for each list of folds, then one that writes results.
class RowSchedule {
public:
  /// \param shifts folds may be collected before their shift is known.
  RowSchedule(const FusedRegion &region, bool shifts);

  size_t passes() const { return folds.size(); }
  llvm::ArrayRef<ScheduledFold> foldsOf(size_t pass) const {
    return folds[pass];
  }
  /// \returns after how many passes a primitive's result is known, if it is a
  /// scalar of the row, or can be computed.
  unsigned readyAfter(mlir::Operation *primitive) const {
    return ready.lookup(primitive);
  }
  /// \returns the maps over the row that the last pass writes.
  llvm::SmallVector<tw::MapOp> results() const;

  /// \returns the loads in the bodies that a pass evaluates, or, for the number
  /// passes(), the one that writes results.
  llvm::SmallVector<tw::LoadOp> loadsOf(size_t pass) const;

private:
  unsigned readyFor(mlir::Value scalar) const;
  void demand(mlir::Operation *op, llvm::SmallVectorImpl<tw::LoadOp> &loads,
              llvm::SmallPtrSetImpl<mlir::Operation *> &maps) const;

  const FusedRegion &region;
  llvm::SmallVector<llvm::SmallVector<ScheduledFold>> folds;
  llvm::DenseMap<mlir::Operation *, unsigned> ready;
};

} // namespace tilewright::families
