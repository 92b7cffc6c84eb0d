//===- RowsSimt.cpp - rows in the registers of a team ---------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "codegen/families/rows/RowsSimt.h"
#include "codegen/families/emit/BodyEmitter.h"
#include "codegen/families/emit/Grid.h"
#include "codegen/families/emit/MemoryAccess.h"
#include "codegen/families/emit/VectorAccess.h"
#include "codegen/families/nest/SimtVectors.h"
#include "codegen/families/nest/TaskLoop.h"
#include "codegen/families/rows/RowFold.h"
#include "codegen/families/rows/Team.h"
#include "mlir/IR/Matchers.h"
#include <map>

using namespace mlir;
using namespace tilewright::tw;

namespace tilewright::families {

//===----------------------------------------------------------------------===//
// Legality
//===----------------------------------------------------------------------===//

/// A warp takes rows of so many elements per lane, a block the longer ones.
constexpr int64_t mostCopies = 16;
constexpr int64_t warpSize = GpuSpec::warpSize;
constexpr int64_t usualThreads = 128, mostThreads = 1024;

/// The extents within a row, which all primitives share but those that compute
/// a scalar of the row. Nothing if they differ or depend on the run.
static std::optional<SmallVector<int64_t>>
sharedExtents(const FusedRegion &region) {
  std::optional<SmallVector<int64_t>> shared;
  for (Operation *primitive : region.primitives) {
    SmallVector<int64_t> own;
    for (DimExpr extent : innerExtents(region, primitive)) {
      std::optional<int64_t> constant = extent.getConstant();
      if (!constant || *constant < 1) {
        return std::nullopt;
      }
      own.push_back(*constant);
    }
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

static int64_t rowElements(const FusedRegion &region) {
  int64_t count = 1;
  for (int64_t extent : *sharedExtents(region)) {
    count *= extent;
  }
  return count;
}

std::optional<Refusal> refuseRowsSimt(const FusedRegion &region) {
  if (!sharedExtents(region)) {
    return Refusal{"TWT110", "extents within a row differ or are not fixed"};
  }
  if (rowElements(region) > mostCopies * mostThreads) {
    return Refusal{"TWT111", "a row does not fit the registers of a block"};
  }
  return refuseRowElements(region);
}

DictionaryAttr chooseRowsSimt(const FusedRegion &region,
                              const TargetSpec &target, StringRef tactic) {
  Builder b(region.op.getContext());
  auto attribute =
      b.getDictionaryAttr(b.getNamedAttr("name", b.getStringAttr(tactic)));
  int64_t elements = rowElements(region);
  int64_t threads = usualThreads, team = warpSize;
  if (elements > warpSize * mostCopies) {
    // Half of the copies that fit, so that loads of a few rows overlap.
    while (threads < mostThreads && threads * mostCopies / 2 < elements) {
      threads *= 2;
    }
    team = threads;
  }
  int64_t width = rowVectorWidth(region);
  // Less than an eighth of the threads' work should be for nothing.
  auto padded = [&] {
    return static_cast<int64_t>(
        llvm::alignTo(elements, static_cast<uint64_t>(team * width)));
  };
  while (width > 1 && padded() - elements > elements / 8) {
    width /= 2;
  }
  NamedAttrList entries(attribute);
  if (width > 1) {
    entries.set("width", b.getI64IntegerAttr(width));
  }
  return Grid::fill(target, threads, team)
      .addTo(entries.getDictionary(region.op.getContext()));
}

/// Neighbours of a row that a thread takes at once.
static int64_t widthOf(DictionaryAttr parameters) {
  auto width = parameters.getAs<IntegerAttr>("width");
  return width ? width.getInt() : 1;
}

static int64_t countReductions(const FusedRegion &region) {
  return llvm::count_if(region.primitives,
                        [](Operation *op) { return isa<ReduceOp>(op); });
}

Launch rowsSimtLaunch(const FusedRegion &region, DictionaryAttr parameters) {
  MLIRContext *context = region.op.getContext();
  Grid grid = Grid::fromAttribute(parameters);
  Launch launch;
  launch.sizes = sizesOf(region.op);
  launch.tasks = productOf(context, region.parallel);
  launch.workspaceBytes = DimExpr::constant(context, 0);
  launch.inPlace = true;
  launch.shared = teamSharedBytes(grid.team, countReductions(region));
  return overTeams(launch, grid);
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

namespace {

class RowEmitter {
public:
  /// \param width neighbours that a thread takes at once.
  RowEmitter(KernelFrame &frame, int64_t width)
      : frame(frame), b(frame.getBuilder()), region(frame.getRegion()),
        width(width), extents(*sharedExtents(region)) {}

  Status run();

private:
  Status row(ArrayRef<Value> at);
  void placeElements();
  Status reduction(ReduceOp reduce);
  Status map(MapOp map);
  Status keepScalar(Value value, const Lanes &lanes);
  Status evaluate(Operation *primitive,
                  llvm::function_ref<Status(BodyEmitter &, int64_t)> each,
                  Operation *skip = nullptr);

  KernelFrame &frame;
  LaneBuilder &b;
  const FusedRegion &region;
  int64_t width;
  SmallVector<int64_t> extents;
  SmallVector<Lanes> rowAt;
  /// Of each element (or vector of elements) of this thread: its coordinates,
  /// and whether it exists (null: always). One that does not has the
  /// coordinates of the row's last.
  SmallVector<SmallVector<Lanes>> elements;
  SmallVector<Value> exists;
  /// What was loaded, by source and coordinates.
  std::map<std::pair<void *, SmallVector<int64_t>>, SmallVector<Lanes>> loaded;
};

} // namespace

Status RowEmitter::run() {
  SmallVector<Lanes> counts;
  for (DimExpr extent : region.parallel) {
    counts.push_back(frame.size(extent));
  }
  placeElements();
  return emitTaskLoop(frame, counts,
                      [&](ArrayRef<Value> at) { return row(at); });
}

void RowEmitter::placeElements() {
  int64_t team = frame.teamSize(), count = 1;
  for (int64_t extent : extents) {
    count *= extent;
  }
  Value lane = b.named("lane", frame.laneOfTeam());
  b.setWidth(width);
  for (int64_t start = 0; start < count; start += team * width) {
    Lanes position = b.add(b.mul(Lanes::index(lane), Lanes::index(width)),
                           Lanes::index(start));
    Value isElement;
    if (start + team * width > count) {
      Value at = b.first(position);
      isElement = b.create<arith::CmpIOp>(arith::CmpIPredicate::slt, at,
                                          b.constantIndex(count));
      position = b.min(Lanes::index(at), Lanes::index(count - width));
    }
    if (width > 1) {
      position = Lanes::coordinate(b.first(position), width);
    }
    SmallVector<Lanes> coordinates(extents.size());
    for (size_t i = extents.size(); i-- > 0;) {
      Lanes extent = Lanes::index(extents[i]);
      coordinates[i] = i == 0 ? position : b.mod(position, extent);
      position = b.floorDiv(position, extent);
    }
    elements.push_back(coordinates);
    exists.push_back(isElement);
  }
  b.setWidth(1);
}

Status RowEmitter::row(ArrayRef<Value> at) {
  frame.clearRegisters();
  loaded.clear();
  rowAt.clear();
  for (Value coordinate : at) {
    rowAt.push_back(Lanes::index(coordinate));
  }
  for (Operation *primitive : region.primitives) {
    auto reduce = dyn_cast<ReduceOp>(primitive);
    TW_RETURN_IF_ERROR(reduce ? reduction(reduce)
                              : map(cast<MapOp>(primitive)));
  }
  frame.clearRegisters();
  return Status::ok();
}

/// Evaluates the body for each element and calls `each`. What an earlier
/// primitive has loaded is not loaded again.
Status
RowEmitter::evaluate(Operation *primitive,
                     llvm::function_ref<Status(BodyEmitter &, int64_t)> each,
                     Operation *skip) {
  Block &body = primitive->getRegion(0).front();
  auto keyOf = [](LoadOp load, SmallVector<int64_t> place) {
    return std::pair(load.getSource().getAsOpaquePointer(), std::move(place));
  };
  BodyVariant variant;
  variant.load = [&](LoadOp load, unsigned copy) -> std::optional<Lanes> {
    if (auto place = placeOf(load)) {
      auto found = loaded.find(keyOf(load, *place));
      if (found != loaded.end() && copy < found->second.size()) {
        return found->second[copy];
      }
    }
    return std::nullopt;
  };
  BodyEmitter emitter(frame, body, Value(), variant);
  for (auto [copy, coordinates] : llvm::enumerate(elements)) {
    SmallVector<Lanes> all(rowAt);
    llvm::append_range(all, coordinates);
    b.setWidth(width);
    TW_RETURN_IF_ERROR(emitter.emit(copy, all, skip));
    for (LoadOp load : body.getOps<LoadOp>()) {
      if (auto place = placeOf(load)) {
        auto &copies = loaded[keyOf(load, *place)];
        if (copies.size() == copy) {
          copies.push_back(emitter.get(load.getResult()));
        }
      }
    }
    TW_RETURN_IF_ERROR(each(emitter, copy));
    b.setWidth(1);
  }
  return Status::ok();
}

Status RowEmitter::reduction(ReduceOp reduce) {
  RowFold fold(frame, reduce, width);
  TW_RETURN_IF_ERROR(fold.check());
  Value total = fold.initial();
  TW_RETURN_IF_ERROR(evaluate(
      reduce,
      [&](BodyEmitter &emitter, int64_t copy) {
        Value next = fold.accumulate(emitter, total);
        total =
            exists[copy]
                ? Value(b.create<arith::SelectOp>(exists[copy], next, total))
                : next;
        return Status::ok();
      },
      fold.skipped()));
  return keepScalar(reduce.getResult(), fold.finish(total));
}

/// A scalar of the row is the same for all elements; one thread writes it.
Status RowEmitter::keepScalar(Value value, const Lanes &lanes) {
  for (size_t copy = 0; copy < elements.size(); ++copy) {
    frame.setRegister(value, copy, lanes);
  }
  return storeForOne(frame, value, rowAt, lanes);
}

Status RowEmitter::map(MapOp map) {
  if (innerExtents(region, map).empty()) {
    BodyEmitter emitter(frame, map.getBody().front(), Value());
    TW_RETURN_IF_ERROR(emitter.emit(0, rowAt));
    for (auto [result, yielded] :
         llvm::zip(map.getResults(), yieldOf(map).getOperands())) {
      TW_RETURN_IF_ERROR(keepScalar(result, emitter.get(yielded)));
    }
    return Status::ok();
  }
  auto keep = [&](BodyEmitter &emitter, int64_t copy) {
    SmallVector<Lanes> all(rowAt);
    llvm::append_range(all, elements[copy]);
    auto store = [&] {
      for (auto [result, yielded] :
           llvm::zip(map.getResults(), yieldOf(map).getOperands())) {
        for (const Memory &memory : frame.outputsOf(result)) {
          storeLanes(frame, memory,
                     offsetOf(frame, memory, result.getType(), all),
                     emitter.get(yielded), Value());
        }
      }
      return Status::ok();
    };
    bool isOutput = false;
    for (auto [result, yielded] :
         llvm::zip(map.getResults(), yieldOf(map).getOperands())) {
      frame.setRegister(result, copy, emitter.get(yielded));
      isOutput |= !frame.outputsOf(result).empty();
    }
    if (!isOutput) {
      return Status::ok();
    }
    return exists[copy] ? emitIf(b, exists[copy], store) : store();
  };
  return evaluate(map, keep);
}

Result<twk::KernelOp> buildRowsSimt(const FusedRegion &region,
                                    const TargetSpec &target, StringRef name,
                                    OpBuilder &builder) {
  KernelFrame frame(region, target, name, builder);
  int64_t width =
      widthOf(cast<DictionaryAttr>(*FusedOp(region.op).getTactic()));
  Status status = RowEmitter(frame, width).run();
  if (status && width > 1) {
    status = takeVectorsApart(frame.getKernel().getEntry());
  }
  return frame.finish(status);
}

} // namespace tilewright::families
