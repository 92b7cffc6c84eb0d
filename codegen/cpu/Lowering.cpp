//===- Lowering.cpp - one kernel to the LLVM dialect ----------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/Lowering.h"
#include "codegen/cpu/SmallFloatsToLlvm.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/IndexToLLVM/IndexToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/Transforms/Transforms.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/Transforms/LoweringPatterns.h"
#include "mlir/Dialect/Vector/Transforms/VectorRewritePatterns.h"
#include "mlir/Transforms/DialectConversion.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace tilewright {

namespace {
/// Structured control flow to branches.
LogicalResult lowerControlFlow(ModuleOp module) {
  MLIRContext *context = module.getContext();
  RewritePatternSet patterns(context);
  populateSCFToControlFlowConversionPatterns(patterns);
  ConversionTarget target(*context);
  target.addIllegalDialect<scf::SCFDialect>();
  target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
  return applyPartialConversion(module, target, std::move(patterns));
}

/// The mask of a loop's last step: the count is clamped to the vector's length,
/// so that 32-bit lanes suffice whatever the loop's extent is.
struct LowerCreateMask : OpRewritePattern<vector::CreateMaskOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(vector::CreateMaskOp op,
                                PatternRewriter &rewriter) const override {
    VectorType type = op.getType();
    if (type.getRank() != 1) {
      return rewriter.notifyMatchFailure(op, "one-dimensional masks only");
    }
    Location loc = op.getLoc();
    auto lanes = llvm::to_vector(llvm::seq<int32_t>(0, type.getNumElements()));
    Value lane = arith::ConstantOp::create(rewriter, loc,
                                           rewriter.getI32VectorAttr(lanes));
    Value zero = arith::ConstantIndexOp::create(rewriter, loc, 0);
    Value all =
        arith::ConstantIndexOp::create(rewriter, loc, type.getNumElements());
    Value count = arith::MaxSIOp::create(rewriter, loc, op.getOperand(0), zero);
    count = arith::MinSIOp::create(rewriter, loc, count, all);
    count =
        arith::IndexCastOp::create(rewriter, loc, rewriter.getI32Type(), count);
    count = vector::BroadcastOp::create(rewriter, loc, lane.getType(), count);
    rewriter.replaceOpWithNewOp<arith::CmpIOp>(op, arith::CmpIPredicate::slt,
                                               lane, count);
    return success();
  }
};

/// Vector operations that have no direct counterpart in LLVM, to ones that
/// have.
LogicalResult lowerVectors(ModuleOp module) {
  RewritePatternSet patterns(module.getContext());
  patterns.add<LowerCreateMask>(module.getContext(), /*benefit=*/2);
  vector::populateVectorMaskMaterializationPatterns(
      patterns,
      /*force32BitVectorIndices=*/false);
  vector::populateVectorToVectorCanonicalizationPatterns(patterns);
  vector::populateVectorBitCastLoweringPatterns(patterns);
  vector::populateVectorBroadcastLoweringPatterns(patterns);
  vector::populateVectorContractLoweringPatterns(
      patterns, vector::VectorContractLowering::Dot);
  vector::populateVectorMaskOpLoweringPatterns(patterns);
  vector::populateVectorShapeCastLoweringPatterns(patterns);
  vector::populateVectorInterleaveLoweringPatterns(patterns);
  vector::populateVectorInterleaveToShufflePatterns(patterns);
  vector::populateVectorTransposeLoweringPatterns(
      patterns, vector::VectorTransposeLowering::EltWise);
  vector::populateVectorMultiReductionLoweringPatterns(
      patterns, vector::VectorMultiReductionLowering::InnerParallel);
  vector::populateVectorTransferLoweringPatterns(patterns,
                                                 /*maxTransferRank=*/1);
  vector::populateVectorInsertExtractStridedSliceTransforms(patterns);
  vector::populateVectorGatherLoweringPatterns(patterns);
  vector::populateVectorStepLoweringPatterns(patterns);
  vector::populateVectorRankReducingFMAPattern(patterns);
  vector::populateVectorFromElementsUnrollPatterns(patterns);
  vector::populateVectorToElementsUnrollPatterns(patterns);
  return applyPatternsGreedily(module, std::move(patterns));
}

LogicalResult convertToLlvm(ModuleOp module, StringRef dataLayout) {
  MLIRContext *context = module.getContext();
  LowerToLLVMOptions options(context);
  options.overrideIndexBitwidth(64);
  options.dataLayout = llvm::DataLayout(dataLayout);
  LLVMTypeConverter converter(context, options);
  RewritePatternSet patterns(context);
  populateSmallFloatsToLlvm(converter, patterns);
  arith::populateArithToLLVMConversionPatterns(converter, patterns);
  populateMathToLLVMConversionPatterns(converter, patterns);
  index::populateIndexToLLVMConversionPatterns(converter, patterns);
  ub::populateUBToLLVMConversionPatterns(converter, patterns);
  cf::populateControlFlowToLLVMConversionPatterns(converter, patterns);
  populateFinalizeMemRefToLLVMConversionPatterns(converter, patterns);
  // Alignment is the element's: buffers may be views.
  populateVectorToLLVMConversionPatterns(converter, patterns,
                                         /*reassociateFPReductions=*/false,
                                         /*force32BitVectorIndices=*/false,
                                         /*useVectorAlignment=*/false);
  LLVMConversionTarget target(*context);
  target.addLegalOp<ModuleOp>();
  return applyPartialConversion(module, target, std::move(patterns));
}

/// Removes pairs of casts between a type and what it is converted to.
void removeCasts(ModuleOp module) {
  SmallVector<UnrealizedConversionCastOp> casts;
  module.walk([&](UnrealizedConversionCastOp cast) { casts.push_back(cast); });
  reconcileUnrealizedCasts(casts);
}

/// Fails when something other than the LLVM dialect is left.
LogicalResult checkOnlyLlvm(ModuleOp module) {
  WalkResult result = module.walk([](Operation *op) {
    if (isa<ModuleOp>(op) || isa<LLVM::LLVMDialect>(op->getDialect())) {
      return WalkResult::advance();
    }
    op->emitError("'") << op->getName() << "' cannot be lowered to LLVM";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}
} // namespace

LogicalResult lowerToLlvmDialect(ModuleOp module, StringRef dataLayout) {
  if (failed(lowerVectors(module)) || failed(lowerControlFlow(module)) ||
      failed(convertToLlvm(module, dataLayout))) {
    return failure();
  }
  removeCasts(module);
  return checkOnlyLlvm(module);
}

LogicalResult lowerKernel(ModuleOp module, const TargetSpec &target,
                          StringRef dataLayout, bool keepDenormals) {
  if (failed(expandOperations(module, target, keepDenormals))) {
    return failure();
  }
  for (twk::KernelOp kernel :
       llvm::make_early_inc_range(module.getOps<twk::KernelOp>())) {
    lowerKernelAbi(kernel, keepDenormals);
  }
  return lowerToLlvmDialect(module, dataLayout);
}

} // namespace tilewright
