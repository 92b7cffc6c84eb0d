//===- SharedStorage.h - values in memory of other values -------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "ir/TwOps.h"
#include "passes/ReasonCodes.h"

namespace tilewright::plan {

/// Which values share memory: a reshape is its operand's memory, a join's
/// operands lie in its result, and a region may write a result over an operand.
class SharedStorage {
public:
  /// Whether a region's kernel computes each element once, after it has read
  /// the operands' elements at the same coordinates.
  using WritesInPlace = llvm::function_ref<bool(tw::FusedOp)>;

  /// Decides for the regions of `block`, in program order.
  void place(mlir::Block &block, WritesInPlace writesInPlace,
             Decisions &decisions);

  /// \returns the value whose memory `value` lies in, itself if it has its own.
  mlir::Value rootOf(mlir::Value value) const;

private:
  void placeResults(tw::FusedOp op, Decisions &decisions);
  bool isLastUse(mlir::Value root, tw::FusedOp op) const;

  llvm::DenseMap<mlir::Value, mlir::Value> hosts; // a result → its operand
  /// The values that lie in a root's memory, with itself.
  llvm::DenseMap<mlir::Value, llvm::SmallVector<mlir::Value>> sharers;
};

} // namespace tilewright::plan
