//===- Quantization.h - scales and zero points ------------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "frontend/ops/Common.h"

namespace tilewright::frontend {

/// Which scale belongs to which element of input 0.
struct QuantizationGrid {
  enum Kind { PerTensor, PerAxis, Blocked };
  Kind kind = PerTensor;
  int64_t axis = 0;
  int64_t block = 0;

  /// The scale's (or zero point's) scalar for the element at `at`.
  Value load(BodyBuilder &b, Value tensor, ValueRange at) const;
};

/// The grid of the scale in input `scale`, from its shape and the attributes
/// `axis` and `block_size`.
Result<QuantizationGrid> quantizationGrid(NodeImport &node, size_t scale);

/// saturate(roundeven(real) + zeroPoint) as a scalar of `element`; `real` is
/// already divided by the scale. A null zero point is zero; small floats have
/// none.
Value quantized(BodyBuilder &b, Value real, Value zeroPoint, Type zeroElement,
                Type element, bool saturate = true);

/// scalar - zeroPoint as f32, both of type `element`; a null zero point is
/// zero.
Value dequantized(BodyBuilder &b, Value scalar, Type element, Value zeroPoint);

} // namespace tilewright::frontend
