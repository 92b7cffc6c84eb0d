//===- Logarithm.cpp - log, log2, log10, log1p ----------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// x = 2^n·m with m in [√½, √2), and log x = n·ln 2 + log(1 + f), f = m − 1.
// f32: log(1 + f) = f − f²/2 + f³·P(f), fit error 2.9e-8 of the last term.
// f64: log(1 + f) = 2s + s³·P(s²) with s = f/(2 + f), fit error 2.1e-18;
// written as f − (f²/2 − s·(f²/2 + s²·P)), in which only small terms are
// rounded.
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/math/Functions.h"

#include <limits>

using namespace mlir;

namespace tilewright {

namespace {
struct Split {
  Lane n; ///< as a float
  Lane f; ///< m − 1
};

/// Splits a positive finite number; others give some number.
Split splitExponent(Lane x) {
  Type element = getElementTypeOrSelf(x.value.getType());
  bool isF64 = isDouble(x);
  // Subnormal numbers are scaled first.
  Lane isSmall = x < (isF64 ? 0x1p-1022 : 0x1p-126);
  Lane scaled = select(isSmall, x * (isF64 ? 0x1p54 : 0x1p25), x);
  // Taking √½ off before the exponent is cut moves the interval's end there.
  int64_t sqrtHalf = isF64 ? 0x3fe6a09e667f3bcd : 0x3f3504f3;
  int64_t one = isF64 ? 0x3ff0000000000000 : 0x3f800000;
  unsigned mantissa = isF64 ? 52 : 23;
  Lane bits = addInt(bitsOf(scaled), one - sqrtHalf);
  Lane exponent = subInt(shiftRightSigned(bits, mantissa), isF64 ? 1023 : 127);
  Lane m = floatOfBits(
      addInt(andInt(bits, (int64_t(1) << mantissa) - 1), sqrtHalf), element);
  // A vector conversion from i64 is slow before AVX-512; 32 bits hold it.
  Lane n = signedToFloat(truncateInt(exponent, 32), element);
  Lane shift = select(isSmall, x.math->constant(x, isF64 ? -54.0 : -25.0), 0.0);
  n = n + shift;
  return {n, m - 1.0};
}

/// log(1 + f), without the leading f: the caller adds it last.
Lane reducedLogTail(Lane f) {
  Lane square = f * f;
  if (!isDouble(f)) {
    Lane p = polynomial(f, {0.0697161183, -0.114797339, 0.116854198,
                            -0.124256872, 0.142490581, -0.166678026,
                            0.200007156, -0.24999997, 0.333333313});
    Lane cubed = square * f;
    return mulAdd(cubed, p, square * -0.5);
  }
  Lane s = f / (f + 2.0);
  Lane z = s * s;
  Lane p = polynomial(z, {0.13086673999286538, 0.13268768562959907,
                          0.15386239873674182, 0.18181795636991582,
                          0.22222222391743315, 0.2857142857080348,
                          0.4000000000000088, 0.6666666666666666});
  Lane halfSquare = square * 0.5;
  return s * mulAdd(z, p, halfSquare) - halfSquare;
}

/// Puts in what log gives outside the positive finite numbers.
Lane withSpecialCases(Lane x, Lane result) {
  const double inf = std::numeric_limits<double>::infinity();
  result = select(x == inf, inf, result);
  result = select(x == 0.0, -inf, result);
  result = select(x < 0.0, std::numeric_limits<double>::quiet_NaN(), result);
  return select(isNaN(x), x, result);
}

/// n·high + (log(1 + f)·factor + n·low).
Lane combine(Split split, double factor, double high, double low) {
  Lane tail = reducedLogTail(split.f);
  Lane log = (split.f + tail) * factor;
  Lane small = mulAdd(split.n, low, log);
  return mulAdd(split.n, high, small);
}
} // namespace

Lane emitLog(Lane x) {
  Split split = splitExponent(x);
  Lane tail = reducedLogTail(split.f);
  double high = isDouble(x) ? 0x1.62e42feep-1 : 0x1.63p-1;
  double low = isDouble(x) ? 0x1.a39ef35793c76p-33 : -0x1.bd0106p-13;
  tail = mulAdd(split.n, low, tail);
  Lane log = tail + split.f;
  return withSpecialCases(x, mulAdd(split.n, high, log));
}

Lane emitLog2(Lane x) {
  return withSpecialCases(
      x, combine(splitExponent(x), 1.4426950408889634, 1.0, 0.0));
}

Lane emitLog10(Lane x) {
  return withSpecialCases(x, combine(splitExponent(x), 0.4342944819032518,
                                     0x1.34413509f7p-2, 0x1.3fde623e2566bp-43));
}

Lane emitLog1p(Lane x) {
  // log(1 + x) for the rounded sum, plus what the rounding lost, to first
  // order.
  Lane sum = x + 1.0;
  DoubleLane exact = twoSum(x.math->constant(x, 1.0), x);
  Lane correction = exact.low / sum;
  Lane isFinite = abs(x) < std::numeric_limits<double>::infinity();
  Lane useful = isFinite && (sum > 0.0);
  Lane result = emitLog(sum) + select(useful, correction, 0.0);
  // Keeps the sign of zero and the bits of tiny numbers.
  return select(abs(x) < 0x1p-54, x, result);
}

} // namespace tilewright
