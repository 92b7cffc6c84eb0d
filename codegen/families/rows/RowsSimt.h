//===- RowsSimt.h - rows in the registers of a team -------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// Softmax and norms on a GPU: a warp or a block takes a row, each thread keeps
// its elements of it in registers from the first primitive to the last, and
// memory is read once and written once.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "codegen/families/emit/KernelFrame.h"
#include "passes/tile/Tactic.h"

namespace tilewright::families {

/// \returns why a region of form Rows cannot be computed this way.
std::optional<Refusal> refuseRowsSimt(const FusedRegion &region);

/// \returns the entries `threads`, `blocks`, `team`. \pre not refused.
mlir::DictionaryAttr chooseRowsSimt(const FusedRegion &region,
                                    const TargetSpec &target,
                                    llvm::StringRef tactic);

/// \returns the tasks, sizes and shared memory.
Launch rowsSimtLaunch(const FusedRegion &region,
                      mlir::DictionaryAttr parameters);

Result<twk::KernelOp> buildRowsSimt(const FusedRegion &region,
                                    const TargetSpec &target,
                                    llvm::StringRef name,
                                    mlir::OpBuilder &builder);

} // namespace tilewright::families
