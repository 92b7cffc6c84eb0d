//===- FusedMultiplyAdd.cpp - a·b + c where there is no instruction -------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/math/Functions.h"

using namespace mlir;

namespace tilewright {

Lane emitFma(Lane a, Lane b, Lane c) {
  if (isDouble(a)) {
    return a * b + c;
  }
  // The product of two f32 is exact in f64. The sum is rounded to odd: then
  // rounding it again, to f32, gives what one rounding would have given (Boldo
  // and Melquiond).
  DoubleLane sum = twoSum(toF64(a) * toF64(b), toF64(c));
  Lane bits = bitsOf(sum.high);
  Lane isInexact = (sum.low > 0.0) || (sum.low < 0.0);
  Lane isEven = compareInt(arith::CmpIPredicate::eq, andInt(bits, 1), 0);
  // Towards the exact sum: away from zero when the error has the sum's sign.
  Lane sameSign = (sum.low > 0.0) && (sum.high > 0.0);
  sameSign = sameSign || ((sum.low < 0.0) && (sum.high < 0.0));
  Lane one = a.math->constantInt(bits, 1);
  Lane step = select(sameSign, one, a.math->constantInt(bits, -1));
  Lane odd = floatOfBits(addInt(bits, step), a.math->builder.getF64Type());
  return toF32(select(isInexact && isEven, odd, sum.high));
}

} // namespace tilewright
