//===- SelectTactic.cpp - a tactic for every region -----------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "passes/tile/SelectTactic.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace tilewright {

static std::string textOf(DictionaryAttr parameters) {
  std::string text;
  llvm::raw_string_ostream(text) << parameters;
  return text;
}

Status selectTactic(tw::FusedOp region, const TargetSpec &target,
                    const TacticRegistry &registry, bool referenceOnly,
                    DecisionLog &log) {
  for (const Tactic *tactic : registry.tacticsFor(region, target)) {
    if (referenceOnly && tactic->name() != "reference") {
      continue;
    }
    std::optional<Refusal> refusal = tactic->applicable(region, target);
    if (refusal) {
      log.refused(refusal->code, region.getLoc(),
                  ("tactic " + tactic->name() + ": ").str() + refusal->text);
      continue;
    }
    Result<DictionaryAttr> parameters = tactic->choose(region, target);
    TW_RETURN_IF_ERROR(parameters.status());
    region.setTacticAttr(*parameters);
    log.did("TWT001", region.getLoc(),
            "region " + region.getSymName().str() + ": " + textOf(*parameters));
    return Status::ok();
  }
  return Status(ErrorCode::Internal, "no tactic applies to region '" +
                                         region.getSymName().str() + "'");
}

Status selectTactics(ModuleOp module, const TargetSpec &target,
                     const TacticRegistry &registry, bool referenceOnly,
                     DecisionLog &log) {
  Status status;
  module.walk([&](tw::FusedOp region) {
    status = selectTactic(region, target, registry, referenceOnly, log);
    return status ? WalkResult::advance() : WalkResult::interrupt();
  });
  return status;
}

} // namespace tilewright
