//===- PanelPack.cpp - panels packed when a kernel runs -------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "codegen/families/contract/PanelPack.h"
#include "codegen/families/contract/Packing.h"
#include "codegen/families/emit/Access.h"
#include "codegen/families/emit/BodyEmitter.h"
#include "codegen/families/emit/Guards.h"
#include "codegen/families/emit/MemoryAccess.h"
#include "codegen/families/nest/TaskLoop.h"

using namespace mlir;
using namespace tilewright::tw;

namespace tilewright::families {

static BlockArgument coordinateOf(ReduceOp reduce, const TileAxis &axis) {
  return reduce.getBody().getArgument(axis.last);
}

/// True if a scalar can be evaluated ahead of its use: what it reads is there
/// wherever the loops go.
static bool isPlain(Value scalar) {
  return llvm::none_of(neededFor(scalar), [](Operation *op) {
    auto load = dyn_cast<LoadOp>(op);
    return isa<ClampIndexOp>(op) || (load && load.getGuard());
  });
}

bool movesPanel(const FusedRegion &region, const TileDomain &domain,
                const PanelFactors &factors, unsigned axis) {
  return dependsOn(factors.panel,
                   coordinateOf(region.getReduce(), domain.parallel[axis]));
}

std::optional<PanelFactors> panelFactorsOf(const FusedRegion &region,
                                           const TileDomain &domain,
                                           unsigned vectorAxis) {
  if (region.form != Form::Reduce || region.rows != 0 ||
      region.getReduces().size() != 1) {
    return std::nullopt;
  }
  ReduceOp reduce = region.getReduce();
  Operation *product = productOfBody(reduce);
  if (!product || domain.reductions.front().empty()) {
    return std::nullopt;
  }
  BlockArgument lanes = coordinateOf(reduce, domain.parallel[vectorAxis]);
  PanelFactors factors{product->getOperand(0), product->getOperand(1)};
  if (!dependsOn(factors.panel, lanes)) {
    std::swap(factors.panel, factors.rows);
  }
  bool isSplit =
      dependsOn(factors.panel, lanes) && !dependsOn(factors.rows, lanes);
  if (!isSplit || !isPlain(factors.panel)) {
    return std::nullopt;
  }
  for (unsigned axis = 0; axis < domain.parallel.size(); ++axis) {
    if (!movesPanel(region, domain, factors, axis)) {
      return factors;
    }
  }
  return std::nullopt;
}

PanelPlace placeOf(const FusedRegion &region, const TileDomain &domain,
                   const PanelFactors &factors, unsigned vectorAxis,
                   int64_t width) {
  auto load = factors.panel.getDefiningOp<LoadOp>();
  if (!load) {
    return PanelPlace::Computed;
  }
  BlockArgument lanes =
      coordinateOf(region.getReduce(), domain.parallel[vectorAxis]);
  if (isPackable(region, load, lanes, width)) {
    return PanelPlace::InOrder;
  }
  if (movementOf(load, lanes, width) != Movement::Contiguous) {
    return PanelPlace::Scattered;
  }
  SmallVector<DimExpr> dims = dimsOf(load.getSource().getType());
  int64_t run =
      dims.empty() ? 1 : dims.back().getConstant().value_or(INT64_MAX);
  return run > width ? PanelPlace::Lanes : PanelPlace::InOrder;
}

bool rowsAreInOrder(const FusedRegion &region, const TileDomain &domain,
                    const PanelFactors &factors) {
  ReduceOp reduce = region.getReduce();
  BlockArgument step = reduce.getBody().getArgument(
      reduce.getParallelRank() + domain.reductions.front().back().last);
  return llvm::none_of(neededFor(factors.rows), [&](Operation *op) {
    auto load = dyn_cast<LoadOp>(op);
    return load && movementOf(load, step, 1) != Movement::Contiguous &&
           movementOf(load, step, 1) != Movement::None;
  });
}

static DimExpr stepsOf(const FusedRegion &region, const TileDomain &domain) {
  DimExpr steps = DimExpr::constant(region.op.getContext(), 1);
  for (const TileAxis &axis : domain.reductions.front()) {
    steps = steps * axis.extent;
  }
  return steps;
}

DimExpr panelBytes(const FusedRegion &region, const TileDomain &domain,
                   int64_t width) {
  Type type = yieldOf(region.getReduce()).getOperand(0).getType();
  return stepsOf(region, domain) * (width * storageBytes(type));
}

Lanes stepNumber(KernelFrame &frame, ArrayRef<TileAxis> axes,
                 ArrayRef<Lanes> coordinates) {
  LaneBuilder &b = frame.getBuilder();
  Lanes number = Lanes::index(0);
  for (const TileAxis &axis : axes) {
    number =
        b.add(b.mul(number, frame.size(axis.extent)), coordinates[axis.last]);
  }
  return number;
}

namespace {

/// The loops that pack a panel.
class Packer {
public:
  Packer(KernelFrame &frame, ReduceOp reduce, ArrayRef<TileAxis> axes,
         const PackedPanel &panel, ArrayRef<Lanes> parallel, Value activeLanes)
      : frame(frame), b(frame.getBuilder()), reduce(reduce), axes(axes),
        panel(panel), parallel(parallel), activeLanes(activeLanes),
        coordinates(reduce.getExtents().getSizes().size(), Lanes::index(0)) {}

  Status loops(unsigned axis) {
    if (axis == axes.size()) {
      return step();
    }
    return emitLoop(b, b.constantIndex(0), frame.sizeValue(axes[axis].extent),
                    1, [&](Value at) {
                      coordinates[axes[axis].last] = Lanes::index(at);
                      return loops(axis + 1);
                    });
  }

private:
  Status step() {
    SmallVector<Lanes> all(parallel);
    llvm::append_range(all, coordinates);
    BodyEmitter emitter(frame, reduce.getBody().front(), activeLanes);
    Result<Lanes> value = emitter.emitFor(0, all, panel.factors.panel);
    TW_RETURN_IF_ERROR(value.status());
    Lanes offset =
        b.mul(stepNumber(frame, axes, coordinates), Lanes::index(panel.width));
    Lanes lane = panel.lane ? Lanes::index(panel.lane) : Lanes::index(0);
    if (b.getWidth() > 1) {
      lane = Lanes::coordinate(b.first(lane), panel.width);
    }
    storeLanes(frame, panel.memory, b.add(offset, lane), *value, Value());
    return Status::ok();
  }

  KernelFrame &frame;
  LaneBuilder &b;
  ReduceOp reduce;
  ArrayRef<TileAxis> axes;
  const PackedPanel &panel;
  ArrayRef<Lanes> parallel;
  Value activeLanes;
  SmallVector<Lanes> coordinates;
};

} // namespace

Status packPanel(KernelFrame &frame, ReduceOp reduce, ArrayRef<TileAxis> axes,
                 const PackedPanel &panel, ArrayRef<Lanes> parallel,
                 Value activeLanes) {
  return Packer(frame, reduce, axes, panel, parallel, activeLanes).loops(0);
}

} // namespace tilewright::families
