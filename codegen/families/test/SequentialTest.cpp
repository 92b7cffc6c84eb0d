//===- SequentialTest.cpp - scans and scatters run --------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "codegen/families/test/ScatterCases.h"
#include "codegen/families/test/TestRegion.h"

using namespace tilewright;
using namespace tilewright::test;

namespace {
class Sequential : public RegionTest {};
INSTANTIATE_TEST_SUITE_P(Families, Sequential,
                         testing::ValuesIn(everyVariant()), variantName);

std::string scanText(const std::string &attributes) {
  return R"(
    func.func @f(%x: tensor<2x3x2xf32>) {
      %r = tw.fused @r(%a = %x : tensor<2x3x2xf32>) {
        %s = tw.scan add (%i, %j, %k) attributes {)" +
         attributes + R"(} {
          %v = tw.load %a[%i, %j, %k] : tensor<2x3x2xf32> -> f32
          tw.yield %v : f32
        } : tensor<2x3x2xf32>
        tw.yield %s : tensor<2x3x2xf32>
      } : tensor<2x3x2xf32>
      return
    })";
}

TEST_P(Sequential, ScansBothWays) {
  auto forward = compile(scanText("axis = 1 : i64"));
  auto backward = compile(scanText("axis = 1 : i64, exclusive, reverse"));
  if (!forward || !backward) {
    return;
  }
  std::vector<float> x = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, y(12);
  EXPECT_EQ(forward->run({x.data(), y.data()}), 0);
  EXPECT_EQ(y, (std::vector<float>{1, 2, 4, 6, 9, 12, 7, 8, 16, 18, 27, 30}));
  EXPECT_EQ(backward->run({x.data(), y.data()}), 0);
  EXPECT_EQ(y, (std::vector<float>{8, 10, 5, 6, 0, 0, 20, 22, 11, 12, 0, 0}));
}

std::string scatterText(const std::string &kind) {
  return R"(
    func.func @f(%x: tensor<6xf32>, %w: tensor<4xi64>, %u: tensor<4xf32>) {
      %r = tw.fused @r(%a = %x : tensor<6xf32>, %b = %w : tensor<4xi64>, %c = %u : tensor<4xf32>) {
        %s = tw.scatter )" +
         kind + R"( %a at (%i) in <[4]> {
          %n = arith.constant 6 : index
          %p = tw.load %b[%i] : tensor<4xi64> -> i64
          %q = arith.index_cast %p : i64 to index
          %at = tw.clamp_index %q, %n
          %v = tw.load %c[%i] : tensor<4xf32> -> f32
          tw.yield %at, %v : index, f32
        } : tensor<6xf32>
        tw.yield %s : tensor<6xf32>
      } : tensor<6xf32>
      return
    })";
}

TEST_P(Sequential, Scatters) {
  auto assign = compile(scatterText("assign"));
  auto add = compile(scatterText("add"));
  if (!assign || !add) {
    return;
  }
  std::vector<float> x = {1, 2, 3, 4, 5, 6}, u = {10, 20, 30, 40}, y(6);
  std::vector<int64_t> at = {5, 0, 2, 0};
  EXPECT_EQ(assign->run({x.data(), at.data(), u.data(), y.data()}), 0);
  EXPECT_EQ(y, (std::vector<float>{40, 2, 30, 4, 5, 10}));
  EXPECT_EQ(add->run({x.data(), at.data(), u.data(), y.data()}), 0);
  EXPECT_EQ(y, (std::vector<float>{61, 2, 33, 4, 5, 16}));
  at[0] = 6;
  EXPECT_EQ(add->run({x.data(), at.data(), u.data(), y.data()}), 1);
}

TEST_P(Sequential, ScattersInOrder) {
  for (const ScatterCase &one : scatterCases()) {
    SCOPED_TRACE(one.text());
    auto region = compile(one.text());
    if (!region) {
      return;
    }
    std::vector<float> x = one.initial(), u = one.updates(),
                       y(one.a * one.b * one.d);
    std::vector<int64_t> at = one.places();
    EXPECT_EQ(
        region->run({x.data(), at.data(), u.data(), y.data()}, {{"A", one.a},
                                                                {"B", one.b},
                                                                {"D", one.d},
                                                                {"N", one.n},
                                                                {"K", one.k},
                                                                {"C", one.c}}),
        0);
    EXPECT_EQ(y, one.expected());
    EXPECT_EQ(region->tactic, isReference() ? "reference" : "scatter.simd");
  }
}
} // namespace
