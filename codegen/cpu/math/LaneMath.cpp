//===- LaneMath.cpp - formulas over scalars and vectors -------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/math/LaneMath.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace tilewright {

namespace {
template <typename OpTy> Lane emit(Lane a, Lane b) {
  LaneMath &math = *a.math;
  return math.wrap(OpTy::create(math.builder, math.loc, a.value, b.value));
}

Lane compare(arith::CmpFPredicate predicate, Lane a, Lane b) {
  LaneMath &math = *a.math;
  return math.wrap(arith::CmpFOp::create(math.builder, math.loc, predicate,
                                         a.value, b.value));
}

template <typename OpTy> Lane cast(Lane x, Type element) {
  LaneMath &math = *x.math;
  Type type = withElement(x.value.getType(), element);
  return type == x.value.getType()
             ? x
             : math.wrap(OpTy::create(math.builder, math.loc, type, x.value));
}

Type integerType(Lane x, unsigned width) {
  return x.math->builder.getIntegerType(width);
}
} // namespace

Type withElement(Type type, Type element) {
  auto vector = dyn_cast<VectorType>(type);
  return vector ? Type(VectorType::get(vector.getShape(), element)) : element;
}

Lane LaneMath::constant(Lane like, double value) {
  Type type = like.value.getType();
  TypedAttr attribute = builder.getFloatAttr(getElementTypeOrSelf(type), value);
  if (auto vector = dyn_cast<VectorType>(type)) {
    attribute = DenseElementsAttr::get(vector, Attribute(attribute));
  }
  return wrap(arith::ConstantOp::create(builder, loc, attribute));
}

Lane LaneMath::constantInt(Lane like, int64_t value) {
  Type type = like.value.getType();
  Type element = getElementTypeOrSelf(type);
  unsigned width = element.isIndex() ? IndexType::kInternalStorageBitWidth
                                     : element.getIntOrFloatBitWidth();
  APInt bits(width, static_cast<uint64_t>(value), /*isSigned=*/true,
             /*implicitTrunc=*/true);
  TypedAttr attribute = builder.getIntegerAttr(element, bits);
  if (auto vector = dyn_cast<VectorType>(type)) {
    attribute = DenseElementsAttr::get(vector, Attribute(attribute));
  }
  return wrap(arith::ConstantOp::create(builder, loc, attribute));
}

Lane operator+(Lane a, Lane b) { return emit<arith::AddFOp>(a, b); }
Lane operator-(Lane a, Lane b) { return emit<arith::SubFOp>(a, b); }
Lane operator*(Lane a, Lane b) { return emit<arith::MulFOp>(a, b); }
Lane operator/(Lane a, Lane b) { return emit<arith::DivFOp>(a, b); }
Lane operator-(Lane a) {
  return a.math->wrap(
      arith::NegFOp::create(a.math->builder, a.math->loc, a.value));
}
Lane operator+(Lane a, double b) { return a + a.math->constant(a, b); }
Lane operator-(Lane a, double b) { return a - a.math->constant(a, b); }
Lane operator*(Lane a, double b) { return a * a.math->constant(a, b); }
Lane operator/(Lane a, double b) { return a / a.math->constant(a, b); }
Lane operator+(double a, Lane b) { return b.math->constant(b, a) + b; }
Lane operator-(double a, Lane b) { return b.math->constant(b, a) - b; }
Lane operator*(double a, Lane b) { return b.math->constant(b, a) * b; }
Lane operator/(double a, Lane b) { return b.math->constant(b, a) / b; }

Lane mulAdd(Lane a, Lane b, Lane c) {
  if (!a.math->features.fma) {
    return a * b + c;
  }
  return a.math->wrap(math::FmaOp::create(a.math->builder, a.math->loc, a.value,
                                          b.value, c.value));
}
Lane mulAdd(Lane a, Lane b, double c) {
  return mulAdd(a, b, a.math->constant(a, c));
}
Lane mulAdd(Lane a, double b, Lane c) {
  return mulAdd(a, a.math->constant(a, b), c);
}

Lane polynomial(Lane x, std::initializer_list<double> coefficients) {
  auto next = coefficients.begin();
  Lane result = x.math->constant(x, *next);
  for (++next; next != coefficients.end(); ++next) {
    result = mulAdd(result, x, *next);
  }
  return result;
}

Lane abs(Lane x) {
  return x.math->wrap(
      math::AbsFOp::create(x.math->builder, x.math->loc, x.value));
}
Lane sqrt(Lane x) {
  return x.math->wrap(
      math::SqrtOp::create(x.math->builder, x.math->loc, x.value));
}
Lane copySign(Lane magnitude, Lane sign) {
  return emit<math::CopySignOp>(magnitude, sign);
}

Lane operator<(Lane a, Lane b) {
  return compare(arith::CmpFPredicate::OLT, a, b);
}
Lane operator<(Lane a, double b) { return a < a.math->constant(a, b); }
Lane operator>(Lane a, Lane b) {
  return compare(arith::CmpFPredicate::OGT, a, b);
}
Lane operator>(Lane a, double b) { return a > a.math->constant(a, b); }
Lane operator<=(Lane a, double b) {
  return compare(arith::CmpFPredicate::OLE, a, a.math->constant(a, b));
}
Lane operator>=(Lane a, Lane b) {
  return compare(arith::CmpFPredicate::OGE, a, b);
}
Lane operator>=(Lane a, double b) { return a >= a.math->constant(a, b); }
Lane operator==(Lane a, Lane b) {
  return compare(arith::CmpFPredicate::OEQ, a, b);
}
Lane operator==(Lane a, double b) { return a == a.math->constant(a, b); }
Lane operator!=(Lane a, Lane b) {
  return compare(arith::CmpFPredicate::UNE, a, b);
}
Lane isNaN(Lane x) { return compare(arith::CmpFPredicate::UNO, x, x); }

Lane operator&&(Lane a, Lane b) { return emit<arith::AndIOp>(a, b); }
Lane operator||(Lane a, Lane b) { return emit<arith::OrIOp>(a, b); }
Lane operator!(Lane a) { return xorInt(a, a.math->constantInt(a, 1)); }

Value anyLane(Lane condition) {
  if (!isa<VectorType>(condition.value.getType())) {
    return condition.value;
  }
  LaneMath &math = *condition.math;
  return vector::ReductionOp::create(
      math.builder, math.loc, vector::CombiningKind::OR, condition.value);
}

Lane select(Lane condition, Lane a, Lane b) {
  LaneMath &math = *a.math;
  return math.wrap(arith::SelectOp::create(math.builder, math.loc,
                                           condition.value, a.value, b.value));
}
Lane select(Lane condition, double a, Lane b) {
  return select(condition, b.math->constant(b, a), b);
}
Lane select(Lane condition, Lane a, double b) {
  return select(condition, a, a.math->constant(a, b));
}

Lane clamp(Lane x, double low, double high) {
  // With the constant as the first operand each of these is one min or max
  // instruction, and NaN in x passes.
  Lane highest = x.math->constant(x, high);
  x = select(highest < x, highest, x);
  Lane lowest = x.math->constant(x, low);
  return select(lowest > x, lowest, x);
}

Lane addInt(Lane a, Lane b) { return emit<arith::AddIOp>(a, b); }
Lane addInt(Lane a, int64_t b) { return addInt(a, a.math->constantInt(a, b)); }
Lane subInt(Lane a, Lane b) { return emit<arith::SubIOp>(a, b); }
Lane subInt(Lane a, int64_t b) { return subInt(a, a.math->constantInt(a, b)); }
Lane mulInt(Lane a, Lane b) { return emit<arith::MulIOp>(a, b); }
Lane andInt(Lane a, int64_t b) {
  return emit<arith::AndIOp>(a, a.math->constantInt(a, b));
}
Lane orInt(Lane a, Lane b) { return emit<arith::OrIOp>(a, b); }
Lane orInt(Lane a, int64_t b) { return orInt(a, a.math->constantInt(a, b)); }
Lane xorInt(Lane a, Lane b) { return emit<arith::XOrIOp>(a, b); }
Lane shiftLeft(Lane a, Lane count) { return emit<arith::ShLIOp>(a, count); }
Lane shiftLeft(Lane a, int64_t count) {
  return shiftLeft(a, a.math->constantInt(a, count));
}
Lane shiftRightSigned(Lane a, int64_t count) {
  return emit<arith::ShRSIOp>(a, a.math->constantInt(a, count));
}
Lane shiftRightUnsigned(Lane a, Lane count) {
  return emit<arith::ShRUIOp>(a, count);
}
Lane shiftRightUnsigned(Lane a, int64_t count) {
  return shiftRightUnsigned(a, a.math->constantInt(a, count));
}
Lane compareInt(arith::CmpIPredicate predicate, Lane a, Lane b) {
  LaneMath &math = *a.math;
  return math.wrap(arith::CmpIOp::create(math.builder, math.loc, predicate,
                                         a.value, b.value));
}
Lane compareInt(arith::CmpIPredicate predicate, Lane a, int64_t b) {
  return compareInt(predicate, a, a.math->constantInt(a, b));
}

Lane bitsOf(Lane x) {
  unsigned width =
      getElementTypeOrSelf(x.value.getType()).getIntOrFloatBitWidth();
  return cast<arith::BitcastOp>(x, integerType(x, width));
}
Lane floatOfBits(Lane x, Type floatElement) {
  return cast<arith::BitcastOp>(x, floatElement);
}
Lane toF64(Lane x) {
  return cast<arith::ExtFOp>(x, x.math->builder.getF64Type());
}
Lane toF32(Lane x) {
  return cast<arith::TruncFOp>(x, x.math->builder.getF32Type());
}
Lane truncateInt(Lane x, unsigned width) {
  return cast<arith::TruncIOp>(x, integerType(x, width));
}
Lane extendSigned(Lane x, unsigned width) {
  return cast<arith::ExtSIOp>(x, integerType(x, width));
}
Lane extendUnsigned(Lane x, unsigned width) {
  return cast<arith::ExtUIOp>(x, integerType(x, width));
}
Lane signedToFloat(Lane x, Type floatElement) {
  return cast<arith::SIToFPOp>(x, floatElement);
}

bool isDouble(Lane x) {
  return getElementTypeOrSelf(x.value.getType()).isF64();
}

Rounded roundToInt(Lane x) {
  // Adding 1.5·2^(mantissa bits) leaves the integer in the low bits.
  double magic = isDouble(x) ? 0x1.8p52 : 0x1.8p23;
  Lane shifted = x + magic;
  Lane asInt = subInt(bitsOf(shifted), bitsOf(x.math->constant(x, magic)));
  return {shifted - magic, asInt};
}

Lane powerOfTwo(Lane n, Type floatElement) {
  bool isF64 = floatElement.isF64();
  Lane biased = addInt(n, isF64 ? 1023 : 127);
  return floatOfBits(shiftLeft(biased, isF64 ? 52 : 23), floatElement);
}

/// VSCALEFPS, 16 lanes at a time.
static Lane scaleVectors(Lane x, Lane n) {
  constexpr int64_t lanes = 16;
  constexpr int32_t currentRounding = 4; // _MM_FROUND_CUR_DIRECTION
  OpBuilder &b = x.math->builder;
  Location loc = x.math->loc;
  auto part = VectorType::get({lanes}, b.getF32Type());
  auto mask = arith::ConstantOp::create(b, loc, b.getI16IntegerAttr(-1));
  auto rounding =
      LLVM::ConstantOp::create(b, loc, b.getI32Type(), currentRounding);
  int64_t count = cast<VectorType>(x.value.getType()).getNumElements();
  Value result = x.value;
  for (int64_t i = 0; i < count; i += lanes) {
    auto slice = [&](Value vector) -> Value {
      return count == lanes ? vector
                            : vector::ExtractStridedSliceOp::create(
                                  b, loc, vector, i, lanes, 1);
    };
    Value own = slice(x.value), power = slice(n.value);
    Value scaled =
        LLVM::CallIntrinsicOp::create(
            b, loc, part, b.getStringAttr("llvm.x86.avx512.mask.scalef.ps.512"),
            ValueRange{own, power, own, mask, rounding})
            .getResults();
    result = count == lanes ? scaled
                            : vector::InsertStridedSliceOp::create(
                                  b, loc, scaled, result, i, 1);
  }
  return x.math->wrap(result);
}

Lane scaleBy2(Lane x, Rounded n) {
  auto vector = dyn_cast<VectorType>(x.value.getType());
  if (x.math->features.scalesBy2 && vector && !isDouble(x) &&
      vector.getNumElements() % 16 == 0) {
    return scaleVectors(x, n.asFloat);
  }
  // In two steps, so that n may leave the range of normal exponents.
  Type element = getElementTypeOrSelf(x.value.getType());
  Lane half = shiftRightSigned(n.asInt, 1);
  Lane rest = subInt(n.asInt, half);
  return x * powerOfTwo(half, element) * powerOfTwo(rest, element);
}

DoubleLane twoSum(Lane a, Lane b) {
  Lane sum = a + b;
  Lane fromB = sum - a;
  Lane fromA = sum - fromB;
  Lane lostB = b - fromB;
  Lane lostA = a - fromA;
  return {sum, lostA + lostB};
}

DoubleLane quickTwoSum(Lane a, Lane b) {
  Lane sum = a + b;
  Lane fromB = sum - a;
  return {sum, b - fromB};
}

DoubleLane twoProduct(Lane a, Lane b) {
  Lane product = a * b;
  if (a.math->features.fma) {
    return {product, mulAdd(a, b, -product)};
  }
  // Veltkamp's splitting into 26 bits each, and Dekker's product.
  auto split = [](Lane x) -> DoubleLane {
    Lane scaled = x * 134217729.0;
    Lane rest = scaled - x;
    Lane high = scaled - rest;
    return {high, x - high};
  };
  DoubleLane x = split(a), y = split(b);
  Lane error = x.high * y.high - product;
  error = error + x.high * y.low;
  error = error + x.low * y.high;
  error = error + x.low * y.low;
  return {product, error};
}

} // namespace tilewright
