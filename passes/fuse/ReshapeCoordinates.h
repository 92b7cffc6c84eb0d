//===- ReshapeCoordinates.h - reading through a reshape ---------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "ir/BodyBuilder.h"

namespace tilewright {

/// Consecutive axes of a reshape's two sides that hold the same elements.
struct ReshapeGroup {
  llvm::SmallVector<unsigned> from; // axes of the source
  llvm::SmallVector<unsigned> to;   // axes of the result
};

/// Splits a reshape into the finest groups that can be proved. An axis of size
/// one is a group of its own with nothing on the other side.
llvm::SmallVector<ReshapeGroup> groupAxes(llvm::ArrayRef<tw::DimExpr> from,
                                          llvm::ArrayRef<tw::DimExpr> to);

/// \returns the source's coordinates of the element at `at` of the reshaped
/// tensor. Where an axis comes from several, its coordinate is split: exactly
/// if it is visibly composed of them, else (`allowDivision`) by constant
/// divisors. nullopt if that would need divisions that are not allowed.
std::optional<llvm::SmallVector<mlir::Value>> coordinatesBehindReshape(
    tw::BodyBuilder &body, llvm::ArrayRef<tw::DimExpr> from,
    llvm::ArrayRef<tw::DimExpr> to, mlir::ValueRange at, bool allowDivision);

/// Row-major position of `at` in a box of `dims`.
mlir::Value linearize(tw::BodyBuilder &body, llvm::ArrayRef<tw::DimExpr> dims,
                      mlir::ValueRange at);

} // namespace tilewright
