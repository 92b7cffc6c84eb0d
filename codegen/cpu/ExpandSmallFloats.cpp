//===- ExpandSmallFloats.cpp - f16 and bf16 -------------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// Conversions round to nearest, ties to even, and keep NaN. From f64 they go
// through f32 rounded to odd, so that the second rounding gives what a single
// one would have given. Arithmetic is done in f32 and rounded back.
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/ExpandMath.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace tilewright {

namespace {
using arith::CmpIPredicate;

bool isSmallFloat(Type type) {
  Type element = getElementTypeOrSelf(type);
  return element.isF16() || element.isBF16();
}

/// The instruction takes scalars and one-dimensional vectors.
bool hasInstruction(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  return !vector || vector.getRank() == 1;
}

Lane bf16ToF32(Lane x) {
  Lane bits = extendUnsigned(bitsOf(x), 32);
  return floatOfBits(shiftLeft(bits, 16), x.math->builder.getF32Type());
}

Lane f16ToF32(Lane x) {
  Type f32 = x.math->builder.getF32Type();
  Lane bits = extendUnsigned(bitsOf(x), 32);
  Lane magnitude = andInt(bits, 0x7fff);
  Lane sign = shiftLeft(andInt(bits, 0x8000), 16);
  // The same fields in f32 are off by 2^112; subnormal numbers count in steps.
  Lane normal = addInt(shiftLeft(magnitude, 13), 112 << 23);
  Lane subnormal = bitsOf(signedToFloat(magnitude, f32) * 0x1p-24);
  Lane isSmall = compareInt(CmpIPredicate::slt, magnitude, 0x400);
  Lane finite = select(isSmall, subnormal, normal);
  // Infinity and NaN; NaN becomes a quiet one, as the instruction does.
  Lane special = orInt(shiftLeft(magnitude, 13), 0x7f800000);
  Lane isNaN = compareInt(CmpIPredicate::sgt, magnitude, 0x7c00);
  special = select(isNaN, orInt(special, 0x400000), special);
  Lane isSpecial = compareInt(CmpIPredicate::sge, magnitude, 0x7c00);
  return floatOfBits(orInt(select(isSpecial, special, finite), sign), f32);
}

Lane f32ToBf16(Lane x) {
  Lane bits = bitsOf(x);
  Lane high = shiftRightUnsigned(bits, 16);
  Lane rounded = addInt(addInt(bits, andInt(high, 1)), 0x7fff);
  Lane result =
      select(isNaN(x), orInt(high, 0x40), shiftRightUnsigned(rounded, 16));
  return floatOfBits(truncateInt(result, 16), x.math->builder.getBF16Type());
}

Lane f32ToF16(Lane x) {
  Type f32 = x.math->builder.getF32Type();
  Lane bits = bitsOf(x);
  Lane magnitude = andInt(bits, 0x7fffffff);
  Lane sign = andInt(shiftRightUnsigned(bits, 16), 0x8000);
  // Normal numbers: the exponent's bias changes by 112, and 13 bits are rounded
  // off.
  Lane isOdd = andInt(shiftRightUnsigned(magnitude, 13), 1);
  Lane rounded = addInt(addInt(magnitude, isOdd), 0xfff - (112 << 23));
  Lane normal = shiftRightUnsigned(rounded, 13);
  // Subnormal ones: adding ½ rounds at 2^−24, the unit of their mantissa.
  Lane shifted = floatOfBits(magnitude, f32) + 0.5;
  Lane subnormal = subInt(bitsOf(shifted), 0x3f000000);
  Lane isSmall = compareInt(CmpIPredicate::slt, magnitude, 0x38800000);
  Lane result = select(isSmall, subnormal, normal);
  Lane isTooLarge = compareInt(CmpIPredicate::sge, magnitude, 0x477ff000);
  result = select(isTooLarge, x.math->constantInt(bits, 0x7c00), result);
  Lane payload = andInt(shiftRightUnsigned(magnitude, 13), 0x3ff);
  result = select(isNaN(x), orInt(payload, 0x7e00), result);
  return floatOfBits(truncateInt(orInt(result, sign), 16),
                     x.math->builder.getF16Type());
}

/// Rounds f64 to f32 such that an inexact result has an odd mantissa.
Lane roundToOdd(Lane x) {
  Lane nearest = toF32(x);
  Lane back = toF64(nearest);
  Lane isAbove = abs(back) > abs(x);
  Lane bits = bitsOf(nearest);
  Lane towardsZero = select(isAbove, subInt(bits, 1), bits);
  Lane isInexact = (back < x) || (back > x);
  Lane odd = select(isInexact, orInt(towardsZero, 1), bits);
  return floatOfBits(odd, x.math->builder.getF32Type());
}

/// f16 or bf16 → f32 or f64.
struct ExpandExtension : OpRewritePattern<arith::ExtFOp> {
  ExpandExtension(MLIRContext *context, bool hasF16C)
      : OpRewritePattern(context), hasF16C(hasF16C) {}

  LogicalResult matchAndRewrite(arith::ExtFOp op,
                                PatternRewriter &rewriter) const override {
    Type from = getElementTypeOrSelf(op.getIn());
    bool toDouble = getElementTypeOrSelf(op.getType()).isF64();
    if (!isSmallFloat(from) || (from.isF16() && hasF16C && !toDouble &&
                                hasInstruction(op.getType()))) {
      return rewriter.notifyMatchFailure(op, "the level has an instruction");
    }
    replaceByFormula(
        rewriter, op, MathFeatures(), [&](LaneMath &math, ArrayRef<Lane> x) {
          Lane single;
          if (from.isBF16()) {
            single = bf16ToF32(x[0]);
          } else if (hasF16C) {
            Type type =
                withElement(x[0].value.getType(), rewriter.getF32Type());
            single = math.wrap(
                arith::ExtFOp::create(rewriter, op.getLoc(), type, x[0].value));
          } else {
            single = f16ToF32(x[0]);
          }
          return toDouble ? toF64(single) : single;
        });
    return success();
  }

  bool hasF16C;
};

/// f32 or f64 → f16 or bf16.
struct ExpandTruncation : OpRewritePattern<arith::TruncFOp> {
  ExpandTruncation(MLIRContext *context, bool hasF16C)
      : OpRewritePattern(context), hasF16C(hasF16C) {}

  LogicalResult matchAndRewrite(arith::TruncFOp op,
                                PatternRewriter &rewriter) const override {
    Type to = getElementTypeOrSelf(op.getType());
    bool fromDouble = getElementTypeOrSelf(op.getIn()).isF64();
    if (!isSmallFloat(to) || (to.isF16() && hasF16C && !fromDouble &&
                              hasInstruction(op.getType()))) {
      return rewriter.notifyMatchFailure(op, "the level has an instruction");
    }
    replaceByFormula(rewriter, op, MathFeatures(),
                     [&](LaneMath &math, ArrayRef<Lane> x) {
                       Lane single = fromDouble ? roundToOdd(x[0]) : x[0];
                       if (to.isBF16()) {
                         return f32ToBf16(single);
                       }
                       if (!hasF16C) {
                         return f32ToF16(single);
                       }
                       Type type = withElement(single.value.getType(), to);
                       return math.wrap(arith::TruncFOp::create(
                           rewriter, op.getLoc(), type, single.value));
                     });
    return success();
  }

  bool hasF16C;
};

/// Any other arithmetic on small floats: extend, compute in f32, round.
struct ComputeInF32 : RewritePattern {
  explicit ComputeInF32(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/1, context) {}

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    bool isArithmetic =
        isa<arith::ArithDialect, math::MathDialect>(op->getDialect()) ||
        isa<vector::ReductionOp, vector::FMAOp, vector::MultiDimReductionOp>(
            op);
    if (!isArithmetic || isa<arith::ExtFOp, arith::TruncFOp, arith::BitcastOp,
                             arith::ConstantOp, arith::SelectOp>(op)) {
      return failure();
    }
    if (llvm::none_of(op->getOperandTypes(), isSmallFloat) &&
        llvm::none_of(op->getResultTypes(), isSmallFloat)) {
      return failure();
    }
    // From integers through f64: a 32-bit integer would be rounded twice.
    bool fromInteger = isa<arith::SIToFPOp, arith::UIToFPOp>(op);
    Type wide =
        fromInteger ? Type(rewriter.getF64Type()) : rewriter.getF32Type();
    Location loc = op->getLoc();
    SmallVector<Value> operands;
    for (Value operand : op->getOperands()) {
      if (isSmallFloat(operand.getType())) {
        Type type = withElement(operand.getType(), wide);
        operand = arith::ExtFOp::create(rewriter, loc, type, operand);
      }
      operands.push_back(operand);
    }
    SmallVector<NamedAttribute> attributes(op->getDiscardableAttrs());
    OperationState state(loc, op->getName(), operands, op->getResultTypes(),
                         attributes);
    state.propertiesAttr = op->getPropertiesAsAttribute();
    for (Type &type : state.types) {
      type = isSmallFloat(type) ? withElement(type, wide) : type;
    }
    Operation *computed = rewriter.create(state);
    SmallVector<Value> results;
    for (auto [result, type] :
         llvm::zip(computed->getResults(), op->getResultTypes())) {
      results.push_back(
          result.getType() == type
              ? Value(result)
              : arith::TruncFOp::create(rewriter, loc, type, result));
    }
    rewriter.replaceOp(op, results);
    return success();
  }
};
} // namespace

void populateExpandSmallFloatPatterns(RewritePatternSet &patterns,
                                      const TargetSpec &target) {
  patterns.add<ComputeInF32>(patterns.getContext());
  patterns.add<ExpandExtension, ExpandTruncation>(patterns.getContext(),
                                                  target.hasF16C);
}

} // namespace tilewright
