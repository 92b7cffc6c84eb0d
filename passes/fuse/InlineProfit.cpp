//===- InlineProfit.cpp - when computing at the load pays off -------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "passes/fuse/InlineProfit.h"

using namespace mlir;

namespace tilewright {

using namespace tw;

/// Arithmetic that may be repeated: about what a load costs.
static constexpr unsigned cheapFlops = 2;
/// Arithmetic that hides behind the memory traffic of a copy.
static constexpr unsigned flopsBesideCopy = 8;
/// Cheap arithmetic is repeated for so many readers at most.
static constexpr unsigned fewReaders = 2;
/// Movement with more loads than this (a long concatenation) is not repeated.
static constexpr unsigned fewLoads = 3;
/// A body stops growing here.
static constexpr unsigned largestBody = 400;

/// True if the consumer provably reads no more elements than the producer has.
static bool readsOnce(const InlineCandidate &c) {
  SmallVector<DimExpr> from = domainOf(c.producer), to = domainOf(c.consumer);
  MLIRContext *context = c.consumer->getContext();
  DimExpr produced = productOf(context, from), read = productOf(context, to);
  return (produced - read).isNonNegative();
}

static bool isCheap(const BodyCost &cost) {
  return !cost.transcendental && cost.flops <= cheapFlops;
}

/// True if the producer's only operand has other readers, so that a reduction
/// may as well read that one: nothing more moves, and one tensor less is there.
static bool onlyRepeatsOperand(const InlineCandidate &c) {
  if (c.readers != 1 || !isCheap(c.producerCost) || !readsOnce(c) ||
      !isa<ReduceOp>(c.consumer) || isContraction(c.consumer)) {
    return false;
  }
  MapOp producer = c.producer;
  auto loads = producer.getBody().getOps<LoadOp>();
  if (loads.empty()) {
    return false;
  }
  Value operand = (*loads.begin()).getSource();
  return llvm::all_of(
             loads, [&](LoadOp load) { return load.getSource() == operand; }) &&
         operand.getDefiningOp() && countReaders(operand.getDefiningOp()) > 1;
}

/// An epilogue is free where it is: it leaves only for a user that becomes the
/// epilogue in its place, or that can read the epilogue's operand instead.
static const Reason *leavesEpilogue(const InlineCandidate &c) {
  if (onlyRepeatsOperand(c)) {
    return nullptr;
  }
  bool takesItsPlace = isa<MapOp>(c.consumer) && c.readers == 1 &&
                       (readsAtOwnCoordinates(c.load) || permutationOf(c.load));
  return takesItsPlace && readsOnce(c) ? nullptr : &reasons::staysEpilogue;
}

/// True if something other than a body reads the producer: it is in memory
/// whatever happens to its loads.
static bool isInMemoryAnyway(Operation *producer) {
  return llvm::any_of(producer->getUsers(), [](Operation *user) {
    return isa<ReshapeOp>(user) ? isInMemoryAnyway(user) : !isa<LoadOp>(user);
  });
}

static const Reason *movementPays(const InlineCandidate &c) {
  if (c.readers == 1 ||
      (isa<MapOp>(c.consumer) && isPlainMovement(c.producer))) {
    return nullptr;
  }
  // Of several readers over the same domain, all join one region.
  bool joinsRegion = readsAtOwnCoordinates(c.load);
  if (!isa<MapOp>(c.consumer) || joinsRegion || isInMemoryAnyway(c.producer) ||
      c.producerCost.loads > fewLoads) {
    return &reasons::severalUsers;
  }
  return nullptr;
}

/// True if a copy of several parts (a concatenation) takes this one from the
/// producer: instead of memory, it reads what the producer reads.
static bool isPartOfCopy(const InlineCandidate &c) {
  LoadOp load = c.load;
  return load.getGuard() && isa<MapOp>(c.consumer) &&
         c.consumerCost.isMovement() && !c.consumerCost.gathers &&
         !c.producerCost.transcendental &&
         c.producerCost.flops <= flopsBesideCopy;
}

static const Reason *arithmeticPays(const InlineCandidate &c) {
  if (c.readers == 1) {
    return readsOnce(c) || isPartOfCopy(c) || isCheap(c.producerCost)
               ? nullptr
               : &reasons::workRepeated;
  }
  bool repeats = isa<MapOp>(c.consumer) && !readsAtOwnCoordinates(c.load) &&
                 isCheap(c.producerCost) && c.readers <= fewReaders;
  return repeats ? nullptr : &reasons::severalUsers;
}

const Reason *inlineProfit(const InlineCandidate &c) {
  if (c.producerCost.operations + c.consumerCost.operations > largestBody) {
    return &reasons::bodyTooLarge;
  }
  if (isContraction(c.consumer)) {
    return nullptr; // what is legal there is movement that costs nothing
  }
  if (isEpilogue(c.producer)) {
    return leavesEpilogue(c);
  }
  return c.producerCost.isMovement() ? movementPays(c) : arithmeticPays(c);
}

} // namespace tilewright
