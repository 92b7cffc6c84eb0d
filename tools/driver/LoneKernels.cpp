//===- LoneKernels.cpp - element-wise kernels that joined nothing ---------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// "Why is this node a kernel of its own?" is asked of element-wise nodes beside
// a contraction or reduction that could have taken them along. The passes log
// what they refused where they refused it; here it is put together at the end,
// so that no such kernel is without an answer.
//
//===----------------------------------------------------------------------===//

#include "tools/driver/LoneKernels.h"
#include "ir/TwOps.h"
#include "passes/ReasonCodes.h"
#include "passes/fuse/Access.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

#include <set>

using namespace mlir;
using namespace tilewright::tw;

namespace tilewright {

namespace reasons {
static constexpr Reason standsAlone{
    "TWP020", "a kernel of its own beside a contraction or reduction"};
static constexpr Reason standsAloneUnexplained{
    "TWP021", "a kernel of its own, and no pass says why"};
} // namespace reasons

static bool holdsMapsAlone(FusedOp region) {
  return llvm::all_of(region.getBody().front().without_terminator(),
                      [](Operation &op) { return isa<MapOp, ReshapeOp>(op); });
}

static bool reduces(Operation *op) {
  auto region = dyn_cast_or_null<FusedOp>(op);
  return region && !region.getBody().getOps<ReduceOp>().empty();
}

static FusedOp producerOf(Value value) {
  while (auto reshape = value.getDefiningOp<ReshapeOp>()) {
    value = reshape.getSource();
  }
  return value.getDefiningOp<FusedOp>();
}

/// The first region that reads `value`, also through reshapes, and reduces.
static FusedOp reducingReader(Value value) {
  for (Operation *user : value.getUsers()) {
    if (auto reshape = dyn_cast<ReshapeOp>(user)) {
      if (FusedOp found = reducingReader(reshape.getResult())) {
        return found;
      }
    } else if (reduces(user)) {
      return cast<FusedOp>(user);
    }
  }
  return {};
}

/// A contraction or reduction beside `region`, and how they stand.
static std::pair<FusedOp, StringRef> neighbourOf(FusedOp region) {
  for (Value input : region.getInputs()) {
    FusedOp producer = producerOf(input);
    if (reduces(producer)) {
      return {producer, "which it reads"};
    }
  }
  for (Value result : region.getResults()) {
    if (FusedOp reader = reducingReader(result)) {
      return {reader, "which reads it"};
    }
  }
  return {};
}

/// The codes under which passes refused something about these nodes.
static std::set<std::string> refusalsOf(Location loc, const DecisionLog &log) {
  llvm::StringSet<> nodes;
  for (const std::string &node : nodeNames(loc)) {
    nodes.insert(node);
  }
  std::set<std::string> codes;
  for (const Decision &decision : log.all()) {
    bool isFusion = StringRef(decision.code).starts_with("TWF") ||
                    StringRef(decision.code).starts_with("TWL");
    if (decision.refused && isFusion &&
        llvm::any_of(decision.nodes, [&](const std::string &node) {
          return nodes.contains(node);
        })) {
      codes.insert(decision.code);
    }
  }
  return codes;
}

void recordLoneKernels(ModuleOp module, DecisionLog &log) {
  module.walk([&](FusedOp region) {
    if (!holdsMapsAlone(region)) {
      return;
    }
    auto [neighbour, how] = neighbourOf(region);
    if (!neighbour) {
      return;
    }
    double flops = 0;
    for (MapOp map : region.getBody().getOps<MapOp>()) {
      BodyCost cost = costOf(map);
      flops += cost.flops + (cost.transcendental ? 1 : 0);
    }
    std::set<std::string> codes = refusalsOf(region.getLoc(), log);
    const Reason &reason =
        codes.empty() ? reasons::standsAloneUnexplained : reasons::standsAlone;
    std::string message = region.getSymName().str() + ": " + reason.title +
                          ": " + neighbour.getSymName().str() + ", " +
                          how.str();
    if (!codes.empty()) {
      message += "; refused with " + llvm::join(codes, ", ");
    }
    log.refused(reason.code, region.getLoc(), std::move(message),
                {{"flops", flops}});
  });
}

} // namespace tilewright
