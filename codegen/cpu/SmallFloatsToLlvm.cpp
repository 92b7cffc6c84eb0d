//===- SmallFloatsToLlvm.cpp - f16 and bf16 as 16-bit integers ------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/SmallFloatsToLlvm.h"

#include "codegen/cpu/math/LaneMath.h"

#include "mlir/Conversion/LLVMCommon/Pattern.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace tilewright {

namespace {
bool isSmallFloat(Type type) {
  Type element = getElementTypeOrSelf(type);
  return element.isF16() || element.isBF16();
}

/// Above the general patterns.
constexpr unsigned highBenefit = 2;

struct LowerConstant : ConvertOpToLLVMPattern<arith::ConstantOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;

  LogicalResult
  matchAndRewrite(arith::ConstantOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (!isSmallFloat(op.getType())) {
      return rewriter.notifyMatchFailure(op, "not a small float");
    }
    TypedAttr bits;
    if (auto value = dyn_cast<FloatAttr>(op.getValue())) {
      bits = rewriter.getIntegerAttr(rewriter.getI16Type(),
                                     value.getValue().bitcastToAPInt());
    } else if (auto values = dyn_cast<DenseElementsAttr>(op.getValue())) {
      bits = values.bitcast(rewriter.getI16Type());
    } else {
      return rewriter.notifyMatchFailure(op, "neither a scalar nor dense");
    }
    rewriter.replaceOpWithNewOp<LLVM::ConstantOp>(
        op, getTypeConverter()->convertType(op.getType()), bits);
    return success();
  }
};

/// f16 → f32 by F16C.
struct LowerExtension : ConvertOpToLLVMPattern<arith::ExtFOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;

  LogicalResult
  matchAndRewrite(arith::ExtFOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Type from = op.getIn().getType();
    if (!isSmallFloat(from)) {
      return rewriter.notifyMatchFailure(op, "not from a small float");
    }
    Value half =
        LLVM::BitcastOp::create(rewriter, op.getLoc(), from, adaptor.getIn());
    rewriter.replaceOpWithNewOp<LLVM::FPExtOp>(op, op.getType(), half);
    return success();
  }
};

/// f32 → f16 by F16C.
struct LowerTruncation : ConvertOpToLLVMPattern<arith::TruncFOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;

  LogicalResult
  matchAndRewrite(arith::TruncFOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Type to = op.getType();
    if (!isSmallFloat(to)) {
      return rewriter.notifyMatchFailure(op, "not to a small float");
    }
    Value half =
        LLVM::FPTruncOp::create(rewriter, op.getLoc(), to, adaptor.getIn());
    rewriter.replaceOpWithNewOp<LLVM::BitcastOp>(
        op, getTypeConverter()->convertType(to), half);
    return success();
  }
};
} // namespace

void populateSmallFloatsToLlvm(LLVMTypeConverter &converter,
                               RewritePatternSet &patterns) {
  converter.addConversion([](FloatType type) -> std::optional<Type> {
    if (isSmallFloat(type)) {
      return IntegerType::get(type.getContext(), 16);
    }
    return std::nullopt;
  });
  // Only vectors of one dimension are vectors in LLVM, and those it would keep
  // as they are.
  converter.addConversion([&converter](VectorType type) -> std::optional<Type> {
    if (isSmallFloat(type)) {
      Type i16 = IntegerType::get(type.getContext(), 16);
      return converter.convertType(VectorType::get(type.getShape(), i16));
    }
    return std::nullopt;
  });
  patterns.add<LowerConstant, LowerExtension, LowerTruncation>(converter,
                                                               highBenefit);
}

} // namespace tilewright
