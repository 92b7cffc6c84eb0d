//===- PointwiseTest.cpp - maps run -----------------------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "codegen/families/test/TestRegion.h"

using namespace tilewright;
using namespace tilewright::test;

namespace {
class Pointwise : public RegionTest {};
INSTANTIATE_TEST_SUITE_P(Families, Pointwise, testing::ValuesIn(everyVariant()),
                         variantName);

TEST_P(Pointwise, AddsWithEveryTail) {
  auto region = compile(R"(
    func.func @f(%x: tensor<?xf32, #tw.dims<[N]>>) {
      %r = tw.fused @add(%a = %x : tensor<?xf32, #tw.dims<[N]>>,
                         %b = %x : tensor<?xf32, #tw.dims<[N]>>) {
        %s = tw.map(%i) {
          %p = tw.load %a[%i] : tensor<?xf32, #tw.dims<[N]>> -> f32
          %q = tw.load %b[%i] : tensor<?xf32, #tw.dims<[N]>> -> f32
          %t = arith.addf %p, %q : f32
          tw.yield %t : f32
        } : tensor<?xf32, #tw.dims<[N]>>
        tw.yield %s : tensor<?xf32, #tw.dims<[N]>>
      } : tensor<?xf32, #tw.dims<[N]>>
      return
    })");
  if (!region) {
    return;
  }
  for (int n :
       {0, 1, 2, 3, 7, 8, 15, 16, 17, 31, 32, 33, 4095, 4096, 4097, 10000}) {
    std::vector<float> a = randomFloats(n, 1), b = randomFloats(n, 2),
                       y(n + 1, 7), e(n + 1, 7);
    for (int i = 0; i < n; ++i) {
      e[i] = a[i] + b[i];
    }
    EXPECT_EQ(region->run({a.data(), b.data(), y.data()}, {{"N", n}}), 0);
    EXPECT_EQ(y, e) << n;
  }
}

TEST_P(Pointwise, StreamsResultsBeyondTheCaches) {
  auto region = compile(R"(
    func.func @f(%x: tensor<?xf32, #tw.dims<[N]>>) {
      %r = tw.fused @add(%a = %x : tensor<?xf32, #tw.dims<[N]>>) {
        %s = tw.map(%i) {
          %p = tw.load %a[%i] : tensor<?xf32, #tw.dims<[N]>> -> f32
          %t = arith.addf %p, %p : f32
          tw.yield %t : f32
        } : tensor<?xf32, #tw.dims<[N]>>
        tw.yield %s : tensor<?xf32, #tw.dims<[N]>>
      } : tensor<?xf32, #tw.dims<[N]>>
      return
    })");
  if (!region) {
    return;
  }
  // Four times the third cache and a rest, at a whole vector and beside one.
  const int n = static_cast<int>(target().l3Bytes) + 5;
  std::vector<float> x = randomFloats(n, 1), y(n + 32, 7);
  auto *aligned = reinterpret_cast<float *>(
      (reinterpret_cast<uintptr_t>(y.data()) + 63) / 64 * 64);
  for (float *result : {aligned, aligned + 1}) {
    EXPECT_EQ(region->run({x.data(), result}, {{"N", n}}), 0);
    int wrong = 0;
    for (int i = 0; i < n; ++i) {
      wrong += result[i] != x[i] + x[i];
    }
    EXPECT_EQ(wrong, 0);
  }
  EXPECT_EQ(y.back(), 7);
}

TEST_P(Pointwise, BroadcastsAndKeepsTwoResults) {
  auto region = compile(R"(
    func.func @f(%x: tensor<3x5x19xf32>, %c: tensor<5xf32>) {
      %r:2 = tw.fused @r(%a = %x : tensor<3x5x19xf32>, %b = %c : tensor<5xf32>) {
        %s = tw.map(%i, %j, %k) {
          %p = tw.load %a[%i, %j, %k] : tensor<3x5x19xf32> -> f32
          %q = tw.load %b[%j] : tensor<5xf32> -> f32
          %t = arith.mulf %p, %q : f32
          tw.yield %t : f32
        } : tensor<3x5x19xf32>
        %u = tw.map(%i, %j, %k) {
          %p = tw.load %s[%i, %j, %k] : tensor<3x5x19xf32> -> f32
          %t = arith.addf %p, %p : f32
          tw.yield %t : f32
        } : tensor<3x5x19xf32>
        tw.yield %s, %u : tensor<3x5x19xf32>, tensor<3x5x19xf32>
      } : tensor<3x5x19xf32>, tensor<3x5x19xf32>
      return
    })");
  if (!region) {
    return;
  }
  std::vector<float> a = randomFloats(285, 1), c = randomFloats(5, 2), s(285),
                     u(285), e(285), d(285);
  for (int i = 0; i < 285; ++i) {
    e[i] = a[i] * c[i / 19 % 5];
    d[i] = 2 * e[i];
  }
  EXPECT_EQ(region->run({a.data(), c.data(), s.data(), u.data()}), 0);
  EXPECT_EQ(s, e);
  EXPECT_EQ(u, d);
}

TEST_P(Pointwise, Transposes) {
  auto region = compile(R"(
    func.func @f(%x: tensor<37x45xf32>) {
      %r = tw.fused @t(%a = %x : tensor<37x45xf32>) {
        %s = tw.map(%i, %j) {
          %p = tw.load %a[%j, %i] : tensor<37x45xf32> -> f32
          tw.yield %p : f32
        } : tensor<45x37xf32>
        tw.yield %s : tensor<45x37xf32>
      } : tensor<45x37xf32>
      return
    })");
  if (!region) {
    return;
  }
  std::vector<float> a = randomFloats(37 * 45, 1), y(37 * 45), e(37 * 45);
  for (int i = 0; i < 45; ++i) {
    for (int j = 0; j < 37; ++j) {
      e[i * 37 + j] = a[j * 45 + i];
    }
  }
  EXPECT_EQ(region->run({a.data(), y.data()}), 0);
  EXPECT_EQ(y, e);
}

TEST_P(Pointwise, PadsWithAGuard) {
  auto region = compile(R"(
    func.func @f(%x: tensor<2x5x21xf32>) {
      %r = tw.fused @pad(%a = %x : tensor<2x5x21xf32>) {
        %s = tw.map(%i, %j, %k) {
          %one = arith.constant 1 : index
          %five = arith.constant 5 : index
          %n = arith.constant 21 : index
          %v = arith.constant 9.0 : f32
          %h = arith.subi %j, %one : index
          %w = arith.subi %k, %one : index
          %g0 = arith.cmpi ult, %h, %five : index
          %g1 = arith.cmpi ult, %w, %n : index
          %g = arith.andi %g0, %g1 : i1
          %p = tw.load %a[%i, %h, %w] guard %g else %v : f32 : tensor<2x5x21xf32> -> f32
          tw.yield %p : f32
        } : tensor<2x7x23xf32>
        tw.yield %s : tensor<2x7x23xf32>
      } : tensor<2x7x23xf32>
      return
    })");
  if (!region) {
    return;
  }
  std::vector<float> a = randomFloats(210, 1), y(322), e(322, 9);
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 5; ++j) {
      for (int k = 0; k < 21; ++k) {
        e[(i * 7 + j + 1) * 23 + k + 1] = a[(i * 5 + j) * 21 + k];
      }
    }
  }
  EXPECT_EQ(region->run({a.data(), y.data()}), 0);
  EXPECT_EQ(y, e);
}

const char gatherText[] = R"(
    func.func @f(%t: tensor<10x19xf32>, %w: tensor<6xi64>) {
      %r = tw.fused @gather(%a = %t : tensor<10x19xf32>, %b = %w : tensor<6xi64>) {
        %s = tw.map(%i, %j) {
          %n = arith.constant 10 : index
          %p = tw.load %b[%i] : tensor<6xi64> -> i64
          %q = arith.index_cast %p : i64 to index
          %c = tw.clamp_index %q, %n
          %v = tw.load %a[%c, %j] : tensor<10x19xf32> -> f32
          tw.yield %v : f32
        } : tensor<6x19xf32>
        tw.yield %s : tensor<6x19xf32>
      } : tensor<6x19xf32>
      return
    })";

TEST_P(Pointwise, GathersRows) {
  auto region = compile(gatherText);
  if (!region) {
    return;
  }
  std::vector<float> t = randomFloats(190, 1), y(6 * 19), e(6 * 19);
  std::vector<int64_t> at = {3, 0, 9, 9, 1, 4};
  for (int i = 0; i < 6 * 19; ++i) {
    e[i] = t[at[i / 19] * 19 + i % 19];
  }
  EXPECT_EQ(region->run({t.data(), at.data(), y.data()}), 0);
  EXPECT_EQ(y, e);
  at[2] = 12;
  EXPECT_EQ(region->run({t.data(), at.data(), y.data()}), 1);
  EXPECT_EQ(y, e) << "clamped to the last row";
  at[2] = -100;
  EXPECT_EQ(region->run({t.data(), at.data(), y.data()}), 1);
}

TEST_P(Pointwise, GathersElements) {
  auto region = compile(R"(
    func.func @f(%t: tensor<10xf32>, %w: tensor<61xi32>) {
      %r = tw.fused @gather(%a = %t : tensor<10xf32>, %b = %w : tensor<61xi32>) {
        %s = tw.map(%i) {
          %n = arith.constant 10 : index
          %p = tw.load %b[%i] : tensor<61xi32> -> i32
          %q = arith.index_cast %p : i32 to index
          %c = tw.clamp_index %q, %n
          %v = tw.load %a[%c] : tensor<10xf32> -> f32
          tw.yield %v : f32
        } : tensor<61xf32>
        tw.yield %s : tensor<61xf32>
      } : tensor<61xf32>
      return
    })");
  if (!region) {
    return;
  }
  std::vector<float> t = randomFloats(10, 1), y(61), e(61);
  std::vector<int32_t> at(61);
  for (int i = 0; i < 61; ++i) {
    at[i] = i * 7 % 10;
    e[i] = t[at[i]];
  }
  EXPECT_EQ(region->run({t.data(), at.data(), y.data()}), 0);
  EXPECT_EQ(y, e);
  at[60] = 10;
  EXPECT_EQ(region->run({t.data(), at.data(), y.data()}), 1);
}

TEST_P(Pointwise, SplitsCoordinates) {
  // A depth-to-space like access: quotients and remainders of the lanes.
  auto region = compile(R"(
    func.func @f(%x: tensor<4x50xf32>) {
      %r = tw.fused @r(%a = %x : tensor<4x50xf32>) {
        %s = tw.map(%i) {
          %c = arith.constant 40 : index
          %q = arith.floordivsi %i, %c : index
          %m = arith.muli %q, %c : index
          %o = arith.subi %i, %m : index
          %v = tw.load %a[%q, %o] : tensor<4x50xf32> -> f32
          tw.yield %v : f32
        } : tensor<160xf32>
        tw.yield %s : tensor<160xf32>
      } : tensor<160xf32>
      return
    })");
  if (!region) {
    return;
  }
  std::vector<float> x = randomFloats(200, 1), y(160), e(160);
  for (int i = 0; i < 160; ++i) {
    e[i] = x[i / 40 * 50 + i % 40];
  }
  EXPECT_EQ(region->run({x.data(), y.data()}), 0);
  EXPECT_EQ(y, e);
}

TEST_P(Pointwise, ReadsASmallConstantAndAScalar) {
  auto region = compile(R"(
    func.func @f(%x: tensor<f32>) {
      %r = tw.fused @r(%a = %x : tensor<f32>) {
        %k = tw.constant tensor<3xf32> = dense<[1.0, 2.0, 4.0]>
        %s = tw.map(%i, %j) {
          %v = tw.load %a[] : tensor<f32> -> f32
          %c = tw.load %k[%j] : tensor<3xf32> -> f32
          %t = arith.mulf %v, %c : f32
          tw.yield %t : f32
        } : tensor<2x3xf32>
        tw.yield %s : tensor<2x3xf32>
      } : tensor<2x3xf32>
      return
    })");
  if (!region) {
    return;
  }
  std::vector<float> x = {3}, y(6);
  EXPECT_EQ(region->run({x.data(), y.data()}), 0);
  EXPECT_EQ(y, (std::vector<float>{3, 6, 12, 3, 6, 12}));
}
} // namespace
