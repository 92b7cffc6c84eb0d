//===- Elements.h - C++ types of elements -----------------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "tilewright/DType.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace tilewright {

/// An f16, as bits.
struct Half {
  uint16_t bits;
};

/// A bf16, as bits.
struct BFloat {
  uint16_t bits;
};

inline float floatFromBits(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

inline uint32_t bitsFromFloat(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

/// The value that elements are compared and computed by: the element itself, or
/// its float for the 16-bit floats.
template <typename T> inline T keyOf(T element) { return element; }

inline float keyOf(BFloat element) {
  return floatFromBits(uint32_t(element.bits) << 16);
}

inline float keyOf(Half element) {
  uint32_t sign = uint32_t(element.bits & 0x8000) << 16;
  uint32_t exponent = (element.bits >> 10) & 31;
  uint32_t fraction = element.bits & 0x3ff;
  if (exponent == 31) {
    return floatFromBits(sign | 0x7f800000 | (fraction << 13));
  }
  if (exponent == 0) {
    float value = static_cast<float>(fraction) * 0x1p-24f;
    return sign ? -value : value;
  }
  return floatFromBits(sign | ((exponent + 112) << 23) | (fraction << 13));
}

/// Rounds to nearest, ties to even.
template <typename T> inline T elementFromDouble(double value) {
  return static_cast<T>(value);
}

template <> inline BFloat elementFromDouble<BFloat>(double value) {
  uint32_t bits = bitsFromFloat(static_cast<float>(value));
  if (std::isnan(value)) {
    return {uint16_t((bits >> 16) | 0x40)};
  }
  return {uint16_t((bits + 0x7fff + ((bits >> 16) & 1)) >> 16)};
}

template <> inline Half elementFromDouble<Half>(double value) {
  uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  double magnitude = std::fabs(value);
  if (std::isnan(value)) {
    return {uint16_t(sign | 0x7e00)};
  }
  if (magnitude >= 65520.0) { // half way beyond the largest finite one
    return {uint16_t(sign | 0x7c00)};
  }
  if (magnitude == 0) {
    return {sign};
  }
  int exponent = 0; // magnitude = m * 2^exponent, m in [0.5, 1)
  std::frexp(magnitude, &exponent);
  exponent = exponent < -13 ? -13 : exponent; // below: subnormal
  // 1024 … 2048 units of the last place, fewer in subnormals. Adding them to
  // the exponent field carries where rounding carries.
  int units =
      static_cast<int>(std::nearbyint(std::ldexp(magnitude, 11 - exponent)));
  return {uint16_t(sign + ((exponent + 13) << 10) + units)};
}

/// Strict order with NaN after everything else, equal to itself: NumPy's.
template <typename T> inline bool keyLess(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    return a < b || (b != b && a == a);
  } else {
    return a < b;
  }
}

/// Calls `body(T())` with the C++ type of `type`. \returns false for types that
/// are no plain floats.
template <typename Body> bool withFloat(DType type, Body &&body) {
  switch (type) {
  case DType::F32:
    return body(float()), true;
  case DType::F64:
    return body(double()), true;
  case DType::F16:
    return body(Half()), true;
  case DType::BF16:
    return body(BFloat()), true;
  default:
    return false;
  }
}

/// The same for integers and bool, too.
template <typename Body> bool withNumber(DType type, Body &&body) {
  switch (type) {
  case DType::I8:
    return body(int8_t()), true;
  case DType::I16:
    return body(int16_t()), true;
  case DType::I32:
    return body(int32_t()), true;
  case DType::I64:
    return body(int64_t()), true;
  case DType::U8:
  case DType::Bool:
    return body(uint8_t()), true;
  case DType::U16:
    return body(uint16_t()), true;
  case DType::U32:
    return body(uint32_t()), true;
  case DType::U64:
    return body(uint64_t()), true;
  default:
    return withFloat(type, body);
  }
}

} // namespace tilewright
