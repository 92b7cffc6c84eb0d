//===- Pipeline.h - the phases between import and code ----------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "codegen/library/LeaveToLibrary.h"
#include "mlir/IR/BuiltinOps.h"
#include "passes/DecisionLog.h"
#include "passes/normalize/ConstantEvaluator.h"
#include "passes/tile/Tactic.h"
#include "tilewright/Status.h"
#include "tools/driver/Phases.h"

namespace tilewright {

/// What the phases work with. Nothing reads a global option.
struct PipelineOptions {
  const TargetSpec *target = nullptr;
  const TacticRegistry *tactics = nullptr;
  ConstantEvaluator *evaluator = nullptr; // null: constants stay as they are
  DecisionLog *log = nullptr;
  bool reference = false;
  bool strict = false;
  LibraryUse library = LibraryUse::Auto;
};

/// Runs one phase on `module`. Import, plan and codegen are not phases of the
/// IR and do nothing here. Errors: Internal, with what MLIR said.
Status runPhase(Phase phase, mlir::ModuleOp module,
                const PipelineOptions &options);

} // namespace tilewright
