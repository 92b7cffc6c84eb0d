//===- FloatTest.cpp - floating-point arithmetic ------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// Expected values come from the host's own arithmetic in other formats or
// rounding modes; for 16-bit formats from a search among all numbers.
//
//===----------------------------------------------------------------------===//

#include "targets/sim/test/Operation.h"

#include <algorithm>
#include <cfenv>

using namespace tilewright::sim;
using namespace tilewright::sim::test;

using u16 = uint16_t;
using u32 = uint32_t;
using u64 = uint64_t;
using O = const Operands &;
using Real = __float128;

static float f(u64 x) { return bits<float>(u32(x)); }
static double d(u64 x) { return bits<double>(x); }
static u64 canonical(float x) {
  return std::isnan(x) ? 0x7FFFFFFF : bits<u32>(x);
}

static void single(const std::string &lines, const Reference &expected) {
  check(lines, Kind::Word, combine(floatEdges()), expected);
}

/// NaN compares by being NaN: payloads in double precision are the host's.
static void twice(const std::string &lines,
                  const std::function<double(O)> &expected) {
  std::vector<Operands> operands = combine(doubleEdges());
  std::vector<u64> found = evaluate(lines, Kind::Long, operands);
  ASSERT_EQ(found.size(), operands.size());
  for (size_t i = 0; i < found.size(); ++i) {
    double want = expected(operands[i]);
    if (std::isnan(want)) {
      ASSERT_TRUE(std::isnan(d(found[i]))) << lines;
    } else {
      ASSERT_EQ(found[i], bits<u64>(want))
          << lines << " " << d(operands[i].a) << " " << d(operands[i].b);
    }
  }
}

/// Evaluates under a rounding mode of the host, out of the optimiser's sight.
template <typename T, typename F> static T rounded(int mode, F compute) {
  std::fesetround(mode);
  volatile T result = compute();
  std::fesetround(FE_TONEAREST);
  return result;
}

TEST(Float, SingleArithmetic) {
  single("add.f32 %d, %a, %b", [](O o) { return canonical(f(o.a) + f(o.b)); });
  single("sub.rn.f32 %d, %a, %b",
         [](O o) { return canonical(f(o.a) - f(o.b)); });
  single("mul.rn.f32 %d, %a, %b",
         [](O o) { return canonical(f(o.a) * f(o.b)); });
  single("fma.rn.f32 %d, %a, %b, %c",
         [](O o) { return canonical(std::fma(f(o.a), f(o.b), f(o.c))); });
  single("div.rn.f32 %d, %a, %b",
         [](O o) { return canonical(f(o.a) / f(o.b)); });
  single("sqrt.rn.f32 %d, %a",
         [](O o) { return canonical(std::sqrt(f(o.a))); });
  single("rcp.rn.f32 %d, %a", [](O o) { return canonical(1.0f / f(o.a)); });
  single("abs.f32 %d, %a", [](O o) { return o.a & 0x7FFFFFFF; });
  single("neg.f32 %d, %a", [](O o) { return u32(o.a) ^ 0x80000000; });
  single("copysign.f32 %d, %a, %b",
         [](O o) { return (o.a & 0x80000000) | (o.b & 0x7FFFFFFF); });
}

TEST(Float, SingleOtherRoundings) {
  const struct {
    const char *word;
    int mode;
  } modes[] = {{"rz", FE_TOWARDZERO}, {"rm", FE_DOWNWARD}, {"rp", FE_UPWARD}};
  for (const auto &m : modes) {
    std::string r = m.word;
    auto test = [&](const std::string &lines, float (*compute)(O)) {
      single(lines, [&](O o) {
        return canonical(rounded<float>(m.mode, [&] { return compute(o); }));
      });
    };
    test("add." + r + ".f32 %d, %a, %b", [](O o) {
      volatile float x = f(o.a), y = f(o.b);
      return x + y;
    });
    test("mul." + r + ".f32 %d, %a, %b", [](O o) {
      volatile float x = f(o.a), y = f(o.b);
      return x * y;
    });
    test("fma." + r + ".f32 %d, %a, %b, %c", [](O o) {
      volatile float x = f(o.a), y = f(o.b), z = f(o.c);
      return std::fma(x, y, z);
    });
    test("div." + r + ".f32 %d, %a, %b", [](O o) {
      volatile float x = f(o.a), y = f(o.b);
      return x / y;
    });
    test("sqrt." + r + ".f32 %d, %a", [](O o) {
      volatile float x = f(o.a);
      return std::sqrt(x);
    });
  }
}

TEST(Float, FlushAndSaturate) {
  auto flush = [](float x) {
    return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0f, x) : x;
  };
  single("add.ftz.f32 %d, %a, %b",
         [&](O o) { return canonical(flush(flush(f(o.a)) + flush(f(o.b)))); });
  single("mul.rn.ftz.f32 %d, %a, %b",
         [&](O o) { return canonical(flush(flush(f(o.a)) * flush(f(o.b)))); });
  single("add.sat.f32 %d, %a, %b", [](O o) {
    float x = f(o.a) + f(o.b);
    return bits<u32>(x > 0 ? std::min(x, 1.0f) : 0.0f);
  });
  single("fma.rn.ftz.sat.f32 %d, %a, %b, %c", [&](O o) {
    float x = flush(std::fma(flush(f(o.a)), flush(f(o.b)), flush(f(o.c))));
    return bits<u32>(x > 0 ? std::min(x, 1.0f) : 0.0f);
  });
}

template <typename T> static T smaller(T a, T b) {
  if (std::isnan(a)) {
    return b;
  }
  return std::isnan(b) ? a
         : a == b      ? (std::signbit(a) ? a : b)
                       : std::min(a, b);
}
template <typename T> static T larger(T a, T b) { return -smaller<T>(-a, -b); }

TEST(Float, MinimaAndMaxima) {
  single("min.f32 %d, %a, %b",
         [](O o) { return canonical(smaller(f(o.a), f(o.b))); });
  single("max.f32 %d, %a, %b",
         [](O o) { return canonical(larger(f(o.a), f(o.b))); });
  single("max.NaN.f32 %d, %a, %b", [](O o) {
    return std::isnan(f(o.a)) || std::isnan(f(o.b))
               ? 0x7FFFFFFF
               : canonical(larger(f(o.a), f(o.b)));
  });
  twice("min.f64 %D, %A, %B", [](O o) { return smaller(d(o.a), d(o.b)); });
  twice("max.f64 %D, %A, %B", [](O o) { return larger(d(o.a), d(o.b)); });
}

TEST(Float, DoubleArithmetic) {
  twice("add.f64 %D, %A, %B", [](O o) { return d(o.a) + d(o.b); });
  twice("sub.rn.f64 %D, %A, %B", [](O o) { return d(o.a) - d(o.b); });
  twice("mul.rn.f64 %D, %A, %B", [](O o) { return d(o.a) * d(o.b); });
  twice("fma.rn.f64 %D, %A, %B, %C",
        [](O o) { return std::fma(d(o.a), d(o.b), d(o.c)); });
  twice("div.rn.f64 %D, %A, %B", [](O o) { return d(o.a) / d(o.b); });
  twice("sqrt.rn.f64 %D, %A", [](O o) { return std::sqrt(d(o.a)); });
  twice("neg.f64 %D, %A", [](O o) { return -d(o.a); });
  twice("fma.rm.f64 %D, %A, %B, %C", [](O o) {
    return rounded<double>(FE_DOWNWARD, [&] {
      volatile double x = d(o.a), y = d(o.b), z = d(o.c);
      return std::fma(x, y, z);
    });
  });
}

namespace {
/// A 16-bit format: all its finite numbers, in order.
struct Narrow {
  unsigned fraction;
  unsigned exponentBits;
  std::vector<std::pair<double, u16>> numbers;

  Narrow(unsigned fraction, unsigned exponentBits)
      : fraction(fraction), exponentBits(exponentBits) {
    for (unsigned x = 0; x < infinity(); ++x) {
      numbers.push_back({value(u16(x)), u16(x)});
    }
  }
  unsigned infinity() const { return ((1u << exponentBits) - 1) << fraction; }
  double value(u16 x) const {
    unsigned exponent = (x & 0x7FFF) >> fraction;
    unsigned part = x & ((1u << fraction) - 1);
    int bias = (1 << (exponentBits - 1)) - 1;
    double magnitude;
    if (exponent == (1u << exponentBits) - 1) {
      magnitude = part ? NAN : INFINITY;
    } else if (exponent == 0) {
      magnitude = std::ldexp(double(part), 1 - bias - int(fraction));
    } else {
      magnitude = std::ldexp(double(part | 1u << fraction),
                             int(exponent) - bias - int(fraction));
    }
    return x & 0x8000 ? -magnitude : magnitude;
  }
  /// Nearest, ties to even; sign of zero from `negativeZero`.
  u16 round(Real x, bool negativeZero) const {
    if (x != x) {
      return 0x7FFF;
    }
    u16 sign = x < 0 || (x == 0 && negativeZero) ? 0x8000 : 0;
    Real magnitude = x < 0 ? -x : x;
    auto above = std::lower_bound(
        numbers.begin(), numbers.end(), magnitude,
        [](const auto &entry, Real v) { return Real(entry.first) < v; });
    if (above == numbers.begin()) {
      return sign;
    }
    auto below = above - 1;
    Real high = above == numbers.end()
                    ? Real(below->first) +
                          (Real(below->first) - Real((below - 1)->first))
                    : Real(above->first);
    u16 highBits = u16(below->second + 1);
    Real up = high - magnitude;
    Real down = magnitude - Real(below->first);
    bool goesUp = up < down || (up == down && (below->second & 1));
    return sign | (goesUp ? highBits : below->second);
  }
};
} // namespace

TEST(Float, HalfArithmetic) {
  Narrow half(10, 5);
  // neg keeps a NaN's payload; the search gives the canonical one, so leave
  // NaN to the other operations.
  std::vector<u64> edges;
  for (u64 x : halfEdges()) {
    if (!std::isnan(half.value(u16(x)))) {
      edges.push_back(x);
    }
  }
  std::vector<Operands> operands = combine(edges, 0);
  auto v = [&](u64 x) { return half.value(u16(x)); };
  check("fma.rn.f16 %dh, %ah, %bh, %ch", Kind::Short,
        combine(halfEdges(), 2000), [&](O o) -> u64 {
          double a = v(o.a), b = v(o.b), c = v(o.c);
          double host = a * b + c;
          if (std::isnan(host)) {
            return 0x7FFF;
          }
          if (std::isinf(host)) {
            return host < 0 ? 0xFC00 : 0x7C00;
          }
          return half.round(Real(a) * Real(b) + Real(c), std::signbit(host));
        });
  for (const char *op : {"add", "sub", "mul"}) {
    check(std::string(op) + ".f16 %dh, %ah, %bh", Kind::Short,
          combine(halfEdges(), 2000), [&](O o) -> u64 {
            double a = v(o.a), b = v(o.b);
            double host = *op == 'a' ? a + b : *op == 's' ? a - b : a * b;
            if (std::isnan(host)) {
              return 0x7FFF;
            }
            if (std::isinf(host)) {
              return host < 0 ? 0xFC00 : 0x7C00;
            }
            return half.round(host, std::signbit(host));
          });
  }
  check("neg.f16 %dh, %ah", Kind::Short, operands,
        [](O o) { return u16(o.a) ^ 0x8000; });
  check("abs.f16 %dh, %ah", Kind::Short, operands,
        [](O o) { return o.a & 0x7FFF; });
  check("max.f16 %dh, %ah, %bh", Kind::Short, operands, [&](O o) -> u64 {
    double a = v(o.a), b = v(o.b);
    return a == b ? (o.a & o.b) & 0xFFFF : (a > b ? o.a : o.b) & 0xFFFF;
  });
  check("min.NaN.f16 %dh, %ah, %bh", Kind::Short, combine(halfEdges(), 0),
        [&](O o) -> u64 {
          double a = v(o.a), b = v(o.b);
          return std::isnan(a) || std::isnan(b) ? 0x7FFF
                 : a == b                       ? (o.a | o.b) & 0xFFFF
                                                : (a < b ? o.a : o.b) & 0xFFFF;
        });
  check("fma.rn.relu.f16 %dh, %ah, %bh, %ch", Kind::Short, operands,
        [&](O o) -> u64 {
          double host = v(o.a) * v(o.b) + v(o.c);
          if (std::isnan(host)) {
            return 0x7FFF;
          }
          if (host <= 0) {
            return 0;
          }
          return std::isinf(host)
                     ? 0x7C00
                     : half.round(Real(v(o.a)) * Real(v(o.b)) + Real(v(o.c)),
                                  false);
        });
}

TEST(Float, BfloatArithmetic) {
  Narrow bfloat(7, 8);
  auto v = [&](u64 x) { return bfloat.value(u16(x)); };
  auto expect = [&](double host, Real exact) -> u64 {
    if (std::isnan(host)) {
      return 0x7FFF;
    }
    if (std::isinf(host)) {
      return host < 0 ? 0xFF80 : 0x7F80;
    }
    return bfloat.round(exact, std::signbit(host));
  };
  std::vector<Operands> operands = combine(bfloatEdges(), 2000);
  check("add.rn.bf16 %dh, %ah, %bh", Kind::Short, operands, [&](O o) {
    return expect(v(o.a) + v(o.b), Real(v(o.a)) + Real(v(o.b)));
  });
  check("mul.rn.bf16 %dh, %ah, %bh", Kind::Short, operands, [&](O o) {
    return expect(v(o.a) * v(o.b), Real(v(o.a)) * Real(v(o.b)));
  });
  // Sums that 113 bits hold; a tie that a far smaller number breaks.
  std::vector<Operands> close = {{0x3F81, 0x3F88, 0x2F80},
                                 {0x3F81, 0x3F88, 0xAF80},
                                 {0x3F81, 0x3F90, 0x1C00},
                                 {0x3FC1, 0x3FFF, 0x3F80}};
  for (unsigned i = 0; i < 2000; ++i) {
    close.push_back({0x3F00 + i * 7 % 256, 0x3F80 + i * 13 % 256,
                     (i * 31 % 0x4000) | 0x1000 | (i & 1) << 15});
  }
  check("fma.rn.bf16 %dh, %ah, %bh, %ch", Kind::Short, close, [&](O o) {
    return expect(v(o.a) * v(o.b) + v(o.c),
                  Real(v(o.a)) * Real(v(o.b)) + Real(v(o.c)));
  });
}

TEST(Float, PairsOfHalves) {
  std::vector<Operands> operands = combine(halfEdges(), 300);
  for (const std::string op : {"add.f16", "mul.f16", "max.f16", "sub.rn.f16"}) {
    std::vector<u64> pairs =
        evaluate(op + "x2 %d, %a, %b", Kind::Word, operands);
    std::vector<Operands> high = operands;
    for (Operands &o : high) {
      o = {o.a >> 16, o.b >> 16, 0};
    }
    std::vector<u64> low =
        evaluate(op + " %dh, %ah, %bh", Kind::Short, operands);
    std::vector<u64> upper = evaluate(op + " %dh, %ah, %bh", Kind::Short, high);
    for (size_t i = 0; i < pairs.size(); ++i) {
      ASSERT_EQ(pairs[i], low[i] | upper[i] << 16) << op;
    }
  }
  check("set.gt.f16x2.f16x2 %d, %a, %b", Kind::Word, operands, [](O o) {
    auto greater = [](u64 a, u64 b) {
      static const Narrow format(10, 5);
      return format.value(u16(a)) > format.value(u16(b));
    };
    return (greater(o.a, o.b) ? 0x3C00u : 0u) |
           (greater(o.a >> 16, o.b >> 16) ? 0x3C000000u : 0u);
  });
}

TEST(Float, Comparisons) {
  const struct {
    const char *word;
    bool (*holds)(double, double);
  } compares[] = {
      {"eq", [](double a, double b) { return a == b; }},
      {"ne", [](double a, double b) { return a < b || a > b; }},
      {"lt", [](double a, double b) { return a < b; }},
      {"ge", [](double a, double b) { return a >= b; }},
      {"equ", [](double a, double b) { return !(a < b || a > b); }},
      {"neu", [](double a, double b) { return !(a == b); }},
      {"ltu", [](double a, double b) { return !(a >= b); }},
      {"gtu", [](double a, double b) { return !(a <= b); }},
      {"num", [](double a, double b) { return a == a && b == b; }},
      {"nan", [](double a, double b) { return a != a || b != b; }},
  };
  for (const auto &c : compares) {
    std::string name = c.word;
    check("setp." + name + ".f32 %q, %a, %b", Kind::Predicate,
          combine(floatEdges()), [&](O o) { return c.holds(f(o.a), f(o.b)); });
    check("setp." + name + ".f64 %q, %A, %B", Kind::Predicate,
          combine(doubleEdges()), [&](O o) { return c.holds(d(o.a), d(o.b)); });
  }
  check("testp.finite.f32 %q, %a", Kind::Predicate, combine(floatEdges()),
        [](O o) { return std::isfinite(f(o.a)); });
  check("testp.infinite.f64 %q, %A", Kind::Predicate, combine(doubleEdges()),
        [](O o) { return std::isinf(d(o.a)); });
}

TEST(Float, Approximations) {
  auto test = [](const std::string &op, double (*function)(double)) {
    single(op + ".f32 %d, %a",
           [&](O o) { return canonical(float(function(f(o.a)))); });
  };
  test("ex2.approx", [](double x) { return std::exp2(x); });
  test("lg2.approx", [](double x) { return std::log2(x); });
  test("rcp.approx", [](double x) { return 1 / x; });
  test("rsqrt.approx", [](double x) { return 1 / std::sqrt(x); });
  test("sqrt.approx", [](double x) { return std::sqrt(x); });
  test("sin.approx", [](double x) { return std::sin(x); });
  test("cos.approx", [](double x) { return std::cos(x); });
  test("tanh.approx", [](double x) { return std::tanh(x); });
  // With a seed: not far off, but off, and the same each time.
  std::vector<Operands> operands;
  for (unsigned i = 0; i < 500; ++i) {
    operands.push_back({bits<u32>(0.01f * float(i + 1)), 0, 0});
  }
  ExecuteOptions options;
  options.approxSeed = 7;
  std::vector<u64> first = evaluate("ex2.approx.ftz.f32 %d, %a", Kind::Word,
                                    operands, true, &options);
  std::vector<u64> again = evaluate("ex2.approx.ftz.f32 %d, %a", Kind::Word,
                                    operands, true, &options);
  EXPECT_EQ(first, again);
  unsigned different = 0;
  for (size_t i = 0; i < operands.size(); ++i) {
    double exact = std::exp2(double(f(operands[i].a)));
    ASSERT_LE(std::fabs(f(first[i]) / exact - 1), 0x1p-22);
    different += f(first[i]) != float(exact);
  }
  EXPECT_GT(different, 100u);
}
