//===- Exponential.cpp - exp, exp2, expm1 ---------------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// x = n·ln 2 + r with |r| ≤ ln(2)/2, and e^x = 2^n · e^r. The polynomials are
// near-minimax fits of (e^r − 1 − r)/r² on that interval: error 1.4e-9 (f32),
// 1.4e-18 (f64).
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/math/Functions.h"

using namespace mlir;

namespace tilewright {

namespace {
/// e^r − 1 for |r| ≤ 0.3467.
Lane reducedExpm1(Lane r) {
  Lane tail =
      isDouble(r)
          ? polynomial(r, {2.0914701283103285e-09, 2.51052370507603e-08,
                           2.7557273608709007e-07, 2.7557255352032673e-06,
                           2.4801587325574868e-05, 0.00019841269874858612,
                           0.0013888888888883742, 0.008333333333326124,
                           0.04166666666666667, 0.1666666666666667, 0.5})
          : polynomial(r, {0.0001989101, 0.00139336672, 0.00833331048,
                           0.041666463, 0.166666672, 0.5});
  return mulAdd(r * r, tail, r);
}

struct Reduction {
  Rounded n;
  Lane r;
};

/// \param x limited such that |n| < 2^11 (f64), 2^9 (f32): n times the first
/// part of ln 2 is exact.
Reduction reduceByLn2(Lane x) {
  Rounded n = roundToInt(x * 1.4426950408889634);
  double high = isDouble(x) ? 0x1.62e42feep-1 : 0x1.63p-1;
  double low = isDouble(x) ? 0x1.a39ef35793c76p-33 : -0x1.bd0106p-13;
  Lane r = mulAdd(n.asFloat, -high, x);
  r = mulAdd(n.asFloat, -low, r);
  return {n, r};
}
} // namespace

Lane emitExp(Lane x) {
  x = isDouble(x) ? clamp(x, -746, 710) : clamp(x, -104, 89);
  Reduction reduced = reduceByLn2(x);
  return scaleBy2(reducedExpm1(reduced.r) + 1.0, reduced.n);
}

Lane emitExp2(Lane x) {
  x = isDouble(x) ? clamp(x, -1076, 1025) : clamp(x, -151, 129);
  Rounded n = roundToInt(x);
  Lane fraction = x - n.asFloat;
  Lane r = fraction * 0.6931471805599453;
  return scaleBy2(reducedExpm1(r) + 1.0, n);
}

Lane emitExpm1(Lane x) {
  // 2^n·(e^r − 1) + (2^n − 1), all of it halved: 2^n itself may overflow.
  // Below the lower limit the result is −1 in either precision.
  Lane limited = isDouble(x) ? clamp(x, -40, 710) : clamp(x, -40, 89);
  Reduction reduced = reduceByLn2(limited);
  Lane core = reducedExpm1(reduced.r);
  Lane halfPower = powerOfTwo(subInt(reduced.n.asInt, 1),
                              getElementTypeOrSelf(x.value.getType()));
  Lane rest = halfPower - 0.5;
  Lane half = mulAdd(halfPower, core, rest);
  Lane isReduced = compareInt(arith::CmpIPredicate::eq, reduced.n.asInt, 0);
  // Near zero the result is the polynomial itself, down to subnormal numbers.
  return copySign(select(isReduced, core, half + half), x);
}

} // namespace tilewright
