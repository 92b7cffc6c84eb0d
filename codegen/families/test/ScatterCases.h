//===- ScatterCases.h - scatters for tests --------------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tilewright::test {

/// Updates [N, K, C] of a tensor [A, B, D] in f32, C ≤ D, along one axis: 0,
/// with K ≤ B, or 1, with N ≤ A. The indices, i64, are [N], one for each of the
/// other axes' slices, or [N, K, C], one for each element.
struct ScatterCase {
  std::string kind; ///< of the fold
  int axis = 0;
  bool ofElements = false;
  int64_t a, b, d, n, k, c;
  /// Sizes are symbols named A to C.
  bool isOpen = false;

  std::string text() const;
  size_t indices() const { return ofElements ? n * k * c : axis ? k : n; }
  std::vector<float> initial() const;
  std::vector<float> updates() const;
  /// Many of them the same.
  std::vector<int64_t> places() const;
  /// What one loop in order gives.
  std::vector<float> expected() const;
};

std::vector<ScatterCase> scatterCases();

} // namespace tilewright::test
