//===- Float.cpp - floating point, lane by lane -------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// Single precision and 16-bit results that are NaN are the canonical NaN, as
// the PTX manual says; double precision keeps what the host gives, which is
// the operand's payload, as on a GPU. 16-bit arithmetic is done in single
// precision: with at least 2p + 2 bits, the second rounding changes nothing.
//
//===----------------------------------------------------------------------===//

#include "targets/sim/exec/lanes/Level.h"
#include "targets/sim/exec/lanes/Numbers.h"

using namespace tilewright::sim;
using namespace tilewright::sim::TW_SIM_LEVEL;
using ptx::Type;

namespace {

/// The integer of the same size.
template <typename T> struct BitsOfFloat;
template <> struct BitsOfFloat<float> {
  using type = uint32_t;
};
template <> struct BitsOfFloat<double> {
  using type = uint64_t;
};
template <> struct BitsOfFloat<Half> {
  using type = uint16_t;
};
template <> struct BitsOfFloat<Bfloat> {
  using type = uint16_t;
};
template <typename T> using Bits = typename BitsOfFloat<T>::type;

template <typename T> constexpr Bits<T> signBit() {
  return Bits<T>(Bits<T>(1) << (8 * sizeof(T) - 1));
}
template <typename T> struct Exponent {};
template <> struct Exponent<float> {
  static constexpr uint32_t mask = 0x7F800000;
};
template <> struct Exponent<double> {
  static constexpr uint64_t mask = uint64_t(0x7FF) << 52;
};
template <> struct Exponent<Half> {
  static constexpr uint16_t mask = 0x7C00;
};
template <> struct Exponent<Bfloat> {
  static constexpr uint16_t mask = 0x7F80;
};

static float finish(float x) { return canonical(x); }
static double finish(double x) { return x; }
static float wide(float x) { return x; }
static double wide(double x) { return x; }
static float wide(Half x) { return toFloat(x); }
static float wide(Bfloat x) { return toFloat(x); }
template <typename T> struct Narrow {
  static T apply(float x) { return fromFloat<T>(x); }
};
template <> struct Narrow<float> {
  static float apply(float x) { return finish(x); }
};
template <> struct Narrow<double> {
  static double apply(double x) { return finish(x); }
};

struct AddOp {
  template <typename T> static T apply(T a, T b) {
    return Narrow<T>::apply(wide(a) + wide(b));
  }
};
struct SubOp {
  template <typename T> static T apply(T a, T b) {
    return Narrow<T>::apply(wide(a) - wide(b));
  }
};
struct MulOp {
  template <typename T> static T apply(T a, T b) {
    return Narrow<T>::apply(wide(a) * wide(b));
  }
};
struct DivOp {
  template <typename T> static T apply(T a, T b) {
    return Narrow<T>::apply(wide(a) / wide(b));
  }
};
struct FmaOp {
  static float apply(float a, float b, float c) {
    return finish(__builtin_fmaf(a, b, c));
  }
  static double apply(double a, double b, double c) {
    return __builtin_fma(a, b, c);
  }
  static Half apply(Half a, Half b, Half c) { return fmaNarrow(a, b, c); }
  static Bfloat apply(Bfloat a, Bfloat b, Bfloat c) {
    return fmaNarrow(a, b, c);
  }
};
struct SqrtOp {
  static float apply(float a) { return finish(__builtin_sqrtf(a)); }
  static double apply(double a) { return __builtin_sqrt(a); }
};
struct RcpOp {
  template <typename T> static T apply(T a) { return finish(T(1) / a); }
};
struct NegOp {
  template <typename T> static T apply(T a) {
    return bitCast<T>(Bits<T>(bitCast<Bits<T>>(a) ^ signBit<T>()));
  }
};
struct AbsOp {
  template <typename T> static T apply(T a) {
    return bitCast<T>(Bits<T>(bitCast<Bits<T>>(a) & ~signBit<T>()));
  }
};
/// Takes the sign of a and the magnitude of b.
struct CopySignOp {
  template <typename T> static T apply(T a, T b) {
    return bitCast<T>(Bits<T>((bitCast<Bits<T>>(a) & signBit<T>()) |
                              (bitCast<Bits<T>>(b) & ~signBit<T>())));
  }
};

template <typename T> T quietNan();
template <> float quietNan<float>() { return bitCast<float>(floatNan); }
template <> double quietNan<double>() {
  return bitCast<double>(~uint64_t(0) >> 1);
}
template <> Half quietNan<Half>() { return {halfNan}; }
template <> Bfloat quietNan<Bfloat>() { return {halfNan}; }

/// -0 is less than +0. One NaN gives the other operand, or with `PassNan` NaN.
template <bool IsMax, bool PassNan> struct MinMaxOp {
  template <typename T> static T apply(T x, T y) {
    auto a = wide(x);
    auto b = wide(y);
    Bits<T> xb = bitCast<Bits<T>>(x);
    Bits<T> yb = bitCast<Bits<T>>(y);
    Bits<T> equal = IsMax ? Bits<T>(xb & yb) : Bits<T>(xb | yb);
    bool first = IsMax ? a > b : a < b;
    Bits<T> r = a == b ? equal : first ? xb : yb;
    Bits<T> nan = bitCast<Bits<T>>(quietNan<T>());
    if (PassNan) {
      r = a != a || b != b ? nan : r;
    } else {
      r = b != b ? xb : r;
      r = a != a ? (b != b ? nan : yb) : r;
    }
    return bitCast<T>(r);
  }
};
struct FlushOp {
  template <typename T> static T apply(T a) {
    Bits<T> bits = bitCast<Bits<T>>(a);
    return bitCast<T>(
        Bits<T>((bits & Exponent<T>::mask) == 0 ? bits & signBit<T>() : bits));
  }
};
/// To [0, 1]; NaN becomes +0.
struct SaturateOp {
  template <typename T> static T apply(T a) {
    auto x = wide(a);
    auto y = x > 0 ? (x < 1 ? x : decltype(x)(1)) : decltype(x)(0);
    return Narrow<T>::apply(y);
  }
};
/// Negative numbers become +0, NaN stays.
struct ReluOp {
  template <typename T> static T apply(T a) {
    auto x = wide(a);
    return Narrow<T>::apply(x <= 0 ? decltype(x)(0) : x);
  }
};

template <typename T, unsigned Per> Handler common(Alu op) {
  switch (op) {
  case Alu::Add:
    return map2<AddOp, T, T, T, Per>;
  case Alu::Sub:
    return map2<SubOp, T, T, T, Per>;
  case Alu::Mul:
    return map2<MulOp, T, T, T, Per>;
  case Alu::Fma:
    return map3<FmaOp, T, T, T, T, Per>;
  case Alu::Neg:
    return map1<NegOp, T, T, Per>;
  case Alu::Abs:
    return map1<AbsOp, T, T, Per>;
  case Alu::Min:
    return map2<MinMaxOp<false, false>, T, T, T, Per>;
  case Alu::Max:
    return map2<MinMaxOp<true, false>, T, T, T, Per>;
  case Alu::MinNan:
    return map2<MinMaxOp<false, true>, T, T, T, Per>;
  case Alu::MaxNan:
    return map2<MinMaxOp<true, true>, T, T, T, Per>;
  case Alu::Flush:
    return map1<FlushOp, T, T, Per>;
  case Alu::Saturate:
    return map1<SaturateOp, T, T, Per>;
  case Alu::Relu:
    return map1<ReluOp, T, T, Per>;
  default:
    return nullptr;
  }
}

template <typename T> Handler full(Alu op) {
  switch (op) {
  case Alu::DivFloat:
    return map2<DivOp, T, T>;
  case Alu::Sqrt:
    return map1<SqrtOp, T, T>;
  case Alu::Rcp:
    return map1<RcpOp, T, T>;
  case Alu::CopySign:
    return map2<CopySignOp, T, T>;
  default:
    return common<T, 1>(op);
  }
}

} // namespace

Handler tilewright::sim::TW_SIM_LEVEL::floatHandler(Alu op, Type type) {
  switch (type) {
  case Type::F32:
    return full<float>(op);
  case Type::F64:
    return full<double>(op);
  case Type::F16:
    return common<Half, 1>(op);
  case Type::F16x2:
    return common<Half, 2>(op);
  case Type::Bf16:
    return common<Bfloat, 1>(op);
  case Type::Bf16x2:
    return common<Bfloat, 2>(op);
  default:
    return nullptr;
  }
}
