//===- Axis.h - a tensor around one of its axes -----------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "tilewright/Tensor.h"

namespace tilewright {

/// A shape as [outer, size, inner] around an axis. Element (o, i, n) lies at
/// (o * size + i) * inner + n.
struct AxisView {
  int64_t outer = 1;
  int64_t size = 1;
  int64_t inner = 1;

  /// \returns false when there is no such axis; negative ones count from the
  /// end.
  static bool make(ShapeRef shape, int64_t axis, AxisView &out, size_t &index) {
    int64_t rank = static_cast<int64_t>(shape.rank());
    if (axis < -rank || axis >= rank) {
      return false;
    }
    index = static_cast<size_t>(axis < 0 ? axis + rank : axis);
    // A tensor without elements may have sizes whose product overflows.
    bool empty = shape.elements() == 0;
    out.size = shape[index];
    out.outer = ShapeRef(shape.begin(), index).elements();
    out.inner = ShapeRef(shape.begin() + index + 1, shape.rank() - index - 1)
                    .elements();
    if (empty && (out.outer < 0 || out.inner < 0)) {
      out.outer = 0;
      out.inner = 0;
    }
    return true;
  }
};

} // namespace tilewright
