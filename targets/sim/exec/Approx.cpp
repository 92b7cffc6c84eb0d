//===- Approx.cpp - functions with an error bound -----------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// PTX bounds the error of these and leaves the result open. They are computed
// in double precision and rounded to nearest; with a seed, they are off by a
// pseudo-random part of the bound that depends on the operands alone.
//
//===----------------------------------------------------------------------===//

#include "targets/sim/exec/Handlers.h"
#include "targets/sim/exec/lanes/Numbers.h"

#include <cmath>

using namespace tilewright::sim;
using namespace tilewright::sim::common;
using ptx::Type;

namespace {

double exact(Alu op, double a, double b) {
  switch (op) {
  case Alu::Ex2:
    return std::exp2(a);
  case Alu::Lg2:
    return std::log2(a);
  case Alu::RcpApprox:
    return 1.0 / a;
  case Alu::RsqrtApprox:
    return 1.0 / std::sqrt(a);
  case Alu::SqrtApprox:
    return std::sqrt(a);
  case Alu::Sin:
    return std::sin(a);
  case Alu::Cos:
    return std::cos(a);
  case Alu::Tanh:
    return std::tanh(a);
  default:
    return a / b;
  }
}

/// The manual's bounds: relative, and absolute.
struct Bound {
  double relative;
  double absolute;
};
Bound boundOf(Alu op, double a) {
  switch (op) {
  case Alu::Ex2:
  case Alu::DivApprox:
    return {0x1p-22, 0};
  case Alu::Lg2:
    return a >= 0.5 && a <= 2 ? Bound{0, 0x1p-22} : Bound{0x1p-22, 0};
  case Alu::RcpApprox:
  case Alu::SqrtApprox:
    return {0x1p-23, 0};
  case Alu::RsqrtApprox:
    return {0x1.1p-23, 0};
  case Alu::Sin:
  case Alu::Cos:
    return {0, 0x1p-21};
  default:
    return {0x1p-11, 0};
  }
}

uint64_t mix(uint64_t x) {
  x ^= x >> 30;
  x *= 0xBF58476D1CE4E5B9u;
  x ^= x >> 27;
  x *= 0x94D049BB133111EBu;
  return x ^ x >> 31;
}

double evaluate(const Launch &launch, Alu op, double a, double b) {
  double value = exact(op, a, b);
  if (!launch.jitter || !std::isfinite(value) || value == 0) {
    return value;
  }
  uint64_t hash =
      mix(launch.jitterSeed ^
          mix(bitCast<uint64_t>(a) ^ mix(bitCast<uint64_t>(b) + uint64_t(op))));
  // In (-1, 1), a little less than the bound, because rounding follows.
  double part = (double(hash >> 11) * 0x1p-52 - 1.0) * 0.5;
  Bound bound = boundOf(op, a);
  return value * (1 + part * bound.relative) + part * bound.absolute;
}

template <Alu Op, typename T, unsigned Per>
void approximate(Warp &warp, const Inst &inst) {
  const T *a = warp.at<T>(inst.a);
  const T *b = inst.b == noOperand ? a : warp.at<T>(inst.b);
  T *d = warp.at<T>(inst.d);
  for (unsigned i = 0; i < lanesPerWarp * Per; ++i) {
    if (!(warp.exec >> (i / Per) & 1)) {
      continue;
    }
    if constexpr (std::is_same<T, float>::value) {
      d[i] = canonical(float(evaluate(*warp.launch, Op, a[i], b[i])));
    } else {
      double value = evaluate(*warp.launch, Op, toFloat(a[i]), toFloat(b[i]));
      d[i] = fromFloat<T>(toFloatOdd(value));
    }
  }
}

/// rsqrt.approx.f64, with an error of about one unit of the last place.
void rsqrtDouble(Warp &warp, const Inst &inst) {
  const double *a = warp.at<double>(inst.a);
  double *d = warp.at<double>(inst.d);
  for (unsigned i = 0; i < lanesPerWarp; ++i) {
    if (warp.exec >> i & 1) {
      d[i] = 1.0 / std::sqrt(a[i]);
    }
  }
}

/// rcp and rsqrt.approx.ftz.f64 read and write the upper halves alone.
template <Alu Op> void approximateDouble(Warp &warp, const Inst &inst) {
  const uint64_t *a = warp.at<uint64_t>(inst.a);
  uint64_t *d = warp.at<uint64_t>(inst.d);
  constexpr uint64_t upper = ~uint64_t(0) << 32;
  for (unsigned i = 0; i < lanesPerWarp; ++i) {
    if (warp.exec >> i & 1) {
      double value = exact(Op, bitCast<double>(a[i] & upper), 0);
      // NaN must not become infinity when its lower half goes.
      d[i] = value != value ? uint64_t(0x7FFFFFFF) << 32
                            : bitCast<uint64_t>(value) & upper;
    }
  }
}

template <Alu Op> Handler narrow(Type type) {
  switch (type) {
  case Type::F32:
    return approximate<Op, float, 1>;
  case Type::F16:
    return approximate<Op, Half, 1>;
  case Type::F16x2:
    return approximate<Op, Half, 2>;
  case Type::Bf16:
    return approximate<Op, Bfloat, 1>;
  case Type::Bf16x2:
    return approximate<Op, Bfloat, 2>;
  default:
    return nullptr;
  }
}

} // namespace

Handler tilewright::sim::approxHandler(Alu op, Type type, bool gross) {
  bool isFloat = type == Type::F32;
  switch (op) {
  case Alu::Ex2:
    return narrow<Alu::Ex2>(type);
  case Alu::Tanh:
    return narrow<Alu::Tanh>(type);
  case Alu::Lg2:
    return isFloat ? approximate<Alu::Lg2, float, 1> : nullptr;
  case Alu::SqrtApprox:
    return isFloat ? approximate<Alu::SqrtApprox, float, 1> : nullptr;
  case Alu::Sin:
    return isFloat ? approximate<Alu::Sin, float, 1> : nullptr;
  case Alu::Cos:
    return isFloat ? approximate<Alu::Cos, float, 1> : nullptr;
  case Alu::DivApprox:
    return isFloat ? approximate<Alu::DivApprox, float, 1> : nullptr;
  case Alu::RcpApprox:
    return isFloat                      ? approximate<Alu::RcpApprox, float, 1>
           : type == Type::F64 && gross ? approximateDouble<Alu::RcpApprox>
                                        : nullptr;
  case Alu::RsqrtApprox:
    return isFloat             ? approximate<Alu::RsqrtApprox, float, 1>
           : type != Type::F64 ? nullptr
           : gross             ? approximateDouble<Alu::RsqrtApprox>
                               : rsqrtDouble;
  default:
    return nullptr;
  }
}
