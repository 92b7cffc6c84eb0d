//===- Axes.h - which axes a reduction folds --------------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "frontend/ops/Common.h"

namespace tilewright::frontend {

/// How a reduction maps its own coordinates to those of its input. Axes that
/// are folded stay in the result with size one (`kept`); `dims` is the shape
/// that ONNX gives the result. Where axes are data, every axis takes part with
/// an extent that is its size or one.
struct ReducedAxes {
  Dims kept;
  Dims dims;
  Dims extents;
  /// For each axis of the input, its position among the extents, or -1.
  SmallVector<int64_t> extentOf;
  bool axesAreData = false;

  /// The number of elements that make one of the result.
  DimExpr count(mlir::MLIRContext *context) const {
    return tw::productOf(context, extents);
  }
  /// The input's coordinates from the result's, then the reduction's.
  SmallVector<Value> inputCoordinates(BodyBuilder &body, ValueRange at) const;
};

/// A reduction of input 0 over `axes`.
ReducedAxes reducedAxes(NodeImport &node, ArrayRef<int64_t> axes,
                        bool keepDims);

/// The axes of a Reduce operator: its attribute or its input 1, which may be
/// known only at run time.
Result<ReducedAxes> reducedAxes(NodeImport &node);

} // namespace tilewright::frontend
