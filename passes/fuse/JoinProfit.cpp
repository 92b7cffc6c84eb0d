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

const Reason *joinProfit(const JoinCandidate &c) {
  SmallVector<ReduceOp> contractions = reducesOf(c.earlier);
  llvm::append_range(contractions, reducesOf(c.later));
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

} // namespace tilewright
