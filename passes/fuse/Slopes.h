//===- Slopes.h - how coordinates grow --------------------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"

namespace tilewright {

/// By how much a value grows per step: a constant, a size that only run time
/// knows, or nothing that can be said.
struct Slope {
  enum { Constant, Fixed, Unknown } kind = Constant;
  int64_t value = 0;

  static Slope constant(int64_t value) { return {Constant, value}; }
  static Slope unknown() { return {Unknown, 0}; }
  bool isZero() const { return kind == Constant && value == 0; }
};

/// Slopes along one coordinate of a body, through an aligned block of `width`
/// positions. Each value of the body is looked at once.
class SlopeAnalysis {
public:
  SlopeAnalysis(mlir::BlockArgument coordinate, int64_t width)
      : coordinate(coordinate), width(width) {}

  Slope of(mlir::Value value);

private:
  Slope compute(mlir::Operation *op);

  mlir::BlockArgument coordinate;
  int64_t width;
  llvm::DenseMap<mlir::Value, Slope> slopes;
};

} // namespace tilewright
