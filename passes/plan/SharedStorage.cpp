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
#include "ir/TensorTypes.h"

using namespace mlir;
using namespace tilewright::tw;

namespace tilewright::plan {

Value SharedStorage::rootOf(Value value) const {
  while (true) {
    if (auto reshape = value.getDefiningOp<ReshapeOp>()) {
      value = reshape.getSource();
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
    for (auto [operand, root] : llvm::enumerate(roots)) {
      Operation *definer = root.getDefiningOp();
      bool isOurs = definer && definer->getBlock() == op->getBlock() &&
                    isa<FusedOp, CallOp, SizesOp, IfOp, LoopOp>(definer);
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

/// The value behind reshapes within a region.
static Value behindReshapes(Value value) {
  while (auto reshape = value.getDefiningOp<ReshapeOp>()) {
    value = reshape.getSource();
  }
  return value;
}

static std::optional<size_t> elementBytes(Type tensor) {
  std::optional<DType> dtype = dtypeOf(elementTypeOf(tensor));
  return dtype ? std::optional<size_t>(sizeOf(*dtype)) : std::nullopt;
}

/// True if `load` reads the element at the first `count` of its primitive's
/// coordinates, whatever the others are.
static bool readsOwn(LoadOp load, unsigned count) {
  Block::BlockArgListType own = load->getBlock()->getArguments();
  OperandRange indices = load.getIndices();
  return indices.size() >= count && own.size() >= count &&
         llvm::equal(indices.take_front(count), own.take_front(count));
}

bool readsBeforeWrites(FusedOp op, unsigned operand, unsigned result) {
  BlockArgument argument = op.getBody().getArgument(operand);
  Value written = behindReshapes(yieldOf(op).getOperand(result));
  Operation *writer = written.getDefiningOp();
  SmallVector<DimExpr> dims = dimsOf(argument.getType());
  std::optional<size_t> bytes = elementBytes(argument.getType());
  if (!isa_and_nonnull<MapOp, ReduceOp>(writer) || argument.use_empty() ||
      dims != dimsOf(written.getType()) || !bytes ||
      bytes != elementBytes(written.getType())) {
    return false;
  }
  auto rows = op->getAttrOfType<IntegerAttr>("rows");
  return llvm::all_of(argument.getUsers(), [&](Operation *user) {
    auto load = dyn_cast<LoadOp>(user);
    Operation *reader = load ? load->getParentOp() : nullptr;
    if (!reader || load.getGuard()) {
      return false;
    }
    if (reader == writer) {
      return isa<MapOp>(reader) && domainOf(reader) == dims &&
             readsOwn(load, dims.size());
    }
    if (!reader->isBeforeInBlock(writer)) {
      return false;
    }
    // A row is read by one primitive after the other, then it is written.
    return rows ? readsOwn(load, rows.getInt())
                : isa<MapOp>(reader) && domainOf(reader) == dims &&
                      readsOwn(load, dims.size());
  });
}

} // namespace tilewright::plan
