//===- TileDomain.cpp - coordinates that loops run over -------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "codegen/families/nest/TileDomain.h"
#include "codegen/families/emit/Access.h"
#include "codegen/families/emit/Guards.h"
#include "ir/Slices.h"

using namespace mlir;
using namespace tilewright::tw;

namespace tilewright::families {

/// True if memory holds more along `axis` of `tensor`, an argument of a region,
/// than the tensor: the axis before does not continue where it ends.
static bool isCut(Value tensor, int64_t axis) {
  auto argument = dyn_cast<BlockArgument>(tensor);
  std::optional<Slice> slice =
      argument ? sliceOfArgument(argument) : std::nullopt;
  return slice && slice->axis == axis;
}

/// True when `first` and `second` are used only as adjacent indices of loads,
/// where the second one spans its axis.
static bool areOneCoordinate(BlockArgument first, BlockArgument second,
                             DimExpr extent) {
  auto isPaired = [&](OpOperand &use, BlockArgument other, int step) {
    auto load = dyn_cast<LoadOp>(use.getOwner());
    if (!load) {
      return false;
    }
    // Operand 0 is the source, the indices follow.
    int64_t position = static_cast<int64_t>(use.getOperandNumber()) - 1;
    int64_t partner = position + step;
    int64_t rank = load.getIndices().size();
    if (position < 0 || position >= rank || partner < 0 || partner >= rank ||
        load.getIndices()[partner] != other) {
      return false;
    }
    int64_t inner = std::max(position, partner);
    return dimsOf(load.getSource().getType())[inner] == extent &&
           !isCut(load.getSource(), inner);
  };
  return llvm::all_of(first.getUses(),
                      [&](OpOperand &u) { return isPaired(u, second, 1); }) &&
         llvm::all_of(second.getUses(),
                      [&](OpOperand &u) { return isPaired(u, first, -1); });
}

/// The coordinate of `map` that equals coordinate `axis` of the region, if the
/// map's domain is the region's or ends in the same axes.
static std::optional<unsigned>
coordinateIn(const FusedRegion &region, Operation *primitive, unsigned axis) {
  SmallVector<DimExpr> domain = domainOf(primitive);
  if (isa<ReduceOp>(primitive) || domain == region.parallel) {
    return axis;
  }
  unsigned fromEnd = region.parallel.size() - axis;
  if (fromEnd > domain.size() ||
      ArrayRef(domain).take_back(fromEnd) !=
          ArrayRef(region.parallel).take_back(fromEnd)) {
    return std::nullopt;
  }
  return domain.size() - fromEnd;
}

/// True if a result of `primitive` is written to a slice along `axis`.
static bool writesCut(const FusedRegion &region, Operation *primitive,
                      unsigned axis) {
  for (auto [number, value] :
       llvm::enumerate(region.getYield().getOperands())) {
    std::optional<Slice> slice = sliceOfResult(region.op, number);
    if (slice && value.getDefiningOp() == primitive && slice->axis == axis) {
      return true;
    }
  }
  return false;
}

/// True if the row primitives behind a nest see the two row axes as one.
static bool rowsCanMerge(const FusedRegion &region, unsigned axis) {
  return llvm::all_of(region.behind, [&](Operation *primitive) {
    Block &body = primitive->getRegion(0).front();
    return !writesCut(region, primitive, axis + 1) &&
           areOneCoordinate(body.getArgument(axis), body.getArgument(axis + 1),
                            region.parallel[axis + 1]);
  });
}

static bool canMerge(const FusedRegion &region, unsigned axis) {
  // Rows stay apart from columns.
  if (axis + 1 == region.rows ||
      (axis + 1 < region.rows && !rowsCanMerge(region, axis))) {
    return false;
  }
  for (Operation *primitive : region.primitives) {
    std::optional<unsigned> own = coordinateIn(region, primitive, axis);
    if (!own) {
      return false;
    }
    Block &body = primitive->getRegion(0).front();
    if (writesCut(region, primitive, *own + 1) ||
        !areOneCoordinate(body.getArgument(*own), body.getArgument(*own + 1),
                          region.parallel[axis + 1])) {
      return false;
    }
  }
  return true;
}

static SmallVector<TileAxis>
mergeAxes(ArrayRef<DimExpr> extents,
          llvm::function_ref<bool(unsigned)> canMergeWithNext) {
  SmallVector<TileAxis> axes;
  DimExpr extent;
  for (unsigned i = 0; i < extents.size(); ++i) {
    extent = extent ? extent * extents[i] : extents[i];
    if (i + 1 < extents.size() && canMergeWithNext(i)) {
      continue;
    }
    if (!extent.isConstant(1)) {
      axes.push_back({i, extent});
    }
    extent = DimExpr();
  }
  return axes;
}

SmallVector<TileAxis> plainAxes(ArrayRef<DimExpr> extents) {
  return mergeAxes(extents, [](unsigned) { return false; });
}

/// True if the region gets the tensor that `load` reads as a constant, which is
/// stored in whatever order the loops have.
static bool readsConstant(const FusedRegion &region, LoadOp load) {
  auto argument = dyn_cast<BlockArgument>(stripReshapes(load.getSource()));
  return argument && argument.getOwner()->getParentOp() == region.op &&
         region.op.getInputs()[argument.getArgNumber()]
             .getDefiningOp<ConstantOp>();
}

/// A fold's order is free. Loops that change a guard go outside of those that
/// do not; of the others, one that walks along memory is the innermost.
static void orderReduction(const FusedRegion &region, ReduceOp reduce,
                           SmallVectorImpl<TileAxis> &axes) {
  Block &body = reduce.getBody().front();
  unsigned rank = reduce.getParallelRank();
  llvm::DenseMap<unsigned, int> places;
  for (const TileAxis &axis : axes) {
    BlockArgument coordinate = body.getArgument(rank + axis.last);
    bool isGuarded = false, isContiguous = false;
    for (LoadOp load : body.getOps<LoadOp>()) {
      isGuarded |= load.getGuard() && dependsOn(load.getGuard(), coordinate);
      isContiguous |= !readsConstant(region, load) &&
                      movementOf(load, coordinate, 1) == Movement::Contiguous;
    }
    places[axis.last] = isGuarded ? 0 : isContiguous ? 2 : 1;
  }
  llvm::stable_sort(axes, [&](const TileAxis &a, const TileAxis &b) {
    return places[a.last] < places[b.last];
  });
}

/// The loops of one reduction, outermost first.
static SmallVector<TileAxis> reductionAxes(const FusedRegion &region,
                                           ReduceOp reduce) {
  SmallVector<DimExpr> extents = reduce.getExtents().getDims();
  if (reduce.isArg()) {
    return plainAxes(extents); // positions count in the order of the axes
  }
  unsigned rank = reduce.getParallelRank();
  Block &body = reduce.getBody().front();
  SmallVector<TileAxis> axes = mergeAxes(extents, [&](unsigned axis) {
    return areOneCoordinate(body.getArgument(rank + axis),
                            body.getArgument(rank + axis + 1),
                            extents[axis + 1]);
  });
  orderReduction(region, reduce, axes);
  return axes;
}

TileDomain tileDomainOf(const FusedRegion &region) {
  TileDomain domain;
  domain.parallel = mergeAxes(
      region.parallel, [&](unsigned axis) { return canMerge(region, axis); });
  if (region.form == Form::Reduce) {
    for (ReduceOp reduce : region.getReduces()) {
      domain.reductions.push_back(reductionAxes(region, reduce));
    }
  }
  return domain;
}

} // namespace tilewright::families
