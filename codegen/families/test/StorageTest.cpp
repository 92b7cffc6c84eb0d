//===- StorageTest.cpp - elements narrower than what is computed -*- C++
//-*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "codegen/families/test/TestRegion.h"

using namespace tilewright;
using namespace tilewright::test;

namespace {
class Storage : public RegionTest {};
INSTANTIATE_TEST_SUITE_P(Families, Storage, testing::ValuesIn(everyVariant()),
                         variantName);

/// A map from tensor<NxFROM> to tensor<NxTO>, with `body` from %v to %t.
std::string mapText(int n, const std::string &from, const std::string &loaded,
                    const std::string &to, const std::string &yielded,
                    const std::string &body) {
  std::string in = "tensor<" + std::to_string(n) + "x" + from + ">";
  std::string out = "tensor<" + std::to_string(n) + "x" + to + ">";
  return "func.func @f(%x: " + in + ") {\n  %r = tw.fused @r(%a = %x : " + in +
         ") {\n    %s = tw.map(%i) {\n      %v = tw.load %a[%i] : " + in +
         " -> " + loaded + "\n" + body + "\n      tw.yield %t : " + yielded +
         "\n    } : " + out + "\n    tw.yield %s : " + out + "\n  } : " + out +
         "\n  return\n}";
}

TEST_P(Storage, Booleans) {
  auto region =
      compile(mapText(45, "i1", "i1", "i1", "i1",
                      "%c = arith.constant true\n%t = arith.xori %v, %c : i1"));
  if (!region) {
    return;
  }
  std::vector<uint8_t> x(45), y(45, 9), e(45);
  for (int i = 0; i < 45; ++i) {
    x[i] = i % 3 == 0;
    e[i] = !x[i];
  }
  EXPECT_EQ(region->run({x.data(), y.data()}), 0);
  EXPECT_EQ(y, e);
}

TEST_P(Storage, SlicesOfJoins) {
  // The operand lies in 2x4x5 from row 1 on, the result in 2x?x5 from row N on.
  auto region = compile(R"(
    func.func @f(%x: tensor<2x1x5xf32>, %y: tensor<2x3x5xf32>,
                 %z: tensor<2x?x5xf32, #tw.dims<[2, N, 5]>>) {
      %w = tw.join %x, %y axis 1
          : (tensor<2x1x5xf32>, tensor<2x3x5xf32>) -> tensor<2x4x5xf32>
      %r = tw.fused @r(%a = %y : tensor<2x3x5xf32>) {
        %s = tw.map(%i, %j, %k) {
          %v = tw.load %a[%i, %j, %k] : tensor<2x3x5xf32> -> f32
          %t = arith.negf %v : f32
          tw.yield %t : f32
        } : tensor<2x3x5xf32>
        tw.yield %s : tensor<2x3x5xf32>
      } : tensor<2x3x5xf32>
      %o = tw.join %z, %r axis 1
          : (tensor<2x?x5xf32, #tw.dims<[2, N, 5]>>, tensor<2x3x5xf32>)
            -> tensor<2x?x5xf32, #tw.dims<[2, N + 3, 5]>>
      return
    })");
  if (!region) {
    return;
  }
  constexpr int64_t n = 2;
  std::vector<float> x = randomFloats(2 * 4 * 5, 1);
  std::vector<float> y(2 * (n + 3) * 5, 7.0f), e(y);
  for (int64_t i = 0; i < 2; ++i) {
    for (int64_t j = 0; j < 3; ++j) {
      for (int64_t k = 0; k < 5; ++k) {
        e[(i * (n + 3) + j + n) * 5 + k] = -x[(i * 4 + j + 1) * 5 + k];
      }
    }
  }
  EXPECT_EQ(region->run({x.data(), y.data()}, {{"N", n}}), 0);
  EXPECT_EQ(y, e);
}

TEST_P(Storage, FourBitIntegers) {
  auto region = compile(mapText(45, "i4", "i4", "f32", "f32",
                                "%w = arith.extsi %v : i4 to i32\n"
                                "%t = arith.sitofp %w : i32 to f32"));
  if (!region) {
    return;
  }
  std::vector<int8_t> x(45);
  std::vector<float> y(45), e(45);
  for (int i = 0; i < 45; ++i) {
    e[i] = i % 16 - 8;
    x[i] = (i % 16 - 8) & (i % 2 ? 0xff : 0x0f); // sign-extended or not
  }
  EXPECT_EQ(region->run({x.data(), y.data()}), 0);
  EXPECT_EQ(y, e);
}

TEST_P(Storage, EightBitFloatsAreBits) {
  auto region = compile(mapText(45, "f8E4M3FN", "f8E4M3FN", "f32", "f32",
                                "%b = arith.bitcast %v : f8E4M3FN to i8\n"
                                "%w = arith.extui %b : i8 to i32\n"
                                "%t = arith.uitofp %w : i32 to f32"));
  auto copy = compile(
      mapText(45, "f8E5M2", "f8E5M2", "f8E5M2", "f8E5M2",
              "%c = arith.constant 1.0 : f8E5M2\n%g = arith.constant true\n"
              "%t = arith.select %g, %v, %c : f8E5M2"));
  if (!region || !copy) {
    return;
  }
  std::vector<uint8_t> x(45), z(45);
  std::vector<float> y(45), e(45);
  for (int i = 0; i < 45; ++i) {
    x[i] = i * 5;
    e[i] = i * 5;
  }
  EXPECT_EQ(region->run({x.data(), y.data()}), 0);
  EXPECT_EQ(y, e);
  EXPECT_EQ(copy->run({x.data(), z.data()}), 0);
  EXPECT_EQ(z, x);
}

TEST_P(Storage, HalfPrecisionIsMoved) {
  auto half = compile(
      mapText(45, "f16", "f16", "f16", "f16",
              "%c = arith.constant 1.0 : f16\n%g = arith.constant true\n"
              "%t = arith.select %g, %v, %c : f16"));
  auto brain = compile(mapText(45, "bf16", "bf16", "f32", "f32",
                               "%t = arith.extf %v : bf16 to f32"));
  if (!half || !brain) {
    return;
  }
  std::vector<uint16_t> x(45), y(45);
  std::vector<float> w(45), e(45);
  for (int i = 0; i < 45; ++i) {
    x[i] = 0x3f80 + i;
    uint32_t bits = uint32_t(x[i]) << 16;
    std::memcpy(&e[i], &bits, 4);
  }
  EXPECT_EQ(half->run({x.data(), y.data()}), 0);
  EXPECT_EQ(y, x);
  EXPECT_EQ(brain->run({x.data(), w.data()}), 0);
  EXPECT_EQ(w, e);
}

TEST_P(Storage, LongIntegersAndDoubles) {
  auto region = compile(mapText(45, "i64", "i64", "f64", "f64",
                                "%t = arith.sitofp %v : i64 to f64"));
  if (!region) {
    return;
  }
  std::vector<int64_t> x(45);
  std::vector<double> y(45), e(45);
  for (int i = 0; i < 45; ++i) {
    x[i] = (int64_t(i) - 20) * 1000000007;
    e[i] = x[i];
  }
  EXPECT_EQ(region->run({x.data(), y.data()}), 0);
  EXPECT_EQ(y, e);
}
} // namespace
