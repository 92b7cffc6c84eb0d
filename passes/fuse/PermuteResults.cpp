//===- PermuteResults.cpp - reductions yield their user's axis order ------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// Attention multiplies [B, H, S, D] and then wants [B, S, H, D]. The order of a
// reduction's own coordinates is free, so it yields what its only user reads,
// and the transpose is gone. The innermost axis stays innermost: what kernels
// vectorise does not change.
//
//===----------------------------------------------------------------------===//

#include "ir/BodyBuilder.h"
#include "passes/ReasonCodes.h"
#include "passes/fuse/Access.h"
#include "passes/fuse/Passes.h"

using namespace mlir;

namespace tilewright {

#define GEN_PASS_DEF_PERMUTERESULTS
#include "passes/fuse/Passes.h.inc"

using namespace tw;

static bool isIdentity(ArrayRef<unsigned> axes) {
  return llvm::all_of(llvm::enumerate(axes),
                      [](auto axis) { return axis.index() == axis.value(); });
}

/// \returns, for each axis of the reduction, the axis of its only user that
/// reads it, if that is a permutation other than the identity.
static std::optional<SmallVector<unsigned>> readOrder(ReduceOp reduce) {
  std::optional<SmallVector<unsigned>> order;
  MapOp reader;
  for (Operation *user : reduce->getUsers()) {
    auto load = dyn_cast<LoadOp>(user);
    std::optional<SmallVector<unsigned>> axes =
        load ? permutationOf(load) : std::nullopt;
    if (!axes || (order && *order != *axes)) {
      return std::nullopt;
    }
    auto map = cast<MapOp>(primitiveOf(load));
    if ((reader && reader != map) || map->getBlock() != reduce->getBlock()) {
      return std::nullopt;
    }
    reader = map;
    order = std::move(axes);
  }
  if (!order || order->size() != reader.getDomain().size() || order->empty() ||
      isIdentity(*order) || order->back() + 1 != order->size()) {
    return std::nullopt;
  }
  SmallVector<DimExpr> dims = dimsOf(reduce.getType()),
                       domain = reader.getDomain();
  for (auto [axis, to] : llvm::enumerate(*order)) {
    if (dims[axis] != domain[to]) {
      return std::nullopt;
    }
  }
  return order;
}

/// Rebuilds `reduce` with axis i of its result at position `order[i]`.
static void permute(ReduceOp reduce, ArrayRef<unsigned> order) {
  SmallVector<DimExpr> dims = dimsOf(reduce.getType()), permuted(dims.size());
  for (auto [axis, to] : llvm::enumerate(order)) {
    permuted[to] = dims[axis];
  }
  OpBuilder builder(reduce);
  auto moved =
      ReduceOp::create(builder, reduce.getLoc(),
                       tensorType(permuted, elementTypeOf(reduce.getType())),
                       reduce.getKind(), reduce.getExtents().getDims());
  moved.setRootAttr(reduce.getRootAttr());
  Block &from = reduce.getBody().front(), &to = moved.getBody().front();
  to.clear();
  IRMapping mapping;
  for (BlockArgument argument : from.getArguments()) {
    unsigned number = argument.getArgNumber();
    mapping.map(argument,
                to.getArgument(number < order.size() ? order[number] : number));
  }
  builder.setInsertionPointToEnd(&to);
  for (Operation &op : from) {
    builder.clone(op, mapping);
  }
  for (Operation *user : llvm::make_early_inc_range(reduce->getUsers())) {
    auto load = cast<LoadOp>(user);
    builder.setInsertionPoint(load);
    Block &body = primitiveOf(load)->getRegion(0).front();
    auto plain = LoadOp::create(builder, load.getLoc(), moved.getResult(),
                                body.getArguments());
    load.replaceAllUsesWith(plain.getResult());
    load.erase();
  }
  reduce.erase();
}

/// Removes maps that copy a primitive's result without moving anything.
static void removeCopies(Block &block) {
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

namespace {

class PermuteResults : public impl::PermuteResultsBase<PermuteResults> {
public:
  explicit PermuteResults(DecisionLog *log) : log(log) {}

  void runOnOperation() override {
    Decisions decisions(log, remarks);
    for (Block *block : graphBlocks(getOperation())) {
      SmallVector<ReduceOp> reduces(block->getOps<ReduceOp>());
      for (ReduceOp reduce : reduces) {
        if (std::optional<SmallVector<unsigned>> order = readOrder(reduce)) {
          decisions.did(reasons::resultPermuted, reduce.getLoc(), "reduction");
          permute(reduce, *order);
        }
      }
      removeCopies(*block);
    }
  }

private:
  DecisionLog *log;
};

} // namespace

std::unique_ptr<Pass> createPermuteResultsPass(DecisionLog *log) {
  return std::make_unique<PermuteResults>(log);
}

} // namespace tilewright
