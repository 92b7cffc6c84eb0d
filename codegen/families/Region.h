//===- Region.h - what a fused region computes ------------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// A legal region has one of the forms below. All of its primitives share one
// space of *parallel coordinates*; a reduction adds coordinates of its own.
// Reshapes are transparent: memory is row-major, so an element's linear
// position does not change.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "ir/TwOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "tilewright/Status.h"

namespace tilewright::families {

enum class Form {
  Pointwise, ///< maps over one domain
  Reduce,    ///< reductions over one domain, then maps over their results
  Attention, ///< two contractions and softmax between: Attention.h
  Rows,      ///< reductions and maps that share the first `rows` coordinates
  RowBlocks, ///< contractions and maps, then Rows over what they give
  Scan,
  Scatter
};

/// The analysis of a region. Values are those inside the region.
struct FusedRegion {
  mutable tw::FusedOp op; // ODS accessors are not const
  Form form = Form::Pointwise;
  llvm::SmallVector<mlir::Operation *> primitives; ///< in order
  unsigned rows = 0; ///< of Form::Rows and Form::RowBlocks
  /// Of Form::RowBlocks: so many of the primitives come before the rows.
  size_t nest = 0;
  /// Of a nest that is a part of Form::RowBlocks: the primitives behind it.
  llvm::SmallVector<mlir::Operation *> behind;
  /// The shared extents: the maps' domain, the reductions' result dims, the
  /// row dims, or those of attention's scores without the keys.
  llvm::SmallVector<tw::DimExpr> parallel;

  /// \returns the reductions of Form::Reduce, which come first.
  llvm::SmallVector<tw::ReduceOp> getReduces() const;
  /// \returns the first of them: the only one for a GPU.
  tw::ReduceOp getReduce() const {
    return llvm::cast<tw::ReduceOp>(primitives.front());
  }
  tw::YieldOp getYield() const { return tw::yieldOf(op); }
};

/// \returns the value behind reshapes.
mlir::Value stripReshapes(mlir::Value value);

/// \returns the analysis of `op`, or why its form is not one that kernels are
/// built for (an internal error: the fuser forms legal regions only).
Result<FusedRegion> analyseRegion(tw::FusedOp op);

/// \returns every size that is not a constant in the region's types, domains
/// and bodies, each once, in order: the kernel's `sizes`.
llvm::SmallVector<tw::DimExpr> sizesOf(tw::FusedOp op);

/// \returns the row-major strides of `dims`.
llvm::SmallVector<tw::DimExpr> stridesOf(mlir::MLIRContext *context,
                                         llvm::ArrayRef<tw::DimExpr> dims);

/// The product that the body of an `add` reduction ends in.
/// \returns null unless the yielded scalar is one multiplication used only
/// there.
mlir::Operation *productOfBody(tw::ReduceOp reduce);

} // namespace tilewright::families
