//===- Compare.cpp - a result beside what was expected --------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "tools/tilewright/data/Compare.h"

#include "tools/tilewright/data/ElementValues.h"

#include <algorithm>
#include <cmath>

namespace tilewright {

/// \returns "[1, 0, 5]" for the element `index` in row-major order.
static std::string coordinates(ShapeRef shape, int64_t index) {
  std::vector<int64_t> position(shape.rank());
  for (size_t axis = shape.rank(); axis-- > 0;) {
    position[axis] = index % shape[axis];
    index /= shape[axis];
  }
  return ShapeRef(position).toString();
}

static bool agree(long double actual, long double expected,
                  const Tolerance &tolerance) {
  if (actual == expected || (std::isnan(actual) && std::isnan(expected))) {
    return true;
  }
  return std::isfinite(actual) && std::isfinite(expected) &&
         std::fabs(actual - expected) <=
             tolerance.absolute + tolerance.relative * std::fabs(expected);
}

Comparison compare(const TensorView &actual, const TensorView &expected,
                   const Tolerance &tolerance) {
  Comparison result;
  result.elements = actual.elements();
  for (int64_t i = 0; i < result.elements; ++i) {
    long double a = elementAt(actual, i), b = elementAt(expected, i);
    if (std::isfinite(a) && std::isfinite(b)) {
      result.largestDifference = std::max(
          result.largestDifference, static_cast<double>(std::fabs(a - b)));
    }
    if (agree(a, b, tolerance)) {
      continue;
    }
    if (result.wrong++ == 0) {
      result.agrees = false;
      result.mismatch = "at " + coordinates(actual.shape, i) + " is " +
                        formatElement(actual, i) + ", expected " +
                        formatElement(expected, i);
    }
  }
  return result;
}

} // namespace tilewright
