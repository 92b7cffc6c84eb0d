//===- WideningTest.cpp - contractions that compute their factors ---------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "codegen/families/test/TestRegion.h"

using namespace tilewright;
using namespace tilewright::test;

namespace {
class Widening : public RegionTest {};
INSTANTIATE_TEST_SUITE_P(Families, Widening, testing::ValuesIn(everyVariant()),
                         variantName);

template <typename T> std::vector<T> randomBytes(size_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_int_distribution<int> distribution(0, 255);
  std::vector<T> values(count);
  for (T &value : values) {
    value = static_cast<T>(distribution(generator));
  }
  return values;
}

// (bytes - zero point) * scale of a column, times any number of rows.
TEST_P(Widening, DequantisesItsPanels) {
  const int n = 37, k = 29;
  auto region = compile(R"(
    func.func @f(%x: tensor<?x29xf32, #tw.dims<[M, 29]>>, %w: tensor<29x37xui8>, %s: tensor<37xf32>) {
      %r = tw.fused @mm(%a = %x : tensor<?x29xf32, #tw.dims<[M, 29]>>, %b = %w : tensor<29x37xui8>, %c = %s : tensor<37xf32>) {
        %y = tw.reduce add (%i, %j) over (%k) in <[29]> attributes {root = "matmul"} {
          %p = tw.load %a[%i, %k] : tensor<?x29xf32, #tw.dims<[M, 29]>> -> f32
          %q = tw.load %b[%k, %j] : tensor<29x37xui8> -> i8
          %e = arith.extui %q : i8 to i32
          %z = arith.constant 128 : i32
          %d = arith.subi %e, %z : i32
          %g = arith.sitofp %d : i32 to f32
          %h = tw.load %c[%j] : tensor<37xf32> -> f32
          %l = arith.mulf %g, %h : f32
          %t = arith.mulf %p, %l : f32
          tw.yield %t : f32
        } : tensor<?x37xf32, #tw.dims<[M, 37]>>
        tw.yield %y : tensor<?x37xf32, #tw.dims<[M, 37]>>
      } : tensor<?x37xf32, #tw.dims<[M, 37]>>
      return
    })");
  if (!region) {
    return;
  }
  for (int m : {1, 2, 5, 14, 31}) {
    std::vector<float> x = randomFloats(m * k, 1), s = randomFloats(n, 2),
                       y(m * n), e(m * n);
    std::vector<uint8_t> w = randomBytes<uint8_t>(k * n, 3);
    for (int i = 0; i < m * n; ++i) {
      double sum = 0;
      for (int p = 0; p < k; ++p) {
        sum += double(x[i / n * k + p]) * (w[p * n + i % n] - 128) * s[i % n];
      }
      e[i] = sum;
    }
    EXPECT_EQ(region->run({x.data(), w.data(), s.data(), y.data()}, {{"M", m}}),
              0);
    expectClose(y, e, 1e-4f);
  }
}

// A convolution of bytes minus a zero point, which is the padding too.
TEST_P(Widening, PadsWithTheZeroPoint) {
  const int size = 9, channels = 20, outputs = 35;
  auto region = compile(R"(
    func.func @f(%x: tensor<9x9x20xi8>, %w: tensor<3x3x20x35xi8>) {
      %r = tw.fused @conv(%a = %x : tensor<9x9x20xi8>, %b = %w : tensor<3x3x20x35xi8>) {
        %y = tw.reduce add (%i, %j, %m) over (%h, %v, %c) in <[3, 3, 20]> attributes {root = "conv"} {
          %one = arith.constant 1 : index
          %n = arith.constant 9 : index
          %pad = arith.constant -7 : i8
          %zp = arith.constant -7 : i32
          %i1 = arith.addi %i, %h : index
          %i2 = arith.subi %i1, %one : index
          %j1 = arith.addi %j, %v : index
          %j2 = arith.subi %j1, %one : index
          %g1 = arith.cmpi ult, %i2, %n : index
          %g2 = arith.cmpi ult, %j2, %n : index
          %g = arith.andi %g1, %g2 : i1
          %p = tw.load %a[%i2, %j2, %c] guard %g else %pad : i8 : tensor<9x9x20xi8> -> i8
          %p1 = arith.extsi %p : i8 to i32
          %p2 = arith.subi %p1, %zp : i32
          %q = tw.load %b[%h, %v, %c, %m] : tensor<3x3x20x35xi8> -> i8
          %q1 = arith.extsi %q : i8 to i32
          %t = arith.muli %p2, %q1 : i32
          tw.yield %t : i32
        } : tensor<9x9x35xi32>
        tw.yield %y : tensor<9x9x35xi32>
      } : tensor<9x9x35xi32>
      return
    })");
  if (!region) {
    return;
  }
  std::vector<int8_t> x = randomBytes<int8_t>(size * size * channels, 1),
                      w = randomBytes<int8_t>(9 * channels * outputs, 2);
  std::vector<int32_t> y(size * size * outputs), e(y.size());
  for (size_t at = 0; at < e.size(); ++at) {
    int m = at % outputs, j = at / outputs % size, i = at / outputs / size;
    for (int h = 0; h < 3; ++h) {
      for (int v = 0; v < 3; ++v) {
        int row = i + h - 1, column = j + v - 1;
        bool isInside = row >= 0 && row < size && column >= 0 && column < size;
        for (int c = 0; isInside && c < channels; ++c) {
          e[at] += (x[(row * size + column) * channels + c] + 7) *
                   w[((h * 3 + v) * channels + c) * outputs + m];
        }
      }
    }
  }
  EXPECT_EQ(region->run({x.data(), w.data(), y.data()}), 0);
  EXPECT_EQ(y, e);
}
} // namespace
