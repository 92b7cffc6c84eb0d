//===- SimtTactics.h - the tactics for GPUs ---------------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "codegen/families/Region.h"
#include "passes/tile/Tactic.h"

namespace tilewright::families {

/// \returns the tactics for a form of region on a GPU, best first, less
/// `reference`.
llvm::ArrayRef<const Tactic *> simtTacticsFor(Form form);

/// \returns all of them.
llvm::ArrayRef<const Tactic *> allSimtTactics();

} // namespace tilewright::families
