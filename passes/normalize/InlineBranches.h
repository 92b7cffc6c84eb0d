//===- InlineBranches.h - tw.if with a constant condition -------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "mlir/IR/Operation.h"

namespace tilewright {

class Decisions;

/// Replaces every `tw.if` below `root` whose condition is a constant by its
/// branch. \returns true if there was one.
bool inlineConstantBranches(mlir::Operation *root, Decisions &decisions);

} // namespace tilewright
