//===- SharedStorage.cpp - values in memory of other values ---------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// A result is written over an operand that nobody reads afterwards: that saves
// memory, and the lines that are written are in the cache already. Never over
// what the block does not define itself: inputs, constants, loop variables and
// captured values belong to others.
//
//===----------------------------------------------------------------------===//

#include "passes/plan/SharedStorage.h"
#include "ir/Slices.h"
#include "passes/tile/InPlace.h"

using namespace mlir;
using namespace tilewright::tw;

namespace tilewright::plan {

Value SharedStorage::rootOf(Value value) const {
  while (true) {
    if (auto reshape = value.getDefiningOp<ReshapeOp>()) {
      value = reshape.getSource();
      continue;
    }
    if (JoinOp join = joinOf(value)) {
      value = join.getResult();
      continue;
    }
    auto it = hosts.find(value);
    if (it == hosts.end()) {
      return value;
    }
    value = it->second;
  }
}

void SharedStorage::place(Block &block, WritesInPlace writesInPlace,
                          Decisions &decisions) {
  for (Operation &op : block.without_terminator()) {
    auto fused = dyn_cast<FusedOp>(op);
    if (fused && writesInPlace(fused)) {
      placeResults(fused, decisions);
    }
    for (Value result : op.getResults()) {
      sharers[rootOf(result)].push_back(result);
    }
  }
}

void SharedStorage::placeResults(FusedOp op, Decisions &decisions) {
  SmallVector<Value> roots = llvm::map_to_vector(
      op.getInputs(), [&](Value input) { return rootOf(input); });
  for (auto [number, result] : llvm::enumerate(op.getResults())) {
    if (joinOf(result)) {
      continue;
    }
    for (auto [operand, root] : llvm::enumerate(roots)) {
      Operation *definer = root ? root.getDefiningOp() : nullptr;
      bool isOurs =
          definer && definer->getBlock() == op->getBlock() &&
          isa<FusedOp, JoinOp, CallOp, SizesOp, IfOp, LoopOp>(definer) &&
          !sliceOf(op.getInputs()[operand]);
      if (isOurs && llvm::count(roots, root) == 1 &&
          readsBeforeWrites(op, operand, number) && isLastUse(root, op)) {
        hosts[result] = op.getInputs()[operand];
        roots[operand] = Value(); // taken
        decisions.did(reasons::writtenInPlace, op.getLoc(), op.getSymName());
        break;
      }
    }
  }
}

/// True if nothing after `op` uses the memory of `root`.
bool SharedStorage::isLastUse(Value root, FusedOp op) const {
  auto it = sharers.find(root);
  return it != sharers.end() && llvm::all_of(it->second, [&](Value value) {
           return llvm::all_of(value.getUsers(), [&](Operation *user) {
             Operation *here = op->getBlock()->findAncestorOpInBlock(*user);
             // A reshape is a sharer: its own uses count.
             return isa<ReshapeOp>(user) || here == op ||
                    (here && here->isBeforeInBlock(op));
           });
         });
}

} // namespace tilewright::plan
