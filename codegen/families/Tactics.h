//===- Tactics.h - the tactics of all families ------------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "passes/tile/Tactic.h"

namespace tilewright {

/// \returns the tactics that this library implements: one ordered list per form
/// of region, each ending in `reference`.
const TacticRegistry &familyTactics();

} // namespace tilewright
