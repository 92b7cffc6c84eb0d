//===- Nest.cpp - the loop nest of a tiled region -------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "codegen/families/nest/Nest.h"
#include "codegen/families/emit/Access.h"
#include "codegen/families/emit/BodyEmitter.h"
#include "codegen/families/emit/Grid.h"
#include "codegen/families/emit/Guards.h"
#include "codegen/families/emit/MemoryAccess.h"
#include "codegen/families/emit/ReshapeCoordinates.h"
#include "codegen/families/nest/NestEmitter.h"
#include "codegen/families/nest/Reduction.h"
#include "codegen/families/nest/SimtVectors.h"
#include "codegen/families/nest/Streaming.h"
#include "codegen/families/nest/TaskLoop.h"
#include "codegen/families/rows/Team.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tilewright::tw;

namespace tilewright::families {

//===----------------------------------------------------------------------===//
// Parameters
//===----------------------------------------------------------------------===//

DictionaryAttr NestParameters::toAttribute(MLIRContext *context,
                                           StringRef tactic) const {
  Builder b(context);
  SmallVector<NamedAttribute> entries;
  auto add = [&](StringRef name, Attribute value) {
    entries.push_back(b.getNamedAttr(name, value));
  };
  add("name", b.getStringAttr(tactic));
  add("vector", b.getI64IntegerAttr(vectorAxis));
  add("width", b.getI64IntegerAttr(width));
  add("chunk", b.getI64IntegerAttr(chunk));
  if (block != 0) {
    add("block", b.getI64IntegerAttr(block));
    add("block_axis", b.getI64IntegerAttr(blockAxis));
  }
  if (packs) {
    add("packs", b.getUnitAttr());
  }
  SmallVector<int64_t> axes, counts;
  for (const Unroll &one : unroll) {
    axes.push_back(one.axis);
    counts.push_back(one.count);
  }
  add("unroll", b.getDenseI64ArrayAttr(axes));
  add("tile", b.getDenseI64ArrayAttr(counts));
  if (shortTile > 1) {
    add("short_tile", b.getI64IntegerAttr(shortTile));
  }
  if (across > 1) {
    add("across", b.getI64IntegerAttr(across));
  }
  if (innerVector) {
    add("inner_vector", b.getUnitAttr());
  }
  if (wide) {
    add("wide", b.getUnitAttr());
  }
  return b.getDictionaryAttr(entries);
}

int64_t NestParameters::tileOf(unsigned axis) const {
  if (static_cast<int64_t>(axis) == vectorAxis) {
    return chunk;
  }
  for (const Unroll &one : unroll) {
    if (one.axis == axis) {
      return one.count;
    }
  }
  return 1;
}

NestParameters NestParameters::fromAttribute(DictionaryAttr attribute) {
  NestParameters result;
  auto integer = [&](StringRef name, int64_t otherwise) {
    auto value = attribute.getAs<IntegerAttr>(name);
    return value ? value.getInt() : otherwise;
  };
  result.vectorAxis = integer("vector", -1);
  result.width = integer("width", 1);
  result.chunk = integer("chunk", 1);
  result.block = integer("block", 0);
  result.blockAxis = integer("block_axis", 0);
  result.shortTile = integer("short_tile", 1);
  result.packs = attribute.contains("packs");
  result.across = integer("across", 1);
  auto axes = attribute.getAs<DenseI64ArrayAttr>("unroll");
  auto counts = attribute.getAs<DenseI64ArrayAttr>("tile");
  if (axes && counts) {
    for (auto [axis, count] :
         llvm::zip(axes.asArrayRef(), counts.asArrayRef())) {
      result.unroll.push_back({static_cast<unsigned>(axis), count});
    }
  }
  result.innerVector = attribute.contains("inner_vector");
  result.wide = attribute.contains("wide");
  result.simt = Grid::fromAttribute(attribute).exists();
  return result;
}

//===----------------------------------------------------------------------===//
// Padding
//===----------------------------------------------------------------------===//

static GuardPlan guardsOf(ReduceOp reduce, const TileDomain &domain,
                          ArrayRef<TileAxis> reduction,
                          const NestParameters &parameters) {
  return parameters.wide || parameters.simt
             ? GuardPlan()
             : guardPlanOf(reduce, domain, reduction, parameters.vectorAxis,
                           parameters.innerVector);
}

/// The runs of padding of all reductions.
static SmallVector<PadRun> padRuns(const FusedRegion &region,
                                   const TileDomain &domain,
                                   const NestParameters &parameters) {
  SmallVector<PadRun> runs;
  for (auto [reduce, reduction] :
       llvm::zip(region.getReduces(), domain.reductions)) {
    GuardPlan guards = guardsOf(reduce, domain, reduction, parameters);
    if (!guards.empty()) {
      llvm::append_range(runs, padRunsOf(reduce, domain, reduction, guards,
                                         parameters.vectorAxis,
                                         parameters.innerVector));
    }
  }
  return runs;
}

constexpr int64_t lineBytes = 64;

/// The workspace of a run, in whole cache lines.
static DimExpr padBytes(const PadRun &run) {
  DimExpr bytes =
      run.extent *
      storageBytes(elementTypeOf(LoadOp(run.load).getSource().getType()));
  return bytes.ceilDiv(lineBytes) * lineBytes;
}

//===----------------------------------------------------------------------===//
// Launch
//===----------------------------------------------------------------------===//

DimExpr padWorkspace(const FusedRegion &region,
                     const NestParameters &parameters) {
  DimExpr bytes = DimExpr::constant(region.op.getContext(), 0);
  for (const PadRun &run : padRuns(region, tileDomainOf(region), parameters)) {
    bytes = bytes + padBytes(run);
  }
  return bytes;
}

int64_t reductionSteps(const TileDomain &domain) {
  int64_t sum = 0;
  for (ArrayRef<TileAxis> reduction : domain.reductions) {
    int64_t steps = 1;
    for (const TileAxis &axis : reduction) {
      steps *= std::clamp<int64_t>(axis.extent.getConstant().value_or(16), 1,
                                   stepsPerThread);
      steps = std::min(steps, stepsPerThread);
    }
    sum += steps;
  }
  return std::max<int64_t>(sum, 1);
}

Launch nestLaunch(const FusedRegion &region, const NestParameters &parameters) {
  MLIRContext *context = region.op.getContext();
  Launch launch;
  launch.sizes = sizesOf(region.op);
  TileDomain domain = tileDomainOf(region);
  TaskSpace space = taskSpaceOf(region, domain, parameters);
  launch.tasks = DimExpr::constant(context, 1);
  int64_t steps = 1;
  int64_t tilesOfPanel = 1; // where known
  for (const TaskSpace::Digit &digit : space.digits) {
    DimExpr count = TaskSpace::countOf(digit, domain);
    launch.tasks = launch.tasks * count;
    bool isPanel = static_cast<int64_t>(digit.axis) == parameters.vectorAxis;
    tilesOfPanel = isPanel ? 1 : tilesOfPanel * count.getConstant().value_or(1);
    if (digit.count == 0) {
      DimExpr extent = domain.parallel[digit.axis].extent;
      int64_t tile = std::min(digit.step, parameters.tileOf(digit.axis));
      steps *= std::min(tile, extent.getConstant().value_or(tile));
    }
  }
  steps *= reductionSteps(domain);
  launch.workspaceBytes = padWorkspace(region, parameters);
  if (parameters.packs) {
    launch.workspaceBytes =
        launch.workspaceBytes + panelBytes(region, domain, parameters.width);
  }
  // The last tile of an unrolled axis overlaps the one before it, unless the
  // axis is a whole number of tiles. A reference compile shares nothing.
  launch.inPlace =
      !parameters.wide && llvm::all_of(parameters.unroll, [&](auto &unroll) {
        std::optional<int64_t> extent =
            domain.parallel[unroll.axis].extent.getConstant();
        return extent && *extent % unroll.count == 0;
      });
  launch.grain =
      std::max<int64_t>(1, stepsPerThread / std::max<int64_t>(steps, 1));
  if (parameters.packs) {
    launch.grain = std::max(launch.grain, tilesOfPanel); // pack once
  }
  return launch;
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

/// Fills the workspace with what guarded loads read outside of their tensors.
Lanes NestEmitter::makePads() {
  Lanes start = Lanes::index(0);
  for (const PadRun &run : padRuns(region, domain, parameters)) {
    Type element = elementTypeOf(LoadOp(run.load).getSource().getType());
    auto type = MemRefType::get({ShapedType::kDynamic}, storageType(element));
    Value extent = frame.sizeValue(run.extent);
    Value view =
        b.create<memref::ViewOp>(type, frame.getKernel().getWorkspace(),
                                 b.first(start), ValueRange(extent));
    Memory memory{view, element};
    Value padding =
        b.clone(*LoadOp(run.load).getOtherwise().getDefiningOp())->getResult(0);
    (void)emitLoop(b, b.constantIndex(0), extent, 1, [&](Value at) {
      storeLanes(frame, memory, Lanes::index(at), Lanes::scalar(padding), {});
      return Status::ok();
    });
    pads[run.load] = memory;
    Lanes bytes =
        b.mul(frame.size(run.extent), Lanes::index(storageBytes(element)));
    start = b.add(start, frame.wholeLines(bytes));
  }
  return start;
}

Status NestEmitter::run() {
  Lanes padding = makePads();
  frame.setTeamAcross(parameters.across);
  space = taskSpaceOf(region, domain, parameters);
  if (parameters.packs) {
    preparePanel(padding);
  }
  for (const TaskSpace::Digit &digit : space.digits) {
    // Kernels get extents, not what tiling makes of them.
    Lanes extent = frame.size(domain.parallel[digit.axis].extent);
    counts.push_back(
        digit.count != 0
            ? Lanes::index(digit.count)
            : b.floorDiv(b.add(extent, Lanes::index(digit.step - 1)),
                         Lanes::index(digit.step)));
  }
  auto tasks = [&] {
    return emitTaskLoop(frame, counts,
                        [&](ArrayRef<Value> digits) { return task(digits); });
  };
  if (region.form != Form::Pointwise || parameters.vectorAxis < 0 ||
      parameters.wide) {
    return tasks();
  }
  // Long runs of memory; a short one would read ahead in vain.
  constexpr int64_t shortRun = 2048; // elements
  DimExpr run = domain.parallel[parameters.vectorAxis].extent;
  if (run.getConstant().value_or(shortRun) >= shortRun) {
    frame.readOperandsAhead();
  }
  SmallVector<Value> results;
  for (Operation *map : region.primitives) {
    results.append(map->result_begin(), map->result_end());
  }
  return emitStreaming(frame, results, tasks);
}

Status NestEmitter::task(ArrayRef<Value> digits) {
  position.assign(domain.parallel.size(), Lanes::index(0));
  Value exists;
  for (auto [digit, number] : llvm::zip(space.digits, digits)) {
    Lanes &at = position[digit.axis];
    at = b.add(at, b.mul(Lanes::index(number), Lanes::index(digit.step)));
    if (space.mayExceed(digit, domain)) {
      at = Lanes::index(b.first(at));
      exists = b.create<arith::CmpIOp>(
          arith::CmpIPredicate::slt, at.value,
          frame.sizeValue(domain.parallel[digit.axis].extent));
    }
  }
  auto all = [&]() -> Status {
    if (panel) {
      TW_RETURN_IF_ERROR(refreshPanel(digits));
    }
    return tiles();
  };
  return exists ? emitIf(b, exists, all) : all();
}

Status NestEmitter::tilesAt(ArrayRef<Lanes> at) {
  position.assign(at.begin(), at.end());
  return tiles();
}

Status NestEmitter::tiles() {
  auto body = [&] { return unrolled(0, {}); };
  return parameters.vectorAxis >= 0
             ? vectorTiles(b.first(position[parameters.vectorAxis]), body)
             : body();
}

//===----------------------------------------------------------------------===//
// Panels packed at run time
//===----------------------------------------------------------------------===//

/// Takes the workspace of a panel behind `begin` bytes.
void NestEmitter::preparePanel(const Lanes &begin) {
  PanelFactors factors = *panelFactorsOf(region, domain, parameters.vectorAxis);
  Type element = factors.panel.getType();
  auto type = MemRefType::get({ShapedType::kDynamic}, storageType(element));
  Lanes count = Lanes::index(parameters.width);
  for (const TileAxis &axis : domain.reductions.front()) {
    count = b.mul(count, frame.size(axis.extent));
  }
  Value view = b.create<memref::ViewOp>(type, frame.getKernel().getWorkspace(),
                                        b.first(begin), b.first(count));
  panel = PackedPanel{factors, Memory{view, element}, parameters.width};
  panelNumber =
      b.create<memref::AllocaOp>(MemRefType::get({1}, b.getI64Type()));
  Value none = b.create<arith::ConstantOp>(b.getI64IntegerAttr(-1));
  b.create<memref::StoreOp>(none, panelNumber, b.constantIndex(0));
}

/// Packs the panel of a task, unless it is that of the task before.
Status NestEmitter::refreshPanel(ArrayRef<Value> digits) {
  Lanes number = Lanes::index(0);
  for (auto [digit, value, count] : llvm::zip(space.digits, digits, counts)) {
    if (movesPanel(region, domain, panel->factors, digit.axis)) {
      number = b.add(b.mul(number, count), Lanes::index(value));
    }
  }
  Value zero = b.constantIndex(0);
  Value own = b.create<arith::IndexCastOp>(b.getI64Type(), b.first(number));
  Value isOther =
      b.create<arith::CmpIOp>(arith::CmpIPredicate::ne, own,
                              b.create<memref::LoadOp>(panelNumber, zero));
  // Fewer rows than a tile has read the panel in place: shortAxis.
  for (const NestParameters::Unroll &unroll : parameters.unroll) {
    DimExpr extent = domain.parallel[unroll.axis].extent;
    if (!extent.getConstant()) {
      Value fits = b.create<arith::CmpIOp>(arith::CmpIPredicate::sge,
                                           frame.sizeValue(extent),
                                           b.constantIndex(unroll.count));
      isOther = b.create<arith::AndIOp>(isOther, fits);
    }
  }
  return emitIf(b, isOther, [&] {
    b.create<memref::StoreOp>(own, panelNumber, zero);
    SmallVector<Lanes> before = position;
    Status status = vectorTiles(b.first(position[parameters.vectorAxis]),
                                [&] { return packAtPosition(); });
    position = before;
    return status;
  });
}

Status NestEmitter::packAtPosition() {
  return packPanel(frame, region.getReduce(), domain.reductions.front(), *panel,
                   copiesOf({}).front(), activeLanes);
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

/// The vectors of one task: whole ones, then the rest.
Status NestEmitter::vectorTiles(Value from, TileBody body) {
  int64_t width = parameters.width, chunk = parameters.chunk;
  DimExpr extent = domain.parallel[parameters.vectorAxis].extent;
  std::optional<int64_t> constant = extent.getConstant();
  bool hasTail = !constant || *constant % width != 0;
  auto whole = [&](Value start) {
    b.setWidth(width);
    position[parameters.vectorAxis] = Lanes::coordinate(start, width);
    Status status = body();
    b.setWidth(1);
    return status;
  };
  if (int64_t across = frame.teamAcross(); across > 1) {
    // Each place across the team has a vector of its own.
    Value own =
        b.create<arith::MulIOp>(frame.placeAcross(), b.constantIndex(width));
    return whole(b.create<arith::AddIOp>(from, own));
  }
  if (chunk == width) {
    if (!hasTail) {
      return whole(from);
    }
    Value end = frame.sizeValue(extent);
    Value next = b.create<arith::AddIOp>(from, b.constantIndex(width));
    Value isWhole =
        b.create<arith::CmpIOp>(arith::CmpIPredicate::sle, next, end);
    if (constant && *constant < width) {
      return vectorTail(from, end, body);
    }
    auto branch = b.create<scf::IfOp>(isWhole, /*withElse=*/true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    TW_RETURN_IF_ERROR(whole(from));
    b.setInsertionPointToStart(branch.elseBlock());
    return vectorTail(from, end, body);
  }
  Value limit = b.create<arith::AddIOp>(from, b.constantIndex(chunk));
  Value end = b.create<arith::MinSIOp>(limit, frame.sizeValue(extent));
  Value count = b.create<arith::SubIOp>(end, from);
  Value rest = b.create<arith::RemUIOp>(count, b.constantIndex(width));
  Value mainEnd = b.create<arith::SubIOp>(end, rest);
  TW_RETURN_IF_ERROR(emitLoop(b, from, mainEnd, width, whole));
  if (!hasTail) {
    return Status::ok();
  }
  Value isPartial =
      b.create<arith::CmpIOp>(arith::CmpIPredicate::slt, mainEnd, end);
  return emitIf(b, isPartial, [&] { return vectorTail(mainEnd, end, body); });
}

/// Fewer elements than lanes: a mask, or one element after the other where the
/// machine has no masks.
Status NestEmitter::vectorTail(Value from, Value end, TileBody body) {
  if (!frame.getTarget().hasMaskedOps) {
    return emitLoop(b, from, end, 1, [&](Value at) {
      position[parameters.vectorAxis] = Lanes::index(at);
      if (panel) {
        panel->lane = b.create<arith::SubIOp>(at, from);
      }
      Status status = body();
      if (panel) {
        panel->lane = Value();
      }
      return status;
    });
  }
  b.setWidth(parameters.width);
  Value left = b.create<arith::SubIOp>(end, from);
  activeLanes = b.create<vector::CreateMaskOp>(b.vectorOf(b.getI1Type()), left);
  position[parameters.vectorAxis] = Lanes::coordinate(from, parameters.width);
  Status status = body();
  activeLanes = Value();
  b.setWidth(1);
  return status;
}

/// Fixes the number of copies along each unrolled axis. The last tile of an
/// axis overlaps the one before it. An axis whose extent is known at run time
/// only has a variant for extents below a tile (few rows), guarded by the
/// extent.
Status NestEmitter::unrolled(unsigned number, SmallVector<int64_t> counts) {
  if (number == parameters.unroll.size()) {
    return tile(counts);
  }
  const NestParameters::Unroll &unroll = parameters.unroll[number];
  DimExpr extent = domain.parallel[unroll.axis].extent;
  std::optional<int64_t> constant = extent.getConstant();
  Lanes start = position[unroll.axis];
  SmallVector<int64_t> withTile = counts;
  withTile.push_back(unroll.count);
  auto wholeTile = [&] {
    if (!constant || *constant % unroll.count != 0) {
      Lanes latest = b.sub(frame.size(extent), Lanes::index(unroll.count));
      position[unroll.axis] = Lanes::index(b.first(b.min(start, latest)));
    }
    Status status = unrolled(number + 1, withTile);
    position[unroll.axis] = start;
    return status;
  };
  if (constant) {
    return wholeTile();
  }
  Value fits = b.create<arith::CmpIOp>(arith::CmpIPredicate::sge,
                                       frame.sizeValue(extent),
                                       b.constantIndex(unroll.count));
  auto branch = b.create<scf::IfOp>(fits, /*withElse=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  TW_RETURN_IF_ERROR(wholeTile());
  b.setInsertionPointToStart(branch.elseBlock());
  std::optional<PackedPanel> packed = std::exchange(panel, std::nullopt);
  Status status =
      shortAxis(number, counts, std::min(parameters.shortTile, unroll.count));
  panel = packed;
  position[unroll.axis] = start;
  return status;
}

/// An axis that turns out shorter than a tile, from end to end: in small tiles,
/// or one by one where it is shorter than those.
Status NestEmitter::shortAxis(unsigned number, SmallVector<int64_t> counts,
                              int64_t count) {
  unsigned axis = parameters.unroll[number].axis;
  Value extent = frame.sizeValue(domain.parallel[axis].extent);
  counts.push_back(count);
  auto tiles = [&] {
    return emitLoop(
        b, b.constantIndex(0), extent, counts.back(), [&](Value at) {
          if (count > 1) {
            Value latest =
                b.create<arith::SubIOp>(extent, b.constantIndex(count));
            at = b.create<arith::MinSIOp>(at, latest);
          }
          position[axis] = Lanes::index(at);
          return unrolled(number + 1, counts);
        });
  };
  if (count <= 1) {
    return tiles();
  }
  Value fits = b.create<arith::CmpIOp>(arith::CmpIPredicate::sge, extent,
                                       b.constantIndex(count));
  auto branch = b.create<scf::IfOp>(fits, /*withElse=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  TW_RETURN_IF_ERROR(tiles());
  b.setInsertionPointToStart(branch.elseBlock());
  counts.pop_back();
  return shortAxis(number, counts, 1);
}

/// The region's parallel coordinates of each copy.
SmallVector<SmallVector<Lanes>>
NestEmitter::copiesOf(ArrayRef<int64_t> counts) {
  SmallVector<Lanes> first(region.parallel.size(), Lanes::index(0));
  for (auto [axis, at] : llvm::zip(domain.parallel, position)) {
    first[axis.last] = at;
  }
  SmallVector<SmallVector<Lanes>> copies = {first};
  for (auto [unroll, count] : llvm::zip(parameters.unroll, counts)) {
    SmallVector<SmallVector<Lanes>> more;
    for (const SmallVector<Lanes> &copy : copies) {
      for (int64_t i = 0; i < count; ++i) {
        SmallVector<Lanes> next = copy;
        Lanes &coordinate = next[domain.parallel[unroll.axis].last];
        coordinate = b.add(coordinate, Lanes::index(i));
        more.push_back(next);
      }
    }
    copies = std::move(more);
  }
  return copies;
}

Status NestEmitter::tile(ArrayRef<int64_t> counts) {
  frame.clearRegisters();
  SmallVector<SmallVector<Lanes>> copies = copiesOf(counts);
  for (auto [reduce, axes] :
       llvm::zip(region.getReduces(), domain.reductions)) {
    TW_RETURN_IF_ERROR(reduction(reduce, axes, copies));
  }
  Status status = emitForOne(frame, [&] {
    for (ReduceOp reduce : region.getReduces()) {
      store(reduce.getResult(), copies);
    }
    for (Operation *primitive : region.primitives) {
      if (auto map = dyn_cast<MapOp>(primitive)) {
        TW_RETURN_IF_ERROR(finishMap(map, copies));
      }
    }
    return Status::ok();
  });
  frame.clearRegisters();
  return status;
}

/// Reductions of one tile run one after the other; their results wait in
/// registers for the maps.
Status NestEmitter::reduction(ReduceOp reduce, ArrayRef<TileAxis> axes,
                              ArrayRef<SmallVector<Lanes>> copies) {
  ReductionPlan plan;
  plan.op = reduce;
  plan.axes.assign(axes.begin(), axes.end());
  plan.innerWidth = parameters.innerVector ? parameters.width : 1;
  plan.wide = parameters.wide;
  plan.guards = guardsOf(reduce, domain, axes, parameters);
  for (LoadOp load : plan.guards.loads) {
    if (auto found = pads.find(load); found != pads.end()) {
      plan.pads.insert(*found);
    }
  }
  plan.copiesAreLine = parameters.unroll.size() <= 1;
  plan.panel = panel ? &*panel : nullptr;
  Result<SmallVector<Lanes>> results =
      emitReduction(frame, plan, copies, activeLanes);
  TW_RETURN_IF_ERROR(results.status());
  for (auto [copy, lanes] : llvm::enumerate(*results)) {
    frame.setRegister(reduce.getResult(), copy, lanes);
  }
  return Status::ok();
}

/// Evaluates a map for all copies, and stores those results that are yielded.
Status NestEmitter::finishMap(MapOp map, ArrayRef<SmallVector<Lanes>> copies) {
  BodyEmitter emitter(frame, map.getBody().front(), activeLanes);
  SmallVector<SmallVector<Lanes>> own;
  for (auto [copy, coordinates] : llvm::enumerate(copies)) {
    own.push_back(reshapeCoordinates(frame, region.parallel, map.getDomain(),
                                     coordinates));
    TW_RETURN_IF_ERROR(emitter.emit(copy, own.back()));
    for (auto [result, yielded] :
         llvm::zip(map.getResults(), yieldOf(map).getOperands())) {
      frame.setRegister(result, copy, emitter.get(yielded));
    }
  }
  for (Value result : map.getResults()) {
    store(result, own);
  }
  return Status::ok();
}

void NestEmitter::store(Value value, ArrayRef<SmallVector<Lanes>> copies) {
  SmallVector<Memory> targets(frame.outputsOf(value));
  if (const Memory *kept = frame.memoryOf(value); kept && targets.empty()) {
    targets.push_back(*kept); // for the rows behind the nest
  }
  for (const Memory &memory : targets) {
    for (auto [copy, coordinates] : llvm::enumerate(copies)) {
      Lanes offset = offsetOf(frame, memory, value.getType(), coordinates);
      storeLanes(frame, memory, offset, *frame.registerOf(value, copy),
                 activeLanes);
    }
  }
}

Result<twk::KernelOp> buildNest(const FusedRegion &region,
                                const NestParameters &parameters,
                                const TargetSpec &target, StringRef name,
                                OpBuilder &builder) {
  KernelFrame frame(region, target, name, builder);
  Status status = NestEmitter(frame, region, parameters).run();
  if (status && frame.isSimt() && parameters.width > 1) {
    status = takeVectorsApart(frame.getKernel().getEntry());
  }
  return frame.finish(status);
}

} // namespace tilewright::families
