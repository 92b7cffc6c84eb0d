//===- ReduceTest.cpp - reductions run --------------------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "codegen/families/test/TestRegion.h"

using namespace tilewright;
using namespace tilewright::test;

namespace {
class Reduce : public RegionTest {};
INSTANTIATE_TEST_SUITE_P(Families, Reduce, testing::ValuesIn(everyVariant()),
                         variantName);

std::string overLast(const std::string &kind, const std::string &result) {
  return R"(
    func.func @f(%x: tensor<?x?xf32, #tw.dims<[M, K]>>) {
      %r = tw.fused @r(%a = %x : tensor<?x?xf32, #tw.dims<[M, K]>>) {
        %s = tw.reduce )" +
         kind + R"( (%i) over (%k) in <[K]> {
          %v = tw.load %a[%i, %k] : tensor<?x?xf32, #tw.dims<[M, K]>> -> f32
          tw.yield %v : f32
        } : tensor<?x)" +
         result + R"(, #tw.dims<[M]>>
        tw.yield %s : tensor<?x)" +
         result + R"(, #tw.dims<[M]>>
      } : tensor<?x)" +
         result + R"(, #tw.dims<[M]>>
      return
    })";
}

TEST_P(Reduce, SumsRowsOfEveryLength) {
  auto region = compile(overLast("add", "f32"));
  if (!region) {
    return;
  }
  for (int k : {0, 1, 5, 16, 31, 63, 64, 65, 200}) {
    int m = 3;
    std::vector<float> x = randomFloats(m * k + 1, k), y(m), e(m);
    for (int i = 0; i < m; ++i) {
      double sum = 0;
      for (int j = 0; j < k; ++j) {
        sum += x[i * k + j];
      }
      e[i] = sum;
    }
    EXPECT_EQ(region->run({x.data(), y.data()}, {{"M", m}, {"K", k}}), 0);
    expectClose(y, e);
  }
}

TEST_P(Reduce, MaximumPropagatesNan) {
  auto region = compile(overLast("max", "f32"));
  if (!region) {
    return;
  }
  int m = 4, k = 77;
  std::vector<float> x = randomFloats(m * k, 3), y(m), e(m);
  x[k + 70] = NAN;
  for (int i = 0; i < m; ++i) {
    e[i] = i == 1
               ? NAN
               : *std::max_element(x.begin() + i * k, x.begin() + (i + 1) * k);
  }
  EXPECT_EQ(region->run({x.data(), y.data()}, {{"M", m}, {"K", k}}), 0);
  expectClose(y, e, 0);
  EXPECT_EQ(region->run({x.data(), y.data()}, {{"M", m}, {"K", 0}}), 0);
  EXPECT_EQ(y[0], -INFINITY);
}

TEST_P(Reduce, PositionsOfMaxima) {
  auto first = compile(overLast("argmax", "i64"));
  auto last = compile(overLast("argmax_last", "i64"));
  auto least = compile(overLast("argmin", "i64"));
  if (!first || !last || !least) {
    return;
  }
  std::vector<float> x = {1, 3, 2, 3, 0, 0, NAN, 1, 5, NAN, -1, -1, -1, -1, -1};
  std::vector<int64_t> y(3);
  std::map<std::string, int64_t> sizes = {{"M", 3}, {"K", 5}};
  EXPECT_EQ(first->run({x.data(), y.data()}, sizes), 0);
  EXPECT_EQ(y, (std::vector<int64_t>{1, 1, 0}));
  EXPECT_EQ(last->run({x.data(), y.data()}, sizes), 0);
  EXPECT_EQ(y, (std::vector<int64_t>{3, 4, 4}));
  EXPECT_EQ(least->run({x.data(), y.data()}, sizes), 0);
  EXPECT_EQ(y, (std::vector<int64_t>{4, 1, 0}));
}

TEST_P(Reduce, ColumnsWithAnEpilogue) {
  auto region = compile(R"(
    func.func @f(%x: tensor<9x70xf32>) {
      %r = tw.fused @r(%a = %x : tensor<9x70xf32>) {
        %s = tw.reduce add (%j) over (%k) in <[9]> {
          %v = tw.load %a[%k, %j] : tensor<9x70xf32> -> f32
          tw.yield %v : f32
        } : tensor<70xf32>
        %u = tw.map(%j) {
          %v = tw.load %s[%j] : tensor<70xf32> -> f32
          %z = arith.constant 0.0 : f32
          %t = arith.maximumf %v, %z : f32
          tw.yield %t : f32
        } : tensor<70xf32>
        tw.yield %u : tensor<70xf32>
      } : tensor<70xf32>
      return
    })");
  if (!region) {
    return;
  }
  std::vector<float> x = randomFloats(630, 3), y(70), e(70);
  for (int j = 0; j < 70; ++j) {
    double sum = 0;
    for (int k = 0; k < 9; ++k) {
      sum += x[k * 70 + j];
    }
    e[j] = std::max(sum, 0.0);
  }
  EXPECT_EQ(region->run({x.data(), y.data()}), 0);
  expectClose(y, e);
}

TEST_P(Reduce, MaxPoolWithGuards) {
  auto region = compile(R"(
    func.func @f(%x: tensor<2x9x21xf32>) {
      %r = tw.fused @pool(%a = %x : tensor<2x9x21xf32>) {
        %s = tw.reduce max (%c, %i, %j) over (%h, %w) in <[3, 3]> attributes {root = "pool"} {
          %one = arith.constant 1 : index
          %nine = arith.constant 9 : index
          %n = arith.constant 21 : index
          %v = arith.constant 0xFF800000 : f32
          %p0 = arith.addi %i, %h : index
          %p = arith.subi %p0, %one : index
          %q0 = arith.addi %j, %w : index
          %q = arith.subi %q0, %one : index
          %g0 = arith.cmpi ult, %p, %nine : index
          %g1 = arith.cmpi ult, %q, %n : index
          %g = arith.andi %g0, %g1 : i1
          %e = tw.load %a[%c, %p, %q] guard %g else %v : f32 : tensor<2x9x21xf32> -> f32
          tw.yield %e : f32
        } : tensor<2x9x21xf32>
        tw.yield %s : tensor<2x9x21xf32>
      } : tensor<2x9x21xf32>
      return
    })");
  if (!region) {
    return;
  }
  std::vector<float> x = randomFloats(378, 3), y(378), e(378, -INFINITY);
  for (int c = 0; c < 2; ++c) {
    for (int i = 0; i < 9; ++i) {
      for (int j = 0; j < 21; ++j) {
        for (int p = std::max(i - 1, 0); p <= std::min(i + 1, 8); ++p) {
          for (int q = std::max(j - 1, 0); q <= std::min(j + 1, 20); ++q) {
            float &to = e[(c * 9 + i) * 21 + j];
            to = std::max(to, x[(c * 9 + p) * 21 + q]);
          }
        }
      }
    }
  }
  EXPECT_EQ(region->run({x.data(), y.data()}), 0);
  EXPECT_EQ(y, e);
}

TEST_P(Reduce, IntegersAndTruthValues) {
  auto region = compile(R"(
    func.func @f(%x: tensor<5x33xui8>) {
      %r = tw.fused @r(%a = %x : tensor<5x33xui8>) {
        %s = tw.reduce max (%i) over (%k) in <[33]> {
          %v = tw.load %a[%i, %k] : tensor<5x33xui8> -> i8
          tw.yield %v : i8
        } : tensor<5xui8>
        tw.yield %s : tensor<5xui8>
      } : tensor<5xui8>
      return
    })");
  auto all = compile(R"(
    func.func @f(%x: tensor<5x33xi1>) {
      %r = tw.fused @r(%a = %x : tensor<5x33xi1>) {
        %s = tw.reduce and (%i) over (%k) in <[33]> {
          %v = tw.load %a[%i, %k] : tensor<5x33xi1> -> i1
          tw.yield %v : i1
        } : tensor<5xi1>
        tw.yield %s : tensor<5xi1>
      } : tensor<5xi1>
      return
    })");
  if (!region || !all) {
    return;
  }
  std::vector<uint8_t> x(165), y(5), e(5), z(5);
  for (int i = 0; i < 165; ++i) {
    x[i] = i * 37 % 251;
    e[i / 33] = std::max(e[i / 33], x[i]);
  }
  EXPECT_EQ(region->run({x.data(), y.data()}), 0);
  EXPECT_EQ(y, e);
  std::vector<uint8_t> flags(165, 1);
  flags[40] = 0;
  EXPECT_EQ(all->run({flags.data(), z.data()}), 0);
  EXPECT_EQ(z, (std::vector<uint8_t>{1, 0, 1, 1, 1}));
}
} // namespace
