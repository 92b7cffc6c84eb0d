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

inline bool allZero(llvm::ArrayRef<DimExpr> pads) {
  return llvm::all_of(pads, [](DimExpr pad) { return pad.isConstant(0); });
}

} // namespace tilewright::tw
