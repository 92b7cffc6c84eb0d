//===- Functions.h - elementary functions as formulas -----------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// Formulas for the operations of the dialect `math`. All of them take every
// value, with the special cases of IEEE 754 and C: NaN, infinities, zeros with
// their signs, subnormal numbers. The bounds are in units in the last place,
// and tests hold them; where a function has no form of its own for f32 it is
// computed in f64 and rounded, which is within 1 ulp.
//
//   function                 f32   f64      function            f32   f64
//   exp exp2                  2     2       sin cos              2     3
//   expm1                     3     3       tan                  1     4
//   log                       2     2       asin acos            1     4
//   log2 log10 log1p          1     3       atan atan2           1     3
//   tanh                      3     4       asinh acosh atanh    1     4
//   sinh cosh                 1     4       erf                  3     3
//   pow                       1     4       cbrt                 1     2
//
//===----------------------------------------------------------------------===//

#pragma once

#include "codegen/cpu/math/LaneMath.h"

namespace tilewright {

// Exponential.cpp
Lane emitExp(Lane x);
Lane emitExp2(Lane x);
Lane emitExpm1(Lane x);

// Logarithm.cpp
Lane emitLog(Lane x);
Lane emitLog2(Lane x);
Lane emitLog10(Lane x);
Lane emitLog1p(Lane x);

// Hyperbolic.cpp; all but tanh take f64 only.
Lane emitTanh(Lane x);
Lane emitSinh(Lane x);
Lane emitCosh(Lane x);
Lane emitAsinh(Lane x);
Lane emitAcosh(Lane x);
Lane emitAtanh(Lane x);

// Trigonometric.cpp; tan takes f64 only.
Lane emitSin(Lane x);
Lane emitCos(Lane x);
Lane emitTan(Lane x);

/// x = n·π/2 + remainder, |remainder| ≤ π/4 and a little; RangeReduction.cpp.
struct Reduced {
  Lane remainder; ///< f64
  Lane quadrant;  ///< i64, n modulo 4 in its two low bits
};
/// \param x f64; exact enough for the full precision of f64 at any size.
Reduced reduceByHalfPi(Lane x);

// InverseTrigonometric.cpp; f64 only.
Lane emitAsin(Lane x);
Lane emitAcos(Lane x);
Lane emitAtan(Lane x);
Lane emitAtan2(Lane y, Lane x);

// ErrorFunction.cpp
Lane emitErf(Lane x);

// Power.cpp; f64 only.
Lane emitPow(Lane x, Lane y);
Lane emitCbrt(Lane x);

// IntegerPower.cpp; base and exponent are integers of one type. A negative
// exponent gives the quotient rounded to zero, and 0 for the base 0.
Lane emitIntegerPower(Lane base, Lane exponent);

// FusedMultiplyAdd.cpp, for levels without the instruction: exact in f32; f64
// is rounded twice.
Lane emitFma(Lane a, Lane b, Lane c);

// Quotient.cpp: x / divisor of f32, rounded as a division is, with a fused
// multiply-add. `reciprocal` is 1 / divisor rounded; both and the divisor are
// within [2^-64, 2^64]. The last bit may differ where x is below 2^-100.
// `mayOverflow`: the divisor may be below one.
Lane emitQuotient(Lane x, Lane divisor, Lane reciprocal, bool mayOverflow);

// Remainder.cpp; f64 only, exact.
Lane emitRemainder(Lane x, Lane y);

} // namespace tilewright
