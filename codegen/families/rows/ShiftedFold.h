//===- ShiftedFold.h - sums whose shift comes later -----------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// The sum of f(x - shift) over elements of a thread, while the shift is not
// known yet. Exponentials are summed below the thread's greatest x so far: the
// region's own exponential moves the sum when that grows, and to the shift in
// the end, so that no kernel knows what softmax is. Squares are summed around
// the thread's mean as B. P. Welford does ("Note on a Method for Calculating
// Corrected Sums of Squares and Products", Technometrics 4, 1962). Neither
// loses digits, wherever the shift lies.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "codegen/families/emit/KernelFrame.h"
#include "codegen/families/rows/RowSchedule.h"

namespace tilewright::families {

class ShiftedFold {
public:
  /// \param width neighbours that a thread takes at once, as vectors.
  ShiftedFold(KernelFrame &frame, const ShiftedTerm &term, int64_t width);

  /// \returns what a thread carries from element to element.
  llvm::SmallVector<mlir::Value> initial();
  /// Adds the element (or vector) `x` to the state.
  llvm::SmallVector<mlir::Value> accumulate(const Lanes &x,
                                            llvm::ArrayRef<mlir::Value> state);
  /// \returns the thread's sum for `shift`, in parts: the lanes of a vector.
  mlir::Value sumFor(const Lanes &shift, llvm::ArrayRef<mlir::Value> state);

private:
  mlir::Value constant(double value);
  mlir::Value largest(bool negative);
  mlir::Value everywhere(mlir::Value scalar);
  mlir::Value exponential(mlir::Value x);

  LaneBuilder &b;
  ShiftedTerm term;
  int64_t width;
  mlir::FloatType type;
};

} // namespace tilewright::families
