//===- Packing.h - constants in the order of the vector lanes ---*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// A contraction that runs its lanes along an output axis wants the weights of
// neighbouring outputs side by side. Weights that are constants are rearranged
// once, at compile time: `[…, N, …]` becomes `[groups …, ceil(N / W), reduction
// axes in the order of the loops …, W]`, filled up with zeros. The
// rearrangement is a `tw.map` in front of the region, for the constant folder
// to evaluate.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "codegen/families/Region.h"
#include "passes/DecisionLog.h"
#include "targets/TargetSpec.h"

namespace tilewright::families {

/// \returns true when `load`, in a reduction's body, reads an operand of the
/// region that is a constant and that can be packed along `coordinate`: an
/// index of its own, and every other index a plain coordinate.
/// Filling up to whole vectors of `width` may at most double the constant.
bool isPackable(const FusedRegion &region, tw::LoadOp load,
                mlir::BlockArgument coordinate, int64_t width);

} // namespace tilewright::families

namespace tilewright {

/// Packs the constant operands of the contractions of a module for the tiles
/// that the cost model will choose. The maps that it inserts (root "pack") are
/// constant; fold them before kernels are built.
Status packConstants(mlir::ModuleOp module, const TargetSpec &target,
                     DecisionLog &log);

} // namespace tilewright
