//===- IntegerPower.cpp - powers of integers ------------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/math/Functions.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace tilewright {

Lane emitIntegerPower(Lane base, Lane exponent) {
  using arith::CmpIPredicate;
  LaneMath &math = *base.math;
  OpBuilder &builder = math.builder;
  Type type = base.value.getType();
  Lane zero = math.constantInt(base, 0);
  Lane one = math.constantInt(base, 1);
  Lane isNegative = compareInt(CmpIPredicate::slt, exponent, 0);
  Lane count = select(isNegative, zero, exponent);

  // Squaring and multiplying, until no lane has a bit left.
  SmallVector<Type> types(3, type);
  SmallVector<Location> locations(3, math.loc);
  auto loop = scf::WhileOp::create(
      builder, math.loc, types, ValueRange{one.value, base.value, count.value});
  {
    OpBuilder::InsertionGuard guard(builder);
    Block *before =
        builder.createBlock(&loop.getBefore(), {}, types, locations);
    Lane left = math.wrap(before->getArgument(2));
    Value more = anyLane(compareInt(CmpIPredicate::ne, left, 0));
    scf::ConditionOp::create(builder, math.loc, more, before->getArguments());

    Block *after = builder.createBlock(&loop.getAfter(), {}, types, locations);
    Lane result = math.wrap(after->getArgument(0));
    Lane power = math.wrap(after->getArgument(1));
    left = math.wrap(after->getArgument(2));
    Lane hasBit = compareInt(CmpIPredicate::ne, andInt(left, 1), 0);
    Lane product = mulInt(result, power);
    Lane next = select(hasBit, product, result);
    Lane square = mulInt(power, power);
    Lane rest = shiftRightUnsigned(left, 1);
    scf::YieldOp::create(builder, math.loc,
                         ValueRange{next.value, square.value, rest.value});
  }
  Lane result = math.wrap(loop.getResult(0));

  // 1/base^n: ±1 for ±1, else 0.
  Lane isOdd = compareInt(CmpIPredicate::ne, andInt(exponent, 1), 0);
  Lane isOne = compareInt(CmpIPredicate::eq, base, 1);
  Lane isMinusOne = compareInt(CmpIPredicate::eq, base, -1);
  Lane alternating = select(isOdd, math.constantInt(base, -1), one);
  Lane inverse = select(isOne, one, select(isMinusOne, alternating, zero));
  return select(isNegative, inverse, result);
}

} // namespace tilewright
