//===- Passes.h - the plan phase --------------------------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "mlir/Pass/Pass.h"
#include <memory>

namespace tilewright {

std::unique_ptr<mlir::Pass> createPrintPlanPass();

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/plan/Passes.h.inc"

} // namespace tilewright
