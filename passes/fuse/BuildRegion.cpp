//===- BuildRegion.cpp - putting primitives into tw.fused -----------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "passes/fuse/BuildRegion.h"
#include "ir/Locations.h"
#include "passes/TensorOperands.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace tilewright {

using namespace tw;

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

/// Node names are paths of any length; their ends tell them apart.
static constexpr size_t longestNodeName = 32;

static std::string sanitized(StringRef node) {
  std::string name;
  for (char c : node.take_back(longestNodeName)) {
    name += llvm::isAlnum(c) ? c : '_';
  }
  return name;
}

std::string RegionNames::nameFor(Location loc) {
  SmallVector<std::string> nodes = nodeNames(loc);
  std::string base = nodes.empty() ? "region" : sanitized(nodes.front());
  if (nodes.size() > 1) {
    base += "_" + sanitized(nodes.back());
  }
  if (!llvm::isAlpha(base.front())) {
    base = "r" + base;
  }
  std::string name = base;
  for (unsigned i = 2; !taken.insert(name).second; ++i) {
    name = base + "_" + std::to_string(i);
  }
  return name;
}

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

FusedOp buildRegion(OpBuilder &builder, ArrayRef<Operation *> members,
                    const RegionShape &shape, RegionNames &names) {
  SmallVector<Operation *> ordered(members);
  if (shape.form == RegionForm::Reduction) {
    std::stable_partition(ordered.begin(), ordered.end(),
                          [](Operation *op) { return isa<ReduceOp>(op); });
  }
  llvm::SmallPtrSet<Operation *, 16> inside(members.begin(), members.end());
  auto isInside = [&](Operation *op) {
    return inside.contains(isa<LoadOp>(op) ? op->getParentOp() : op);
  };
  llvm::SetVector<Value> inputs;
  SmallVector<Value> outputs;
  SmallVector<Location> locs;
  for (Operation *op : ordered) {
    locs.push_back(op->getLoc());
    for (Value value : valuesReadBy(op)) {
      if (!value.getDefiningOp() || !inside.contains(value.getDefiningOp())) {
        inputs.insert(value);
      }
    }
    for (Value result : op->getResults()) {
      if (!llvm::all_of(result.getUsers(), isInside)) {
        outputs.push_back(result);
      }
    }
  }

  Location loc = mergeLocations(builder.getContext(), locs);
  auto fused =
      FusedOp::create(builder, loc, ValueRange(outputs).getTypes(),
                      names.nameFor(loc), inputs.getArrayRef(), Attribute());
  if (shape.form == RegionForm::Rows || shape.form == RegionForm::RowBlocks) {
    fused->setAttr("rows", builder.getI64IntegerAttr(shape.rows));
  }
  if (shape.form == RegionForm::Attention) {
    fused->setAttr("attention", builder.getUnitAttr());
  }
  OpBuilder::InsertionGuard guard(builder);
  Block *block = builder.createBlock(&fused.getBody());
  for (Operation *op : ordered) {
    op->moveBefore(block, block->end());
  }
  auto isNested = [&](OpOperand &use) {
    return fused->isProperAncestor(use.getOwner());
  };
  for (Value input : inputs) {
    BlockArgument argument = block->addArgument(input.getType(), loc);
    input.replaceUsesWithIf(argument, isNested);
  }
  for (auto [output, result] : llvm::zip(outputs, fused.getResults())) {
    Value(output).replaceUsesWithIf(
        result, [&](OpOperand &use) { return !isNested(use); });
  }
  YieldOp::create(builder, loc, outputs);
  return fused;
}

} // namespace tilewright
