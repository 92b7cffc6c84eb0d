//===- SinkReshapes.cpp - move maps before the reshapes that they read ----===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// A grouped convolution gives [N, group, M/group, …]; a reshape merges the two
// channel axes before bias, normalisation and activation. Those maps move to
// the convolution's own axes: coordinate m of the merged axis becomes
// g * (M/group) + j. Axes of size one that a reduction with kept axes has are
// dropped alike. The reshape follows, and costs nothing.
//
//===----------------------------------------------------------------------===//

#include "passes/ReasonCodes.h"
#include "passes/fuse/Access.h"
#include "passes/fuse/InlineBody.h"
#include "passes/fuse/Passes.h"
#include "passes/fuse/ReshapeCoordinates.h"

using namespace mlir;

namespace tilewright {

#define GEN_PASS_DEF_SINKRESHAPES
#include "passes/fuse/Passes.h.inc"

using namespace tw;

/// True if every axis of the result is one axis of the source, several merged,
/// or of size one: then the map's coordinates follow without divisions.
static bool mergesAxes(ReshapeOp reshape) {
  return llvm::all_of(
      groupAxes(dimsOf(reshape.getSource().getType()),
                dimsOf(reshape.getType())),
      [](const ReshapeGroup &group) { return group.to.size() <= 1; });
}

/// The reshape that `map` reads at its own coordinates and can move before.
static ReshapeOp reshapeBefore(MapOp map, Decisions &decisions) {
  for (LoadOp load : map.getBody().getOps<LoadOp>()) {
    auto reshape = load.getSource().getDefiningOp<ReshapeOp>();
    skipReshapes(reshape);
    Operation *source = reshape ? reshape.getSource().getDefiningOp() : nullptr;
    if (!source || source->getBlock() != map->getBlock() ||
        !isa<MapOp, ReduceOp>(source) ||
        dimsOf(reshape.getType()) != map.getDomain() ||
        !readsAtOwnCoordinates(load)) {
      continue;
    }
    if (mergesAxes(reshape)) {
      return reshape;
    }
    decisions.refused(reasons::reshapeStays, map.getLoc(), "map");
  }
  return {};
}

/// The merged coordinates that those of the finer domain stand for.
static SmallVector<Value> mergedCoordinates(BodyBuilder &body,
                                            ArrayRef<DimExpr> fine,
                                            ArrayRef<DimExpr> merged,
                                            ValueRange at) {
  SmallVector<Value> coordinates(merged.size());
  for (const ReshapeGroup &group : groupAxes(fine, merged)) {
    if (group.to.empty()) {
      continue;
    }
    SmallVector<DimExpr> dims;
    SmallVector<Value> parts;
    for (unsigned axis : group.from) {
      dims.push_back(fine[axis]);
      parts.push_back(at[axis]);
    }
    coordinates[group.to.front()] = linearize(body, dims, parts);
  }
  return coordinates;
}

/// Rewrites `map` over the dims of the source of `reshape`, and reshapes the
/// results instead. \returns the new map.
static MapOp moveBefore(MapOp map, ReshapeOp reshape) {
  SmallVector<DimExpr> fine = dimsOf(reshape.getSource().getType());
  SmallVector<DimExpr> merged = map.getDomain();
  OpBuilder builder(map);
  SmallVector<Type> types;
  for (Type type : map.getResultTypes()) {
    types.push_back(tensorType(fine, elementTypeOf(type)));
  }
  auto moved = MapOp::create(builder, map.getLoc(), types);
  moved.setRootAttr(map.getRootAttr());
  Block &block = moved.getBody().front();
  block.clear();
  BodyBuilder body(map.getLoc(), OpBuilder::atBlockEnd(&block));
  IRMapping mapping;
  mapping.map(map.getBody().getArguments(),
              mergedCoordinates(body, fine, merged, block.getArguments()));
  for (Operation &op : map.getBody().front()) {
    body.clone(op, mapping);
  }
  for (auto [result, replacement] :
       llvm::zip(map.getResults(), moved.getResults())) {
    result.replaceAllUsesWith(
        buildReshape(builder, map.getLoc(), replacement, merged));
  }
  map.erase();
  for (LoadOp load : llvm::make_early_inc_range(block.getOps<LoadOp>())) {
    readThroughReshape(load, /*allowDivision=*/false);
  }
  simplifyBody(moved);
  return moved;
}

namespace {

class SinkReshapes : public impl::SinkReshapesBase<SinkReshapes> {
public:
  explicit SinkReshapes(DecisionLog *log) : log(log) {}

  void runOnOperation() override {
    Decisions decisions(log, remarks);
    for (Block *block : graphBlocks(getOperation())) {
      // In program order, so that a chain of maps moves as a whole.
      SmallVector<MapOp> maps(block->getOps<MapOp>());
      for (MapOp map : maps) {
        while (ReshapeOp reshape = reshapeBefore(map, decisions)) {
          decisions.did(reasons::reshapeSunk, map.getLoc(), "map");
          map = moveBefore(map, reshape);
          if (reshape.use_empty()) {
            reshape.erase();
          }
        }
      }
    }
  }

private:
  DecisionLog *log;
};

} // namespace

std::unique_ptr<Pass> createSinkReshapesPass(DecisionLog *log) {
  return std::make_unique<SinkReshapes>(log);
}

} // namespace tilewright
