//===- InlineProfit.cpp - when computing at the load pays off -------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "passes/fuse/InlineProfit.h"
#include "passes/fuse/ContractionOperand.h"

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
  // Only what has a fixed size is certain to be computed in another order.
  bool isFixed = llvm::all_of(domainOf(c.consumer), [](DimExpr dim) {
    return dim.getConstant().has_value();
  });
  bool takesItsPlace =
      isa<MapOp>(c.consumer) && c.readers == 1 &&
      (readsAtOwnCoordinates(c.load) || (isFixed && permutationOf(c.load)));
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

namespace {

/// How a contraction's tiles read their operands, about.
struct TileModel {
  /// Rows and columns of a tile: as often as many of them come, an element of
  /// the other operand is read again.
  double rows, columns;
  /// The rows of a panel without a guard, which is packed for so many.
  double packedRows;
  /// Cycles of one scalar operation on an element read across lanes or threads,
  /// and on one that is the same for all of them.
  double acrossLanes, forAllLanes;
  /// Operations of a conversion between element types. Matrix units take
  /// narrow elements as they are.
  double conversion;
};

constexpr TileModel cpuTile{12, 32, 64, 1.0 / 32, 1.0, 2};
constexpr TileModel gpuTile{64, 64, 64, 1.0 / 32, 1.0 / 32, 0};

/// Bytes per cycle of a core, in the second cache and beyond, what that cache
/// holds, and the cycles of one kernel more.
constexpr double cacheRate = 24, memoryRate = 6, cacheBytes = 1 << 20,
                 launchCycles = 4000;
/// What an extent counts as when only run time knows it.
constexpr int64_t unknownExtent = 128;

/// The number of a tensor's elements, or that of their coordinates.
static double guessedCount(ArrayRef<DimExpr> dims) {
  double count = 1;
  for (DimExpr dim : dims) {
    count *= static_cast<double>(dim.getConstant().value_or(unknownExtent));
  }
  return count;
}

/// What contractions of the graph read of one operand.
class OperandReads {
public:
  /// `load` reads a map of the tensor `operand`.
  OperandReads(ReduceOp contraction, LoadOp load, Value operand) {
    llvm::SmallPtrSet<Value, 8> own, all;
    for (Value index : load.getIndices()) {
      own.insert_range(coordinatesOf(index));
    }
    for (auto [argument, extent] : llvm::zip(
             contraction.getBody().getArguments(), contraction.getDomain())) {
      double count = guessedCount(extent);
      if (own.contains(argument)) {
        reads *= count;
      } else if (argument.getArgNumber() < contraction.getParallelRank()) {
        others *= count;
      }
    }
    hasLanes = runsAlongLanes(contraction, operand, own);
  }

  double reads = 1;  ///< of elements, for one result of those below
  double others = 1; ///< results that make the same reads
  bool hasLanes = false;

private:
  /// Lanes run along an axis of the constant operand, else along the innermost
  /// of the results'.
  static bool runsAlongLanes(ReduceOp contraction, Value operand,
                             const llvm::SmallPtrSetImpl<Value> &own) {
    auto isConstant = [](LoadOp other) {
      return other.getSource().getDefiningOp<ConstantOp>() != nullptr;
    };
    if (operand.getDefiningOp<ConstantOp>()) {
      return true;
    }
    if (llvm::any_of(contraction.getBody().getOps<LoadOp>(), isConstant)) {
      return false;
    }
    unsigned rank = contraction.getParallelRank();
    return rank > 0 &&
           own.contains(contraction.getBody().getArgument(rank - 1));
  }
};

} // namespace

/// The bytes of a tensor, of which no more than `reads` elements are read.
static double bytesOf(Value tensor, double reads) {
  std::optional<DType> type = dtypeOf(elementTypeOf(tensor.getType()));
  return std::min(reads, guessedCount(dimsOf(tensor.getType()))) *
         (type ? sizeOf(*type) : 0);
}

/// True if a map of `operand` would be computed where a primitive of this block
/// computes that: the operand then need not be in memory.
static bool joinsOperand(MapOp producer, Value operand) {
  Operation *source = operand.getDefiningOp();
  while (isa_and_nonnull<ReshapeOp>(source) && source->hasOneUse()) {
    source = source->getOperand(0).getDefiningOp();
  }
  return source && isPrimitive(source) &&
         source->getBlock() == producer->getBlock() &&
         countReaders(source) == 1 && !isInMemoryAnyway(source);
}

static const Reason *contractionPays(const InlineCandidate &c,
                                     const TileModel &tile) {
  const BodyCost &cost = c.producerCost;
  if (cost.isMovement() && cost.conversions == 0) {
    return nullptr; // what is legal of it costs nothing
  }
  if (c.readers != 1) {
    return &reasons::severalUsers;
  }
  MapOp producer = c.producer;
  std::optional<ElementwiseOperand> operand = elementwiseOperandOf(producer);
  if (!operand || cost.transcendental) {
    return &reasons::mathInContraction;
  }
  Value tensor = operand->main.getSource();
  OperandReads reads(cast<ReduceOp>(c.consumer), c.load, tensor);
  double bytes = 2 * bytesOf(producer.getResult(0), reads.reads), saved = 0;
  if (joinsOperand(producer, tensor)) {
    bytes -= 2 * bytesOf(tensor, reads.reads);
  } else if (!isEpilogue(producer)) {
    saved = launchCycles;
  }
  saved += bytes / (bytes / 2 > cacheBytes ? memoryRate : cacheRate);
  LoadOp load = c.load;
  double rows = load.getGuard() ? tile.rows : tile.packedRows;
  double again =
      std::ceil(reads.others / (reads.hasLanes ? rows : tile.columns));
  double operations = cost.flops + tile.conversion * cost.conversions;
  double spent = reads.reads * again * operations *
                 (reads.hasLanes ? tile.acrossLanes : tile.forAllLanes);
  if (spent < saved) {
    return nullptr;
  }
  return isEpilogue(producer) ? &reasons::staysEpilogue
                              : &reasons::mathInContraction;
}

static const Reason *profitOf(const InlineCandidate &c, const TileModel &tile) {
  if (c.producerCost.operations + c.consumerCost.operations > largestBody) {
    return &reasons::bodyTooLarge;
  }
  if (isContraction(c.consumer)) {
    return contractionPays(c, tile);
  }
  if (isEpilogue(c.producer)) {
    return leavesEpilogue(c);
  }
  return c.producerCost.isMovement() ? movementPays(c) : arithmeticPays(c);
}

const Reason *inlineProfit(const InlineCandidate &c) {
  return profitOf(c, cpuTile);
}

const Reason *inlineProfitForGpu(const InlineCandidate &c) {
  return profitOf(c, gpuTile);
}

} // namespace tilewright
