//===- Compare.h - a result beside what was expected ------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "tilewright/Tensor.h"

#include <string>

namespace tilewright {

/// Values a and b agree when |a - b| <= absolute + relative * |b|; NaN agrees
/// with NaN, and an infinity with itself alone.
struct Tolerance {
  double relative = 1e-3;
  double absolute = 1e-4;
};

struct Comparison {
  bool agrees = true;
  int64_t elements = 0;
  int64_t wrong = 0;            ///< elements that do not agree
  double largestDifference = 0; ///< of finite values
  std::string mismatch;         ///< the first one: index and both values
};

/// Compares two tensors of the same type and shape.
Comparison compare(const TensorView &actual, const TensorView &expected,
                   const Tolerance &tolerance);

} // namespace tilewright
