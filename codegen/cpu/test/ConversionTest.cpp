//===- ConversionTest.cpp - small floats, integer powers, fma -------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// Conversions against LLVM's APFloat: all values of f16 and bf16, and for
// rounding a sample of all bit patterns together with every midpoint between
// neighbours.
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/test/TestKernel.h"
#include "codegen/cpu/test/Ulp.h"

#include "llvm/ADT/APFloat.h"

using namespace tilewright;
using namespace tilewright::test;
using llvm::APFloat;
using llvm::APInt;

namespace {
const llvm::fltSemantics &semantics(bool isBf16) {
  return isBf16 ? APFloat::BFloat() : APFloat::IEEEhalf();
}

double valueOf(uint16_t bits, bool isBf16) {
  APFloat value(semantics(isBf16), APInt(16, bits));
  bool losesInfo = false;
  value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                &losesInfo);
  return value.convertToDouble();
}

uint16_t roundedBits(double x, bool isBf16) {
  APFloat value(x);
  bool losesInfo = false;
  value.convert(semantics(isBf16), APFloat::rmNearestTiesToEven, &losesInfo);
  return static_cast<uint16_t>(value.bitcastToAPInt().getZExtValue());
}

bool isNaNBits(uint16_t bits, bool isBf16) {
  return isBf16 ? (bits & 0x7fff) > 0x7f80 : (bits & 0x7fff) > 0x7c00;
}

/// A kernel that converts 16 elements at a time.
std::string castKernel(const std::string &op, const std::string &from,
                       const std::string &to) {
  return kernelText(from + "_" + to, {from, to}, 0,
                    "  %step = arith.constant 16 : index\n"
                    "  scf.for %i = %begin to %end step %step {\n"
                    "    %x = vector.load %b0[%i] : memref<?x" +
                        from + ">, vector<16x" + from + ">\n    %y = " + op +
                        " %x : vector<16x" + from + "> to vector<16x" + to +
                        ">\n    vector.store %y, %b1[%i] : memref<?x" + to +
                        ">, vector<16x" + to + ">\n  }\n");
}

/// Values around every number of the small type: it, the midpoint to the next
/// one, and the neighbours of both.
template <typename T> std::vector<T> roundingCases(bool isBf16) {
  std::vector<T> result = sampleValues<T>(200000);
  for (unsigned bits = 0; bits < 0x10000; ++bits) {
    T value = valueOf(bits, isBf16), next = valueOf(bits + 1, isBf16);
    T middle = value / 2 + next / 2;
    for (T x : {value, middle}) {
      result.push_back(x);
      result.push_back(std::nextafter(x, T(INFINITY)));
      result.push_back(std::nextafter(x, T(-INFINITY)));
    }
  }
  result.resize(result.size() / 16 * 16);
  return result;
}

template <typename T>
void checkRounding(LoadedImage &image, const std::string &from, bool isBf16) {
  std::string to = isBf16 ? "bf16" : "f16";
  std::vector<T> x = roundingCases<T>(isBf16);
  std::vector<uint16_t> y(x.size());
  image.call(from + "_" + to, {x.data(), y.data()}, {}, 0, x.size());
  int wrong = 0;
  for (size_t i = 0; i < x.size() && wrong < 5; ++i) {
    uint16_t expected = roundedBits(x[i], isBf16);
    bool isSame = std::isnan(x[i]) ? isNaNBits(y[i], isBf16) : y[i] == expected;
    EXPECT_TRUE(isSame) << from << " to " << to << " of "
                        << testing::PrintToString(x[i]) << " gave " << y[i]
                        << ", expected " << expected;
    wrong += !isSame;
  }
}

template <typename T>
void checkExtension(LoadedImage &image, const std::string &to, bool isBf16) {
  std::string from = isBf16 ? "bf16" : "f16";
  std::vector<uint16_t> x(0x10000);
  std::vector<T> y(x.size());
  for (unsigned i = 0; i < x.size(); ++i) {
    x[i] = i;
  }
  image.call(from + "_" + to, {x.data(), y.data()}, {}, 0, x.size());
  for (unsigned i = 0; i < x.size(); ++i) {
    ASSERT_EQ(ulpError(y[i], valueOf(i, isBf16)), 0)
        << from << " to " << to << " of bits " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Conversion, EveryLevel,
                         testing::ValuesIn(everyLevel()), levelName);

TEST_P(EveryLevel, SmallFloatsConvertExactlyRounded) {
  std::string text;
  for (const char *small : {"f16", "bf16"}) {
    for (const char *large : {"f32", "f64"}) {
      text += castKernel("arith.extf", small, large) +
              castKernel("arith.truncf", large, small);
    }
  }
  auto image = load(text);
  if (!image) {
    return;
  }
  for (bool isBf16 : {false, true}) {
    checkExtension<float>(*image, "f32", isBf16);
    checkExtension<double>(*image, "f64", isBf16);
    checkRounding<float>(*image, "f32", isBf16);
    checkRounding<double>(*image, "f64", isBf16);
  }
}

TEST_P(EveryLevel, SmallFloatArithmeticIsRoundedFromF32) {
  auto image =
      load(kernelText("half", {"f16", "bf16", "f16", "bf16", "i32"}, 0, R"(
  %one = arith.constant 1 : index
  scf.for %i = %begin to %end step %one {
    %a = memref.load %b0[%i] : memref<?xf16>
    %b = math.exp %a : f16
    %c = arith.addf %a, %b : f16
    memref.store %c, %b2[%i] : memref<?xf16>
    %d = memref.load %b1[%i] : memref<?xbf16>
    %e = memref.load %b4[%i] : memref<?xi32>
    %f = arith.sitofp %e : i32 to bf16
    %less = arith.cmpf olt, %d, %f : bf16
    %g = arith.select %less, %d, %f : bf16
    %h = arith.negf %g : bf16
    memref.store %h, %b3[%i] : memref<?xbf16>
  }
)"));
  if (!image) {
    return;
  }
  std::vector<uint16_t> a, d, c(64), h(64);
  std::vector<int32_t> e;
  for (int i = 0; i < 64; ++i) {
    a.push_back(roundedBits(i * 0.17 - 5, false));
    d.push_back(roundedBits(i * 1000.0 - 30000, true));
    e.push_back((1 << 24) + 65537 * (i - 32) * 300);
  }
  image->call("half", {a.data(), d.data(), c.data(), h.data(), e.data()}, {}, 0,
              64);
  for (int i = 0; i < 64; ++i) {
    float x = valueOf(a[i], false);
    uint16_t power = roundedBits(std::exp(double(x)), false);
    EXPECT_EQ(c[i], roundedBits(float(x + valueOf(power, false)), false)) << i;
    double smaller =
        std::min(valueOf(d[i], true), valueOf(roundedBits(e[i], true), true));
    EXPECT_EQ(h[i], roundedBits(-smaller, true)) << i;
  }
}

TEST_P(EveryLevel, FusedMultiplyAddIsExactInF32) {
  auto image = load(kernelText("fma", {"f32", "f32", "f32", "f32"}, 0, R"(
  %step = arith.constant 16 : index
  scf.for %i = %begin to %end step %step {
    %a = vector.load %b0[%i] : memref<?xf32>, vector<16xf32>
    %b = vector.load %b1[%i] : memref<?xf32>, vector<16xf32>
    %c = vector.load %b2[%i] : memref<?xf32>, vector<16xf32>
    %d = math.fma %a, %b, %c : vector<16xf32>
    vector.store %d, %b3[%i] : memref<?xf32>, vector<16xf32>
  }
)"));
  if (!image) {
    return;
  }
  std::vector<float> sample = sampleValues<float>(4000), a, b, c;
  for (size_t i = 0; i < 200000; ++i) {
    a.push_back(sample[i * 7 % sample.size()]);
    b.push_back(sample[i * 1001 % sample.size()]);
    // Sums that cancel nearly are the hard ones.
    c.push_back(i % 2 ? -a.back() * b.back() * 1.0000001f
                      : sample[i * 31 % sample.size()]);
  }
  std::vector<float> d(a.size());
  image->call("fma", {a.data(), b.data(), c.data(), d.data()}, {}, 0, a.size());
  for (size_t i = 0; i < a.size(); ++i) {
    float expected = std::fma(a[i], b[i], c[i]);
    ASSERT_EQ(ulpError(d[i], static_cast<long double>(expected)), 0)
        << testing::PrintToString(a[i]) << " " << testing::PrintToString(b[i])
        << " " << testing::PrintToString(c[i]);
  }
}

TEST_P(EveryLevel, IntegerPowers) {
  auto image = load(
      kernelText("power", {"i64", "i64", "i64", "f32", "f32", "i32"}, 0, R"(
  %step = arith.constant 8 : index
  scf.for %i = %begin to %end step %step {
    %a = vector.load %b0[%i] : memref<?xi64>, vector<8xi64>
    %b = vector.load %b1[%i] : memref<?xi64>, vector<8xi64>
    %c = math.ipowi %a, %b : vector<8xi64>
    vector.store %c, %b2[%i] : memref<?xi64>, vector<8xi64>
    %x = vector.load %b3[%i] : memref<?xf32>, vector<8xf32>
    %n = vector.load %b5[%i] : memref<?xi32>, vector<8xi32>
    %y = math.fpowi %x, %n : vector<8xf32>, vector<8xi32>
    vector.store %y, %b4[%i] : memref<?xf32>, vector<8xf32>
  }
)"));
  if (!image) {
    return;
  }
  std::vector<int64_t> a = {2, -3, 0, 1, -1, -1, 7, 10},
                       b = {10, 3, 0, -5, -5, -4, -2, 18}, c(8);
  std::vector<float> x = {2, -3, 0, 1, -1, 0.5, 7, 10}, y(8);
  std::vector<int32_t> n = {10, 3, 0, -5, -5, -4, -2, 9};
  image->call("power",
              {a.data(), b.data(), c.data(), x.data(), y.data(), n.data()}, {},
              0, 8);
  EXPECT_EQ(c, (std::vector<int64_t>{1024, -27, 1, 1, -1, 1, 0,
                                     1000000000000000000}));
  for (int i = 0; i < 8; ++i) {
    EXPECT_EQ(y[i], static_cast<float>(std::pow(double(x[i]), n[i]))) << i;
  }
}

TEST_P(EveryLevel, FunctionsOfVectorsOfAnyShape) {
  auto image = load(kernelText("shapes", {"f32", "f32"}, 0, R"(
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  %odd = vector.load %b0[%c1] : memref<?xf32>, vector<6xf32>
  %shaped = vector.shape_cast %odd : vector<6xf32> to vector<2x3xf32>
  %exp = math.exp %shaped : vector<2x3xf32>
  %small = arith.truncf %exp : vector<2x3xf32> to vector<2x3xbf16>
  %back = arith.extf %small : vector<2x3xbf16> to vector<2x3xf32>
  %sine = math.sin %back : vector<2x3xf32>
  %flat = vector.shape_cast %sine : vector<2x3xf32> to vector<6xf32>
  vector.store %flat, %b1[%c1] : memref<?xf32>, vector<6xf32>
  %scalar = memref.load %b0[%c0] : memref<?xf32>
  %tanh = math.tanh %scalar : f32
  memref.store %tanh, %b1[%c0] : memref<?xf32>
  %large = memref.load %b0[%c7] : memref<?xf32>
  %cosine = math.cos %large : f32
  memref.store %cosine, %b1[%c7] : memref<?xf32>
)"));
  if (!image) {
    return;
  }
  std::vector<float> x = {0.3, -1, 2, 0.5, 0, 1, 4, 1e30f}, y(8);
  image->call("shapes", {x.data(), y.data()}, {}, 0, 1);
  EXPECT_LE(ulpError(y[0], std::tanh(double(x[0]))), 3);
  EXPECT_LE(ulpError(y[7], std::cos(double(x[7]))), 2);
  for (int i = 1; i < 7; ++i) {
    double rounded = valueOf(roundedBits(std::exp(double(x[i])), true), true);
    EXPECT_LE(ulpError(y[i], std::sin(rounded)), 2) << i;
  }
}
} // namespace
