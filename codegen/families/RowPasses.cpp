//===- RowPasses.cpp - rows too long for registers ------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "codegen/families/RowPasses.h"
#include "codegen/families/Grid.h"
#include "codegen/families/MemoryAccess.h"
#include "codegen/families/NestSchedule.h"
#include "codegen/families/RowFold.h"
#include "codegen/families/SimtVectors.h"
#include "codegen/families/TaskLoop.h"
#include "codegen/families/Team.h"
#include "codegen/families/VectorAccess.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include <map>

using namespace mlir;
using namespace tilewright::tw;

namespace tilewright::families {

/// A source and where in it a load reads (placeOf).
using Place = std::pair<void *, SmallVector<int64_t>>;

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

/// The operand's element that a load of this row alone reads, or nothing.
static std::optional<Place> placeInRow(const FusedRegion &region, LoadOp load) {
  auto place = placeOf(load);
  if (!place || !isa<BlockArgument>(stripReshapes(load.getSource()))) {
    return std::nullopt;
  }
  unsigned last = load->getBlock()->getNumArguments() - 1;
  auto reads = [&](unsigned first, unsigned end) {
    return llvm::any_of(*place, [&](int64_t number) {
      return number >= int64_t(first) && number <= int64_t(end);
    });
  };
  bool isOfRow = region.rows > 0 && reads(0, region.rows - 1);
  return isOfRow && reads(region.rows, last)
             ? std::optional(Place(load.getSource().getAsOpaquePointer(),
                                   std::move(*place)))
             : std::nullopt;
}

/// What of the row stays in shared memory, with the types of its elements.
static SmallVector<std::pair<Place, Type>>
keptPlaces(const FusedRegion &region) {
  SmallVector<std::pair<Place, Type>> kept; // in order
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
        width(width), keepsRow(keepsRow), extents(*extentsOfRow(region)) {}

  Status run();

private:
  Status row(ArrayRef<Value> at);
  /// Emits a loop over this thread's elements. `body` gets what is carried and
  /// changes it.
  Status pass(SmallVectorImpl<Value> &carried,
              llvm::function_ref<Status(SmallVectorImpl<Value> &)> body);
  void place(Value position);
  Status reduction(ReduceOp reduce);
  Status results();
  Status scalars(MapOp map);
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
  SmallVector<Lanes> rowAt;
  llvm::DenseMap<Value, Lanes> rowScalars;
  std::map<Place, Memory> kept; ///< shared memory of each place
  std::map<Place, bool> filled; ///< by a pass before this one
  // Of one iteration of a pass:
  SmallVector<Lanes> at; ///< the coordinates
  Lanes position;        ///< within the row
  std::map<Place, Lanes> loaded;
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
    if (auto reduce = dyn_cast<ReduceOp>(primitive)) {
      TW_RETURN_IF_ERROR(reduction(reduce));
    } else if (innerExtents(region, primitive).empty()) {
      TW_RETURN_IF_ERROR(scalars(cast<MapOp>(primitive)));
    }
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

Status
PassEmitter::pass(SmallVectorImpl<Value> &carried,
                  llvm::function_ref<Status(SmallVectorImpl<Value> &)> body) {
  Lanes count = Lanes::index(1);
  for (DimExpr extent : extents) {
    count = b.mul(count, frame.size(extent));
  }
  Lanes lane = Lanes::index(frame.laneOfTeam());
  auto loop = b.create<scf::ForOp>(
      b.first(b.mul(lane, Lanes::index(width))), b.first(count),
      b.constantIndex(frame.teamSize() * width), carried);
  loop->setAttr(twk::nameAttr, b.getStringAttr("element"));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  frame.clearRegisters();
  for (auto &[value, lanes] : rowScalars) {
    frame.setRegister(value, 0, lanes);
  }
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
  std::optional<Place> place = placeInRow(region, load);
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

Status PassEmitter::reduction(ReduceOp reduce) {
  RowFold fold(frame, reduce, width);
  TW_RETURN_IF_ERROR(fold.check());
  SmallVector<Value> totals = {fold.initial()};
  TW_RETURN_IF_ERROR(
      pass(totals, [&](SmallVectorImpl<Value> &carried) -> Status {
        BodyEmitter emitter(frame, reduce.getBody().front(), Value(),
                            variant());
        TW_RETURN_IF_ERROR(emitter.emit(0, at, fold.skipped()));
        carried[0] = fold.accumulate(emitter, carried[0]);
        return Status::ok();
      }));
  return keepScalar(reduce.getResult(), fold.finish(totals[0]));
}

Status PassEmitter::keepScalar(Value value, const Lanes &lanes) {
  rowScalars[value] = lanes;
  return storeForOne(frame, value, rowAt, lanes);
}

Status PassEmitter::scalars(MapOp map) {
  frame.clearRegisters();
  for (auto &[value, lanes] : rowScalars) {
    frame.setRegister(value, 0, lanes);
  }
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
  SmallVector<MapOp> maps;
  for (Operation *primitive : region.primitives) {
    auto map = dyn_cast<MapOp>(primitive);
    bool isResult = map && !innerExtents(region, map).empty() &&
                    llvm::any_of(map.getResults(), [&](Value result) {
                      return !frame.outputsOf(result).empty();
                    });
    if (isResult) {
      maps.push_back(map);
    }
  }
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
  if (!status) {
    frame.getKernel()->erase();
    return status;
  }
  return frame.getKernel();
}

} // namespace tilewright::families
