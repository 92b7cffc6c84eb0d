//===- CoordinateMasks.h - masks that coordinates tell ----------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// A causal mask is a comparison of coordinates. As a constant it says nothing
// about the keys that it hides, and is no faster to read than to compute.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "mlir/IR/Operation.h"
#include "llvm/ADT/SetVector.h"

namespace tilewright {

/// \returns true for a large tensor that comparisons give of coordinates,
/// single numbers and numbers that grow evenly, in few operations: all of
/// `operations`.
bool isMaskOfCoordinates(mlir::Value result,
                         const llvm::SetVector<mlir::Operation *> &operations);

/// Lets the operations of such a mask compute the numbers that grow evenly.
void computeEvenNumbers(const llvm::SetVector<mlir::Operation *> &operations);

} // namespace tilewright
