//===- Determinant.cpp - determinants of square matrices ------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "runtime/builtins/Builtins.h"
#include "runtime/builtins/Elements.h"

#include <algorithm>
#include <cmath>

using namespace tilewright;

/// Gaussian elimination with the largest pivot of each column. Destroys `a`,
/// an n×n matrix.
static double eliminate(std::vector<double> &a, size_t n) {
  double determinant = 1;
  for (size_t column = 0; column < n; ++column) {
    size_t pivot = column;
    for (size_t row = column + 1; row < n; ++row) {
      if (std::fabs(a[row * n + column]) > std::fabs(a[pivot * n + column])) {
        pivot = row;
      }
    }
    if (a[pivot * n + column] == 0) {
      return 0;
    }
    if (pivot != column) {
      std::swap_ranges(a.begin() + pivot * n, a.begin() + (pivot + 1) * n,
                       a.begin() + column * n);
      determinant = -determinant;
    }
    determinant *= a[column * n + column];
    for (size_t row = column + 1; row < n; ++row) {
      double factor = a[row * n + column] / a[column * n + column];
      for (size_t i = column + 1; i < n; ++i) {
        a[row * n + i] -= factor * a[column * n + i];
      }
    }
  }
  return determinant;
}

Status builtins::determinant(BuiltinCall &call) {
  const TensorView &x = *call.input(0);
  size_t rank = x.shape.rank();
  if (rank < 2 || x.shape[rank - 1] != x.shape[rank - 2]) {
    return call.invalid("Det takes square matrices, not " + x.shape.toString());
  }
  ShapeRef batches(x.shape.begin(), rank - 2);
  TW_RETURN_IF_ERROR(call.allocate({}));
  TW_RETURN_IF_ERROR(call.expectOutput(0, x.dtype, batches));
  if (!call.output(0)) {
    return Status::ok();
  }
  size_t n = static_cast<size_t>(x.shape[rank - 1]);
  bool known = withFloat(x.dtype, [&](auto element) {
    using T = decltype(element);
    std::vector<double> matrix(n * n);
    const T *from = x.as<T>();
    T *to = call.output(0)->as<T>();
    for (int64_t batch = 0; batch < batches.elements(); ++batch) {
      for (double &entry : matrix) {
        entry = static_cast<double>(keyOf(*from++));
      }
      *to++ = elementFromDouble<T>(eliminate(matrix, n));
    }
  });
  return known ? Status::ok() : call.unsupportedType(x.dtype);
}
