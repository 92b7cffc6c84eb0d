//===- Passes.h - the fuse phase --------------------------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "ir/TwOps.h"
#include "mlir/Pass/Pass.h"
#include "passes/DecisionLog.h"
#include "passes/fuse/InlineProfit.h"
#include "passes/fuse/JoinProfit.h"
#include <memory>

namespace tilewright {

/// Every constructor takes the compile's log, which may be null.
std::unique_ptr<mlir::Pass> createDecomposePass(DecisionLog *log = nullptr);
std::unique_ptr<mlir::Pass> createDropUnitAxesPass(DecisionLog *log = nullptr);
std::unique_ptr<mlir::Pass> createSinkReshapesPass(DecisionLog *log = nullptr);
std::unique_ptr<mlir::Pass>
createInlineProducersPass(DecisionLog *log = nullptr, bool strict = false,
                          InlineProfit profit = inlineProfit);
std::unique_ptr<mlir::Pass>
createMergeContractionsPass(DecisionLog *log = nullptr);
std::unique_ptr<mlir::Pass>
createNarrowConstantsPass(DecisionLog *log = nullptr);
std::unique_ptr<mlir::Pass>
createUnitReductionsPass(DecisionLog *log = nullptr);
std::unique_ptr<mlir::Pass> createIsolateRegionsPass();
std::unique_ptr<mlir::Pass> createFormAttentionPass(DecisionLog *log = nullptr,
                                                    bool strict = false);
std::unique_ptr<mlir::Pass> createJoinPartsPass(DecisionLog *log = nullptr);
std::unique_ptr<mlir::Pass>
createFormRegionsPass(DecisionLog *log = nullptr,
                      JoinProfit profit = joinProfit(usualCacheBytes));

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/fuse/Passes.h.inc"

} // namespace tilewright
