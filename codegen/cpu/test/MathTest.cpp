//===- MathTest.cpp - accuracy of the elementary functions ----------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// Every function over a sample of all bit patterns against the C library, in
// double for f32 and in long double for f64. The bounds are those of
// math/Functions.h.
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/test/TestKernel.h"
#include "codegen/cpu/test/Ulp.h"

using namespace tilewright;
using namespace tilewright::test;

namespace {
using Exact = long double;

struct UnaryCase {
  const char *name;
  double (*inDouble)(double);
  Exact (*inLongDouble)(Exact);
  double bound32, bound64;
};

template <typename T> T rsqrtOf(T x) { return 1 / std::sqrt(x); }

#define TW_UNARY(op, function, bound32, bound64)                               \
  {#op, static_cast<double (*)(double)>(function),                             \
   static_cast<Exact (*)(Exact)>(function), bound32, bound64}
const UnaryCase unaryCases[] = {TW_UNARY(exp, std::exp, 2, 2),
                                TW_UNARY(exp2, std::exp2, 2, 2),
                                TW_UNARY(expm1, std::expm1, 3, 3),
                                TW_UNARY(log, std::log, 2, 2),
                                TW_UNARY(log2, std::log2, 1, 3),
                                TW_UNARY(log10, std::log10, 1, 3),
                                TW_UNARY(log1p, std::log1p, 1, 3),
                                TW_UNARY(tanh, std::tanh, 3, 4),
                                TW_UNARY(sinh, std::sinh, 1, 4),
                                TW_UNARY(cosh, std::cosh, 1, 4),
                                TW_UNARY(asinh, std::asinh, 1, 4),
                                TW_UNARY(acosh, std::acosh, 1, 4),
                                TW_UNARY(atanh, std::atanh, 1, 4),
                                TW_UNARY(sin, std::sin, 2, 3),
                                TW_UNARY(cos, std::cos, 2, 3),
                                TW_UNARY(tan, std::tan, 1, 4),
                                TW_UNARY(asin, std::asin, 1, 4),
                                TW_UNARY(acos, std::acos, 1, 4),
                                TW_UNARY(atan, std::atan, 1, 3),
                                TW_UNARY(erf, std::erf, 3, 3),
                                TW_UNARY(cbrt, std::cbrt, 1, 2),
                                TW_UNARY(rsqrt, rsqrtOf, 1.5, 1.5),
                                TW_UNARY(sqrt, std::sqrt, 0.5, 0.51),
                                TW_UNARY(floor, std::floor, 0, 0),
                                TW_UNARY(ceil, std::ceil, 0, 0),
                                TW_UNARY(trunc, std::trunc, 0, 0),
                                TW_UNARY(round, std::round, 0, 0),
                                TW_UNARY(roundeven, std::nearbyint, 0, 0),
                                TW_UNARY(absf, std::fabs, 0, 0)};

struct BinaryCase {
  const char *op;
  double (*inDouble)(double, double);
  Exact (*inLongDouble)(Exact, Exact);
  double bound32, bound64;
};
#define TW_BINARY(op, function, bound32, bound64)                              \
  {op, static_cast<double (*)(double, double)>(function),                      \
   static_cast<Exact (*)(Exact, Exact)>(function), bound32, bound64}
const BinaryCase binaryCases[] = {
    TW_BINARY("math.powf", std::pow, 1, 4),
    TW_BINARY("math.atan2", std::atan2, 1, 3),
    TW_BINARY("math.copysign", std::copysign, 0, 0),
    TW_BINARY("arith.remf", std::fmod, 0, 0)};

std::string operationName(std::string op) {
  std::replace(op.begin(), op.end(), '.', '_');
  return op;
}

/// A kernel that applies `op` to 16 elements at a time.
std::string mapKernel(const std::string &op, unsigned operands,
                      const std::string &type) {
  std::string vector = "vector<16x" + type + ">",
              memref = "memref<?x" + type + ">";
  std::string body = "  %step = arith.constant 16 : index\n"
                     "  scf.for %i = %begin to %end step %step {\n";
  std::string arguments;
  for (unsigned i = 0; i < operands; ++i) {
    std::string n = std::to_string(i);
    body += "    %x" + n + " = vector.load %b" + n + "[%i] : " + memref + ", " +
            vector + "\n";
    arguments += (i ? ", %x" : "%x") + n;
  }
  body += "    %y = " + op + " " + arguments + " : " + vector +
          "\n    vector.store %y, %b" + std::to_string(operands) +
          "[%i] : " + memref + ", " + vector + "\n  }\n";
  return kernelText(operationName(op) + "_" + type,
                    std::vector<std::string>(operands + 1, type), 0, body);
}

struct Worst {
  double error = 0;
  std::string where;
};

/// Evaluates `test` at `x`, a multiple of 16 values, and keeps the worst.
template <typename T>
void tryUnary(LoadedImage &image, const UnaryCase &test,
              const std::string &type, std::vector<T> x, Worst &worst) {
  std::vector<T> y(x.size());
  image.call("math_" + std::string(test.name) + "_" + type,
             {x.data(), y.data()}, {}, 0, x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    Exact exact =
        sizeof(T) == 4 ? Exact(test.inDouble(x[i])) : test.inLongDouble(x[i]);
    double error = ulpError(y[i], exact);
    if (error > worst.error) {
      worst = {error, testing::PrintToString(x[i]) + " gave " +
                          testing::PrintToString(y[i]) + ", expected " +
                          testing::PrintToString(double(exact))};
    }
  }
}

/// With TILEWRIGHT_MATH_STRIDE=N, every N-th of all bit patterns of f32 as
/// well; 1: each of them (scripts/check_math.sh).
void tryStride(LoadedImage &image, const UnaryCase &test, Worst &worst) {
  const char *text = getenv("TILEWRIGHT_MATH_STRIDE");
  uint64_t stride = text ? strtoull(text, nullptr, 10) : 0;
  constexpr uint64_t patterns = uint64_t(1) << 32, chunk = 1 << 20;
  for (uint64_t bits = 0; stride > 0 && bits < patterns;
       bits += chunk * stride) {
    std::vector<float> x(chunk, 1.0f);
    for (uint64_t i = 0; i < chunk && bits + i * stride < patterns; ++i) {
      uint32_t pattern = static_cast<uint32_t>(bits + i * stride);
      std::memcpy(&x[i], &pattern, sizeof pattern);
    }
    tryUnary<float>(image, test, "f32", std::move(x), worst);
  }
}

template <typename T>
void checkUnary(LoadedImage &image, const UnaryCase &test,
                const std::string &type) {
  static const std::vector<T> inputs =
      sampleValues<T>(sizeof(T) == 4 ? 400000 : 60000);
  Worst worst;
  tryUnary<T>(image, test, type, inputs, worst);
  if (sizeof(T) == 4) {
    tryStride(image, test, worst);
  }
  double bound = sizeof(T) == 4 ? test.bound32 : test.bound64;
  EXPECT_LE(worst.error, bound)
      << test.name << " " << type << " at " << worst.where;
  if (getenv("TILEWRIGHT_PRINT_ULP")) {
    printf("%-10s %s %.3f at %s\n", test.name, type.c_str(), worst.error,
           worst.where.c_str());
  }
}

template <typename T>
void checkBinary(LoadedImage &image, const BinaryCase &test,
                 const std::string &type) {
  std::vector<T> x, y;
  std::vector<T> special = specialValues<T>(), sample = sampleValues<T>(3000);
  for (T a : special) {
    for (T b : special) {
      x.push_back(a);
      y.push_back(b);
    }
  }
  for (size_t i = 0; i < sample.size(); ++i) {
    for (size_t k = 1; k < 40; ++k) {
      x.push_back(sample[i]);
      y.push_back(sample[(i * 37 + k * 101) % sample.size()]);
    }
  }
  // Ordinary numbers, where a power is neither 0 nor infinite.
  for (int i = 0; i < 100000; ++i) {
    x.push_back(T(1e-3 + (i * 7919 % 100003) * 1e-3));
    y.push_back(T((i * 104729 % 100003) * 1e-3 - 50));
  }
  x.resize(x.size() / 16 * 16);
  y.resize(x.size());
  std::vector<T> z(x.size());
  image.call(operationName(test.op) + "_" + type,
             {x.data(), y.data(), z.data()}, {}, 0, x.size());
  Worst worst;
  for (size_t i = 0; i < x.size(); ++i) {
    Exact exact = sizeof(T) == 4 ? Exact(test.inDouble(x[i], y[i]))
                                 : test.inLongDouble(x[i], y[i]);
    double error = ulpError(z[i], exact);
    if (error > worst.error) {
      worst = {error, testing::PrintToString(x[i]) + ", " +
                          testing::PrintToString(y[i]) + " gave " +
                          testing::PrintToString(z[i]) + ", expected " +
                          testing::PrintToString(double(exact))};
    }
  }
  double bound = sizeof(T) == 4 ? test.bound32 : test.bound64;
  EXPECT_LE(worst.error, bound)
      << test.op << " " << type << " at " << worst.where;
  if (getenv("TILEWRIGHT_PRINT_ULP")) {
    printf("%-10s %s %.3f at %s\n", test.op, type.c_str(), worst.error,
           worst.where.c_str());
  }
}

INSTANTIATE_TEST_SUITE_P(Math, EveryLevel, testing::ValuesIn(everyLevel()),
                         levelName);

TEST_P(EveryLevel, UnaryFunctionsKeepTheirBounds) {
  std::string text;
  for (const UnaryCase &test : unaryCases) {
    text += mapKernel(std::string("math.") + test.name, 1, "f32");
    text += mapKernel(std::string("math.") + test.name, 1, "f64");
  }
  auto image = load(text);
  if (!image) {
    return;
  }
  for (const UnaryCase &test : unaryCases) {
    checkUnary<float>(*image, test, "f32");
    checkUnary<double>(*image, test, "f64");
  }
}

TEST_P(EveryLevel, BinaryFunctionsKeepTheirBounds) {
  std::string text;
  for (const BinaryCase &test : binaryCases) {
    text += mapKernel(test.op, 2, "f32") + mapKernel(test.op, 2, "f64");
  }
  auto image = load(text);
  if (!image) {
    return;
  }
  for (const BinaryCase &test : binaryCases) {
    checkBinary<float>(*image, test, "f32");
    checkBinary<double>(*image, test, "f64");
  }
}
} // namespace
