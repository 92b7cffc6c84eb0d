//===- Passes.h - the layout phase ------------------------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "ir/TwOps.h"
#include "mlir/Pass/Pass.h"
#include "passes/DecisionLog.h"
#include <memory>

namespace tilewright {

/// `log` may be null; `vectorLanes` is how many f32 a vector register holds.
std::unique_ptr<mlir::Pass> createSelectLayoutsPass(DecisionLog *log = nullptr,
                                                    unsigned vectorLanes = 16);

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/layout/Passes.h.inc"

} // namespace tilewright
