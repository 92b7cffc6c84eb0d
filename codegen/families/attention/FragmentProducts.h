//===- FragmentProducts.h - a warp's products of shared lines ---*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// A warp has `rowUnits` times 16 queries. Its sums lie in registers as the
// matrix units leave them: of 16 rows and 8 columns, a thread has two
// neighbours in row lane / 4, and two in the row eight below. Plain arithmetic
// uses the same places, so that whatever reads sums need not know who computed
// them.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "codegen/families/contract/SharedLines.h"
#include "codegen/families/emit/IndexMath.h"
#include <memory>

namespace tilewright::families {

/// Sums of a thread: an array that unrolled loops alone index, so that it
/// becomes registers.
struct FragmentSums {
  mlir::Value memory;
  int64_t rowUnits = 1, columnUnits = 1;

  /// Elements of a unit: of the upper row, then of the lower.
  static constexpr int64_t unitElements = 4;
  int64_t size() const { return rowUnits * columnUnits * unitElements; }

  mlir::Value at(LaneBuilder &b, int64_t rowUnit, mlir::Value columnUnit,
                 int64_t half, int64_t column) const;
};

/// The queries' part of a block that a warp works on, and the keys'.
struct WarpLines {
  mlir::Value lane;     ///< of the thread
  mlir::Value firstRow; ///< of the warp, among the lines of queries
  mlir::Value firstKey; ///< among those of keys and values
  SharedLines queries, keys, values;
  FragmentSums scores, sums;
};

class FragmentProducts {
public:
  FragmentProducts(LaneBuilder &b, const WarpLines &warp)
      : b(b), math(b), warp(warp) {}
  virtual ~FragmentProducts() = default;

  /// Adds queries times keys, the lines of `stage`, to the scores.
  virtual void addScores(mlir::Value stage) = 0;
  /// Adds scores times values to the sums.
  virtual void addValues(mlir::Value stage) = 0;

protected:
  /// The line of one of the warp's keys.
  mlir::Value keyLine(mlir::Value key) { return math.plus(key, warp.firstKey); }
  mlir::Value group() { return math.over(warp.lane, 4); }
  mlir::Value quad() { return math.mod(warp.lane, 4); }

  LaneBuilder &b;
  IndexMath math;
  const WarpLines &warp;
};

/// Matrix units: `warp`'s lines are f16, bf16, or f32, which is rounded to
/// tf32.
std::unique_ptr<FragmentProducts> matrixUnits(LaneBuilder &b,
                                              const WarpLines &warp);

/// Plain multiply-adds of f32.
std::unique_ptr<FragmentProducts> plainProducts(LaneBuilder &b,
                                                const WarpLines &warp);

/// A loop over constants that is unrolled, whole or so many times.
void unrolled(LaneBuilder &b, int64_t count, llvm::StringRef name,
              llvm::function_ref<void(mlir::Value)> body, int64_t times = 0);

} // namespace tilewright::families
