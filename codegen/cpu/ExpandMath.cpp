//===- ExpandMath.cpp - patterns that replace operations by formulas ------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/ExpandMath.h"

#include "codegen/cpu/math/Functions.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <limits>

using namespace mlir;

namespace tilewright {

void replaceByFormula(PatternRewriter &rewriter, Operation *op,
                      MathFeatures features,
                      function_ref<Lane(LaneMath &, ArrayRef<Lane>)> formula) {
  Location loc = op->getLoc();
  LaneMath math(rewriter, loc, features);
  Type resultType = op->getResult(0).getType();
  auto vector = dyn_cast<VectorType>(resultType);
  bool isFlat = !vector || vector.getRank() == 1;
  SmallVector<Lane> operands;
  for (Value operand : op->getOperands()) {
    if (!isFlat) {
      auto flat = VectorType::get(vector.getNumElements(),
                                  getElementTypeOrSelf(operand));
      operand = vector::ShapeCastOp::create(rewriter, loc, flat, operand);
    }
    operands.push_back(math.wrap(operand));
  }
  Value result = formula(math, operands).value;
  if (!isFlat) {
    result = vector::ShapeCastOp::create(rewriter, loc, resultType, result);
  }
  rewriter.replaceOp(op, result);
}

namespace {
using Unary = Lane (*)(Lane);
using Binary = Lane (*)(Lane, Lane);

/// One operand. `single` is null when f32 is computed in f64.
template <typename OpTy> struct ExpandUnary : OpRewritePattern<OpTy> {
  ExpandUnary(MLIRContext *context, MathFeatures features, Unary single,
              Unary twice)
      : OpRewritePattern<OpTy>(context), features(features), single(single),
        twice(twice) {}

  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    Type element = getElementTypeOrSelf(op.getType());
    if (!element.isF32() && !element.isF64()) {
      return rewriter.notifyMatchFailure(op, "f32 and f64 only");
    }
    replaceByFormula(rewriter, op, features,
                     [&](LaneMath &math, ArrayRef<Lane> x) {
                       if (element.isF64()) {
                         return twice(x[0]);
                       }
                       return single ? single(x[0]) : toF32(twice(toF64(x[0])));
                     });
    return success();
  }

  MathFeatures features;
  Unary single, twice;
};

/// Two operands; f32 is computed in f64.
template <typename OpTy> struct ExpandBinary : OpRewritePattern<OpTy> {
  ExpandBinary(MLIRContext *context, MathFeatures features, Binary formula)
      : OpRewritePattern<OpTy>(context), features(features), formula(formula) {}

  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    Type element = getElementTypeOrSelf(op.getType());
    if (!element.isF32() && !element.isF64()) {
      return rewriter.notifyMatchFailure(op, "f32 and f64 only");
    }
    replaceByFormula(
        rewriter, op, features, [&](LaneMath &math, ArrayRef<Lane> x) {
          return element.isF64() ? formula(x[0], x[1])
                                 : toF32(formula(toF64(x[0]), toF64(x[1])));
        });
    return success();
  }

  MathFeatures features;
  Binary formula;
};

/// math.fma on a level without the instruction.
struct ExpandFma : OpRewritePattern<math::FmaOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::FmaOp op,
                                PatternRewriter &rewriter) const override {
    Type element = getElementTypeOrSelf(op.getType());
    if (!element.isF32() && !element.isF64()) {
      return rewriter.notifyMatchFailure(op, "f32 and f64 only");
    }
    replaceByFormula(
        rewriter, op, MathFeatures(),
        [](LaneMath &, ArrayRef<Lane> x) { return emitFma(x[0], x[1], x[2]); });
    return success();
  }
};

/// vector.fma is one instruction, or a product and a sum where the level has
/// none. LLVM's own lowering leaves the choice to the contraction of floats,
/// which is off.
struct ExpandVectorFma : OpRewritePattern<vector::FMAOp> {
  ExpandVectorFma(MLIRContext *context, MathFeatures features)
      : OpRewritePattern(context), features(features) {}

  LogicalResult matchAndRewrite(vector::FMAOp op,
                                PatternRewriter &rewriter) const override {
    Type element = getElementTypeOrSelf(op.getType());
    if (!element.isF32() && !element.isF64()) {
      return rewriter.notifyMatchFailure(op, "f32 and f64 only");
    }
    replaceByFormula(rewriter, op, features, [](LaneMath &, ArrayRef<Lane> x) {
      return mulAdd(x[0], x[1], x[2]);
    });
    return success();
  }

  MathFeatures features;
};

struct ExpandIntegerPower : OpRewritePattern<math::IPowIOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::IPowIOp op,
                                PatternRewriter &rewriter) const override {
    replaceByFormula(rewriter, op, MathFeatures(),
                     [](LaneMath &, ArrayRef<Lane> x) {
                       return emitIntegerPower(x[0], x[1]);
                     });
    return success();
  }
};

struct ExpandFloatToIntegerPower : OpRewritePattern<math::FPowIOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::FPowIOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Type f64 = withElement(op.getType(), rewriter.getF64Type());
    Value exponent = arith::SIToFPOp::create(rewriter, loc, f64, op.getRhs());
    Value base = op.getLhs();
    bool isDouble = f64 == op.getType();
    if (!isDouble) {
      base = arith::ExtFOp::create(rewriter, loc, f64, base);
    }
    Value power = math::PowFOp::create(rewriter, loc, base, exponent);
    if (!isDouble) {
      power = arith::TruncFOp::create(rewriter, loc, op.getType(), power);
    }
    rewriter.replaceOp(op, power);
    return success();
  }
};

/// NaN passes; the limits are in order by contract.
struct ExpandClamp : OpRewritePattern<math::ClampFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::ClampFOp op,
                                PatternRewriter &rewriter) const override {
    replaceByFormula(rewriter, op, MathFeatures(),
                     [](LaneMath &, ArrayRef<Lane> x) {
                       Lane low = x[1], high = x[2];
                       Lane raised = select(low > x[0], low, x[0]);
                       return select(high < raised, high, raised);
                     });
    return success();
  }
};

/// A question about a float that MLIR does not lower.
template <typename OpTy> struct ExpandQuestion : OpRewritePattern<OpTy> {
  ExpandQuestion(MLIRContext *context, Unary formula)
      : OpRewritePattern<OpTy>(context), formula(formula) {}

  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    Type element = getElementTypeOrSelf(op.getOperand());
    if (!element.isF32() && !element.isF64()) {
      return rewriter.notifyMatchFailure(op, "f32 and f64 only");
    }
    replaceByFormula(
        rewriter, op, MathFeatures(),
        [&](LaneMath &, ArrayRef<Lane> x) { return formula(x[0]); });
    return success();
  }

  Unary formula;
};

struct ExpandSincos : OpRewritePattern<math::SincosOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::SincosOp op,
                                PatternRewriter &rewriter) const override {
    Value sine = math::SinOp::create(rewriter, op.getLoc(), op.getOperand());
    Value cosine = math::CosOp::create(rewriter, op.getLoc(), op.getOperand());
    rewriter.replaceOp(op, {sine, cosine});
    return success();
  }
};

/// maxnumf and minnumf: the other operand for NaN. LLVM's own operation, on
/// values extended from f16, becomes one on f16 and that a library call.
template <typename OpTy, bool isMax>
struct ExpandNumber : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;

  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    Type element = getElementTypeOrSelf(op.getType());
    if (!element.isF32() && !element.isF64()) {
      return rewriter.notifyMatchFailure(op, "f32 and f64 only");
    }
    replaceByFormula(
        rewriter, op, MathFeatures(), [](LaneMath &, ArrayRef<Lane> x) {
          // One instruction, which gives the second operand for NaN in either.
          Lane chosen = select(isMax ? x[0] > x[1] : x[0] < x[1], x[0], x[1]);
          return select(isNaN(x[1]), x[0], chosen);
        });
    return success();
  }
};

Lane emitIsInfinite(Lane x) {
  return abs(x) == std::numeric_limits<double>::infinity();
}
Lane emitIsNormal(Lane x) {
  Lane isFinite = abs(x) < std::numeric_limits<double>::infinity();
  return (abs(x) >= (isDouble(x) ? 0x1p-1022 : 0x1p-126)) && isFinite;
}
Lane emitRsqrt(Lane x) { return 1.0 / sqrt(x); }
} // namespace

void populateExpandMathPatterns(RewritePatternSet &patterns,
                                const TargetSpec &target) {
  MLIRContext *context = patterns.getContext();
  MathFeatures features = {target.hasFma, target.vectorBytes == 64};
  patterns.add<ExpandUnary<math::ExpOp>>(context, features, emitExp, emitExp);
  patterns.add<ExpandUnary<math::Exp2Op>>(context, features, emitExp2,
                                          emitExp2);
  patterns.add<ExpandUnary<math::ExpM1Op>>(context, features, emitExpm1,
                                           emitExpm1);
  patterns.add<ExpandUnary<math::LogOp>>(context, features, emitLog, emitLog);
  patterns.add<ExpandUnary<math::TanhOp>>(context, features, emitTanh,
                                          emitTanh);
  patterns.add<ExpandUnary<math::SinOp>>(context, features, emitSin, emitSin);
  patterns.add<ExpandUnary<math::CosOp>>(context, features, emitCos, emitCos);
  patterns.add<ExpandUnary<math::ErfOp>>(context, features, emitErf, emitErf);
  patterns.add<ExpandUnary<math::RsqrtOp>>(context, features, emitRsqrt,
                                           emitRsqrt);

  Unary inF64 = nullptr;
  patterns.add<ExpandUnary<math::Log2Op>>(context, features, inF64, emitLog2);
  patterns.add<ExpandUnary<math::Log10Op>>(context, features, inF64, emitLog10);
  patterns.add<ExpandUnary<math::Log1pOp>>(context, features, inF64, emitLog1p);
  patterns.add<ExpandUnary<math::SinhOp>>(context, features, inF64, emitSinh);
  patterns.add<ExpandUnary<math::CoshOp>>(context, features, inF64, emitCosh);
  patterns.add<ExpandUnary<math::AsinhOp>>(context, features, inF64, emitAsinh);
  patterns.add<ExpandUnary<math::AcoshOp>>(context, features, inF64, emitAcosh);
  patterns.add<ExpandUnary<math::AtanhOp>>(context, features, inF64, emitAtanh);
  patterns.add<ExpandUnary<math::TanOp>>(context, features, inF64, emitTan);
  patterns.add<ExpandUnary<math::AsinOp>>(context, features, inF64, emitAsin);
  patterns.add<ExpandUnary<math::AcosOp>>(context, features, inF64, emitAcos);
  patterns.add<ExpandUnary<math::AtanOp>>(context, features, inF64, emitAtan);
  patterns.add<ExpandUnary<math::CbrtOp>>(context, features, inF64, emitCbrt);

  patterns.add<ExpandBinary<math::Atan2Op>>(context, features, emitAtan2);
  patterns.add<ExpandBinary<math::PowFOp>>(context, features, emitPow);
  patterns.add<ExpandBinary<arith::RemFOp>>(context, features, emitRemainder);

  patterns.add<ExpandNumber<arith::MaxNumFOp, true>,
               ExpandNumber<arith::MinNumFOp, false>>(context);
  patterns.add<ExpandIntegerPower, ExpandFloatToIntegerPower, ExpandClamp,
               ExpandSincos>(context);
  patterns.add<ExpandQuestion<math::IsInfOp>>(context, emitIsInfinite);
  patterns.add<ExpandQuestion<math::IsNormalOp>>(context, emitIsNormal);
  patterns.add<ExpandVectorFma>(context, features);
  if (!features.fma) {
    patterns.add<ExpandFma>(context);
  }
}

} // namespace tilewright
