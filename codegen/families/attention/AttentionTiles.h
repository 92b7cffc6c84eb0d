//===- AttentionTiles.h - attention in tiles of a block ---------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "codegen/families/attention/Attention.h"
#include "codegen/families/attention/AttentionTile.h"

namespace tilewright::families {

/// \returns the type in which matrix units multiply: one of 16 bits if queries,
/// keys, values and weights are all rounded to it, else f32.
mlir::Type attentionElement(const AttentionForm &form);

/// \returns the grid and shared memory of a region of form Attention.
Launch attentionTilesLaunch(const FusedRegion &region,
                            const AttentionTile &tile,
                            const AttentionProblem &problem);

/// Builds the kernel of a region of form Attention.
Result<twk::KernelOp>
buildAttentionTiles(const FusedRegion &region, const AttentionTile &tile,
                    const AttentionProblem &problem, const TargetSpec &target,
                    llvm::StringRef name, mlir::OpBuilder &builder);

} // namespace tilewright::families
