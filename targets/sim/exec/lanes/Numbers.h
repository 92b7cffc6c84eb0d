//===- Numbers.h - 16- and 8-bit floating-point numbers --*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// Conversions without branches, so that loops over lanes become vectors.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "targets/sim/exec/lanes/Lanes.h"

namespace tilewright::sim::TW_SIM_LEVEL {

/// A number in IEEE's 16-bit format.
struct Half {
  uint16_t bits;
};
/// A number in the format of a float's upper half.
struct Bfloat {
  uint16_t bits;
};

constexpr uint16_t halfNan = 0x7FFF;
constexpr uint32_t floatNan = 0x7FFFFFFF;

/// By bits: of sqrt(x) != sqrt(x), LLVM 22 makes x != x.
static inline float canonical(float x) {
  uint32_t bits = bitCast<uint32_t>(x);
  return bitCast<float>((bits & 0x7FFFFFFF) > 0x7F800000 ? floatNan : bits);
}

static inline float toFloat(Half h) {
  uint32_t magnitude = uint32_t(h.bits & 0x7FFF) << 13;
  uint32_t exponent = magnitude & 0x0F800000;
  uint32_t normal = magnitude + 0x38000000;
  uint32_t special = normal + 0x38000000;
  float tiny = bitCast<float>(normal + 0x00800000) - bitCast<float>(0x38800000);
  uint32_t bits = exponent == 0x0F800000 ? special
                  : exponent == 0        ? bitCast<uint32_t>(tiny)
                                         : normal;
  return bitCast<float>(bits | uint32_t(h.bits & 0x8000) << 16);
}

static inline float toFloat(Bfloat b) {
  return bitCast<float>(uint32_t(b.bits) << 16);
}

/// Rounds to nearest, ties to even. NaN becomes the canonical one.
static inline Half toHalf(float x) {
  uint32_t bits = bitCast<uint32_t>(x);
  uint32_t sign = bits >> 16 & 0x8000;
  uint32_t magnitude = bits & 0x7FFFFFFF;
  // Normal results: shift the exponent and round at bit 13.
  uint32_t odd = magnitude >> 13 & 1;
  uint32_t normal = (magnitude - 0x38000000 + 0xFFF + odd) >> 13;
  // Small results: an addition puts the last bit where the sum ends.
  float shifted = bitCast<float>(magnitude) + 0.5f;
  uint32_t tiny = bitCast<uint32_t>(shifted) - 0x3F000000;
  uint32_t result = magnitude < 0x38800000    ? tiny
                    : magnitude >= 0x477FF000 ? 0x7C00
                                              : normal;
  return {uint16_t(magnitude > 0x7F800000 ? halfNan : result | sign)};
}

static inline Bfloat toBfloat(float x) {
  uint32_t bits = bitCast<uint32_t>(x);
  uint32_t rounded = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16;
  return {uint16_t((bits & 0x7FFFFFFF) > 0x7F800000 ? halfNan : rounded)};
}

template <typename T> static inline T fromFloat(float x);
template <> inline Half fromFloat<Half>(float x) { return toHalf(x); }
template <> inline Bfloat fromFloat<Bfloat>(float x) { return toBfloat(x); }
template <> inline float fromFloat<float>(float x) { return x; }

/// Rounds to a float so that a second rounding to fewer bits is right: an
/// inexact result gets an odd last bit.
static inline float toFloatOdd(double x) {
  float nearest = float(x);
  double back = double(nearest);
  uint32_t bits = bitCast<uint32_t>(nearest);
  bool isInexact = back < x || back > x;
  double magnitude = x < 0 ? -x : x;
  double found = back < 0 ? -back : back;
  uint32_t moved = found < magnitude ? bits + 1 : bits - 1;
  return bitCast<float>(isInexact && (bits & 1) == 0 ? moved : bits);
}

/// a * b + c with one rounding to a 16-bit format.
template <typename T> static inline T fmaNarrow(T a, T b, T c) {
  // The product is exact; the error of the sum goes into the last bit.
  double p = double(toFloat(a)) * double(toFloat(b));
  double q = double(toFloat(c));
  double sum = p + q;
  double other = sum - p;
  double error = (p - (sum - other)) + (q - other);
  uint64_t bits = bitCast<uint64_t>(sum);
  bool isInexact = error < 0 || error > 0;
  bool away = (error > 0) == (sum > 0);
  uint64_t moved = away ? bits + 1 : bits - 1;
  double odd = bitCast<double>(isInexact && (bits & 1) == 0 ? moved : bits);
  return fromFloat<T>(toFloatOdd(odd));
}

} // namespace tilewright::sim::TW_SIM_LEVEL
