//===- Remainder.cpp - the exact remainder of a division ------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// C's fmod: x − trunc(x/y)·y without rounding. With x = a·2^i and y = b·2^j it
// is a·2^(i−j) modulo b in integers, taken eleven bits of the power at a time.
// Quotients of ordinary size need one step.
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/math/Functions.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

#include <limits>

using namespace mlir;

namespace tilewright {

namespace {
struct Parts {
  Lane mantissa; ///< i64, below 2^53
  Lane exponent; ///< i64, of the mantissa's unit, plus 1075
};

Parts partsOf(Lane x) {
  Lane bits = bitsOf(x);
  Lane field = andInt(shiftRightUnsigned(bits, 52), 0x7ff);
  Lane fraction = andInt(bits, 0xfffffffffffff);
  Lane isNormal = compareInt(arith::CmpIPredicate::ne, field, 0);
  Lane mantissa = select(isNormal, orInt(fraction, 0x10000000000000), fraction);
  return {mantissa, select(isNormal, field, field.math->constantInt(field, 1))};
}

template <typename OpTy> Lane binary(Lane a, Lane b) {
  LaneMath &math = *a.math;
  return math.wrap(OpTy::create(math.builder, math.loc, a.value, b.value));
}

/// mantissa·2^count modulo divisor; mantissa < divisor < 2^53, count ≥ 0.
Lane shiftModulo(Lane mantissa, Lane count, Lane divisor) {
  LaneMath &math = *mantissa.math;
  OpBuilder &builder = math.builder;
  Type type = mantissa.value.getType();
  auto loop = scf::WhileOp::create(builder, math.loc, TypeRange{type, type},
                                   ValueRange{mantissa.value, count.value});
  OpBuilder::InsertionGuard guard(builder);
  SmallVector<Location> locations(2, math.loc);
  Block *before = builder.createBlock(&loop.getBefore(), {},
                                      TypeRange{type, type}, locations);
  Lane left = math.wrap(before->getArgument(1));
  Value more = anyLane(compareInt(arith::CmpIPredicate::sgt, left, 0));
  scf::ConditionOp::create(builder, math.loc, more, before->getArguments());

  Block *after = builder.createBlock(&loop.getAfter(), {},
                                     TypeRange{type, type}, locations);
  Lane current = math.wrap(after->getArgument(0));
  left = math.wrap(after->getArgument(1));
  Lane step = binary<arith::MinSIOp>(left, math.constantInt(left, 11));
  Lane next = binary<arith::RemUIOp>(shiftLeft(current, step), divisor);
  Lane rest = subInt(left, step);
  scf::YieldOp::create(builder, math.loc, ValueRange{next.value, rest.value});
  return math.wrap(loop.getResult(0));
}
} // namespace

Lane emitRemainder(Lane x, Lane y) {
  LaneMath &math = *x.math;
  const double infinity = std::numeric_limits<double>::infinity();
  Type f64 = math.builder.getF64Type();
  Lane magnitude = abs(x), divisor = abs(y);
  Parts a = partsOf(magnitude), b = partsOf(divisor);
  // A zero divisor gives NaN below; the arithmetic runs with another number.
  Lane safe =
      binary<arith::MaxUIOp>(b.mantissa, math.constantInt(b.mantissa, 1));
  Lane zero = math.constantInt(a.exponent, 0);
  Lane count = binary<arith::MaxSIOp>(subInt(a.exponent, b.exponent), zero);
  Lane start = binary<arith::RemUIOp>(a.mantissa, safe);
  Lane rest = shiftModulo(start, count, safe);

  // rest·2^(exponent − 1075), in two factors that are normal numbers. Below
  // 2^53 a signed conversion by parts is exact, and vectors have one from 32
  // bits.
  Lane high = signedToFloat(truncateInt(shiftRightUnsigned(rest, 27), 32), f64);
  Lane low = signedToFloat(truncateInt(andInt(rest, 0x7ffffff), 32), f64);
  Lane value = high * 0x1p27 + low;
  Lane exponent = subInt(b.exponent, 1075);
  Lane half = shiftRightSigned(exponent, 1);
  value = value * powerOfTwo(half, f64);
  value = value * powerOfTwo(subInt(exponent, half), f64);

  Lane result = select(magnitude < divisor, magnitude, value);
  Lane isInvalid = (divisor == 0.0) || (magnitude == infinity);
  result = select(isInvalid, std::numeric_limits<double>::quiet_NaN(), result);
  result = copySign(result, x);
  return select(isNaN(x) || isNaN(y), x + y, result);
}

} // namespace tilewright
