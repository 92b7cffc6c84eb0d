//===- Passes.h - the normalize phase ---------------------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "mlir/Pass/Pass.h"
#include "passes/DecisionLog.h"
#include "passes/normalize/ConstantEvaluator.h"
#include <memory>

namespace tilewright {

/// Every constructor takes the compile's log, which may be null.
std::unique_ptr<mlir::Pass>
createCanonicalizeGraphPass(DecisionLog *log = nullptr);
std::unique_ptr<mlir::Pass> createFoldBatchNormPass(DecisionLog *log = nullptr);
/// Without an evaluator only what needs no arithmetic folds.
std::unique_ptr<mlir::Pass>
createFoldConstantsPass(ConstantEvaluator *evaluator = nullptr,
                        DecisionLog *log = nullptr);

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/normalize/Passes.h.inc"

} // namespace tilewright
