//===- CompareTest.cpp ----------------------------------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "tools/tilewright/data/Compare.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace tilewright;

static Comparison compareFloats(const std::vector<float> &actual,
                                const std::vector<float> &expected,
                                Tolerance tolerance = {}) {
  std::vector<int64_t> shape = {static_cast<int64_t>(actual.size())};
  return compare(TensorView(DType::F32, shape, actual.data()),
                 TensorView(DType::F32, shape, expected.data()), tolerance);
}

TEST(Compare, TakesTheToleranceOfTheExpectedValue) {
  EXPECT_TRUE(compareFloats({100.09F}, {100}, {1e-3, 0}).agrees);
  EXPECT_FALSE(compareFloats({100.2F}, {100}, {1e-3, 0}).agrees);
  EXPECT_TRUE(compareFloats({0.5F}, {0}, {0, 0.5}).agrees);
}

TEST(Compare, TreatsNanAndInfinityAsValues) {
  float infinity = HUGE_VALF;
  EXPECT_TRUE(compareFloats({NAN, infinity}, {NAN, infinity}).agrees);
  EXPECT_FALSE(compareFloats({1}, {NAN}).agrees);
  EXPECT_FALSE(compareFloats({NAN}, {1}).agrees);
  EXPECT_FALSE(compareFloats({1}, {infinity}).agrees);
  EXPECT_FALSE(compareFloats({infinity}, {-infinity}).agrees);
}

TEST(Compare, NamesTheFirstMismatch) {
  std::vector<float> actual = {1, 2, 3, 4, 5, 6}, expected = {1, 2, 3, 4, 7, 9};
  std::vector<int64_t> shape = {2, 3};
  Comparison result =
      compare(TensorView(DType::F32, shape, actual.data()),
              TensorView(DType::F32, shape, expected.data()), {});
  EXPECT_EQ(result.mismatch, "at [1, 1] is 5, expected 7");
  EXPECT_EQ(result.wrong, 2);
  EXPECT_EQ(result.largestDifference, 3);
}

TEST(Compare, SeesTheLastBitOfWideIntegers) {
  std::vector<int64_t> actual = {(int64_t(1) << 60) + 1},
                       expected = {int64_t(1) << 60}, shape = {1};
  EXPECT_FALSE(compare(TensorView(DType::I64, shape, actual.data()),
                       TensorView(DType::I64, shape, expected.data()), {0, 0})
                   .agrees);
}
