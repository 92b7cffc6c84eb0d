//===- InlineProducers.cpp - compute a map's elements where they are read -===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// Every primitive, in program order, replaces loads of constants, of reshapes
// and of other maps by what those compute, where that is legal and the cost
// function agrees. So transposes, slices, broadcasts, pads, concatenations and
// gathers become addressing, and chains of arithmetic one body.
//
//===----------------------------------------------------------------------===//

#include "passes/ReasonCodes.h"
#include "passes/fuse/InlineBody.h"
#include "passes/fuse/Passes.h"
#include "passes/fuse/ReshapeCoordinates.h"

using namespace mlir;

namespace tilewright {

#define GEN_PASS_DEF_INLINEPRODUCERS
#include "passes/fuse/Passes.h.inc"

using namespace tw;

/// The map that a load reads, if it is in the same block as the reader: work
/// does not move into a branch or a loop.
static MapOp producerOf(LoadOp load, Operation *consumer) {
  auto producer = load.getSource().getDefiningOp<MapOp>();
  return producer && producer->getBlock() == consumer->getBlock() ? producer
                                                                  : MapOp();
}

/// Why the body of `producer` cannot stand in the contraction that `load` is
/// in; null if it can.
static const Reason *illegalInContraction(LoadOp load, MapOp producer,
                                          const BodyCost &cost) {
  if (!cost.isMovement()) {
    return &reasons::mathInContraction;
  }
  SmallVector<unsigned> divided;
  if (!isPlainMovement(producer, &divided)) {
    return &reasons::guardInContraction;
  }
  auto contraction = cast<ReduceOp>(primitiveOf(load));
  bool onlyBatches = llvm::all_of(divided, [&](unsigned axis) {
    return isBatchCoordinate(contraction, load.getIndices()[axis]);
  });
  return onlyBatches ? nullptr : &reasons::divisionInCoordinates;
}

/// True if reading through `reshape` at `load` divides batch coordinates only.
static bool dividesOnlyBatches(LoadOp load, ReshapeOp reshape) {
  auto contraction = cast<ReduceOp>(primitiveOf(load));
  for (const ReshapeGroup &group : groupAxes(
           dimsOf(reshape.getSource().getType()), dimsOf(reshape.getType()))) {
    bool needsDivision = group.from.size() > 1;
    if (needsDivision && !llvm::all_of(group.to, [&](unsigned axis) {
          return isBatchCoordinate(contraction, load.getIndices()[axis]);
        })) {
      return false;
    }
  }
  return true;
}

namespace {

/// Inlines into one primitive.
class Inliner {
public:
  Inliner(Operation *consumer, const InlineProfit &profit, bool strict,
          Decisions &decisions)
      : consumer(consumer), profit(profit), strict(strict),
        decisions(decisions) {}

  /// \returns true if something changed.
  bool run() {
    bool changed = false;
    while (LoadOp load = nextLoad()) {
      changed |= visit(load);
    }
    if (changed) {
      simplifyBody(consumer);
    }
    return changed;
  }

private:
  /// The first load that has not been settled.
  LoadOp nextLoad() {
    for (LoadOp load : consumer->getRegion(0).getOps<LoadOp>()) {
      if (!settled.contains(load)) {
        return load;
      }
    }
    return {};
  }

  /// Inlines at `load`, or settles it.
  bool visit(LoadOp load) {
    if (inlineConstant(load) ||
        readThroughReshape(load, /*allowDivision=*/false)) {
      return true;
    }
    if (divideThroughReshape(load)) {
      return true;
    }
    MapOp producer = producerOf(load, consumer);
    if (!producer) {
      settled.insert(load);
      return false;
    }
    if (const Reason *reason = reasonAgainst(load, producer)) {
      if (refused.insert(producer).second) {
        decisions.refused(*reason, producer.getLoc(), nameOf(producer));
      }
      settled.insert(load);
      return false;
    }
    decisions.did(reasons::producerInlined, producer.getLoc(), nameOf(producer),
                  bytesSaved(producer));
    consumer->setLoc(mergeLocations(consumer->getContext(),
                                    {producer.getLoc(), consumer->getLoc()}));
    inlineProducer(load, producer, strict);
    // What is dead no longer counts as a reader of what it read.
    if (producer.use_empty()) {
      producer.erase();
    }
    return true;
  }

  const Reason *reasonAgainst(LoadOp load, MapOp producer) {
    InlineCandidate candidate{load,
                              producer,
                              consumer,
                              costOf(producer),
                              costOf(consumer),
                              countReaders(producer)};
    if (isContraction(consumer)) {
      if (const Reason *reason =
              illegalInContraction(load, producer, candidate.producerCost)) {
        return reason;
      }
    }
    return profit(candidate);
  }

  /// Reading a merge of axes needs divisions: worth it where that removes a
  /// copy; in contractions only of coordinates that both factors share.
  bool divideThroughReshape(LoadOp load) {
    auto reshape = load.getSource().getDefiningOp<ReshapeOp>();
    auto copy = reshape ? reshape.getSource().getDefiningOp<MapOp>() : MapOp();
    if (!copy || copy->getBlock() != consumer->getBlock() || isEpilogue(copy) ||
        !costOf(copy).isMovement()) {
      return false;
    }
    bool mayDivide =
        isContraction(consumer)
            ? isPlainMovement(copy) && dividesOnlyBatches(load, reshape)
            : isa<MapOp>(consumer);
    if (!mayDivide || !readThroughReshape(load, /*allowDivision=*/true)) {
      if (refused.insert(copy).second) {
        decisions.refused(reasons::divisionInCoordinates, copy.getLoc(),
                          nameOf(copy));
      }
      return false;
    }
    return true;
  }

  static std::string nameOf(MapOp map) {
    return map.getRoot() ? map.getRoot()->str() : std::string("map");
  }

  static std::map<std::string, double> bytesSaved(MapOp producer) {
    std::optional<int64_t> bytes = staticBytes(producer.getResult(0).getType());
    if (!bytes || countReaders(producer) > 1) {
      return {};
    }
    return {{"bytes_saved", 2.0 * static_cast<double>(*bytes)}};
  }

  Operation *consumer;
  const InlineProfit &profit;
  bool strict;
  Decisions &decisions;
  llvm::DenseSet<Operation *> settled; // loads that stay
  llvm::DenseSet<Operation *> refused; // producers that stay, reported
};

class InlineProducers : public impl::InlineProducersBase<InlineProducers> {
public:
  InlineProducers(DecisionLog *log, bool isStrict, InlineProfit profit)
      : log(log), profit(std::move(profit)) {
    strict = isStrict;
  }

  void runOnOperation() override {
    Decisions decisions(log, remarks);
    for (Block *block : graphBlocks(getOperation())) {
      runOnBlock(*block, decisions);
    }
  }

private:
  void runOnBlock(Block &block, Decisions &decisions) {
    SmallVector<Operation *> primitives;
    for (Operation &op : block) {
      if (isPrimitive(&op)) {
        markCasts(&op);
        primitives.push_back(&op);
      }
    }
    for (Operation *primitive : primitives) {
      Inliner(primitive, profit, strict, decisions).run();
    }
    SmallVector<Operation *> operations(llvm::make_pointer_range(block));
    for (Operation *op : llvm::reverse(operations)) {
      bool isDead = isa<ReshapeOp, ConstantOp, MapOp>(op) && op->use_empty();
      if (isDead) {
        op->erase();
      } else if (isPrimitive(op)) {
        unmarkCasts(op);
      }
    }
  }

  DecisionLog *log;
  InlineProfit profit;
};

} // namespace

std::unique_ptr<Pass> createInlineProducersPass(DecisionLog *log, bool strict,
                                                InlineProfit profit) {
  return std::make_unique<InlineProducers>(log, strict, std::move(profit));
}

} // namespace tilewright
