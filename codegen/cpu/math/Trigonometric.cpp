//===- Trigonometric.cpp - sin, cos, tan ----------------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// The argument is reduced in f64 for f32, too, so that its remainder is good at
// any size. The polynomials are near-minimax fits on [−π/4, π/4] with errors
// below 3e-11 (f32) and 1.3e-18 (f64).
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/math/Functions.h"

using namespace mlir;

namespace tilewright {

namespace {
Lane reducedSin(Lane r) {
  Lane z = r * r;
  Lane p = isDouble(r)
               ? polynomial(z, {-7.586543634101903e-13, 1.6058529011960858e-10,
                                -2.5052106215978872e-08, 2.7557319219291695e-06,
                                -0.00019841269841265003, 0.008333333333333331,
                                -0.16666666666666666})
               : polynomial(z, {2.72491479e-06, -0.000198400812, 0.00833333191,
                                -0.166666672});
  Lane cubed = z * r;
  return mulAdd(cubed, p, r);
}

Lane reducedCos(Lane r) {
  Lane z = r * r;
  Lane p = isDouble(r)
               ? polynomial(z, {-1.1382408754153254e-11, 2.087614315990944e-09,
                                -2.755731725679604e-07, 2.4801587298736863e-05,
                                -0.0013888888888887378, 0.041666666666666664})
               : polynomial(z, {-2.73003081e-07, 2.48005945e-05, -0.00138888881,
                                0.0416666679});
  // 1 − z/2 is rounded; what the rounding lost goes to the small terms.
  Lane half = z * 0.5;
  Lane head = 1.0 - half;
  Lane lost = (1.0 - head) - half;
  return head + mulAdd(z * z, p, lost);
}

/// sin of (remainder + quadrant·π/2).
Lane sinOf(Lane x, int64_t quadrants) {
  Reduced reduced = reduceByHalfPi(toF64(x));
  Lane r = reduced.remainder, quadrant = reduced.quadrant;
  if (!isDouble(x)) {
    r = toF32(r);
    quadrant = truncateInt(quadrant, 32);
  }
  quadrant = addInt(quadrant, quadrants);
  Lane isOdd = compareInt(arith::CmpIPredicate::ne, andInt(quadrant, 1), 0);
  Lane isNegative =
      compareInt(arith::CmpIPredicate::ne, andInt(quadrant, 2), 0);
  Lane result = select(isOdd, reducedCos(r), reducedSin(r));
  return select(isNegative, -result, result);
}
} // namespace

Lane emitSin(Lane x) {
  // The reduction turns −0 into +0.
  return select(x == 0.0, x, sinOf(x, 0));
}

Lane emitCos(Lane x) { return sinOf(x, 1); }

Lane emitTan(Lane x) {
  Reduced reduced = reduceByHalfPi(x);
  Lane sine = reducedSin(reduced.remainder);
  Lane cosine = reducedCos(reduced.remainder);
  Lane isOdd =
      compareInt(arith::CmpIPredicate::ne, andInt(reduced.quadrant, 1), 0);
  Lane result = select(isOdd, -cosine, sine) / select(isOdd, sine, cosine);
  return select(x == 0.0, x, result);
}

} // namespace tilewright
