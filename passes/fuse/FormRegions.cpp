//===- FormRegions.cpp - group primitives into kernels --------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// In program order, every primitive tries to join the groups that it reads,
// the latest first. A group grows while it has a form that code generation
// takes (RegionForms.h) and closes no cycle through what stays outside. Groups
// that both hold contractions become one where that pays (JoinProfit.h).
//
//===----------------------------------------------------------------------===//

#include "passes/ReasonCodes.h"
#include "passes/fuse/Access.h"
#include "passes/fuse/BlockOrder.h"
#include "passes/fuse/BuildRegion.h"
#include "passes/fuse/JoinProfit.h"
#include "passes/fuse/Passes.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;

namespace tilewright {

#define GEN_PASS_DEF_FORMREGIONS
#include "passes/fuse/Passes.h.inc"

using namespace tw;

static SmallVector<Operation *> operationsOf(const BlockOrder &order,
                                             ArrayRef<unsigned> group) {
  return llvm::map_to_vector(
      group, [&](unsigned position) { return order.at(position); });
}

/// The groups that a primitive reads, the latest first.
static SmallVector<unsigned> groupsReadBy(Operation *op,
                                          const BlockOrder &order) {
  llvm::SetVector<unsigned> read;
  for (LoadOp load : op->getRegion(0).getOps<LoadOp>()) {
    Operation *source = load.getSource().getDefiningOp();
    if (source && order.holds(source) && isPrimitive(source)) {
      read.insert(order.groupOf(order.positionOf(source)));
    }
  }
  SmallVector<unsigned> groups = read.takeVector();
  llvm::sort(groups, [&](unsigned a, unsigned b) {
    return order.membersOf(a).back() > order.membersOf(b).back();
  });
  return groups;
}

static bool holdsReduction(ArrayRef<Operation *> group) {
  return llvm::any_of(group, llvm::IsaPred<ReduceOp>);
}

/// True if reductions of both groups would share a kernel as they have not so
/// far: that is for the cost function to decide.
static bool isJoin(const RegionShape &shape, const JoinCandidate &c) {
  return (shape.form == RegionForm::Reduction ||
          shape.form == RegionForm::RowBlocks) &&
         holdsReduction(c.earlier) && holdsReduction(c.later);
}

/// Makes one group of two if they have a form together. \returns why not.
static const Reason *tryMerge(BlockOrder &order, unsigned a, unsigned b,
                              const JoinProfit &profit) {
  SmallVector<unsigned> both(order.membersOf(a));
  llvm::append_range(both, order.membersOf(b));
  llvm::sort(both);
  RegionShape shape = shapeOf(operationsOf(order, both));
  if (!shape) {
    return shape.reason;
  }
  SmallVector<Operation *> earlier = operationsOf(order, order.membersOf(a)),
                           later = operationsOf(order, order.membersOf(b));
  if (isJoin(shape, {earlier, later})) {
    if (const Reason *reason = profit({earlier, later})) {
      return reason;
    }
  }
  if (order.wouldCycle(a, b)) {
    return &reasons::regionCycle;
  }
  order.merge(a, b);
  return nullptr;
}

static void growGroups(BlockOrder &order, const JoinProfit &profit,
                       Decisions &decisions) {
  for (unsigned position = 0; position < order.size(); ++position) {
    Operation *op = order.at(position);
    if (!isPrimitive(op)) {
      continue;
    }
    for (unsigned group : groupsReadBy(op, order)) {
      unsigned own = order.groupOf(position);
      // An earlier merge may have taken the group along.
      if (group == own || order.membersOf(group).empty()) {
        continue;
      }
      if (const Reason *reason = tryMerge(order, group, own, profit)) {
        decisions.refused(*reason, op->getLoc(), op->getName().getStringRef());
      }
    }
  }
}

/// The tensors that a group of maps reads; empty for other groups.
static llvm::SmallPtrSet<Value, 8> readByMaps(const BlockOrder &order,
                                              unsigned group) {
  llvm::SmallPtrSet<Value, 8> sources;
  for (Operation *op : operationsOf(order, order.membersOf(group))) {
    if (!isa<MapOp>(op)) {
      return {};
    }
    for (LoadOp load : op->getRegion(0).getOps<LoadOp>()) {
      sources.insert(load.getSource());
    }
  }
  return sources;
}

/// Maps over one domain that read one tensor read it once, in one kernel.
static void joinSiblings(BlockOrder &order, const JoinProfit &profit,
                         Decisions &decisions) {
  llvm::MapVector<Value, SmallVector<unsigned>> readers;
  for (unsigned group : order.sortedGroups()) {
    for (Value source : readByMaps(order, group)) {
      if (!source.getDefiningOp<ConstantOp>()) {
        readers[source].push_back(group);
      }
    }
  }
  for (auto &[source, groups] : readers) {
    for (size_t i = 0; i < groups.size(); ++i) {
      for (size_t j = i + 1; j < groups.size(); ++j) {
        unsigned a = order.groupOf(groups[i]), b = order.groupOf(groups[j]);
        if (a == b || readByMaps(order, a).empty()) {
          continue;
        }
        Location loc = order.at(groups[j])->getLoc();
        if (!tryMerge(order, a, b, profit)) {
          decisions.did(reasons::siblingsJoined, loc, "tw.map");
        }
      }
    }
  }
}

/// The bytes of values that never leave their region, written and read once.
static double bytesKeptInside(FusedOp fused) {
  llvm::SmallPtrSet<Value, 8> yielded;
  YieldOp yield = yieldOf(fused);
  yielded.insert(yield.getOperands().begin(), yield.getOperands().end());
  double bytes = 0;
  for (Operation &op : fused.getBody().front().without_terminator()) {
    for (Value result : op.getResults()) {
      if (!yielded.contains(result)) {
        bytes += 2.0 *
                 static_cast<double>(staticBytes(result.getType()).value_or(0));
      }
    }
  }
  return bytes;
}

/// Rebuilds the block in an order that suits the groups.
static void buildRegions(Block &block, const BlockOrder &order,
                         RegionNames &names, Decisions &decisions) {
  OpBuilder builder = OpBuilder::atBlockEnd(&block);
  Operation *end = block.getTerminator();
  for (unsigned group : order.sortedGroups()) {
    SmallVector<Operation *> members =
        operationsOf(order, order.membersOf(group));
    if (!isPrimitive(members.front())) {
      members.front()->moveBefore(end);
      continue;
    }
    builder.setInsertionPoint(end);
    RegionShape shape = shapeOf(members);
    FusedOp fused = buildRegion(builder, members, shape, names);
    std::map<std::string, double> numbers{
        {"primitives", static_cast<double>(members.size())}};
    if (double bytes = bytesKeptInside(fused); bytes > 0) {
      numbers["bytes_saved"] = bytes;
    }
    decisions.did(reasons::regionFormed, fused.getLoc(), fused.getSymName(),
                  numbers);
    if (shape.form == RegionForm::RowBlocks) {
      decisions.did(reasons::rowsBehindContraction, fused.getLoc(),
                    fused.getSymName());
    }
    size_t contractions = llvm::count_if(members, isContraction);
    if (shape.form != RegionForm::Attention && contractions > 1) {
      decisions.did(reasons::contractionsJoined, fused.getLoc(),
                    fused.getSymName(),
                    {{"contractions", static_cast<double>(contractions)}});
    }
  }
}

namespace {

class FormRegions : public impl::FormRegionsBase<FormRegions> {
public:
  FormRegions(DecisionLog *log, JoinProfit profit)
      : log(log), profit(std::move(profit)) {}

  void runOnOperation() override {
    Decisions decisions(log, remarks);
    RegionNames names;
    getOperation()->walk(
        [&](FusedOp fused) { names.take(fused.getSymName()); });
    for (Block *block : graphBlocks(getOperation())) {
      BlockOrder order(*block);
      growGroups(order, profit, decisions);
      joinSiblings(order, profit, decisions);
      buildRegions(*block, order, names, decisions);
    }
  }

private:
  DecisionLog *log;
  JoinProfit profit;
};

} // namespace

std::unique_ptr<Pass> createFormRegionsPass(DecisionLog *log,
                                            JoinProfit profit) {
  return std::make_unique<FormRegions>(log, std::move(profit));
}

} // namespace tilewright
