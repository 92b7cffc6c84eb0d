//===- SlowConvert.cpp - conversions in all forms -----------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// One lane at a time, through a number that holds every source exactly. The
// formats differ in precision and range only, so that one rounding serves all.
//
//===----------------------------------------------------------------------===//

#include "targets/sim/exec/Handlers.h"
#include "targets/sim/exec/lanes/Numbers.h"

#include <cmath>

using namespace tilewright::sim;
using namespace tilewright::sim::common;
using ptx::Type;

static_assert(__LDBL_MANT_DIG__ >= 64, "long double must hold 64-bit integers");

namespace {

struct Format {
  int precision;
  int minExponent;
  /// The largest finite number.
  long double largest;
};

Format formatOf(Type type) {
  switch (type) {
  case Type::F16:
  case Type::F16x2:
    return {11, -14, 65504.0L};
  case Type::Bf16:
  case Type::Bf16x2:
    return {8, -126, 0x1.FEp127L};
  case Type::Tf32:
    return {11, -126, 0x1.FFCp127L};
  case Type::E4m3x2:
    return {4, -6, 448.0L};
  case Type::E5m2x2:
    return {3, -14, 57344.0L};
  case Type::F64:
    return {53, -1022, 0x1.FFFFFFFFFFFFFp1023L};
  default:
    return {24, -126, 0x1.FFFFFEp127L};
  }
}

struct Mode {
  Rounding rounding;
  bool integral;
  bool saturate;
  bool relu;
  bool tiesAway;
};

/// Rounds a multiple of the unit to an integer.
long double roundUnit(long double x, const Mode &mode) {
  if (mode.tiesAway) {
    return std::round(x);
  }
  switch (mode.rounding) {
  case Rounding::Nearest: {
    long double down = std::floor(x);
    long double rest = x - down;
    bool up = rest > 0.5L || (rest == 0.5L && std::fmod(down, 2.0L) != 0);
    return up ? down + 1 : down;
  }
  case Rounding::Zero:
    return std::trunc(x);
  case Rounding::Down:
    return std::floor(x);
  case Rounding::Up:
    return std::ceil(x);
  }
  return x;
}

long double roundTo(const Format &format, long double x, const Mode &mode) {
  if (x == 0 || !std::isfinite(x)) {
    return x;
  }
  int exponent = std::ilogb(x);
  if (exponent < format.minExponent) {
    exponent = format.minExponent;
  }
  int unit = exponent - format.precision + 1;
  long double result = std::ldexp(roundUnit(std::ldexp(x, -unit), mode), unit);
  result = std::copysign(result, x);
  if (std::fabs(result) <= format.largest) {
    return result;
  }
  // Beyond the largest number: infinity, unless rounding goes towards zero.
  bool staysFinite =
      !mode.tiesAway && (mode.rounding == Rounding::Zero ||
                         (mode.rounding == Rounding::Down && x > 0) ||
                         (mode.rounding == Rounding::Up && x < 0));
  return std::copysign(staysFinite ? format.largest : HUGE_VALL, x);
}

/// Bits of a number that the format holds exactly.
uint64_t encode(Type type, long double x) {
  bool isNan = x != x;
  switch (type) {
  case Type::F16:
  case Type::F16x2:
    return isNan ? halfNan : toHalf(float(x)).bits;
  case Type::Bf16:
  case Type::Bf16x2:
    return isNan ? halfNan : toBfloat(float(x)).bits;
  case Type::E5m2x2:
    return isNan ? 0x7F : toHalf(float(x)).bits >> 8;
  case Type::E4m3x2: {
    if (isNan) {
      return 0x7F;
    }
    uint64_t sign = std::signbit(x) ? 0x80 : 0;
    long double magnitude = std::fabs(x);
    if (magnitude < 0x1p-6L) {
      return sign | uint64_t(magnitude * 512);
    }
    int exponent = std::ilogb(magnitude);
    uint64_t fraction = uint64_t(std::ldexp(magnitude, 3 - exponent)) & 7;
    return sign | uint64_t(exponent + 7) << 3 | fraction;
  }
  case Type::F64:
    return bitCast<uint64_t>(double(x));
  default:
    return isNan ? floatNan : bitCast<uint32_t>(float(x));
  }
}

float decodeE4m3(uint32_t x) {
  uint32_t magnitude = x & 0x7F;
  float value = magnitude == 0x7F ? NAN
                : magnitude < 8
                    ? float(magnitude) * 0x1p-9f
                    : bitCast<float>((magnitude << 20) + 0x3C000000);
  return (x & 0x80) ? -value : value;
}

long double decode(Type type, const Warp &warp, uint32_t offset, unsigned i) {
  switch (type) {
  case Type::U8:
    return uint8_t(warp.at<uint16_t>(offset)[i]);
  case Type::S8:
    return int8_t(warp.at<uint16_t>(offset)[i]);
  case Type::U16:
    return warp.at<uint16_t>(offset)[i];
  case Type::S16:
    return warp.at<int16_t>(offset)[i];
  case Type::U32:
    return warp.at<uint32_t>(offset)[i];
  case Type::S32:
    return warp.at<int32_t>(offset)[i];
  case Type::U64:
    return (long double)(warp.at<uint64_t>(offset)[i]);
  case Type::S64:
    return (long double)(warp.at<int64_t>(offset)[i]);
  case Type::F16:
  case Type::F16x2:
    return toFloat(warp.at<Half>(offset)[i]);
  case Type::Bf16:
  case Type::Bf16x2:
    return toFloat(warp.at<Bfloat>(offset)[i]);
  case Type::E4m3x2:
    return decodeE4m3(warp.at<uint8_t>(offset)[i]);
  case Type::E5m2x2:
    return toFloat(Half{uint16_t(warp.at<uint8_t>(offset)[i] << 8)});
  case Type::F64:
    return warp.at<double>(offset)[i];
  default:
    return warp.at<float>(offset)[i];
  }
}

Type typeTo(uint16_t mode) { return Type(mode & 31); }
Type typeFrom(uint16_t mode) { return Type(mode >> 5 & 31); }
Mode modeOf(uint16_t mode) {
  return {Rounding(mode >> 10 & 3), (mode >> 12 & 1) != 0,
          (mode >> 13 & 1) != 0, (mode >> 14 & 1) != 0, (mode >> 15 & 1) != 0};
}

long double converted(Type to, long double x, const Mode &mode) {
  if (mode.integral && std::isfinite(x)) {
    x = std::copysign(roundUnit(x, mode), x);
  }
  if (mode.saturate) {
    x = x > 0 ? (x < 1 ? x : 1.0L) : 0.0L;
  }
  if (mode.relu && x <= 0) {
    x = 0;
  }
  Format format = formatOf(to);
  long double result = roundTo(format, x, mode);
  if (to == Type::E4m3x2 || to == Type::E5m2x2) {
    // Always .satfinite.
    if (std::fabs(result) > format.largest) {
      result = std::copysign(format.largest, result);
    }
  }
  return result;
}

template <typename Bits> void put(Warp &warp, const Inst &inst) {
  Type to = typeTo(inst.mode);
  Type from = typeFrom(inst.mode);
  Mode mode = modeOf(inst.mode);
  Bits *d = warp.at<Bits>(inst.d);
  for (unsigned i = 0; i < lanesPerWarp; ++i) {
    if (warp.exec >> i & 1) {
      d[i] =
          Bits(encode(to, converted(to, decode(from, warp, inst.a, i), mode)));
    }
  }
}

/// a becomes the upper, b the lower part.
template <typename Bits> void packTwo(Warp &warp, const Inst &inst) {
  Type to = typeTo(inst.mode);
  Type from = typeFrom(inst.mode);
  Mode mode = modeOf(inst.mode);
  Bits *d = warp.at<Bits>(inst.d);
  for (unsigned i = 0; i < lanesPerWarp; ++i) {
    if (warp.exec >> i & 1) {
      Bits low =
          Bits(encode(to, converted(to, decode(from, warp, inst.b, i), mode)));
      Bits high =
          Bits(encode(to, converted(to, decode(from, warp, inst.a, i), mode)));
      d[2 * i] = low;
      d[2 * i + 1] = high;
    }
  }
}

/// Between packed types, part by part.
template <typename Bits> void eachPart(Warp &warp, const Inst &inst) {
  Type to = typeTo(inst.mode);
  Type from = typeFrom(inst.mode);
  Mode mode = modeOf(inst.mode);
  Bits *d = warp.at<Bits>(inst.d);
  for (unsigned i = 0; i < 2 * lanesPerWarp; ++i) {
    if (warp.exec >> (i / 2) & 1) {
      d[i] =
          Bits(encode(to, converted(to, decode(from, warp, inst.a, i), mode)));
    }
  }
}

bool isEight(Type type) { return type == Type::E4m3x2 || type == Type::E5m2x2; }
bool isSixteen(Type type) {
  return type == Type::F16x2 || type == Type::Bf16x2;
}

} // namespace

uint16_t tilewright::sim::slowConvertMode(const ConvertKey &key) {
  return uint16_t(unsigned(key.to) | unsigned(key.from) << 5 |
                  unsigned(key.rounding) << 10 | unsigned(key.integral) << 12 |
                  unsigned(key.saturate) << 13 | unsigned(key.relu) << 14 |
                  unsigned(key.tiesAway) << 15);
}

Handler tilewright::sim::slowConvertHandler(const ConvertKey &key) {
  Type to = key.to;
  Type from = key.from;
  bool eight = isEight(to);
  if (eight != key.saturateFinite || (key.tiesAway && to != Type::Tf32)) {
    return nullptr;
  }
  if (isSixteen(to) || eight) {
    if (key.integral || key.saturate) {
      return nullptr;
    }
    if (from == Type::F32) {
      return eight ? packTwo<uint8_t> : packTwo<uint16_t>;
    }
    if (eight) {
      return from == Type::F16x2 ? eachPart<uint8_t> : nullptr;
    }
    return to == Type::F16x2 && isEight(from) ? eachPart<uint16_t> : nullptr;
  }
  if (isSixteen(from) || isEight(from) || ptx::isInteger(to)) {
    return nullptr;
  }
  switch (to) {
  case Type::F16:
  case Type::Bf16:
    return put<uint16_t>;
  case Type::F32:
    return put<uint32_t>;
  case Type::Tf32:
    return from == Type::F32 ? put<uint32_t> : nullptr;
  case Type::F64:
    return put<uint64_t>;
  default:
    return nullptr;
  }
}
