//===- ExpandMath.h - patterns that replace operations by formulas -*- C++
//-*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "codegen/cpu/math/LaneMath.h"
#include "targets/TargetSpec.h"

#include "mlir/IR/PatternMatch.h"

namespace tilewright {

/// Replaces `op`, an elementwise operation, by what `formula` makes of its
/// operands; vectors of several dimensions are handed to it flattened.
void replaceByFormula(
    mlir::PatternRewriter &rewriter, mlir::Operation *op, MathFeatures features,
    llvm::function_ref<Lane(LaneMath &, llvm::ArrayRef<Lane>)> formula);

/// The operations of `math` on f32 and f64, and arith.remf.
void populateExpandMathPatterns(mlir::RewritePatternSet &patterns,
                                const TargetSpec &target);

/// Adds the pattern that multiplies where all lanes of a vector have one
/// divisor. For levels with a fused multiply-add, where denormal numbers are
/// zero.
void populateExpandDivisionPatterns(mlir::RewritePatternSet &patterns);

/// Conversions from and to f16 and bf16, and arithmetic on them, which is done
/// in f32.
void populateExpandSmallFloatPatterns(mlir::RewritePatternSet &patterns,
                                      const TargetSpec &target);

} // namespace tilewright
