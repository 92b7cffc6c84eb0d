//===- Power.cpp - pow and cbrt -------------------------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// x^y = e^(y·log x). An error in y·log x of one part in 2^53 would be one of
// several hundred ulp in the result, so the logarithm is computed to about 68
// bits: log(1 + f) = 2s + s³·(2/3 + s²·Q(s²)) with s = f/(2 + f), all but Q as
// sums of two numbers.
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/math/Functions.h"

#include <limits>

using namespace mlir;

namespace tilewright {

namespace {
const double infinity = std::numeric_limits<double>::infinity();

DoubleLane add(DoubleLane a, DoubleLane b) {
  DoubleLane sum = twoSum(a.high, b.high);
  Lane low = sum.low + (a.low + b.low);
  return quickTwoSum(sum.high, low);
}

DoubleLane multiply(DoubleLane a, DoubleLane b) {
  DoubleLane product = twoProduct(a.high, b.high);
  Lane cross = mulAdd(a.high, b.low, a.low * b.high);
  return quickTwoSum(product.high, product.low + cross);
}

/// f/(2 + f).
DoubleLane halfAngle(Lane f) {
  DoubleLane divisor = twoSum(f.math->constant(f, 2.0), f);
  Lane high = f / divisor.high;
  DoubleLane product = twoProduct(high, divisor.high);
  Lane rest = (f - product.high) - product.low;
  rest = rest - high * divisor.low;
  return {high, rest / divisor.high};
}

/// log x for a positive finite number.
DoubleLane preciseLog(Lane x) {
  LaneMath &math = *x.math;
  Lane isSmall = x < 0x1p-1022;
  Lane bits = addInt(bitsOf(select(isSmall, x * 0x1p54, x)),
                     0x3ff0000000000000 - 0x3fe6a09e667f3bcd);
  Lane exponent = truncateInt(subInt(shiftRightSigned(bits, 52), 1023), 32);
  Lane m =
      floatOfBits(addInt(andInt(bits, 0xfffffffffffff), 0x3fe6a09e667f3bcd),
                  math.builder.getF64Type());
  Lane n = signedToFloat(exponent, math.builder.getF64Type());
  n = n + select(isSmall, math.constant(x, -54.0), 0.0);

  DoubleLane s = halfAngle(m - 1.0);
  DoubleLane z = multiply(s, s);
  Lane q = polynomial(z.high, {0.11723094372915027, 0.11706244396182178,
                               0.1333480439299181, 0.15384594968050028,
                               0.18181818335341032, 0.22222222221656113,
                               0.28571428571429364, 0.4});
  DoubleLane twoThirds = {math.constant(x, 0x1.5555555555555p-1),
                          math.constant(x, 0x1.5555555555555p-55)};
  DoubleLane p = add(twoThirds, twoProduct(z.high, q));
  DoubleLane tail = multiply(multiply(s, z), p);
  DoubleLane log = add({s.high * 2.0, s.low * 2.0}, tail);
  // The first part of ln 2 has 42 bits: its product with n is exact.
  DoubleLane exponentPart = {n * 0x1.62e42fefa38p-1, n * 0x1.ef35793c7673p-45};
  return add(exponentPart, log);
}

/// 1 when y is an odd integer, else 0; and whether it is an integer.
struct Parity {
  Lane isInteger, isOdd;
};

Parity parityOf(Lane y) {
  Lane magnitude = abs(y);
  // Beyond 2^53 all numbers are even integers.
  Lane limited = select(magnitude < 0x1p53, magnitude, 0.0);
  // Adding 2^52 rounds to an integer whose lowest bit is that of the sum.
  Lane isBelow = limited < 0x1p52;
  Lane shifted = select(isBelow, limited + 0x1p52, limited);
  Lane isWhole = select(isBelow, shifted - 0x1p52, limited) == limited;
  Lane lowBit = andInt(bitsOf(shifted), 1);
  Lane isOdd = compareInt(arith::CmpIPredicate::ne, lowBit, 0);
  return {isWhole, isWhole && isOdd};
}

/// |x|^y for positive finite |x| and finite y.
Lane positivePower(Lane x, Lane y) {
  DoubleLane log = preciseLog(x);
  // Limited so that products stay finite; the result is 0 or infinite long
  // before.
  Lane limited = clamp(y, -0x1p70, 0x1p70);
  DoubleLane product = twoProduct(limited, log.high);
  Lane low = mulAdd(limited, log.low, product.low);
  DoubleLane exponent = quickTwoSum(product.high, low);
  Lane power = emitExp(exponent.high);
  // e^(high + low) = e^high·(1 + low), to first order. Where e^high is 0 or
  // infinite it stays so.
  Lane isOrdinary = abs(exponent.high) < 750.0;
  Lane correction = select(isOrdinary, exponent.low, 0.0);
  Lane isFinite = power < infinity;
  return select(isFinite, mulAdd(power, correction, power), power);
}
} // namespace

Lane emitPow(Lane x, Lane y) {
  LaneMath &math = *x.math;
  Lane magnitude = abs(x);
  Lane isZero = magnitude == 0.0;
  Lane isInfinite = magnitude == infinity;
  Lane special = isZero || isInfinite;
  Lane result =
      positivePower(select(special, 1.0, magnitude), select(isNaN(y), 1.0, y));

  // 0^y and ∞^y: 0 or ∞ by the sign of y.
  Lane isRising = xorInt(isZero, y > 0.0);
  Lane extreme = select(isRising, math.constant(x, infinity), 0.0);
  result = select(special, extreme, result);

  // y = ±∞ by |x| against 1; |x| = 1 gives 1.
  Lane grows = xorInt(magnitude > 1.0, y < 0.0);
  Lane limit = select(grows, math.constant(x, infinity), 0.0);
  limit = select(magnitude == 1.0, 1.0, limit);
  result = select(abs(y) == infinity, limit, result);

  // The sign, and no real value for a negative base with a fractional exponent.
  Parity parity = parityOf(y);
  Lane isNegative = copySign(math.constant(x, 1.0), x) < 0.0;
  result = select(isNegative && parity.isOdd, -result, result);
  Lane isUndefined = (x < 0.0) && (magnitude < infinity) && !parity.isInteger;
  isUndefined = isUndefined && (abs(y) < infinity);
  result =
      select(isUndefined, std::numeric_limits<double>::quiet_NaN(), result);

  result = select(isNaN(x) || isNaN(y), x + y, result);
  // 1 for x = 1 and y = 0, even against NaN.
  return select((x == 1.0) || (y == 0.0), 1.0, result);
}

Lane emitCbrt(Lane x) {
  LaneMath &math = *x.math;
  Lane magnitude = abs(x);
  // Away from both ends of the range.
  Lane isSmall = magnitude < 1.0;
  Lane scaled = magnitude * select(isSmall, math.constant(x, 0x1p54), 0x1p-54);
  // A third of the exponent is a guess to 5 bits, and each of Halley's steps
  // triples them.
  Lane third = math.wrap(
      arith::DivUIOp::create(math.builder, math.loc, bitsOf(scaled).value,
                             math.constantInt(bitsOf(scaled), 3).value));
  Lane root =
      floatOfBits(addInt(third, 0x2a9f7893782da1ce), math.builder.getF64Type());
  for (int i = 0; i < 3; ++i) {
    Lane cube = root * root * root;
    Lane step = root * ((cube - scaled) / (cube + cube + scaled));
    root = root - step;
  }
  root = root * select(isSmall, math.constant(x, 0x1p-18), 0x1p18);
  Lane isOrdinary = (magnitude > 0.0) && (magnitude < infinity);
  return select(isOrdinary, copySign(root, x), x);
}

} // namespace tilewright
