//===- ApplyOrders.cpp - rewriting values into their orders ---------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "passes/layout/ApplyOrders.h"
#include "ir/BodyBuilder.h"
#include "passes/fuse/Access.h"
#include "passes/layout/LayoutGraph.h"

using namespace mlir;

namespace tilewright {

using namespace tw;

/// Gives `value` its type in `order`.
static void permuteType(Value value, ArrayRef<unsigned> order) {
  value.setType(tensorType(permuted(dimsOf(value.getType()), order),
                           elementTypeOf(value.getType())));
}

/// Position i of the body's first arguments becomes axis `order[i]`.
static void permuteArguments(Block &body, ArrayRef<unsigned> order) {
  SmallVector<BlockArgument> fresh(order.size());
  unsigned before = body.getNumArguments();
  for (unsigned axis : order) {
    fresh[axis] = body.addArgument(body.getArgument(axis).getType(),
                                   body.getArgument(axis).getLoc());
  }
  // The reduction's coordinates come last again.
  for (unsigned i = order.size(); i < before; ++i) {
    fresh.push_back(body.addArgument(body.getArgument(i).getType(),
                                     body.getArgument(i).getLoc()));
  }
  for (auto [number, argument] : llvm::enumerate(fresh)) {
    body.getArgument(number).replaceAllUsesWith(argument);
  }
  body.eraseArguments(0, before);
}

/// A map that reads `value`, stored in `order`, and yields `rowMajor`.
static Value copyBack(Value value, ArrayRef<unsigned> order, Type rowMajor) {
  OpBuilder builder(value.getContext());
  builder.setInsertionPointAfterValue(value);
  return buildMap(
      builder, value.getLoc(), dimsOf(rowMajor), elementTypeOf(rowMajor),
      [&](BodyBuilder &body, ValueRange at) {
        return body.load(value, permuted(at, order));
      },
      "layout");
}

/// Rewrites what uses `value`, whose type has just been permuted from
/// `rowMajor`.
static void permuteUses(Value value, ArrayRef<unsigned> order, Type rowMajor,
                        Decisions &decisions) {
  SmallVector<OpOperand *> needsRowMajor;
  SmallVector<OpOperand *> uses(llvm::make_pointer_range(value.getUses()));
  for (OpOperand *use : uses) {
    if (auto load = dyn_cast<LoadOp>(use->getOwner())) {
      SmallVector<Value> indices = permuted(load.getIndices(), order);
      load.getIndicesMutable().assign(indices);
      continue;
    }
    auto reshape = dyn_cast<ReshapeOp>(use->getOwner());
    std::optional<AxisOrder> carried;
    if (reshape && hasKnownDims(reshape.getType())) {
      carried = orderBehindReshape(
          groupAxes(dimsOf(rowMajor), dimsOf(reshape.getType())), order);
    }
    if (!carried) {
      needsRowMajor.push_back(use);
      if (reshape) {
        decisions.refused(reasons::reshapeFixesOrder, reshape.getLoc(),
                          describe(order));
      }
      continue;
    }
    Type before = reshape.getType();
    permuteType(reshape.getResult(), *carried);
    permuteUses(reshape.getResult(), *carried, before, decisions);
  }
  if (needsRowMajor.empty() || isIdentity(order)) {
    return;
  }
  decisions.did(reasons::copiedToRowMajor, value.getLoc(), describe(order));
  Value copy = copyBack(value, order, rowMajor);
  for (OpOperand *use : needsRowMajor) {
    use->set(copy);
  }
}

void applyOrder(Operation *primitive, ArrayRef<unsigned> order,
                Decisions &decisions) {
  permuteArguments(primitive->getRegion(0).front(), order);
  for (Value result : primitive->getResults()) {
    Type rowMajor = result.getType();
    permuteType(result, order);
    permuteUses(result, order, rowMajor, decisions);
  }
}

void removeCopies(Block &block) {
  for (MapOp map : llvm::make_early_inc_range(block.getOps<MapOp>())) {
    auto load = yieldOf(map).getOperand(0).getDefiningOp<LoadOp>();
    if (map->getNumResults() == 1 && load && readsAtOwnCoordinates(load) &&
        load.getSource().getType() == map.getResult(0).getType() &&
        isa_and_nonnull<MapOp, ReduceOp>(load.getSource().getDefiningOp())) {
      Operation *source = load.getSource().getDefiningOp();
      source->setLoc(
          mergeLocations(map.getContext(), {source->getLoc(), map.getLoc()}));
      map.getResult(0).replaceAllUsesWith(load.getSource());
      map.erase();
    }
  }
}

} // namespace tilewright
