//===- SelectTactic.h - a tactic for every region ---------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "passes/DecisionLog.h"
#include "passes/tile/Tactic.h"

namespace tilewright {

/// Gives `region` the first tactic that applies, as its attribute `tactic`.
/// With `referenceOnly`, the tactic `reference`. The log gets the choice
/// (TWT001) and every refusal.
Status selectTactic(tw::FusedOp region, const TargetSpec &target,
                    const TacticRegistry &registry, bool referenceOnly,
                    DecisionLog &log);

/// The same for every region of a module.
Status selectTactics(mlir::ModuleOp module, const TargetSpec &target,
                     const TacticRegistry &registry, bool referenceOnly,
                     DecisionLog &log);

} // namespace tilewright
