//===- Window.h - sliding windows -------------------------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "ir/BodyBuilder.h"

namespace tilewright::tw {

/// The input coordinate of each spatial axis: `out * stride + k * dilation -
/// padBegin`. `pads` lists beginnings, then ends.
inline llvm::SmallVector<mlir::Value>
windowCoordinates(BodyBuilder &body, mlir::ValueRange out,
                  mlir::ValueRange window, llvm::ArrayRef<int64_t> strides,
                  llvm::ArrayRef<int64_t> dilations,
                  llvm::ArrayRef<DimExpr> pads) {
  llvm::SmallVector<mlir::Value> coordinates;
  for (size_t i = 0; i < out.size(); ++i) {
    mlir::Value from = body.mul(out[i], strides[i]);
    mlir::Value position = body.add(from, body.mul(window[i], dilations[i]));
    coordinates.push_back(body.sub(position, body.size(pads[i])));
  }
  return coordinates;
}

/// \returns whether `position` is inside the input along all spatial axes;
/// null where every window provably is. `input`, `out` and `window` are the
/// spatial extents.
inline mlir::Value
insideWindow(BodyBuilder &body, llvm::ArrayRef<mlir::Value> position,
             llvm::ArrayRef<DimExpr> input, llvm::ArrayRef<DimExpr> out,
             llvm::ArrayRef<DimExpr> window, llvm::ArrayRef<int64_t> strides,
             llvm::ArrayRef<int64_t> dilations, llvm::ArrayRef<DimExpr> pads) {
  mlir::Value guard;
  for (size_t i = 0; i < position.size(); ++i) {
    DimExpr last = (out[i] - 1) * strides[i] + (window[i] - 1) * dilations[i];
    if (!pads[i].isConstant(0) || !(input[i] - 1 - last).isNonNegative()) {
      guard = body.both(guard, body.inside(position[i], input[i]));
    }
  }
  return guard;
}

} // namespace tilewright::tw
