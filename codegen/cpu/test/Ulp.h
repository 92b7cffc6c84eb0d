//===- Ulp.h - errors in units in the last place ----------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

namespace tilewright::test {

/// \returns how far `got` is from `exact`, in units in the last place of T at
/// `exact`; infinite when one is NaN and the other is not, or signs of zero
/// differ.
template <typename T> double ulpError(T got, long double exact) {
  const double wrong = std::numeric_limits<double>::infinity();
  T rounded = static_cast<T>(exact);
  if (std::isnan(got) || std::isnan(rounded)) {
    return std::isnan(got) == std::isnan(rounded) ? 0 : wrong;
  }
  if (std::isinf(got) || std::isinf(rounded)) {
    if (got == rounded) {
      return 0;
    }
    // The largest finite number next to infinity counts as near.
    T largest = std::numeric_limits<T>::max();
    bool isNear = std::abs(got) >= largest && std::abs(rounded) >= largest;
    return isNear && std::signbit(got) == std::signbit(rounded) ? 1 : wrong;
  }
  if (got == 0 && rounded == 0) {
    return std::signbit(got) == std::signbit(rounded) ? 0 : wrong;
  }
  int exponent = 0;
  std::frexp(exact, &exponent);
  exponent = std::max(exponent, std::numeric_limits<T>::min_exponent);
  long double ulp = std::ldexp(1.0L, exponent - std::numeric_limits<T>::digits);
  return static_cast<double>(std::abs(got - exact) / ulp);
}

/// NaN, infinities, zeros, subnormal and extreme numbers, halves and integers.
template <typename T> std::vector<T> specialValues() {
  using Limits = std::numeric_limits<T>;
  std::vector<T> result = {Limits::quiet_NaN(),
                           Limits::infinity(),
                           T(0),
                           Limits::denorm_min(),
                           Limits::min() / 2,
                           Limits::min(),
                           Limits::max(),
                           Limits::max() / 2,
                           Limits::epsilon(),
                           T(1e-5),
                           T(3.14159265358979),
                           T(1e6),
                           T(1e10)};
  for (int i = 1; i <= 24; ++i) {
    result.push_back(i / T(2));
    result.push_back(std::ldexp(T(1), 2 * i));
    result.push_back(std::ldexp(T(1), -2 * i));
    result.push_back(1 + std::ldexp(T(1), -i));
    result.push_back(1 - std::ldexp(T(1), -i));
  }
  for (size_t i = 0, n = result.size(); i < n; ++i) {
    result.push_back(-result[i]);
  }
  return result;
}

/// About `count` values: every so many of all bit patterns, the special ones,
/// and evenly spaced ones in [−32, 32].
template <typename T> std::vector<T> sampleValues(size_t count) {
  using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  std::vector<T> result = specialValues<T>();
  Bits stride = (std::numeric_limits<Bits>::max() / count) | 1;
  Bits bits = 0;
  for (size_t i = 0; i < count; ++i, bits += stride) {
    T value;
    std::memcpy(&value, &bits, sizeof(T));
    result.push_back(value);
  }
  for (size_t i = 0; i < count / 4; ++i) {
    result.push_back(T(-32 + 64.0 * (i + 0.37) / (count / 4)));
  }
  // Kernels in these tests work on 16 elements at a time.
  result.resize((result.size() + 15) / 16 * 16, T(1));
  return result;
}

} // namespace tilewright::test
