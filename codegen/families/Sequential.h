//===- Sequential.h - scans -------------------------------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "codegen/families/KernelFrame.h"
#include "passes/tile/Tactic.h"

namespace tilewright::families {

/// \returns the launch of a scan: a task per line along its axis.
Launch sequentialLaunch(const FusedRegion &region);

/// Builds the kernel of a region of form Scan, in scalar loops.
Result<twk::KernelOp> buildSequential(const FusedRegion &region,
                                      const TargetSpec &target,
                                      llvm::StringRef name,
                                      mlir::OpBuilder &builder);

} // namespace tilewright::families
