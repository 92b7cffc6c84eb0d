//===- DivisionTest.cpp - one divisor for all lanes -----------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// What a product with a reciprocal and its correction give must be, bit for
// bit, what the processor's division gives.
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/test/TestKernel.h"
#include "codegen/cpu/test/Ulp.h"

using namespace tilewright;
using namespace tilewright::test;

namespace {
INSTANTIATE_TEST_SUITE_P(Division, EveryLevel, testing::ValuesIn(everyLevel()),
                         levelName);

/// Divides b0 by `divisor`, a vector defined in `before`, into b1.
std::string divisionText(const std::string &before) {
  return kernelText("divide", {"f32", "f32", "f32"}, 0,
                    "  %step = arith.constant 16 : index\n"
                    "  %zero = arith.constant 0 : index\n" +
                        before + R"(
  scf.for %i = %begin to %end step %step {
    %x = vector.load %b0[%i] : memref<?xf32>, vector<16xf32>
    %y = arith.divf %x, %divisor : vector<16xf32>
    vector.store %y, %b1[%i] : memref<?xf32>, vector<16xf32>
  }
)");
}

/// A multiple of 16 values, none of which is so small that it or its remainder
/// counts as zero.
std::vector<float> dividends() {
  std::vector<float> values;
  for (float x : sampleValues<float>(200000)) {
    bool isSmall = x != 0 && std::abs(x) < 0x1p-36F;
    values.push_back(isSmall ? 1 / x : x);
  }
  values.resize(values.size() / 16 * 16);
  return values;
}

void checkQuotients(LoadedImage &image, const std::vector<float> &x,
                    float divisor) {
  std::vector<float> y(x.size()), divisors = {divisor};
  image.call("divide",
             {const_cast<float *>(x.data()), y.data(), divisors.data()}, {}, 0,
             x.size());
  int shown = 0;
  for (size_t i = 0; i < x.size() && shown < 3; ++i) {
    float expected = x[i] / divisor;
    bool isSmall = expected != 0 && std::abs(expected) < 0x1p-120F;
    if (!isSmall && ulpError(y[i], static_cast<long double>(expected)) != 0) {
      ADD_FAILURE() << x[i] << " / " << divisor << " gave " << y[i]
                    << ", expected " << expected;
      ++shown;
    }
  }
}

/// The exact value, with a point.
std::string textOf(float value) {
  char text[64];
  snprintf(text, sizeof text, "%.9e", value);
  return text;
}

TEST_P(EveryLevel, DividesByConstants) {
  std::vector<float> x = dividends();
  CpuOptions options;
  options.keepDenormals = false;
  for (float divisor :
       {6.0F, -3.0F, 1.41421356F, 255.0F, 0.1F, 1e-10F, 1e30F, 0x1.fffffep0F}) {
    auto image = load(divisionText("  %divisor = arith.constant dense<" +
                                   textOf(divisor) + "> : vector<16xf32>\n"),
                      options);
    if (!image) {
      return;
    }
    checkQuotients(*image, x, divisor);
  }
}

TEST_P(EveryLevel, DividesByAScalar) {
  CpuOptions options;
  options.keepDenormals = false;
  auto image = load(divisionText(R"(
  %d = memref.load %b2[%zero] : memref<?xf32>
  %divisor = vector.broadcast %d : f32 to vector<16xf32>
)"),
                    options);
  if (!image) {
    return;
  }
  std::vector<float> x = dividends();
  for (float divisor : {1.0F, 6.0F, -0.7F, 127.3F, 0x1.fffffep0F,
                        0x1.000002p-3F, 1e-15F, 1e-30F, 1e15F, 1e30F, 3e38F,
                        0.0F, -0.0F, std::numeric_limits<float>::infinity(),
                        std::numeric_limits<float>::quiet_NaN()}) {
    checkQuotients(*image, x, divisor);
  }
  std::vector<float> few(x.begin(), x.begin() + 1600);
  for (size_t i = 0; i < x.size(); i += x.size() / 300) {
    checkQuotients(*image, few, x[i]);
  }
}
} // namespace
