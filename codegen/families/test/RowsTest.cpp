//===- RowsTest.cpp - row regions run ---------------------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "codegen/families/test/TestRegion.h"

using namespace tilewright;
using namespace tilewright::test;

namespace {
class Rows : public RegionTest {};
INSTANTIATE_TEST_SUITE_P(Families, Rows, testing::ValuesIn(everyVariant()),
                         variantName);

// x - max is kept in a row buffer; the squares stand in for the exponentials,
// so that the test needs no math library.
TEST_P(Rows, SoftmaxLike) {
  auto region = compile(R"(
    func.func @f(%x: tensor<?x?xf32, #tw.dims<[M, N]>>) {
      %r:2 = tw.fused @softmax(%a = %x : tensor<?x?xf32, #tw.dims<[M, N]>>) attributes {rows = 1 : i64} {
        %m = tw.reduce max (%i) over (%k) in <[N]> {
          %v = tw.load %a[%i, %k] : tensor<?x?xf32, #tw.dims<[M, N]>> -> f32
          tw.yield %v : f32
        } : tensor<?xf32, #tw.dims<[M]>>
        %e = tw.map(%i, %k) {
          %v = tw.load %a[%i, %k] : tensor<?x?xf32, #tw.dims<[M, N]>> -> f32
          %w = tw.load %m[%i] : tensor<?xf32, #tw.dims<[M]>> -> f32
          %d = arith.subf %v, %w : f32
          %q = arith.mulf %d, %d : f32
          tw.yield %q : f32
        } : tensor<?x?xf32, #tw.dims<[M, N]>>
        %s = tw.reduce add (%i) over (%k) in <[N]> {
          %v = tw.load %e[%i, %k] : tensor<?x?xf32, #tw.dims<[M, N]>> -> f32
          tw.yield %v : f32
        } : tensor<?xf32, #tw.dims<[M]>>
        %h = tw.map(%i) {
          %v = tw.load %s[%i] : tensor<?xf32, #tw.dims<[M]>> -> f32
          %one = arith.constant 1.0 : f32
          %t = arith.addf %v, %one : f32
          tw.yield %t : f32
        } : tensor<?xf32, #tw.dims<[M]>>
        %y = tw.map(%i, %k) {
          %v = tw.load %e[%i, %k] : tensor<?x?xf32, #tw.dims<[M, N]>> -> f32
          %w = tw.load %h[%i] : tensor<?xf32, #tw.dims<[M]>> -> f32
          %d = arith.divf %v, %w : f32
          tw.yield %d : f32
        } : tensor<?x?xf32, #tw.dims<[M, N]>>
        tw.yield %y, %s : tensor<?x?xf32, #tw.dims<[M, N]>>, tensor<?xf32, #tw.dims<[M]>>
      } : tensor<?x?xf32, #tw.dims<[M, N]>>, tensor<?xf32, #tw.dims<[M]>>
      return
    })");
  if (!region) {
    return;
  }
  for (int n : {1, 3, 16, 17, 64, 100, 300}) {
    int m = 5;
    std::vector<float> x = randomFloats(m * n, n), y(m * n), s(m), e(m * n),
                       sums(m);
    for (int i = 0; i < m; ++i) {
      float greatest =
          *std::max_element(x.begin() + i * n, x.begin() + (i + 1) * n);
      double sum = 0;
      for (int j = 0; j < n; ++j) {
        float d = x[i * n + j] - greatest;
        e[i * n + j] = d * d;
        sum += d * d;
      }
      sums[i] = sum;
      for (int j = 0; j < n; ++j) {
        e[i * n + j] /= float(sum) + 1;
      }
    }
    EXPECT_EQ(region->run({x.data(), y.data(), s.data()}, {{"M", m}, {"N", n}}),
              0);
    expectClose(y, e);
    expectClose(s, sums);
  }
}

// A row of 2 N + 1 elements: its bytes are an expression of N alone.
TEST_P(Rows, RowBuffersWhoseSizeIsASum) {
  auto region = compile(R"(
    func.func @f(%x: tensor<3x?xf32, #tw.dims<[3, 2 * N + 1]>>) {
      %r = tw.fused @r(%a = %x : tensor<3x?xf32, #tw.dims<[3, 2 * N + 1]>>) attributes {rows = 1 : i64} {
        %e = tw.map(%i, %k) {
          %v = tw.load %a[%i, %k] : tensor<3x?xf32, #tw.dims<[3, 2 * N + 1]>> -> f32
          %d = arith.addf %v, %v : f32
          tw.yield %d : f32
        } : tensor<3x?xf32, #tw.dims<[3, 2 * N + 1]>>
        %h = tw.map(%i, %k) {
          %v = tw.load %a[%i, %k] : tensor<3x?xf32, #tw.dims<[3, 2 * N + 1]>> -> f32
          %d = arith.mulf %v, %v : f32
          tw.yield %d : f32
        } : tensor<3x?xf32, #tw.dims<[3, 2 * N + 1]>>
        %s = tw.reduce add (%i) over (%k) in <[2 * N + 1]> {
          %v = tw.load %e[%i, %k] : tensor<3x?xf32, #tw.dims<[3, 2 * N + 1]>> -> f32
          %w = tw.load %h[%i, %k] : tensor<3x?xf32, #tw.dims<[3, 2 * N + 1]>> -> f32
          %d = arith.addf %v, %w : f32
          tw.yield %d : f32
        } : tensor<3xf32>
        tw.yield %s : tensor<3xf32>
      } : tensor<3xf32>
      return
    })");
  if (!region) {
    return;
  }
  const int n = 41;
  std::vector<float> x = randomFloats(3 * n, 5), y(3), e(3);
  for (int i = 0; i < 3; ++i) {
    double sum = 0;
    for (int k = 0; k < n; ++k) {
      sum += 2 * x[i * n + k] + x[i * n + k] * x[i * n + k];
    }
    e[i] = sum;
  }
  EXPECT_EQ(region->run({x.data(), y.data()}, {{"N", 20}}), 0);
  expectClose(y, e);
}

TEST_P(Rows, NormOverTwoAxes) {
  auto region = compile(R"(
    func.func @f(%x: tensor<4x3x37xf32>, %g: tensor<3x37xf32>) {
      %r = tw.fused @norm(%a = %x : tensor<4x3x37xf32>, %b = %g : tensor<3x37xf32>)
          attributes {rows = 1 : i64} {
        %m = tw.reduce add (%i) over (%j, %k) in <[3, 37]> {
          %v = tw.load %a[%i, %j, %k] : tensor<4x3x37xf32> -> f32
          tw.yield %v : f32
        } : tensor<4xf32>
        %y = tw.map(%i, %j, %k) {
          %v = tw.load %a[%i, %j, %k] : tensor<4x3x37xf32> -> f32
          %w = tw.load %m[%i] : tensor<4xf32> -> f32
          %c = arith.constant 111.0 : f32
          %mean = arith.divf %w, %c : f32
          %d = arith.subf %v, %mean : f32
          %z = tw.load %b[%j, %k] : tensor<3x37xf32> -> f32
          %p = arith.mulf %d, %z : f32
          tw.yield %p : f32
        } : tensor<4x3x37xf32>
        tw.yield %y : tensor<4x3x37xf32>
      } : tensor<4x3x37xf32>
      return
    })");
  if (!region) {
    return;
  }
  std::vector<float> x = randomFloats(444, 1), g = randomFloats(111, 2), y(444),
                     e(444);
  for (int i = 0; i < 4; ++i) {
    double sum = 0;
    for (int j = 0; j < 111; ++j) {
      sum += x[i * 111 + j];
    }
    for (int j = 0; j < 111; ++j) {
      e[i * 111 + j] = (x[i * 111 + j] - sum / 111) * g[j];
    }
  }
  EXPECT_EQ(region->run({x.data(), g.data(), y.data()}), 0);
  expectClose(y, e);
}

// Rows that begin anywhere, more than the caches hold: their first elements go
// under a mask, and the rest in whole lines.
TEST_P(Rows, StreamsRowsOfAnyLength) {
  auto region = compile(R"(
    func.func @f(%x: tensor<?x?xf32, #tw.dims<[M, N]>>) {
      %r = tw.fused @rows(%a = %x : tensor<?x?xf32, #tw.dims<[M, N]>>) attributes {rows = 1 : i64} {
        %m = tw.reduce max (%i) over (%k) in <[N]> {
          %v = tw.load %a[%i, %k] : tensor<?x?xf32, #tw.dims<[M, N]>> -> f32
          tw.yield %v : f32
        } : tensor<?xf32, #tw.dims<[M]>>
        %y = tw.map(%i, %k) {
          %v = tw.load %a[%i, %k] : tensor<?x?xf32, #tw.dims<[M, N]>> -> f32
          %w = tw.load %m[%i] : tensor<?xf32, #tw.dims<[M]>> -> f32
          %d = arith.subf %v, %w : f32
          tw.yield %d : f32
        } : tensor<?x?xf32, #tw.dims<[M, N]>>
        tw.yield %y : tensor<?x?xf32, #tw.dims<[M, N]>>
      } : tensor<?x?xf32, #tw.dims<[M, N]>>
      return
    })");
  if (!region) {
    return;
  }
  for (int n : {1001, 520, 3}) {
    int m = static_cast<int>(target().l3Bytes) / n + 1;
    std::vector<float> x = randomFloats(m * n, 1), y(m * n + 32, 7);
    auto *result = reinterpret_cast<float *>(
        (reinterpret_cast<uintptr_t>(y.data()) + 63) / 64 * 64);
    EXPECT_EQ(region->run({x.data(), result}, {{"M", m}, {"N", n}}), 0);
    int wrong = 0;
    for (int i = 0; i < m; ++i) {
      const float *row = x.data() + i * n;
      float greatest = *std::max_element(row, row + n);
      for (int j = 0; j < n; ++j) {
        wrong += result[i * n + j] != row[j] - greatest;
      }
    }
    EXPECT_EQ(wrong, 0) << n;
    EXPECT_EQ(y.back(), 7);
  }
}
} // namespace
