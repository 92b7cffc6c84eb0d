//===- ConvertTest.cpp - conversions ------------------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "targets/sim/test/Operation.h"

#include <limits>

using namespace tilewright::sim::test;

using u8 = uint8_t;
using u16 = uint16_t;
using u32 = uint32_t;
using u64 = uint64_t;
using s64 = int64_t;
using O = const Operands &;
__extension__ typedef __int128 s128;

static float f(u64 x) { return bits<float>(u32(x)); }
static double d(u64 x) { return bits<double>(x); }

/// A float's integer value after rounding, saturated as PTX says.
template <typename D> static u64 saturated(double x, bool wideSource) {
  if (std::isnan(x)) {
    return wideSource || sizeof(D) == 8
               ? u64(std::make_unsigned_t<D>(1) << (sizeof(D) * 8 - 1))
               : 0;
  }
  if (x >= std::ldexp(1.0, std::numeric_limits<D>::digits)) {
    return u64(std::numeric_limits<D>::max());
  }
  if (x <= double(std::numeric_limits<D>::min())) {
    return u64(std::numeric_limits<D>::min());
  }
  return u64(D(x));
}

TEST(Convert, IntegersToIntegers) {
  std::vector<Operands> operands = combine(integerEdges());
  auto test = [&](const std::string &lines, Kind kind, const Reference &want) {
    check(lines, kind, operands, want);
  };
  test("cvt.s64.s32 %D, %a", Kind::Long, [](O o) { return u64(int32_t(o.a)); });
  test("cvt.u64.u32 %D, %a", Kind::Long, [](O o) { return u64(u32(o.a)); });
  test("cvt.u32.u64 %d, %A", Kind::Word, [](O o) { return u32(o.a); });
  test("cvt.s32.s8 %d, %a", Kind::Word, [](O o) { return u32(int8_t(o.a)); });
  test("cvt.u32.u8 %d, %ah", Kind::Word, [](O o) { return u8(o.a); });
  test("cvt.s64.s8 %D, %ah", Kind::Long, [](O o) { return u64(int8_t(o.a)); });
  test("cvt.u16.u8 %dh, %ah", Kind::Short, [](O o) { return u8(o.a); });
  test("cvt.s16.s8 %dh, %a", Kind::Short, [](O o) { return u16(int8_t(o.a)); });
  test("cvt.u8.u32 %d, %a", Kind::Word, [](O o) { return u8(o.a); });
  test("cvt.s8.s32 %d, %a", Kind::Word, [](O o) { return u32(int8_t(o.a)); });
  test("cvt.s32.s16 %d, %ah", Kind::Word,
       [](O o) { return u32(int16_t(o.a)); });
  test("cvt.sat.u8.s32 %d, %a", Kind::Word,
       [](O o) { return u32(std::min(255, std::max(0, int32_t(o.a)))); });
  test("cvt.sat.s8.s64 %d, %A", Kind::Word, [](O o) {
    return u32(std::min<s64>(127, std::max<s64>(-128, s64(o.a))));
  });
  test("cvt.sat.s32.u64 %d, %A", Kind::Word,
       [](O o) { return u32(std::min<u64>(o.a, INT32_MAX)); });
  test("cvt.sat.u32.s64 %d, %A", Kind::Word, [](O o) {
    return u32(std::min<s64>(UINT32_MAX, std::max<s64>(0, s64(o.a))));
  });
}

TEST(Convert, FloatsToIntegers) {
  const struct {
    const char *word;
    double (*round)(double);
  } modes[] = {{"rni", [](double x) { return std::nearbyint(x); }},
               {"rzi", [](double x) { return std::trunc(x); }},
               {"rmi", [](double x) { return std::floor(x); }},
               {"rpi", [](double x) { return std::ceil(x); }}};
  std::vector<Operands> singles = combine(floatEdges());
  std::vector<Operands> doubles = combine(doubleEdges());
  for (int i = -300; i < 300; ++i) {
    singles.push_back({bits<u32>(float(i) * 0.25f), 0, 0});
    doubles.push_back({bits<u64>(i * 0.25), 0, 0});
  }
  for (const auto &m : modes) {
    std::string r = m.word;
    check("cvt." + r + ".s32.f32 %d, %a", Kind::Word, singles,
          [&](O o) { return u32(saturated<int32_t>(m.round(f(o.a)), false)); });
    check("cvt." + r + ".u32.f32 %d, %a", Kind::Word, singles,
          [&](O o) { return u32(saturated<u32>(m.round(f(o.a)), false)); });
    check("cvt." + r + ".s64.f32 %D, %a", Kind::Long, singles,
          [&](O o) { return saturated<s64>(m.round(f(o.a)), false); });
    check("cvt." + r + ".u64.f64 %D, %A", Kind::Long, doubles,
          [&](O o) { return saturated<u64>(m.round(d(o.a)), true); });
    check("cvt." + r + ".s32.f64 %d, %A", Kind::Word, doubles,
          [&](O o) { return u32(saturated<int32_t>(m.round(d(o.a)), true)); });
    check("cvt." + r + ".u8.f32 %d, %a", Kind::Word, singles,
          [&](O o) { return saturated<u8>(m.round(f(o.a)), false); });
    check("cvt." + r + ".s8.f32 %d, %a", Kind::Word, singles,
          [&](O o) { return u32(saturated<int8_t>(m.round(f(o.a)), false)); });
    check("cvt." + r + ".f32.f32 %d, %a", Kind::Word, singles, [&](O o) -> u64 {
      float x = f(o.a);
      return std::isnan(x) ? 0x7FFFFFFF : bits<u32>(float(m.round(x)));
    });
    check("cvt." + r + ".s16.f16 %dh, %ah", Kind::Short, combine(halfEdges()),
          [&](O o) {
            return u16(saturated<int16_t>(
                m.round(double(bits<_Float16>(u16(o.a)))), false));
          });
  }
}

TEST(Convert, IntegersToFloats) {
  std::vector<Operands> operands = combine(integerEdges());
  check("cvt.rn.f32.s32 %d, %a", Kind::Word, operands,
        [](O o) { return bits<u32>(float(int32_t(o.a))); });
  check("cvt.rn.f32.u64 %d, %A", Kind::Word, operands,
        [](O o) { return bits<u32>(float(o.a)); });
  check("cvt.rn.f64.s64 %D, %A", Kind::Long, operands,
        [](O o) { return bits<u64>(double(s64(o.a))); });
  check("cvt.rz.f32.s32 %d, %a", Kind::Word, operands, [](O o) {
    double exact = double(int32_t(o.a));
    float x = float(exact);
    if (std::fabs(double(x)) > std::fabs(exact)) {
      x = std::nextafter(x, 0.0f);
    }
    return bits<u32>(x);
  });
  check("cvt.rp.f32.u32 %d, %a", Kind::Word, operands, [](O o) {
    double exact = double(u32(o.a));
    float x = float(exact);
    return bits<u32>(double(x) < exact ? std::nextafter(x, INFINITY) : x);
  });
  check("cvt.rn.f16.s32 %dh, %a", Kind::Short, operands,
        [](O o) { return bits<u16>(_Float16(double(int32_t(o.a)))); });
  check("cvt.rn.f32.u8 %d, %ah", Kind::Word, operands,
        [](O o) { return bits<u32>(float(u8(o.a))); });
  check("cvt.rn.bf16.s32 %dh, %a", Kind::Short,
        combine({0, 1, 257, 258, 259, 16777217, 0x80000000, 0x7FFFFFFF}, 0),
        [](O o) -> u64 {
          // 8 bits of precision, ties to even.
          int64_t x = int32_t(o.a);
          uint64_t m = uint64_t(x < 0 ? -x : x);
          unsigned shift = m ? std::max(0, 56 - __builtin_clzll(m)) : 0;
          uint64_t kept = m >> shift;
          uint64_t rest = m - (kept << shift);
          uint64_t half = shift ? uint64_t(1) << (shift - 1) : 1;
          kept += rest > half || (rest == half && (kept & 1) && shift);
          float y = float(kept << shift);
          return bits<u32>(x < 0 ? -y : y) >> 16;
        });
}

TEST(Convert, BetweenFloats) {
  std::vector<Operands> singles = combine(floatEdges(), 2000);
  std::vector<Operands> doubles = combine(doubleEdges(), 2000);
  for (unsigned i = 0; i < 3000; ++i) {
    // Around the range of f16, with ties.
    singles.push_back({0x33000000 + u64(i) * 0x3FF00, 0, 0});
    singles.push_back({0x38000FFF + u64(i % 3) + u64(i) * 0x2000, 0, 0});
    doubles.push_back(
        {bits<u64>(double(f(0x33000000 + i * 0x3FF00)) + (i % 2 ? 1e-30 : 0)),
         0, 0});
  }
  check("cvt.rn.f16.f32 %dh, %a", Kind::Short, singles, [](O o) -> u64 {
    float x = f(o.a);
    return std::isnan(x) ? 0x7FFF : bits<u16>(_Float16(x));
  });
  check("cvt.f32.f16 %d, %ah", Kind::Word, combine(halfEdges(), 3000),
        [](O o) -> u64 {
          float x = float(bits<_Float16>(u16(o.a)));
          return std::isnan(x) ? 0x7FFFFFFF : bits<u32>(x);
        });
  check("cvt.rn.f16.f64 %dh, %A", Kind::Short, doubles, [](O o) -> u64 {
    double x = d(o.a);
    return std::isnan(x) ? 0x7FFF : bits<u16>(_Float16(x));
  });
  check("cvt.rn.f32.f64 %d, %A", Kind::Word, doubles, [](O o) -> u64 {
    float x = float(d(o.a));
    return std::isnan(x) ? 0x7FFFFFFF : bits<u32>(x);
  });
  check("cvt.rz.f32.f64 %d, %A", Kind::Word, doubles, [](O o) -> u64 {
    double exact = d(o.a);
    if (std::isnan(exact)) {
      return 0x7FFFFFFF;
    }
    float x = float(exact);
    if (std::fabs(double(x)) > std::fabs(exact)) {
      x = std::nextafter(x, 0.0f);
    }
    return bits<u32>(x);
  });
  check("cvt.rn.bf16.f32 %dh, %a", Kind::Short, singles, [](O o) -> u64 {
    float x = f(o.a);
    if (std::isnan(x)) {
      return 0x7FFF;
    }
    u32 below = u32(o.a) >> 16;
    u32 rest = u32(o.a) & 0xFFFF;
    return below + (rest > 0x8000 || (rest == 0x8000 && (below & 1)));
  });
  check("cvt.rz.bf16.f32 %dh, %a", Kind::Short, singles, [](O o) -> u64 {
    return std::isnan(f(o.a)) ? 0x7FFF : u32(o.a) >> 16;
  });
  check("cvt.f32.bf16 %d, %ah", Kind::Word, combine(bfloatEdges(), 100),
        [](O o) -> u64 {
          u32 wide = u32(u16(o.a)) << 16;
          return std::isnan(f(wide)) ? 0x7FFFFFFF : wide;
        });
  check("cvt.sat.f32.f32 %d, %a", Kind::Word, singles, [](O o) -> u64 {
    float x = f(o.a);
    return bits<u32>(x > 0 ? std::min(x, 1.0f) : 0.0f);
  });
  check("cvt.rna.tf32.f32 %d, %a", Kind::Word, singles, [](O o) -> u64 {
    float x = f(o.a);
    if (std::isnan(x)) {
      return 0x7FFFFFFF;
    }
    return std::isinf(x) ? u32(o.a) : (u32(o.a) + 0x1000) & 0xFFFFE000;
  });
}

TEST(Convert, Pairs) {
  std::vector<Operands> operands = combine(floatEdges(), 1000);
  auto half = [](u64 x) -> u64 {
    return std::isnan(f(x)) ? 0x7FFF : bits<u16>(_Float16(f(x)));
  };
  check("cvt.rn.f16x2.f32 %d, %a, %b", Kind::Word, operands,
        [&](O o) { return half(o.a) << 16 | half(o.b); });
  check("cvt.rn.relu.f16x2.f32 %d, %a, %b", Kind::Word, operands, [&](O o) {
    auto relu = [&](u64 x) { return f(x) <= 0 ? 0 : half(x); };
    return relu(o.a) << 16 | relu(o.b);
  });
  // All e4m3 and e5m2 numbers to f16 and back.
  std::vector<Operands> eights;
  for (u64 x = 0; x < 256; ++x) {
    eights.push_back({x | (255 - x) << 8, 0, 0});
  }
  auto value = [](u64 x, unsigned fraction, int bias, bool hasInfinity) {
    unsigned part = x & ((1u << fraction) - 1);
    unsigned exponent = (x & 0x7F) >> fraction;
    unsigned highest = 0x7F >> fraction;
    double magnitude = exponent == 0
                           ? std::ldexp(double(part), 1 - bias - int(fraction))
                           : std::ldexp(double(part + (1u << fraction)),
                                        int(exponent) - bias - int(fraction));
    if (hasInfinity && exponent == highest) {
      magnitude = part ? NAN : INFINITY;
    } else if (!hasInfinity && (x & 0x7F) == 0x7F) {
      magnitude = NAN;
    }
    return x & 0x80 ? -magnitude : magnitude;
  };
  auto f16 = [](double x) -> u64 {
    return std::isnan(x) ? 0x7FFF : bits<u16>(_Float16(x));
  };
  check("cvt.rn.f16x2.e4m3x2 %d, %ah", Kind::Word, eights, [&](O o) {
    return f16(value(o.a & 0xFF, 3, 7, false)) |
           f16(value(o.a >> 8, 3, 7, false)) << 16;
  });
  check("cvt.rn.f16x2.e5m2x2 %d, %ah", Kind::Word, eights, [&](O o) {
    return f16(value(o.a & 0xFF, 2, 15, true)) |
           f16(value(o.a >> 8, 2, 15, true)) << 16;
  });
  // The nearest of all numbers, ties to the even pattern.
  auto nearest = [&](double x, unsigned fraction, int bias,
                     bool hasInfinity) -> u64 {
    if (std::isnan(x)) {
      return 0x7F;
    }
    u64 best = 0;
    double distance = INFINITY;
    for (u64 candidate = 0; candidate < 0x7F; ++candidate) {
      double v = value(candidate, fraction, bias, hasInfinity);
      if (!std::isfinite(v)) {
        continue;
      }
      double gap = std::fabs(std::min(std::fabs(x), 1e6) - v);
      if (gap < distance || (gap == distance && candidate % 2 == 0)) {
        best = candidate;
        distance = gap;
      }
    }
    return best | (std::signbit(x) ? 0x80 : 0);
  };
  std::vector<Operands> around = operands;
  for (unsigned i = 0; i < 2000; ++i) {
    around.push_back(
        {0x3A000000 + u64(i) * 0x18000, 0xBB000000 + u64(i) * 0x14000, 0});
  }
  check(
      "cvt.rn.satfinite.e4m3x2.f32 %dh, %a, %b", Kind::Short, around, [&](O o) {
        return nearest(f(o.a), 3, 7, false) << 8 | nearest(f(o.b), 3, 7, false);
      });
  check(
      "cvt.rn.satfinite.e5m2x2.f32 %dh, %a, %b", Kind::Short, around, [&](O o) {
        return nearest(f(o.a), 2, 15, true) << 8 | nearest(f(o.b), 2, 15, true);
      });
}
