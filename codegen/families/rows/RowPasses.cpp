//===- RowPasses.cpp - rows too long for registers ------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "codegen/families/rows/RowPasses.h"
#include "codegen/families/emit/Grid.h"
#include "codegen/families/emit/MemoryAccess.h"
#include "codegen/families/emit/VectorAccess.h"
#include "codegen/families/nest/NestSchedule.h"
#include "codegen/families/nest/SimtVectors.h"
#include "codegen/families/nest/TaskLoop.h"
#include "codegen/families/rows/RowFold.h"
#include "codegen/families/rows/RowSchedule.h"
#include "codegen/families/rows/ShiftedFold.h"
#include "codegen/families/rows/Team.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include <map>

using namespace mlir;
using namespace tilewright::tw;

namespace tilewright::families {

/// The extents within a row, which all primitives share but those that compute
/// a scalar of the row. Nothing if they differ.
static std::optional<SmallVector<DimExpr>>
extentsOfRow(const FusedRegion &region) {
  std::optional<SmallVector<DimExpr>> shared;
  for (Operation *primitive : region.primitives) {
    SmallVector<DimExpr> own = innerExtents(region, primitive);
    if (own.empty()) {
      continue;
    }
    if (shared && *shared != own) {
      return std::nullopt;
    }
    shared = own;
  }
  return shared;
}

/// What of the row stays in shared memory, with the types of its elements.
static SmallVector<std::pair<RowPlace, Type>>
keptPlaces(const FusedRegion &region) {
  SmallVector<std::pair<RowPlace, Type>> kept; // in order
  for (Operation *primitive : region.primitives) {
    if (!innerExtents(region, primitive).empty()) {
      primitive->walk([&](LoadOp load) {
        auto place = placeInRow(region, load);
        if (place && llvm::none_of(kept, [&](const auto &known) {
              return known.first == *place;
            })) {
          kept.push_back({*place, elementTypeOf(load.getSource().getType())});
        }
      });
    }
  }
  return kept;
}

constexpr int64_t accessBytes = 16;

/// \returns the shared memory of a row's elements of one type.
static int64_t bytesOfRow(int64_t elements, Type type) {
  return static_cast<int64_t>(
      llvm::alignTo(elements * storageBytes(type), uint64_t(accessBytes)));
}

static int64_t countFolds(const FusedRegion &region) {
  return llvm::count_if(region.primitives,
                        [](Operation *op) { return isa<ReduceOp>(op); });
}

/// \returns the elements of a row, 0 if they are not fixed.
static int64_t elementsOf(ArrayRef<DimExpr> extents) {
  int64_t count = 1;
  for (DimExpr extent : extents) {
    count *= extent.getConstant().value_or(0);
  }
  return count;
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

namespace {

class PassEmitter {
public:
  PassEmitter(KernelFrame &frame, int64_t width, bool keepsRow)
      : frame(frame), b(frame.getBuilder()), region(frame.getRegion()),
        width(width), keepsRow(keepsRow), extents(*extentsOfRow(region)),
        schedule(region, /*shifts=*/!keepsRow) {}

  Status run();

private:
  Status row(ArrayRef<Value> at);
  /// Emits a loop over this thread's elements. `body` gets what is carried and
  /// changes it.
  Status pass(SmallVectorImpl<Value> &carried,
              llvm::function_ref<Status(SmallVectorImpl<Value> &)> body);
  Lanes elements();
  void place(Value position);
  Status folds(size_t number);
  Result<SmallVector<Value>> accumulate(const ScheduledFold &scheduled,
                                        ArrayRef<Value> state);
  Status finish(const ScheduledFold &scheduled, ArrayRef<Value> state);
  Status results();
  Status scalarsAfter(unsigned passes, Operation *primitive);
  Status scalars(MapOp map);
  void enterScalars();
  Status keepScalar(Value value, const Lanes &lanes);
  BodyVariant variant();
  std::optional<Lanes> loadOf(LoadOp load);
  Status evaluate(MapOp map);

  KernelFrame &frame;
  LaneBuilder &b;
  const FusedRegion &region;
  int64_t width;
  bool keepsRow;
  SmallVector<DimExpr> extents;
  RowSchedule schedule;
  SmallVector<Lanes> rowAt;
  llvm::DenseMap<Value, Lanes> rowScalars;
  std::map<RowPlace, Memory> kept; ///< shared memory of each place
  std::map<RowPlace, bool> filled; ///< by a pass before this one
  // Of one iteration of a pass:
  SmallVector<Lanes> at; ///< the coordinates
  Lanes position;        ///< within the row
  std::map<RowPlace, Lanes> loaded;
  Status failure;
};

} // namespace

Status PassEmitter::run() {
  if (keepsRow) {
    for (auto &[place, type] : keptPlaces(region)) {
      int64_t bytes = bytesOfRow(elementsOf(extents), type);
      int64_t ofElement = storageBytes(type);
      Memory memory{
          frame.takeShared(storageType(type), bytes / ofElement, ofElement),
          type};
      memory.isAligned = true;
      kept[place] = memory;
    }
  }
  SmallVector<Lanes> counts;
  for (DimExpr extent : region.parallel) {
    counts.push_back(frame.size(extent));
  }
  return emitTaskLoop(frame, counts,
                      [&](ArrayRef<Value> task) { return row(task); });
}

Status PassEmitter::row(ArrayRef<Value> task) {
  rowAt.clear();
  for (Value coordinate : task) {
    rowAt.push_back(Lanes::index(coordinate));
  }
  rowScalars.clear();
  filled.clear();
  for (Operation *primitive : region.primitives) {
    TW_RETURN_IF_ERROR(scalarsAfter(0, primitive));
  }
  for (size_t number = 0; number < schedule.passes(); ++number) {
    TW_RETURN_IF_ERROR(folds(number));
  }
  Status status = results();
  frame.clearRegisters();
  return status;
}

/// Sets the coordinates for a position in the row.
void PassEmitter::place(Value start) {
  position = width > 1 ? Lanes::coordinate(start, width) : Lanes::index(start);
  SmallVector<Lanes> inner(extents.size());
  Lanes rest = position;
  for (size_t i = extents.size(); i-- > 0;) {
    Lanes extent = frame.size(extents[i]);
    inner[i] = i == 0 ? rest : b.mod(rest, extent);
    rest = i == 0 ? rest : b.floorDiv(rest, extent);
  }
  at = rowAt;
  llvm::append_range(at, inner);
}

/// The elements of a row.
Lanes PassEmitter::elements() {
  Lanes count = Lanes::index(1);
  for (DimExpr extent : extents) {
    count = b.mul(count, frame.size(extent));
  }
  return count;
}

Status
PassEmitter::pass(SmallVectorImpl<Value> &carried,
                  llvm::function_ref<Status(SmallVectorImpl<Value> &)> body) {
  Lanes count = elements();
  Lanes lane = Lanes::index(frame.laneOfTeam());
  auto loop = b.create<scf::ForOp>(
      b.first(b.mul(lane, Lanes::index(width))), b.first(count),
      b.constantIndex(frame.teamSize() * width), carried);
  loop->setAttr(twk::nameAttr, b.getStringAttr("element"));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  enterScalars();
  loaded.clear();
  carried.assign(loop.getRegionIterArgs().begin(),
                 loop.getRegionIterArgs().end());
  b.setWidth(width);
  place(loop.getInductionVar());
  Status status = body(carried);
  b.setWidth(1);
  TW_RETURN_IF_ERROR(status);
  TW_RETURN_IF_ERROR(failure);
  if (!carried.empty()) {
    b.create<scf::YieldOp>(ValueRange(carried));
  }
  carried.assign(loop.getResults().begin(), loop.getResults().end());
  for (auto &[place, lanes] : loaded) {
    filled[place] = true;
  }
  return Status::ok();
}

/// Loads that other passes or primitives have done already, and maps that the
/// element is the result of.
BodyVariant PassEmitter::variant() {
  BodyVariant result;
  result.load = [this](LoadOp load, unsigned) { return loadOf(load); };
  return result;
}

std::optional<Lanes> PassEmitter::loadOf(LoadOp load) {
  Value source = load.getSource();
  if (auto map = source.getDefiningOp<MapOp>()) {
    if (!frame.registerOf(source, 0) && failure) {
      failure = evaluate(map);
    }
    return std::nullopt;
  }
  std::optional<RowPlace> place = placeInRow(region, load);
  if (!place) {
    return std::nullopt;
  }
  if (auto found = loaded.find(*place); found != loaded.end()) {
    return found->second;
  }
  auto own = kept.find(*place);
  if (own != kept.end() && filled.count(*place)) {
    Lanes lanes = loadLanes(frame, own->second, position, Activity());
    loaded[*place] = lanes;
    return lanes;
  }
  BodyEmitter plain(frame, *load->getBlock(), Value());
  Result<Lanes> lanes = plain.emitFor(0, at, load.getResult());
  if (!lanes) {
    failure = lanes.status();
    return std::nullopt;
  }
  loaded[*place] = *lanes;
  if (own != kept.end()) {
    storeLanes(frame, own->second, position, *lanes, Value());
  }
  return *lanes;
}

/// Computes what a map gives for the element.
Status PassEmitter::evaluate(MapOp map) {
  BodyEmitter emitter(frame, map.getBody().front(), Value(), variant());
  TW_RETURN_IF_ERROR(emitter.emit(0, at));
  for (auto [result, yielded] :
       llvm::zip(map.getResults(), yieldOf(map).getOperands())) {
    frame.setRegister(result, 0, emitter.get(yielded));
  }
  return Status::ok();
}

/// One pass for folds that wait for nothing of it, and the scalars that are
/// known after it.
Status PassEmitter::folds(size_t number) {
  SmallVector<Value> carried;
  SmallVector<size_t> starts;
  for (const ScheduledFold &scheduled : schedule.foldsOf(number)) {
    RowFold fold(frame, scheduled.reduce, width);
    TW_RETURN_IF_ERROR(fold.check());
    starts.push_back(carried.size());
    if (scheduled.shifted) {
      llvm::append_range(
          carried, ShiftedFold(frame, *scheduled.shifted, width).initial());
    } else {
      carried.push_back(fold.initial());
    }
  }
  starts.push_back(carried.size());
  auto stateOf = [&](size_t i) {
    return ArrayRef<Value>(carried).slice(starts[i], starts[i + 1] - starts[i]);
  };
  TW_RETURN_IF_ERROR(pass(carried, [&](SmallVectorImpl<Value> &) -> Status {
    SmallVector<Value> next;
    for (auto [i, scheduled] : llvm::enumerate(schedule.foldsOf(number))) {
      Result<SmallVector<Value>> state = accumulate(scheduled, stateOf(i));
      TW_RETURN_IF_ERROR(state.status());
      llvm::append_range(next, *state);
    }
    carried = next;
    return Status::ok();
  }));
  // In the order of the region: a fold's shift is one of the scalars.
  for (Operation *primitive : region.primitives) {
    for (auto [i, scheduled] : llvm::enumerate(schedule.foldsOf(number))) {
      if (scheduled.reduce == primitive) {
        TW_RETURN_IF_ERROR(finish(scheduled, stateOf(i)));
      }
    }
    TW_RETURN_IF_ERROR(scalarsAfter(number + 1, primitive));
  }
  return Status::ok();
}

Result<SmallVector<Value>>
PassEmitter::accumulate(const ScheduledFold &scheduled, ArrayRef<Value> state) {
  ReduceOp reduce = scheduled.reduce;
  if (scheduled.shifted) {
    Value x = scheduled.shifted->x;
    BodyEmitter emitter(frame, *x.getParentBlock(), Value(), variant());
    Result<Lanes> lanes = emitter.emitFor(0, at, x);
    TW_RETURN_IF_ERROR(lanes.status());
    return ShiftedFold(frame, *scheduled.shifted, width)
        .accumulate(*lanes, state);
  }
  RowFold fold(frame, reduce, width);
  BodyEmitter emitter(frame, reduce.getBody().front(), Value(), variant());
  TW_RETURN_IF_ERROR(emitter.emit(0, at, fold.skipped()));
  return SmallVector<Value>{fold.accumulate(emitter, state.front())};
}

Status PassEmitter::finish(const ScheduledFold &scheduled,
                           ArrayRef<Value> state) {
  Value total = state.front();
  if (scheduled.shifted) {
    Value shift = scheduled.shifted->shift;
    enterScalars();
    BodyEmitter emitter(frame, *shift.getParentBlock(), Value());
    SmallVector<Lanes> first(rowAt);
    first.resize(shift.getParentBlock()->getNumArguments(), Lanes::index(0));
    Result<Lanes> lanes = emitter.emitFor(0, first, shift);
    TW_RETURN_IF_ERROR(lanes.status());
    total = ShiftedFold(frame, *scheduled.shifted, width).sumFor(*lanes, state);
    // The sum of nothing is zero, whatever the shift of nothing is.
    Value isEmpty = b.createOrFold<arith::CmpIOp>(
        arith::CmpIPredicate::eq, b.first(elements()), b.constantIndex(0));
    Value zero = RowFold(frame, scheduled.reduce, width).initial();
    total = b.createOrFold<arith::SelectOp>(isEmpty, zero, total);
  }
  ReduceOp reduce = scheduled.reduce;
  return keepScalar(reduce.getResult(),
                    RowFold(frame, reduce, width).finish(total));
}

Status PassEmitter::keepScalar(Value value, const Lanes &lanes) {
  rowScalars[value] = lanes;
  return storeForOne(frame, value, rowAt, lanes);
}

/// Computes `primitive` if it is a scalar of the row that is known after so
/// many passes.
Status PassEmitter::scalarsAfter(unsigned passes, Operation *primitive) {
  auto map = dyn_cast<MapOp>(primitive);
  bool isDue = map && innerExtents(region, map).empty() &&
               schedule.readyAfter(map) == passes;
  return isDue ? scalars(map) : Status::ok();
}

void PassEmitter::enterScalars() {
  frame.clearRegisters();
  for (auto &[value, lanes] : rowScalars) {
    frame.setRegister(value, 0, lanes);
  }
}

Status PassEmitter::scalars(MapOp map) {
  enterScalars();
  BodyEmitter emitter(frame, map.getBody().front(), Value());
  TW_RETURN_IF_ERROR(emitter.emit(0, rowAt));
  for (auto [result, yielded] :
       llvm::zip(map.getResults(), yieldOf(map).getOperands())) {
    TW_RETURN_IF_ERROR(keepScalar(result, emitter.get(yielded)));
  }
  return Status::ok();
}

/// The last pass writes every result.
Status PassEmitter::results() {
  SmallVector<MapOp> maps = schedule.results();
  if (maps.empty()) {
    return Status::ok();
  }
  SmallVector<Value> nothing;
  return pass(nothing, [&](SmallVectorImpl<Value> &) -> Status {
    for (MapOp map : maps) {
      if (!frame.registerOf(map.getResult(0), 0)) {
        TW_RETURN_IF_ERROR(evaluate(map));
      }
    }
    for (MapOp map : maps) {
      for (Value result : map.getResults()) {
        for (const Memory &memory : frame.outputsOf(result)) {
          storeLanes(frame, memory,
                     offsetOf(frame, memory, result.getType(), at),
                     *frame.registerOf(result, 0), Value());
        }
      }
    }
    return Status::ok();
  });
}

//===----------------------------------------------------------------------===//
// The tactic
//===----------------------------------------------------------------------===//

std::optional<Refusal> RowPasses::applicable(FusedOp op,
                                             const TargetSpec &target) const {
  if (auto refusal = ReferenceTactic::applicable(op, target)) {
    return refusal;
  }
  FusedRegion region = *analyseRegion(op);
  std::optional<SmallVector<DimExpr>> extents = extentsOfRow(region);
  if (!extents) {
    return Refusal{"TWT110", "extents within a row differ or are not fixed"};
  }
  if (guessedExtent(extents->back(), false) < GpuSpec::warpSize) {
    return Refusal{"TWT114", "there is too little to fold for a warp"};
  }
  return refuseRowElements(region);
}

Result<DictionaryAttr> RowPasses::choose(FusedOp op,
                                         const TargetSpec &target) const {
  Result<FusedRegion> region = analyseRegion(op);
  TW_RETURN_IF_ERROR(region.status());
  Builder b(op.getContext());
  constexpr int64_t usualThreads = 256, manyThreads = 1024, longRow = 8192;
  int64_t elements = elementsOf(*extentsOfRow(*region));
  int64_t threads = elements >= longRow ? manyThreads : usualThreads;
  int64_t bytes = teamSharedBytes(threads, countFolds(*region));
  for (auto &[place, type] : keptPlaces(*region)) {
    bytes += bytesOfRow(elements, type);
  }
  NamedAttrList entries;
  entries.set("name", b.getStringAttr(name()));
  entries.set("width", b.getI64IntegerAttr(rowVectorWidth(*region)));
  if (elements > 0 && bytes <= target.gpu->sharedBytesPerBlock) {
    entries.set("keep", b.getI64IntegerAttr(elements));
  }
  return Grid::fill(target, threads, threads)
      .addTo(entries.getDictionary(op.getContext()));
}

Result<Launch> RowPasses::launch(FusedOp op) const {
  Result<FusedRegion> region = analyseRegion(op);
  TW_RETURN_IF_ERROR(region.status());
  Grid grid = Grid::fromAttribute(parametersOf(op));
  Launch launch;
  launch.sizes = sizesOf(op);
  launch.tasks = DimExpr::constant(op.getContext(), 1);
  for (DimExpr extent : region->parallel) {
    launch.tasks = launch.tasks * extent;
  }
  launch.workspaceBytes = DimExpr::constant(op.getContext(), 0);
  launch.inPlace = true;
  launch.shared = teamSharedBytes(grid.team, countFolds(*region));
  if (auto keep = parametersOf(op).getAs<IntegerAttr>("keep")) {
    for (auto &[place, type] : keptPlaces(*region)) {
      launch.shared += bytesOfRow(keep.getInt(), type);
    }
  }
  return overTeams(launch, grid);
}

Result<twk::KernelOp> RowPasses::build(FusedOp op, const TargetSpec &target,
                                       StringRef kernelName,
                                       OpBuilder &builder) const {
  Result<FusedRegion> region = analyseRegion(op);
  TW_RETURN_IF_ERROR(region.status());
  DictionaryAttr parameters = parametersOf(op);
  auto stated = parameters.getAs<IntegerAttr>("width");
  int64_t width = stated ? stated.getInt() : 1;
  KernelFrame frame(*region, target, kernelName, builder);
  Status status = PassEmitter(frame, width, parameters.contains("keep")).run();
  if (status && width > 1) {
    status = takeVectorsApart(frame.getKernel().getEntry());
  }
  return frame.finish(status);
}

} // namespace tilewright::families
