//===- MmaKernel.h - contractions on matrix units ---------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "codegen/families/contract/MmaTile.h"
#include "passes/tile/Tactic.h"

namespace tilewright::families {

/// \returns the grid, the threads and the shared memory of a contraction.
Launch mmaLaunch(const FusedRegion &region, const MatrixProduct &contraction,
                 const MmaTile &tile);

/// Builds the kernel of a region of form Reduce.
Result<twk::KernelOp> buildMma(const FusedRegion &region,
                               const MatrixProduct &contraction,
                               const MmaTile &tile, const TargetSpec &target,
                               llvm::StringRef name, mlir::OpBuilder &builder);

} // namespace tilewright::families
