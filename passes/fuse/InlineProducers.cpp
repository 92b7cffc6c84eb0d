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
#include "passes/fuse/ContractionOperand.h"
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

/// True for a float product of two tensors for each of several batches: the
/// scores or the values of attention, maybe.
static bool mayBeAttention(ReduceOp contraction) {
  bool isFloat = isa<FloatType>(elementTypeOf(contraction.getType()));
  bool hasConstant =
      llvm::any_of(contraction.getBody().getOps<LoadOp>(), [](LoadOp load) {
        return isa_and_nonnull<ConstantOp>(load.getSource().getDefiningOp());
      });
  unsigned rank = contraction.getParallelRank();
  return isFloat && !hasConstant &&
         llvm::any_of(contraction.getBody().getArguments().take_front(rank),
                      [&](BlockArgument coordinate) {
                        return isBatchCoordinate(contraction, coordinate);
                      });
}

/// Why arithmetic cannot stand in the contraction that `load` is in.
static const Reason *illegalArithmetic(LoadOp load, MapOp producer,
                                       const ElementwiseOperand &operand) {
  if (mayBeAttention(cast<ReduceOp>(primitiveOf(load)))) {
    return &reasons::attentionOperand;
  }
  bool isPadded =
      !load.getGuard() || paddingBehind(producer, operand, load.getOtherwise());
  return isPadded ? nullptr : &reasons::paddingInContraction;
}

/// Why the body of `producer` cannot stand in the contraction that `load` is
/// in; null if it can.
static const Reason *illegalInContraction(LoadOp load, MapOp producer,
                                          const BodyCost &cost) {
  SmallVector<unsigned> divided;
  if (!isPlainMovement(producer, &divided)) {
    std::optional<ElementwiseOperand> operand = elementwiseOperandOf(producer);
    if (!operand) {
      return cost.isMovement() ? &reasons::guardInContraction
                               : &reasons::mathInContraction;
    }
    divided = operand->divided;
    if (const Reason *reason = illegalArithmetic(load, producer, *operand)) {
      return reason;
    }
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

/// Erases a map or a reshape that nobody reads, and reshapes that only it read:
/// what is dead no longer counts as a reader.
static void eraseDead(Operation *op) {
  if (!op->use_empty()) {
    return;
  }
  llvm::SmallPtrSet<Operation *, 4> sources;
  op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands()) {
      if (auto reshape = operand.getDefiningOp<ReshapeOp>()) {
        sources.insert(reshape);
      }
    }
  });
  op->erase();
  llvm::for_each(sources, eraseDead);
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
    bool changed = inlineConstants();
    while (LoadOp load = nextLoad()) {
      changed |= visit(load);
    }
    if (changed) {
      simplifyBody(consumer);
    }
    return changed;
  }

private:
  /// Puts scalars in place of constants first: they decide what a body costs.
  bool inlineConstants() {
    bool changed = false;
    for (LoadOp load :
         llvm::to_vector(consumer->getRegion(0).getOps<LoadOp>())) {
      changed |= inlineConstant(load);
    }
    if (changed) {
      simplifyBody(consumer);
    }
    return changed;
  }

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
    if (inlineConstant(load) || readThrough(load, /*allowDivision=*/false)) {
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
    inlineAt(load, producer);
    eraseDead(producer);
    return true;
  }

  /// Reads what is behind a reshape, which no longer reads it once it is dead.
  static bool readThrough(LoadOp load, bool allowDivision) {
    auto reshape = load.getSource().getDefiningOp<ReshapeOp>();
    if (!readThroughReshape(load, allowDivision)) {
      return false;
    }
    eraseDead(reshape);
    return true;
  }

  /// Why `producer` should not be computed where `user` loads it.
  const Reason *reasonAgainst(LoadOp load, MapOp producer, Operation *user) {
    InlineCandidate candidate{load,         producer,
                              user,         costOf(producer),
                              costOf(user), countReaders(producer)};
    if (isContraction(user)) {
      if (const Reason *reason =
              illegalInContraction(load, producer, candidate.producerCost)) {
        return reason;
      }
    }
    return profit(candidate);
  }

  const Reason *reasonAgainst(LoadOp load, MapOp producer) {
    if (!costOf(producer).isMovement() && widensForContractions(producer)) {
      return &reasons::staysNarrow;
    }
    return reasonAgainst(load, producer, consumer);
  }

  /// True if the consumer makes larger elements of what `producer` gives, and
  /// contractions alone read it, which can do that themselves.
  bool widensForContractions(MapOp producer) {
    auto map = dyn_cast<MapOp>(consumer);
    std::optional<ElementwiseOperand> operand =
        map ? elementwiseOperandOf(map) : std::nullopt;
    return operand && operand->main.getSource() == producer.getResult(0) &&
           bitsOf(map.getResult(0)) > bitsOf(producer.getResult(0)) &&
           operand->divided.empty() && goesIntoContractions(map, map);
  }

  /// True if contractions alone read `value`, maybe through reshapes, and can
  /// compute `map`, which gives it.
  bool goesIntoContractions(MapOp map, Operation *value) {
    return llvm::all_of(value->getUsers(), [&](Operation *user) {
      auto load = dyn_cast<LoadOp>(user);
      return load ? isContraction(primitiveOf(load)) &&
                        !reasonAgainst(load, map, primitiveOf(load))
                  : isa<ReshapeOp>(user) && goesIntoContractions(map, user);
    });
  }

  void inlineAt(LoadOp load, MapOp producer) {
    std::optional<ElementwiseOperand> operand;
    if (isContraction(consumer) && load.getGuard()) {
      operand = elementwiseOperandOf(producer);
    }
    if (!operand) {
      inlineProducer(load, producer, strict);
      return;
    }
    TypedAttr padding = paddingBehind(producer, *operand, load.getOtherwise());
    inlineProducer(load, producer, strict, operand->main, padding);
  }

  /// Reading a merge of axes needs divisions: worth it where that removes a
  /// copy; in contractions only of coordinates that both factors share.
  bool divideThroughReshape(LoadOp load) {
    auto reshape = load.getSource().getDefiningOp<ReshapeOp>();
    skipReshapes(reshape);
    auto copy = reshape ? reshape.getSource().getDefiningOp<MapOp>() : MapOp();
    if (!copy || copy->getBlock() != consumer->getBlock() || isEpilogue(copy) ||
        !costOf(copy).isMovement()) {
      return false;
    }
    bool mayDivide =
        isContraction(consumer)
            ? isPlainMovement(copy) && dividesOnlyBatches(load, reshape)
            : isa<MapOp>(consumer);
    if (!mayDivide || !readThrough(load, /*allowDivision=*/true)) {
      if (refused.insert(copy).second) {
        decisions.refused(reasons::divisionInCoordinates, copy.getLoc(),
                          nameOf(copy));
      }
      return false;
    }
    return true;
  }

  static unsigned bitsOf(Value tensor) {
    Type element = elementTypeOf(tensor.getType());
    return element.isIntOrFloat() ? element.getIntOrFloatBitWidth() : 0;
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
    for (ReshapeOp reshape : llvm::to_vector(block.getOps<ReshapeOp>())) {
      if (reshape.use_empty()) {
        reshape.erase();
      }
    }
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
