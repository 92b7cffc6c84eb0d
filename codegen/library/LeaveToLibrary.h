//===- LeaveToLibrary.h - products that cuBLASLt computes -------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// A region that is a product with an epilogue of cuBLASLt may be left to the
// library. It is, where that should take less time than the kernel that would
// be generated for the whole region; the kernel is generated anyway, for where
// the library is not found or has no algorithm.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "codegen/library/LibraryUse.h"
#include "mlir/IR/BuiltinOps.h"
#include "passes/DecisionLog.h"
#include "passes/plan/PlanBuilder.h"
#include "targets/TargetSpec.h"

namespace tilewright {

/// Marks regions with libraryAttr. With `strict`, roundings within a region
/// must stay. The log gets TWT020 and refusals (TWT15n). \pre the target is a
/// GPU, and no constant is packed.
Status leaveToLibrary(mlir::ModuleOp module, const TargetSpec &target,
                      LibraryUse use, bool strict, DecisionLog &log);

/// \returns the product that a region with libraryAttr is. Error: Internal.
Result<plan::ProductCall> productCallOf(tw::FusedOp region);

} // namespace tilewright
