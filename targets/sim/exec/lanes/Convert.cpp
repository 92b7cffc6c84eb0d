//===- Convert.cpp - common conversions, lane by lane -------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// Conversions whose loops become vectors: between integers, from integers to
// floating point and back, between floating-point types with rounding to
// nearest. The others are in exec/SlowConvert.cpp.
//
//===----------------------------------------------------------------------===//

#include "targets/sim/exec/lanes/Level.h"
#include "targets/sim/exec/lanes/Numbers.h"

#include <limits>

using namespace tilewright::sim;
using namespace tilewright::sim::TW_SIM_LEVEL;
using ptx::Type;

namespace {

/// A register holds 8-bit values in 16 bits.
template <typename T>
using Stored = std::conditional_t<
    sizeof(T) == 1,
    std::conditional_t<std::is_signed<T>::value, int16_t, uint16_t>, T>;

template <typename D, typename S> void resize(Warp &warp, const Inst &inst) {
  const Stored<S> *a = warp.at<Stored<S>>(inst.a);
  forLanes<Stored<D>>(warp, inst.d,
                      [=](unsigned i) { return Stored<D>(D(S(a[i]))); });
}

template <typename D, typename S> D clampTo(S x) {
  constexpr D low = std::numeric_limits<D>::min();
  constexpr D high = std::numeric_limits<D>::max();
  if (std::is_signed<S>::value) {
    int64_t wide = int64_t(x);
    if (std::is_signed<D>::value) {
      return wide < int64_t(low) ? low : wide > int64_t(high) ? high : D(wide);
    }
    return wide < 0 ? D(0) : uint64_t(wide) > uint64_t(high) ? high : D(wide);
  }
  return uint64_t(x) > uint64_t(high) ? high : D(x);
}

template <typename D, typename S>
void resizeSaturating(Warp &warp, const Inst &inst) {
  const Stored<S> *a = warp.at<Stored<S>>(inst.a);
  forLanes<Stored<D>>(warp, inst.d, [=](unsigned i) {
    return Stored<D>(clampTo<D, S>(S(a[i])));
  });
}

template <typename D> Handler resizeFrom(Type from, bool saturate) {
#define TW_CASE(TYPE, CPP)                                                     \
  case Type::TYPE:                                                             \
    return saturate ? resizeSaturating<D, CPP> : resize<D, CPP>;
  switch (from) {
    TW_CASE(U8, uint8_t)
    TW_CASE(S8, int8_t)
    TW_CASE(B8, uint8_t)
    TW_CASE(U16, uint16_t)
    TW_CASE(S16, int16_t)
    TW_CASE(B16, uint16_t)
    TW_CASE(U32, uint32_t)
    TW_CASE(S32, int32_t)
    TW_CASE(B32, uint32_t)
    TW_CASE(U64, uint64_t)
    TW_CASE(S64, int64_t)
    TW_CASE(B64, uint64_t)
  default:
    return nullptr;
  }
#undef TW_CASE
}

Handler integerToInteger(const ConvertKey &key) {
  switch (key.to) {
  case Type::U8:
    return resizeFrom<uint8_t>(key.from, key.saturate);
  case Type::S8:
    return resizeFrom<int8_t>(key.from, key.saturate);
  case Type::U16:
    return resizeFrom<uint16_t>(key.from, key.saturate);
  case Type::S16:
    return resizeFrom<int16_t>(key.from, key.saturate);
  case Type::U32:
    return resizeFrom<uint32_t>(key.from, key.saturate);
  case Type::S32:
    return resizeFrom<int32_t>(key.from, key.saturate);
  case Type::U64:
    return resizeFrom<uint64_t>(key.from, key.saturate);
  case Type::S64:
    return resizeFrom<int64_t>(key.from, key.saturate);
  default:
    return nullptr;
  }
}

template <typename D, typename S>
void integerToFloat(Warp &warp, const Inst &inst) {
  const Stored<S> *a = warp.at<Stored<S>>(inst.a);
  forLanes<D>(warp, inst.d, [=](unsigned i) { return D(S(a[i])); });
}

/// To f16 and bf16, by way of an odd float where one rounding is not enough.
template <typename D, typename S>
void integerToNarrow(Warp &warp, const Inst &inst) {
  const Stored<S> *a = warp.at<Stored<S>>(inst.a);
  forLanes<D>(warp, inst.d, [=](unsigned i) {
    return fromFloat<D>(toFloatOdd(double(S(a[i]))));
  });
}

template <typename S> Handler integerTo(Type to) {
  switch (to) {
  case Type::F32:
    return integerToFloat<float, S>;
  case Type::F64:
    return integerToFloat<double, S>;
  case Type::F16:
    // 64-bit integers that a double does not hold are beyond f16 anyway.
    return integerToNarrow<Half, S>;
  case Type::Bf16:
    return sizeof(S) < 8 ? integerToNarrow<Bfloat, S> : nullptr;
  default:
    return nullptr;
  }
}

Handler integerToAny(const ConvertKey &key) {
  switch (key.from) {
  case Type::U8:
    return integerTo<uint8_t>(key.to);
  case Type::S8:
    return integerTo<int8_t>(key.to);
  case Type::U16:
    return integerTo<uint16_t>(key.to);
  case Type::S16:
    return integerTo<int16_t>(key.to);
  case Type::U32:
    return integerTo<uint32_t>(key.to);
  case Type::S32:
    return integerTo<int32_t>(key.to);
  case Type::U64:
    return integerTo<uint64_t>(key.to);
  case Type::S64:
    return integerTo<int64_t>(key.to);
  default:
    return nullptr;
  }
}

template <Rounding Mode> double integral(double x) {
  switch (Mode) {
  case Rounding::Nearest:
    return __builtin_rint(x);
  case Rounding::Zero:
    return __builtin_trunc(x);
  case Rounding::Down:
    return __builtin_floor(x);
  case Rounding::Up:
    return __builtin_ceil(x);
  }
  return x;
}

double toDouble(float x) { return x; }
double toDouble(double x) { return x; }
double toDouble(Half x) { return toFloat(x); }
double toDouble(Bfloat x) { return toFloat(x); }

/// Saturates; NaN becomes 0, or from or to 64 bits the number with only its
/// top bit set.
template <typename D, typename S, Rounding Mode>
void floatToInteger(Warp &warp, const Inst &inst) {
  const S *a = warp.at<S>(inst.a);
  constexpr D low = std::numeric_limits<D>::min();
  constexpr D high = std::numeric_limits<D>::max();
  constexpr D nan = sizeof(S) == 8 || sizeof(D) == 8
                        ? D(std::make_unsigned_t<D>(1) << (8 * sizeof(D) - 1))
                        : D(0);
  // The first number above all of D, exact in a double.
  const double above =
      2.0 * double(uint64_t(1)
                   << (8 * sizeof(D) - (std::is_signed<D>::value ? 2 : 1)));
  forLanes<Stored<D>>(warp, inst.d, [=](unsigned i) {
    double x = integral<Mode>(toDouble(a[i]));
    bool inside = x >= double(low) && x < above;
    D value = D(inside ? x : 0.0);
    D clamped = x < 0 ? low : high;
    return Stored<D>(x != x ? nan : inside ? value : clamped);
  });
}

template <typename D, typename S> Handler floatToInt(Rounding mode) {
  switch (mode) {
  case Rounding::Nearest:
    return floatToInteger<D, S, Rounding::Nearest>;
  case Rounding::Zero:
    return floatToInteger<D, S, Rounding::Zero>;
  case Rounding::Down:
    return floatToInteger<D, S, Rounding::Down>;
  case Rounding::Up:
    return floatToInteger<D, S, Rounding::Up>;
  }
  return nullptr;
}

template <typename S> Handler toInteger(Type to, Rounding mode) {
  switch (to) {
  case Type::U8:
    return floatToInt<uint8_t, S>(mode);
  case Type::S8:
    return floatToInt<int8_t, S>(mode);
  case Type::U16:
    return floatToInt<uint16_t, S>(mode);
  case Type::S16:
    return floatToInt<int16_t, S>(mode);
  case Type::U32:
    return floatToInt<uint32_t, S>(mode);
  case Type::S32:
    return floatToInt<int32_t, S>(mode);
  case Type::U64:
    return floatToInt<uint64_t, S>(mode);
  case Type::S64:
    return floatToInt<int64_t, S>(mode);
  default:
    return nullptr;
  }
}

struct F32ToHalf {
  static Half apply(float x) { return toHalf(x); }
};
struct F32ToBfloat {
  static Bfloat apply(float x) { return toBfloat(x); }
};
struct HalfToF32 {
  static float apply(Half x) { return canonical(toFloat(x)); }
};
struct BfloatToF32 {
  static float apply(Bfloat x) { return canonical(toFloat(x)); }
};
struct F32ToF64 {
  static double apply(float x) { return double(x); }
};
struct F64ToF32 {
  static float apply(double x) { return canonical(float(x)); }
};
template <Rounding Mode> struct IntegralOp {
  static float apply(float x) {
    switch (Mode) {
    case Rounding::Nearest:
      return canonical(__builtin_rintf(x));
    case Rounding::Zero:
      return canonical(__builtin_truncf(x));
    case Rounding::Down:
      return canonical(__builtin_floorf(x));
    case Rounding::Up:
      return canonical(__builtin_ceilf(x));
    }
    return x;
  }
  static double apply(double x) { return integral<Mode>(x); }
};

template <typename T> Handler toIntegral(Rounding mode) {
  switch (mode) {
  case Rounding::Nearest:
    return map1<IntegralOp<Rounding::Nearest>, T, T>;
  case Rounding::Zero:
    return map1<IntegralOp<Rounding::Zero>, T, T>;
  case Rounding::Down:
    return map1<IntegralOp<Rounding::Down>, T, T>;
  case Rounding::Up:
    return map1<IntegralOp<Rounding::Up>, T, T>;
  }
  return nullptr;
}

Handler floatToFloat(const ConvertKey &key) {
  if (key.saturate || key.relu || key.saturateFinite || key.tiesAway) {
    return nullptr;
  }
  if (key.integral) {
    return key.to != key.from    ? nullptr
           : key.to == Type::F32 ? toIntegral<float>(key.rounding)
           : key.to == Type::F64 ? toIntegral<double>(key.rounding)
                                 : nullptr;
  }
  bool nearest = key.rounding == Rounding::Nearest;
  if (key.to == Type::F32 && key.from == Type::F16) {
    return map1<HalfToF32, float, Half>;
  }
  if (key.to == Type::F32 && key.from == Type::Bf16) {
    return map1<BfloatToF32, float, Bfloat>;
  }
  if (key.to == Type::F64 && key.from == Type::F32) {
    return map1<F32ToF64, double, float>;
  }
  if (nearest && key.to == Type::F16 && key.from == Type::F32) {
    return map1<F32ToHalf, Half, float>;
  }
  if (nearest && key.to == Type::Bf16 && key.from == Type::F32) {
    return map1<F32ToBfloat, Bfloat, float>;
  }
  if (nearest && key.to == Type::F32 && key.from == Type::F64) {
    return map1<F64ToF32, float, double>;
  }
  return nullptr;
}

} // namespace

Handler tilewright::sim::TW_SIM_LEVEL::convertHandler(const ConvertKey &key) {
  bool toInt = ptx::isInteger(key.to);
  bool fromInt = ptx::isInteger(key.from);
  if (toInt && fromInt) {
    return integerToInteger(key);
  }
  if (fromInt) {
    return key.rounding == Rounding::Nearest && !key.saturate
               ? integerToAny(key)
               : nullptr;
  }
  if (!toInt) {
    return floatToFloat(key);
  }
  // Without an integral rounding there is no conversion to integers.
  if (!key.integral) {
    return nullptr;
  }
  switch (key.from) {
  case Type::F32:
    return toInteger<float>(key.to, key.rounding);
  case Type::F64:
    return toInteger<double>(key.to, key.rounding);
  case Type::F16:
    return toInteger<Half>(key.to, key.rounding);
  case Type::Bf16:
    return toInteger<Bfloat>(key.to, key.rounding);
  default:
    return nullptr;
  }
}
