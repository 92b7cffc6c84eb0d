//===- SplitDepth.h - more blocks for long sums -----------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// A product with few rows and columns has too few tiles for all multiprocessors
// of a GPU. If it is deep, its depth is divided into parts: one region computes
// the sums of each part, another one adds them, always in the same order, and
// goes on with the maps that followed. So is any long reduction with few
// results. Attention with few rows has too few tiles alike; its keys are
// divided (KeyParts.h).
//
//===----------------------------------------------------------------------===//

#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "passes/DecisionLog.h"
#include "targets/TargetSpec.h"
#include "tilewright/Status.h"

namespace tilewright {

/// Divides the contractions, other reductions and the keys of attention of a
/// module for which that should take less time.
/// \pre the target is a GPU, and no region has a tactic.
Status splitDepth(mlir::ModuleOp module, const TargetSpec &target,
                  DecisionLog &log);

} // namespace tilewright
