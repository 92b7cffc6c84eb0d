//===- ExpandOperations.cpp - what a level has no instruction for ---------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/ExpandMath.h"
#include "codegen/cpu/Lowering.h"

#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace tilewright {

LogicalResult expandOperations(ModuleOp module, const TargetSpec &target,
                               bool keepDenormals) {
  RewritePatternSet patterns(module.getContext());
  arith::populateCeilFloorDivExpandOpsPatterns(patterns);
  populateExpandMathPatterns(patterns, target);
  populateExpandSmallFloatPatterns(patterns, target);
  if (target.hasFma && !keepDenormals) {
    populateExpandDivisionPatterns(patterns);
  }
  return applyPatternsGreedily(module, std::move(patterns));
}

} // namespace tilewright
