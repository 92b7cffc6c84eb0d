//===- Rows.h - regions that work row by row --------------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// Softmax, norms and their kin: the primitives share the first coordinates, a
// task is one row, and the primitives run over the row in their order. What a
// row's later primitives need stays in a register (one scalar) or in a buffer
// of one row.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "codegen/families/emit/KernelFrame.h"
#include "passes/tile/Tactic.h"

namespace tilewright::families {

/// The lanes of the inner loops, and how floats accumulate.
struct RowParameters {
  int64_t width = 1;
  bool wide = false;

  mlir::DictionaryAttr toAttribute(mlir::MLIRContext *context,
                                   llvm::StringRef tactic) const;
  static RowParameters fromAttribute(mlir::DictionaryAttr attribute);
};

/// \returns the workspace that the buffers of a region of form Rows take.
tw::DimExpr rowWorkspace(const FusedRegion &region);

/// \returns the tasks, sizes and workspace of a region of form Rows.
Launch rowsLaunch(const FusedRegion &region);

/// Builds the kernel of a region of form Rows.
Result<twk::KernelOp> buildRows(const FusedRegion &region,
                                const RowParameters &parameters,
                                const TargetSpec &target, llvm::StringRef name,
                                mlir::OpBuilder &builder);

} // namespace tilewright::families
