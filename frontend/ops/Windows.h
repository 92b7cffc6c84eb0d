//===- Windows.h - sliding windows of convolutions and pools ----*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "frontend/ops/Common.h"

namespace tilewright::frontend {

/// The window of a convolution or a pool: one entry for each spatial axis.
struct WindowSpec {
  SmallVector<int64_t> strides;
  SmallVector<int64_t> dilations;
  Dims kernel;
  /// Beginnings, then ends.
  Dims pads;
  /// The sizes of the result's spatial axes.
  Dims out;

  size_t rank() const { return strides.size(); }
  /// How far a window reaches: (kernel - 1) * dilation + 1.
  DimExpr reach(size_t i) const { return (kernel[i] - 1) * dilations[i] + 1; }
};

/// The attributes strides, dilations and pads, checked for `spatial` axes;
/// `kernel` gives the window's sizes. `out` stays empty, as do the pads where
/// auto_pad asks for computed ones.
Result<WindowSpec> windowAttributes(NodeImport &node, ArrayRef<DimExpr> kernel);

/// windowAttributes(), and the sizes of the result of sliding over `input`
/// (spatial axes only). `roundUp` is a pool's ceil_mode.
Result<WindowSpec> slidingWindow(NodeImport &node, ArrayRef<DimExpr> input,
                                 ArrayRef<DimExpr> kernel,
                                 bool roundUp = false);

/// The attribute kernel_shape as sizes; fails unless it has `spatial` entries.
Result<Dims> kernelShape(NodeImport &node, size_t spatial);

} // namespace tilewright::frontend
