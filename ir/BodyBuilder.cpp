//===- BodyBuilder.cpp - writing scalar bodies ----------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "ir/BodyBuilder.h"
#include "ir/SmallFloat.h"

using namespace mlir;

namespace tilewright::tw {

//===----------------------------------------------------------------------===//
// Coordinates
//===----------------------------------------------------------------------===//

Value BodyBuilder::index(int64_t value) {
  return createOrFold<arith::ConstantIndexOp>(value);
}

Value BodyBuilder::size(DimExpr size) {
  if (std::optional<int64_t> value = size.getConstant()) {
    return index(*value);
  }
  return createOrFold<SizeOp>(size);
}

static std::optional<int64_t> constantOf(Value value) {
  return getConstantIntValue(value);
}

Value BodyBuilder::add(Value a, Value b) {
  return createOrFold<arith::AddIOp>(a, b);
}
Value BodyBuilder::sub(Value a, Value b) {
  return createOrFold<arith::SubIOp>(a, b);
}
Value BodyBuilder::mul(Value a, Value b) {
  return createOrFold<arith::MulIOp>(a, b);
}

Value BodyBuilder::floorDiv(Value a, Value b) {
  if (constantOf(b) == 1) {
    return a;
  }
  return createOrFold<arith::FloorDivSIOp>(a, max(b, index(1)));
}

Value BodyBuilder::mod(Value a, Value b) {
  if (constantOf(b) == 1) {
    return index(0);
  }
  return sub(a, mul(floorDiv(a, b), b));
}

Value BodyBuilder::min(Value a, Value b) {
  return createOrFold<arith::MinSIOp>(a, b);
}
Value BodyBuilder::max(Value a, Value b) {
  std::optional<int64_t> left = constantOf(a), right = constantOf(b);
  if (left && right) {
    return index(std::max(*left, *right));
  }
  return createOrFold<arith::MaxSIOp>(a, b);
}

Value BodyBuilder::inside(Value a, Value bound) {
  // One unsigned comparison: a negative coordinate is a huge one.
  return createOrFold<arith::CmpIOp>(arith::CmpIPredicate::ult, a, bound);
}
Value BodyBuilder::less(Value a, Value b) {
  return createOrFold<arith::CmpIOp>(arith::CmpIPredicate::slt, a, b);
}
Value BodyBuilder::lessEqual(Value a, Value b) {
  return createOrFold<arith::CmpIOp>(arith::CmpIPredicate::sle, a, b);
}
Value BodyBuilder::equal(Value a, Value b) {
  return createOrFold<arith::CmpIOp>(arith::CmpIPredicate::eq, a, b);
}
Value BodyBuilder::both(Value a, Value b) {
  return !a ? b : !b ? a : createOrFold<arith::AndIOp>(a, b);
}

Value BodyBuilder::dataIndex(Value scalar, DimExpr bound, bool wrap,
                             bool isUnsignedScalar) {
  Value position =
      isUnsignedScalar
          ? createOrFold<arith::IndexCastUIOp>(getIndexType(), scalar)
          : createOrFold<arith::IndexCastOp>(getIndexType(), scalar);
  Value limit = size(bound);
  if (wrap) {
    position = select(less(position, index(0)), add(position, limit), position);
  }
  return createOrFold<ClampIndexOp>(position, limit);
}

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

Value BodyBuilder::constant(Type type, double value) {
  if (auto floatType = dyn_cast<FloatType>(type)) {
    return create<arith::ConstantOp>(getFloatAttr(floatType, value));
  }
  return integer(type, static_cast<int64_t>(value));
}

Value BodyBuilder::integer(Type type, int64_t value) {
  return create<arith::ConstantOp>(getIntegerAttr(scalarType(type), value));
}

Value BodyBuilder::boolean(bool value) {
  return create<arith::ConstantOp>(getBoolAttr(value));
}

Value BodyBuilder::select(Value condition, Value ifTrue, Value ifFalse) {
  return createOrFold<arith::SelectOp>(condition, ifTrue, ifFalse);
}

Value BodyBuilder::load(Value tensor, ValueRange coordinates) {
  return create<LoadOp>(tensor, coordinates);
}

Value BodyBuilder::load(Value tensor, ValueRange coordinates, Value guard,
                        Value otherwise) {
  if (!guard || matchPattern(guard, m_One())) {
    return load(tensor, coordinates);
  }
  return create<LoadOp>(tensor, coordinates, guard, otherwise);
}

Value BodyBuilder::loadBroadcast(Value tensor, ValueRange coordinates) {
  SmallVector<DimExpr> dims = dimsOf(tensor.getType());
  ValueRange own = coordinates.take_back(dims.size());
  SmallVector<Value> position;
  for (auto [coordinate, dim] : llvm::zip(own, dims)) {
    position.push_back(dim.isConstant(1) ? index(0) : coordinate);
  }
  return load(tensor, position);
}

Value BodyBuilder::loadBroadcast(Value tensor, ValueRange coordinates,
                                 ArrayRef<DimExpr> dims) {
  SmallVector<DimExpr> own = dimsOf(tensor.getType());
  SmallVector<Value> position;
  for (auto [coordinate, dim, result] :
       llvm::zip(coordinates.take_back(own.size()), own,
                 dims.take_back(own.size()))) {
    if (dim.isConstant(1)) {
      position.push_back(index(0));
    } else if (dim == result || dim.getConstant() ||
               (!result.getConstant() &&
                result.kind() != DimExpr::Kind::Select)) {
      // Computed sizes have been checked to be equal.
      position.push_back(coordinate);
    } else {
      position.push_back(min(coordinate, size(dim - 1)));
    }
  }
  return load(tensor, position);
}

Value BodyBuilder::widen(Value scalar) {
  auto type = dyn_cast<FloatType>(scalar.getType());
  if (!type || type.getWidth() >= 32) {
    return scalar;
  }
  if (type.getWidth() == 16) {
    return createOrFold<arith::ExtFOp>(getF32Type(), scalar);
  }
  return widenSmallFloat(*this, scalar);
}

Value BodyBuilder::narrow(Value scalar, Type type) {
  auto to = dyn_cast<FloatType>(type);
  if (!to || scalar.getType() == type) {
    return scalar;
  }
  if (to.getWidth() >= 16) {
    return createOrFold<arith::TruncFOp>(type, scalar);
  }
  return narrowSmallFloat(*this, scalar, to, /*saturate=*/true);
}

//===----------------------------------------------------------------------===//
// Casts
//===----------------------------------------------------------------------===//

/// Truncates toward zero and saturates; NaN gives 0.
static Value floatToInteger(BodyBuilder &b, Value scalar, Type to) {
  auto integerType = cast<IntegerType>(scalarType(to));
  unsigned width = integerType.getWidth();
  Type type = scalar.getType();
  bool unsignedTarget = isUnsigned(to);
  double lowest = unsignedTarget ? 0.0 : -std::ldexp(1.0, width - 1);
  double limit = std::ldexp(1.0, unsignedTarget ? width : width - 1);
  APInt least =
      unsignedTarget ? APInt::getZero(width) : APInt::getSignedMinValue(width);
  APInt greatest = unsignedTarget ? APInt::getMaxValue(width)
                                  : APInt::getSignedMaxValue(width);
  auto compare = [&](arith::CmpFPredicate predicate, double bound) {
    return b.createOrFold<arith::CmpFOp>(predicate, scalar,
                                         b.constant(type, bound));
  };
  // The conversion itself sees only values that fit.
  Value tooLow = compare(arith::CmpFPredicate::OLT, lowest);
  Value tooHigh = compare(arith::CmpFPredicate::OGE, limit);
  Value ordered =
      b.createOrFold<arith::CmpFOp>(arith::CmpFPredicate::ORD, scalar, scalar);
  Value fits = b.create<arith::AndIOp>(
      ordered, b.create<arith::XOrIOp>(b.create<arith::OrIOp>(tooLow, tooHigh),
                                       b.boolean(true)));
  Value safe = b.select(fits, scalar, b.constant(type, 0.0));
  // Through i64 (or i32), whose conversions every machine has.
  Type middle = b.getIntegerType(width < 32 ? 32 : width);
  Value converted;
  if (unsignedTarget && width >= 32) {
    converted = b.create<arith::FPToUIOp>(middle, safe);
  } else {
    converted = b.create<arith::FPToSIOp>(middle, safe);
  }
  if (width < 32) {
    converted = b.create<arith::TruncIOp>(integerType, converted);
  }
  auto constantOf = [&](const APInt &value) -> Value {
    return b.create<arith::ConstantOp>(IntegerAttr::get(integerType, value));
  };
  Value result = b.select(tooHigh, constantOf(greatest), converted);
  return b.select(tooLow, constantOf(least), result);
}

static Value integerToInteger(BodyBuilder &b, Value scalar, Type from,
                              Type to) {
  auto target = cast<IntegerType>(scalarType(to));
  unsigned fromWidth = cast<IntegerType>(scalar.getType()).getWidth();
  if (fromWidth == target.getWidth()) {
    return scalar;
  }
  if (fromWidth > target.getWidth()) {
    return b.createOrFold<arith::TruncIOp>(target, scalar);
  }
  bool zeroExtend = isUnsigned(from) || fromWidth == 1;
  return zeroExtend ? b.createOrFold<arith::ExtUIOp>(target, scalar)
                    : b.createOrFold<arith::ExtSIOp>(target, scalar);
}

static Value integerToFloat(BodyBuilder &b, Value scalar, Type from, Type to) {
  bool unsignedSource = isUnsigned(from) || scalar.getType().isInteger(1);
  Type wide = computeType(to);
  unsigned width = cast<IntegerType>(scalar.getType()).getWidth();
  if (width < 32) {
    Type middle = b.getI32Type();
    scalar = unsignedSource ? b.createOrFold<arith::ExtUIOp>(middle, scalar)
                            : b.createOrFold<arith::ExtSIOp>(middle, scalar);
    unsignedSource = false;
  }
  // A 64-bit integer rounds once, on the way to f64 or f32, and again to a
  // smaller float: exact for what a small float can hold.
  Value result = unsignedSource ? b.createOrFold<arith::UIToFPOp>(wide, scalar)
                                : b.createOrFold<arith::SIToFPOp>(wide, scalar);
  return result;
}

Value BodyBuilder::cast(Value scalar, Type from, Type to, bool saturate) {
  if (from == to) {
    return scalar;
  }
  auto fromFloat = dyn_cast<FloatType>(from);
  auto toFloat = dyn_cast<FloatType>(to);
  if (to.isInteger(1)) {
    if (fromFloat) {
      Value wide = widen(scalar);
      return createOrFold<arith::CmpFOp>(arith::CmpFPredicate::UNE, wide,
                                         constant(wide.getType(), 0.0));
    }
    return createOrFold<arith::CmpIOp>(arith::CmpIPredicate::ne, scalar,
                                       integer(scalar.getType(), 0));
  }
  if (fromFloat && toFloat) {
    Value wide = widen(scalar);
    if (toFloat.getWidth() < 16) {
      // An f64 goes to a small float through f32, rounded to odd so that the
      // second rounding cannot err.
      return narrowSmallFloat(*this, wide, toFloat, saturate);
    }
    if (wide.getType() == to) {
      return wide;
    }
    bool grows =
        ::llvm::cast<FloatType>(wide.getType()).getWidth() < toFloat.getWidth();
    return grows ? createOrFold<arith::ExtFOp>(to, wide)
                 : createOrFold<arith::TruncFOp>(to, wide);
  }
  if (fromFloat) {
    return floatToInteger(*this, widen(scalar), to);
  }
  if (toFloat) {
    Value wide = integerToFloat(*this, scalar, from, to);
    return toFloat.getWidth() < 16
               ? narrowSmallFloat(*this, wide, toFloat, saturate)
               : narrow(wide, to);
  }
  return integerToInteger(*this, scalar, from, to);
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

static bool isFloat(Value value) { return isa<FloatType>(value.getType()); }

Value BodyBuilder::addOf(Value a, Value b) {
  return isFloat(a) ? createOrFold<arith::AddFOp>(a, b)
                    : createOrFold<arith::AddIOp>(a, b);
}
Value BodyBuilder::subOf(Value a, Value b) {
  return isFloat(a) ? createOrFold<arith::SubFOp>(a, b)
                    : createOrFold<arith::SubIOp>(a, b);
}
Value BodyBuilder::mulOf(Value a, Value b) {
  return isFloat(a) ? createOrFold<arith::MulFOp>(a, b)
                    : createOrFold<arith::MulIOp>(a, b);
}

/// `a op b` for a divisor that is neither zero nor, if signed, -1 with the
/// lowest dividend; 0 by zero. Division by -1 is a negation.
template <typename SignedOp, typename UnsignedOp>
static Value safeDivision(BodyBuilder &builder, Value a, Value b, Type element,
                          bool isRemainder) {
  Type type = a.getType();
  Value zero = builder.integer(type, 0), one = builder.integer(type, 1);
  Value byZero =
      builder.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::eq, b, zero);
  if (isUnsigned(element)) {
    Value safe = builder.select(byZero, one, b);
    Value result = builder.createOrFold<UnsignedOp>(a, safe);
    return builder.select(byZero, zero, result);
  }
  Value minusOne = builder.integer(type, -1);
  Value byMinusOne = builder.createOrFold<arith::CmpIOp>(
      arith::CmpIPredicate::eq, b, minusOne);
  Value special = builder.createOrFold<arith::OrIOp>(byZero, byMinusOne);
  Value safe = builder.select(special, one, b);
  Value result = builder.createOrFold<SignedOp>(a, safe);
  Value negated =
      isRemainder ? zero : builder.createOrFold<arith::SubIOp>(zero, a);
  result = builder.select(byMinusOne, negated, result);
  return builder.select(byZero, zero, result);
}

Value BodyBuilder::divOf(Value a, Value b, Type element) {
  if (isFloat(a)) {
    return createOrFold<arith::DivFOp>(a, b);
  }
  return safeDivision<arith::DivSIOp, arith::DivUIOp>(*this, a, b, element,
                                                      false);
}

Value BodyBuilder::remOf(Value a, Value b, Type element) {
  if (isFloat(a)) {
    return createOrFold<arith::RemFOp>(a, b);
  }
  return safeDivision<arith::RemSIOp, arith::RemUIOp>(*this, a, b, element,
                                                      true);
}

Value BodyBuilder::minOf(Value a, Value b, Type element) {
  if (isFloat(a)) {
    return createOrFold<arith::MinimumFOp>(a, b);
  }
  return isUnsigned(element) || a.getType().isInteger(1)
             ? createOrFold<arith::MinUIOp>(a, b)
             : createOrFold<arith::MinSIOp>(a, b);
}

Value BodyBuilder::maxOf(Value a, Value b, Type element) {
  if (isFloat(a)) {
    return createOrFold<arith::MaximumFOp>(a, b);
  }
  return isUnsigned(element) || a.getType().isInteger(1)
             ? createOrFold<arith::MaxUIOp>(a, b)
             : createOrFold<arith::MaxSIOp>(a, b);
}

Value BodyBuilder::lessOf(Value a, Value b, Type element) {
  if (isFloat(a)) {
    return createOrFold<arith::CmpFOp>(arith::CmpFPredicate::OLT, a, b);
  }
  bool asUnsigned = isUnsigned(element) || a.getType().isInteger(1);
  return createOrFold<arith::CmpIOp>(
      asUnsigned ? arith::CmpIPredicate::ult : arith::CmpIPredicate::slt, a, b);
}

Value BodyBuilder::lessEqualOf(Value a, Value b, Type element) {
  if (isFloat(a)) {
    return createOrFold<arith::CmpFOp>(arith::CmpFPredicate::OLE, a, b);
  }
  bool asUnsigned = isUnsigned(element) || a.getType().isInteger(1);
  return createOrFold<arith::CmpIOp>(
      asUnsigned ? arith::CmpIPredicate::ule : arith::CmpIPredicate::sle, a, b);
}

Value BodyBuilder::equalOf(Value a, Value b) {
  return isFloat(a)
             ? createOrFold<arith::CmpFOp>(arith::CmpFPredicate::OEQ, a, b)
             : createOrFold<arith::CmpIOp>(arith::CmpIPredicate::eq, a, b);
}

} // namespace tilewright::tw
