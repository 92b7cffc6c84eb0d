//===- Sizes.h - what the movement families do with sizes -------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "frontend/NodeImport.h"

namespace tilewright::frontend {

/// \returns an i64 vector of sizes, or a scalar of one.
mlir::Value buildSizes(NodeImport &node, llvm::ArrayRef<DimExpr> sizes,
                       bool scalar = false);

/// The axes that a node lists, each in [0, rank) and none twice: the attribute
/// `axes` when `input` is 0, else that input, which must be constant; nullopt
/// when they are left out. Errors: AttributeInvalid, UnsupportedShape.
Result<std::optional<llvm::SmallVector<int64_t>>>
axesOf(NodeImport &node, size_t input, int64_t rank);

/// \returns ShapeMismatch if one of `sizes` is a negative constant.
Status checkSizes(NodeImport &node, llvm::ArrayRef<DimExpr> sizes);

/// \returns the target of a Reshape, its input 1. What is not known at compile
/// time is resolved (0 and -1) and read at run time.
Result<Dims> reshapeTarget(NodeImport &node, bool allowZero);

/// \returns the sizes that a Reshape of input 0 by `target` gives, where 0
/// keeps a size (unless `allowZero`) and one -1 takes what is left.
Result<Dims> resolveReshape(NodeImport &node, llvm::ArrayRef<DimExpr> target,
                            bool allowZero);

} // namespace tilewright::frontend
