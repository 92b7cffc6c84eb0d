//===- VisibleKeys.h - keys that a mask does not hide -----------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// A causal mask compares the coordinates of a query and a key, and gives keys
// on one side of the line a score whose exponential is zero. Such keys need not
// be read. That is found in the maps over the scores by asking, for every
// comparison of that kind, what the score is if it holds, and if it does not.
//
// A score is hidden exactly where it is -inf or a constant. Where a constant is
// added to it instead, it is hidden as long as it is small against that
// constant. Rows whose visible keys are all hidden by something else (padding)
// must see the keys that they hide from others: kernels look at the greatest
// score when they have seen the visible keys.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "passes/fuse/AttentionForm.h"

namespace tilewright::families {

/// A query sees the keys on one side of a line: up to, or from,
/// `offset + slope · query`.
struct KeyBound {
  tw::MapOp map; ///< over scores; has the comparison
  mlir::arith::CmpIOp compare;
  bool isUpper = true;
  int64_t slope = 0;     ///< keys for each query
  int64_t partSlope = 0; ///< … for each part, the first coordinate of a part
  int64_t keySlope = 1;  ///< of the comparison's left side less its right: ±1
  int64_t adjustment = 0;
  std::optional<int64_t> offset; ///< nothing if only run time knows it

  /// Where the line is for keySlope, adjustment and left less right of query 0
  /// and key 0.
  int64_t lineAt(int64_t difference) const {
    return adjustment - keySlope * difference;
  }
  /// True if the line moves with a coordinate of the rows.
  bool dependsOn(unsigned axis) const;
};

struct VisibleKeys {
  llvm::SmallVector<KeyBound> bounds;
  /// Hidden keys have no weight in rows with a score above this. Nothing: they
  /// have none in any row.
  std::optional<float> settledAbove;

  bool isAll() const { return bounds.empty(); }
  bool hasLower() const {
    return llvm::any_of(bounds, [](const KeyBound &b) { return !b.isUpper; });
  }
};

/// \returns what the score's maps say about the keys that queries see. Lines
/// that move with `groupAxis`, an axis of rows, are left out.
VisibleKeys visibleKeys(const AttentionForm &form,
                        std::optional<unsigned> groupAxis = std::nullopt);

} // namespace tilewright::families
