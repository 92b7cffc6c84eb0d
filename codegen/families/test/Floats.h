//===- Floats.h - random numbers, and their comparison ----------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include <cmath>
#include <gtest/gtest.h>
#include <random>
#include <vector>

namespace tilewright::test {

/// Seeded numbers in [-1, 1).
inline std::vector<float> randomFloats(size_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<float> distribution(-1, 1);
  std::vector<float> values(count);
  for (float &value : values) {
    value = distribution(generator);
  }
  return values;
}

/// Expects equality up to `tolerance`, absolute and relative.
inline void expectClose(const std::vector<float> &actual,
                        const std::vector<float> &expected,
                        float tolerance = 1e-5f) {
  ASSERT_EQ(actual.size(), expected.size());
  int shown = 0;
  for (size_t i = 0; i < actual.size() && shown < 5; ++i) {
    bool isClose = std::isnan(expected[i])
                       ? std::isnan(actual[i])
                       : std::abs(actual[i] - expected[i]) <=
                                 tolerance * (1 + std::abs(expected[i])) ||
                             actual[i] == expected[i];
    if (!isClose) {
      ADD_FAILURE() << "element " << i << ": " << actual[i] << ", expected "
                    << expected[i];
      ++shown;
    }
  }
}

} // namespace tilewright::test
