//===- TensorOperands.h - what an operation reads ---------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "mlir/IR/Operation.h"
#include "llvm/ADT/SetVector.h"

namespace tilewright {

/// \returns the values from outside that `op` reads, each once: its operands,
/// and what its regions (the loads of a body) refer to.
inline llvm::SetVector<mlir::Value> valuesReadBy(mlir::Operation *op) {
  llvm::SetVector<mlir::Value> values;
  values.insert(op->operand_begin(), op->operand_end());
  for (mlir::Region &region : op->getRegions()) {
    region.walk([&](mlir::Operation *nested) {
      for (mlir::Value operand : nested->getOperands()) {
        if (!op->isAncestor(operand.getParentRegion()->getParentOp())) {
          values.insert(operand);
        }
      }
    });
  }
  return values;
}

} // namespace tilewright
