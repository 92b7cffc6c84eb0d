//===- ExpandDivision.cpp - divisions by one divisor for all lanes --------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// A row of softmax is divided by its sum, HardSwish divides by six. Where the
// divisor is a constant or a scalar, the reciprocal comes from outside of the
// loops, and a product with its correction gives what the division would.
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/ExpandMath.h"
#include "codegen/cpu/math/Functions.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tilewright {

/// A division that stays one.
static constexpr StringLiteral dividesName = "twk.divides";

static constexpr float least = 0x1p-64F, most = 0x1p64F;

namespace {

struct ExpandDivision : OpRewritePattern<arith::DivFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::DivFOp op,
                                PatternRewriter &rewriter) const override {
    auto type = dyn_cast<VectorType>(op.getType());
    if (!type || type.getRank() != 1 || !type.getElementType().isF32() ||
        op->hasAttr(dividesName)) {
      return rewriter.notifyMatchFailure(op, "vectors of f32 only");
    }
    DenseElementsAttr constant;
    if (matchPattern(op.getRhs(), m_Constant(&constant)) &&
        constant.isSplat()) {
      return byConstant(op, constant.getSplatValue<APFloat>().convertToFloat(),
                        rewriter);
    }
    auto broadcast = op.getRhs().getDefiningOp<vector::BroadcastOp>();
    if (!broadcast || !broadcast.getSource().getType().isF32()) {
      return rewriter.notifyMatchFailure(op, "the divisors differ");
    }
    byScalar(op, broadcast.getSource(), rewriter);
    return success();
  }

private:
  static constexpr MathFeatures features = {/*fma=*/true};

  static LogicalResult byConstant(arith::DivFOp op, float divisor,
                                  PatternRewriter &rewriter) {
    float size = std::abs(divisor);
    if (!(size >= least && size <= most)) {
      return rewriter.notifyMatchFailure(op, "the divisor is out of range");
    }
    replaceByFormula(rewriter, op, features,
                     [&](LaneMath &math, ArrayRef<Lane> x) {
                       Lane reciprocal = math.constant(x[0], 1.0F / divisor);
                       return emitQuotient(x[0], x[1], reciprocal, size < 1);
                     });
    return success();
  }

  /// \returns a scalar of f32 computed where `scalar` is.
  static Value
  besideScalar(Value scalar, PatternRewriter &rewriter, Location loc,
               llvm::function_ref<Lane(LaneMath &, Lane)> formula) {
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPointAfterValue(scalar);
    LaneMath math(rewriter, loc, features);
    return formula(math, math.wrap(scalar)).value;
  }

  static void byScalar(arith::DivFOp op, Value divisor,
                       PatternRewriter &rewriter) {
    Location loc = op.getLoc();
    Value inRange =
        besideScalar(divisor, rewriter, loc, [](LaneMath &, Lane x) {
          Lane size = abs(x);
          return (size >= least) && (size <= most);
        });
    Value reciprocal = besideScalar(divisor, rewriter, loc,
                                    [](LaneMath &, Lane x) { return 1.0 / x; });
    auto branch = scf::IfOp::create(rewriter, loc, TypeRange(op.getType()),
                                    inRange, /*withElse=*/true);
    rewriter.setInsertionPointToStart(branch.thenBlock());
    LaneMath math(rewriter, loc, features);
    Value all =
        vector::BroadcastOp::create(rewriter, loc, op.getType(), reciprocal);
    Lane quotient = emitQuotient(math.wrap(op.getLhs()), math.wrap(op.getRhs()),
                                 math.wrap(all), /*mayOverflow=*/true);
    scf::YieldOp::create(rewriter, loc, quotient.value);
    rewriter.setInsertionPointToStart(branch.elseBlock());
    auto division =
        arith::DivFOp::create(rewriter, loc, op.getLhs(), op.getRhs());
    division->setAttr(dividesName, rewriter.getUnitAttr());
    scf::YieldOp::create(rewriter, loc, division.getResult());
    rewriter.replaceOp(op, branch.getResults());
  }
};

} // namespace

void populateExpandDivisionPatterns(RewritePatternSet &patterns) {
  patterns.add<ExpandDivision>(patterns.getContext());
}

} // namespace tilewright
