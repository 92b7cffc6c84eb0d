//===- JoinProfit.cpp - when contractions should share a kernel -----------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "passes/fuse/JoinProfit.h"
#include "passes/fuse/Access.h"

using namespace mlir;

namespace tilewright {

using namespace tw;

/// Each contraction adds the code of its loops to every variant of the tile.
static constexpr size_t mostContractions = 4;

static SmallVector<ReduceOp> reducesOf(ArrayRef<Operation *> group) {
  SmallVector<ReduceOp> reduces;
  for (Operation *op : group) {
    if (auto reduce = dyn_cast<ReduceOp>(op)) {
      reduces.push_back(reduce);
    }
  }
  return reduces;
}

/// For each factor, the axes of the result that move it, as bits: rows move
/// one, columns the other, a batch both.
static SmallVector<uint64_t> movingAxes(ReduceOp contraction) {
  SmallVector<uint64_t> moving;
  SmallVector<DimExpr> dims = dimsOf(contraction.getType());
  Operation *product = yieldOf(contraction).getOperand(0).getDefiningOp();
  for (Value factor : product->getOperands()) {
    llvm::SmallPtrSet<Value, 8> coordinates = coordinatesOf(factor);
    uint64_t bits = 0;
    for (unsigned axis = 0; axis < std::min<size_t>(dims.size(), 64); ++axis) {
      bool moves =
          coordinates.contains(contraction.getBody().getArgument(axis));
      bits |= static_cast<uint64_t>(moves && !dims[axis].isConstant(1)) << axis;
    }
    moving.push_back(bits);
  }
  llvm::sort(moving);
  return moving;
}

/// True if a primitive outside of both groups, or the end of the block, needs
/// what one group reads of the other.
static bool isKeptAnyway(const JoinCandidate &c) {
  auto readers = [](Value value) {
    return llvm::map_range(value.getUsers(), [](Operation *user) {
      auto load = dyn_cast<LoadOp>(user);
      return load ? primitiveOf(load) : user;
    });
  };
  auto isIn = [](ArrayRef<Operation *> group) {
    return [group](Operation *op) { return llvm::is_contained(group, op); };
  };
  for (Operation *op : c.earlier) {
    for (Value result : op->getResults()) {
      bool isShared = llvm::any_of(readers(result), isIn(c.later));
      bool isKept = llvm::any_of(readers(result), [&](Operation *reader) {
        return !isIn(c.earlier)(reader) && !isIn(c.later)(reader);
      });
      if (isShared && isKept) {
        return true;
      }
    }
  }
  return false;
}

/// Whether contractions should share their tiles.
static const Reason *tilesPay(const JoinCandidate &c,
                              ArrayRef<ReduceOp> contractions) {
  if (contractions.size() > mostContractions) {
    return &reasons::joinTooMany;
  }
  SmallVector<uint64_t> moving = movingAxes(contractions.front());
  for (ReduceOp contraction : contractions) {
    if (movingAxes(contraction) != moving) {
      return &reasons::joinTiles;
    }
  }
  return isKeptAnyway(c) ? &reasons::joinKept : nullptr;
}

/// The number of elements, if it is known; `least` counts every open size as
/// one.
static std::optional<int64_t> countOf(ArrayRef<DimExpr> dims, bool least) {
  if (dims.empty()) {
    return 1;
  }
  return productOf(dims.front().getContext(), dims).evaluate([&](StringRef) {
    return least ? std::optional<int64_t>(1) : std::nullopt;
  });
}

/// True if a constant factor is the same in all elements of a row: its lanes
/// would not be packed.
static bool holdsConstantInRow(ReduceOp contraction, unsigned rank) {
  auto movesInRow = [&](LoadOp load) {
    return llvm::any_of(load.getIndices(), [&](Value index) {
      return llvm::any_of(coordinatesOf(index), [&](Value coordinate) {
        unsigned number = cast<BlockArgument>(coordinate).getArgNumber();
        return number >= rank && number < contraction.getParallelRank();
      });
    });
  };
  return llvm::any_of(contraction.getBody().getOps<LoadOp>(), [&](LoadOp load) {
    return load.getSource().getDefiningOp<ConstantOp>() && !movesInRow(load);
  });
}

/// Tiles have about so many rows, and blocks at least one tile.
static constexpr int64_t rowsOfTile = 14;
/// Fewer blocks do not share out well.
static constexpr int64_t fewestBlocks = 16;

/// Whether the rows that `rows` reduces should follow the contractions that
/// give their elements, which then never go to memory. A block is a few tiles
/// of rows, which the first cache holds; the weights pass once for each, and
/// that costs nothing while they stay in the second cache.
static const Reason *rowsPay(ArrayRef<ReduceOp> contractions, ReduceOp rows,
                             int64_t cacheBytes) {
  unsigned rank = rows.getParallelRank();
  SmallVector<DimExpr> all = rows.getDomain();
  std::optional<int64_t> count = countOf(ArrayRef(all).take_front(rank), true),
                         length =
                             countOf(ArrayRef(all).drop_front(rank), false);
  int64_t sums = 0, bytes = 0;
  for (ReduceOp contraction : contractions) {
    std::optional<int64_t> sum =
        countOf(contraction.getExtents().getDims(), false);
    std::optional<DType> element =
        dtypeOf(elementTypeOf(contraction.getType()));
    if (!sum || !element) {
      return &reasons::rowBlocksOpen;
    }
    if (holdsConstantInRow(contraction, rank)) {
      return &reasons::rowBlocksLanes;
    }
    sums += *sum;
    bytes = sizeOf(*element);
  }
  if (!count || !length) {
    return &reasons::rowBlocksOpen;
  }
  if (*count < fewestBlocks * rowsOfTile) {
    return &reasons::rowBlocksFew;
  }
  double rowBytes = static_cast<double>(*length + sums) * bytes;
  if (rowBytes * rowsOfTile > cacheBytes / 2.0) {
    return &reasons::rowBlocksLarge;
  }
  double weights = static_cast<double>(*length) * sums * bytes;
  return weights > cacheBytes ? &reasons::rowBlocksWeights : nullptr;
}

JoinProfit joinProfit(int64_t cacheBytes) {
  return [cacheBytes](const JoinCandidate &c) -> const Reason * {
    SmallVector<ReduceOp> contractions, rows;
    for (ArrayRef<Operation *> group : {c.earlier, c.later}) {
      for (ReduceOp reduce : reducesOf(group)) {
        (isContraction(reduce) ? contractions : rows).push_back(reduce);
      }
    }
    bool isTiles = llvm::any_of(c.earlier, isContraction) &&
                   llvm::any_of(c.later, isContraction);
    if (isTiles) {
      if (const Reason *reason = tilesPay(c, contractions)) {
        return reason;
      }
    }
    return rows.empty() ? nullptr
                        : rowsPay(contractions, rows.front(), cacheBytes);
  };
}

const Reason *joinNothing(const JoinCandidate &) { return &reasons::joinGpu; }

} // namespace tilewright
