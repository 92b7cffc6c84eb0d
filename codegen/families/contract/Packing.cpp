//===- Packing.cpp - constants in the order of the vector lanes -----------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "codegen/families/contract/Packing.h"
#include "codegen/families/contract/ContractSimt.h"
#include "codegen/families/contract/Contraction.h"
#include "codegen/families/contract/MmaTactic.h"
#include "codegen/families/emit/Access.h"
#include "codegen/families/emit/MemoryAccess.h"
#include "codegen/families/nest/NestSchedule.h"
#include "codegen/families/rows/RowBlocks.h"
#include "ir/BodyBuilder.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/BuiltinOps.h"

using namespace mlir;
using namespace tilewright::tw;

namespace tilewright::families {

bool isPackable(const FusedRegion &region, LoadOp load,
                BlockArgument coordinate, int64_t width) {
  auto argument = dyn_cast<BlockArgument>(load.getSource());
  auto reduce = dyn_cast<ReduceOp>(load->getParentOp());
  if (!argument || !reduce || load.getGuard() ||
      argument.getOwner()->getParentOp() != region.op ||
      !region.op.getInputs()[argument.getArgNumber()]
           .getDefiningOp<ConstantOp>()) {
    return false;
  }
  unsigned seen = 0;
  SmallVector<DimExpr> domain = domainOf(reduce);
  SmallVector<DimExpr> dims = dimsOf(argument.getType());
  llvm::DenseSet<unsigned> used;
  for (auto [index, dim] : llvm::zip(load.getIndices(), dims)) {
    if (dim.isConstant(1) && isConstantIntValue(index, 0)) {
      continue; // an axis of one element
    }
    auto own = dyn_cast<BlockArgument>(index);
    if (!own || own.getOwner() != coordinate.getOwner() ||
        !used.insert(own.getArgNumber()).second ||
        domain[own.getArgNumber()] != dim) {
      return false;
    }
    if (own == coordinate) {
      seen += 2 * dim.getConstant().value_or(0) >= width;
    }
  }
  return seen == 1;
}

namespace {

/// The load to pack and the coordinate that becomes the innermost axis.
struct PackSite {
  ReduceOp reduce;
  SmallVector<TileAxis> loops; ///< of the reduction
  LoadOp load;
  BlockArgument coordinate;
  int64_t width;
  /// That axis is not cut into blocks of `width`: it has no more.
  bool isWhole = false;
};

} // namespace

/// On a GPU: a factor that threads side by side read far apart, in tiles whose
/// columns (or rows) are one axis of a constant.
static std::optional<PackSite> findGpuSite(const FusedRegion &region,
                                           const TargetSpec &target) {
  // Matrix units read both orders.
  if (region.form != Form::Reduce || refuseContractSimt(region) ||
      !MmaContract().applicable(region.op, target)) {
    return std::nullopt;
  }
  Contraction form = *contractionOf(region);
  Block &body = region.getReduce().getBody().front();
  for (const Contraction::Side *side : {&form.columns, &form.rows}) {
    BlockArgument coordinate = body.getArgument(side->axes.back().last);
    auto load = side->factor.getDefiningOp<LoadOp>();
    // Merged axes have the extent of their product.
    DimExpr own = domainOf(region.getReduce())[coordinate.getArgNumber()];
    std::optional<int64_t> extent = own.getConstant();
    if (load && side->axes.size() == 1 && extent &&
        own == side->axes.back().extent && !side->isContiguous &&
        movementOf(load, coordinate, 1) == Movement::Strided &&
        isPackable(region, load, coordinate, *extent)) {
      return PackSite{region.getReduce(),
                      tileDomainOf(region).reductions.front(),
                      load,
                      coordinate,
                      *extent,
                      /*isWhole=*/true};
    }
  }
  return std::nullopt;
}

/// At most one for each contraction.
static SmallVector<PackSite> findSites(const FusedRegion &whole,
                                       const TargetSpec &target) {
  SmallVector<PackSite> sites;
  if (target.isGpu()) {
    if (std::optional<PackSite> site = findGpuSite(whole, target)) {
      sites.push_back(*site);
    }
    return sites;
  }
  const FusedRegion &region =
      whole.form == Form::RowBlocks ? partsOf(whole).nest : whole;
  if (region.form != Form::Reduce ||
      refuseNest(region, NestShape::Contract, target)) {
    return sites;
  }
  std::optional<NestChoice> choice =
      chooseNest(region, NestShape::Contract, target);
  if (!choice || choice->parameters.vectorAxis < 0) {
    return sites;
  }
  TileDomain domain = tileDomainOf(region);
  unsigned lanes = domain.parallel[choice->parameters.vectorAxis].last;
  int64_t width = choice->parameters.width;
  for (auto [reduce, loops] :
       llvm::zip(region.getReduces(), domain.reductions)) {
    Block &body = reduce.getBody().front();
    BlockArgument coordinate = body.getArgument(lanes);
    for (LoadOp load : body.getOps<LoadOp>()) {
      Movement movement = movementOf(load, coordinate, width);
      if (movement != Movement::None && movement != Movement::Irregular &&
          isPackable(region, load, coordinate, width)) {
        sites.push_back({reduce, loops, load, coordinate, width});
        break;
      }
    }
  }
  return sites;
}

/// Which axis of a constant stands where in its packed form: `outer` axes, the
/// blocks of the lane axis, `inner` axes in the order of the loops, the lanes.
struct PackOrder {
  SmallVector<unsigned> outer, inner;
  unsigned laneAxis = 0;
};

/// The map that rearranges `constant`.
static Value buildPack(OpBuilder &builder, Location loc, Value constant,
                       const PackOrder &order, const PackSite &site) {
  int64_t width = site.width;
  SmallVector<DimExpr> dims = dimsOf(constant.getType());
  SmallVector<DimExpr> packed;
  for (unsigned axis : order.outer) {
    packed.push_back(dims[axis]);
  }
  if (!site.isWhole) {
    packed.push_back(dims[order.laneAxis].ceilDiv(width));
  }
  for (unsigned axis : order.inner) {
    packed.push_back(dims[axis]);
  }
  packed.push_back(DimExpr::constant(builder.getContext(), width));
  Type element = elementTypeOf(constant.getType());
  return buildMap(
      builder, loc, packed, element,
      [&](BodyBuilder &body, ValueRange at) -> Value {
        SmallVector<Value> from(dims.size(), body.index(0));
        unsigned next = 0, lane = order.laneAxis;
        for (unsigned axis : order.outer) {
          from[axis] = at[next++];
        }
        from[lane] = site.isWhole
                         ? at.back()
                         : body.add(body.mul(at[next++], width), at.back());
        for (unsigned axis : order.inner) {
          from[axis] = at[next++];
        }
        if (site.isWhole) {
          return body.load(constant, from);
        }
        Value inside = body.inside(from[lane], dims[lane]);
        return body.load(constant, from, inside,
                         body.constant(scalarType(element), 0));
      },
      "pack");
}

static PackOrder orderOf(const PackSite &site) {
  unsigned rank = ReduceOp(site.reduce).getParallelRank();
  ArrayRef<TileAxis> loops = site.loops;
  PackOrder order;
  // The position of each inner axis in the nest; merged loops keep the order
  // of their coordinates.
  SmallVector<std::pair<std::pair<size_t, unsigned>, unsigned>> inner;
  for (auto [axis, index] : llvm::enumerate(LoadOp(site.load).getIndices())) {
    auto own = dyn_cast<BlockArgument>(index);
    if (!own) {
      continue; // an axis of one element
    }
    if (own == site.coordinate) {
      order.laneAxis = axis;
    } else if (own.getArgNumber() < rank) {
      order.outer.push_back(axis);
    } else {
      unsigned number = own.getArgNumber() - rank;
      size_t loop = 0;
      // A loop stands in the place of the last coordinate that it merges.
      for (size_t i = 0, best = loops.size(); i < loops.size(); ++i) {
        bool isCloser =
            loops[i].last >= number &&
            (best == loops.size() || loops[i].last < loops[best].last);
        if (isCloser) {
          loop = best = i;
        }
      }
      inner.push_back({{loop, number}, static_cast<unsigned>(axis)});
    }
  }
  llvm::sort(inner);
  for (auto [position, axis] : inner) {
    order.inner.push_back(axis);
  }
  return order;
}

/// Inserts the pack in front of the region and redirects the load.
static void pack(FusedRegion &region, const PackSite &site,
                 const TargetSpec &target) {
  FusedOp op = region.op;
  LoadOp load = site.load;
  auto argument = cast<BlockArgument>(load.getSource());
  Value constant = op.getInputs()[argument.getArgNumber()];
  PackOrder order = orderOf(site);
  OpBuilder builder(op);
  Value packed = buildPack(builder, op.getLoc(), constant, order, site);

  op.getInputsMutable().append(packed);
  BlockArgument packedArgument =
      op.getBody().front().addArgument(packed.getType(), op.getLoc());
  BodyBuilder body(op.getLoc(), op.getContext());
  body.setInsertionPoint(load);
  Value width = body.index(site.width);
  SmallVector<Value> indices;
  for (unsigned axis : order.outer) {
    indices.push_back(load.getIndices()[axis]);
  }
  if (!site.isWhole) {
    indices.push_back(body.floorDiv(site.coordinate, width));
  }
  for (unsigned axis : order.inner) {
    indices.push_back(load.getIndices()[axis]);
  }
  indices.push_back(site.isWhole ? Value(site.coordinate)
                                 : body.mod(site.coordinate, width));
  Value replacement = body.load(packedArgument, indices);
  // What may be in the second cache still is not asked for.
  DimExpr bytes = elementCount(packed.getType()) *
                  storageBytes(elementTypeOf(packed.getType()));
  if (!target.isGpu() && bytes.getConstant().value_or(0) > target.l2Bytes / 4) {
    replacement.getDefiningOp()->setAttr(readsAheadName, builder.getUnitAttr());
  }
  load.getResult().replaceAllUsesWith(replacement);
  load.erase();
  if (argument.use_empty()) {
    unsigned number = argument.getArgNumber();
    op.getInputsMutable().erase(number);
    op.getBody().front().eraseArgument(number);
  }
}

} // namespace tilewright::families

namespace tilewright {

Status packConstants(ModuleOp module, const TargetSpec &target,
                     DecisionLog &log) {
  Status status;
  module.walk([&](FusedOp op) {
    if (op->hasAttr(libraryAttr)) {
      return WalkResult::advance(); // a library reads plain matrices
    }
    Result<families::FusedRegion> region = families::analyseRegion(op);
    if (!region) {
      status = region.status();
      return WalkResult::interrupt();
    }
    for (const families::PackSite &site :
         families::findSites(*region, target)) {
      log.did("TWT002", op.getLoc(),
              target.isGpu()
                  ? "constant operand packed for threads side by side"
                  : "constant operand packed for the lanes of the contraction",
              {{"lanes", static_cast<double>(site.width)}});
      families::pack(*region, site, target);
    }
    return WalkResult::advance();
  });
  return status;
}

} // namespace tilewright
