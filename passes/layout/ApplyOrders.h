//===- ApplyOrders.h - rewriting values into their orders -------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "passes/ReasonCodes.h"
#include "passes/layout/AxisOrder.h"

namespace tilewright {

/// Permutes the results of a map or a reduction, its coordinates, and whatever
/// reads it; where a reader needs row-major order, a copy gives it.
void applyOrder(mlir::Operation *primitive, llvm::ArrayRef<unsigned> order,
                Decisions &decisions);

/// Removes maps that copy another primitive's result without moving anything.
void removeCopies(mlir::Block &block);

} // namespace tilewright
