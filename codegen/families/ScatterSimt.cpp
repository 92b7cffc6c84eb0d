//===- ScatterSimt.cpp - scatters by owners of elements -------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "codegen/families/ScatterSimt.h"
#include "codegen/families/BodyEmitter.h"
#include "codegen/families/Grid.h"
#include "codegen/families/Guards.h"
#include "codegen/families/IndexMath.h"
#include "codegen/families/MemoryAccess.h"
#include "codegen/families/NestSchedule.h"
#include "codegen/families/Scatter.h"
#include "codegen/families/TaskLoop.h"
#include "ir/TensorTypes.h"

using namespace mlir;
using namespace tilewright::tw;

namespace tilewright::families {

//===----------------------------------------------------------------------===//
// Owners
//===----------------------------------------------------------------------===//

/// The axes of the result that are not shared.
static SmallVector<unsigned> scatteredAxes(const ScatterForm &form) {
  SmallVector<unsigned> axes;
  for (auto [axis, coordinate] : llvm::enumerate(form.sharedBy)) {
    if (!coordinate) {
      axes.push_back(axis);
    }
  }
  return axes;
}

/// How many owners there are for each place on shared axes, a power of two.
static int64_t ownersOf(DictionaryAttr parameters) {
  return parameters.getAs<IntegerAttr>("owners").getInt();
}

Result<DictionaryAttr> OwnedScatter::choose(FusedOp op,
                                            const TargetSpec &target) const {
  Result<FusedRegion> region = analyseRegion(op);
  TW_RETURN_IF_ERROR(region.status());
  constexpr int64_t threads = 128, schedulers = 4;
  ScatterForm form = scatterFormOf(*region);
  int64_t places = 1, elements = 1, updates = 1;
  for (auto [axis, dim] : llvm::enumerate(dimsOf(form.op.getType()))) {
    (form.sharedBy[axis] ? places : elements) *= guessedExtent(dim, axis == 0);
  }
  for (unsigned coordinate : form.walked) {
    updates *= guessedExtent(form.op.getDomain()[coordinate], coordinate == 0);
  }
  // Each owner walks all updates of its place: a warp for every scheduler is
  // enough, unless elements to copy are more.
  const GpuSpec &gpu = *target.gpu;
  int64_t busy = gpu.multiprocessors * schedulers * GpuSpec::warpSize;
  int64_t most = int64_t(gpu.multiprocessors) * gpu.threadsPerMultiprocessor;
  int64_t owners = 1;
  auto isWorthMore = [&] {
    return places * owners < busy ||
           (places * owners < most && elements / owners > updates);
  };
  while (owners < elements && isWorthMore()) {
    owners *= 2;
  }
  Builder b(op.getContext());
  NamedAttrList entries;
  entries.set("name", b.getStringAttr(name()));
  entries.set("owners", b.getI64IntegerAttr(owners));
  return Grid::fill(target, threads)
      .addTo(entries.getDictionary(op.getContext()));
}

Result<Launch> OwnedScatter::launch(FusedOp op) const {
  Result<FusedRegion> region = analyseRegion(op);
  TW_RETURN_IF_ERROR(region.status());
  ScatterForm form = scatterFormOf(*region);
  Launch launch;
  launch.sizes = sizesOf(op);
  launch.workspaceBytes = DimExpr::constant(op.getContext(), 0);
  launch.tasks = DimExpr::constant(op.getContext(), ownersOf(parametersOf(op)));
  for (auto [axis, dim] : llvm::enumerate(dimsOf(form.op.getType()))) {
    launch.tasks = form.sharedBy[axis] ? launch.tasks * dim : launch.tasks;
  }
  return overTeams(launch, Grid::fromAttribute(parametersOf(op)));
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

namespace {

class OwnerEmitter {
public:
  OwnerEmitter(KernelFrame &frame, int64_t owners)
      : frame(frame), b(frame.getBuilder()), math(b), owners(owners),
        form(scatterFormOf(frame.getRegion())), scatter(form.op),
        dims(dimsOf(scatter.getType())), domain(scatter.getDomain()),
        scattered(scatteredAxes(form)) {}

  Status run();

private:
  Status task(ArrayRef<Value> at);
  Status copy(const Memory &output);
  Status walk(const Memory &output);
  Value updatesExist();
  Value isOwn(Value position, ArrayRef<Lanes> places);
  Value countOf(ArrayRef<DimExpr> extents, ArrayRef<unsigned> axes);
  void place(Value number, ArrayRef<DimExpr> extents, ArrayRef<unsigned> axes,
             SmallVectorImpl<Lanes> &at);

  /// Loads that are on their way at once.
  static constexpr int64_t together = 2;

  KernelFrame &frame;
  LaneBuilder &b;
  IndexMath math;
  int64_t owners;
  ScatterForm form;
  ScatterOp scatter;
  SmallVector<DimExpr> dims, domain;
  SmallVector<unsigned> scattered;
  // Of a task:
  SmallVector<Lanes> shared; ///< places on the result's axes; others unset
  Value owner;               ///< its number among those of its place
};

} // namespace

Status OwnerEmitter::run() {
  TW_RETURN_IF_ERROR(checkScatter(scatter));
  // Owners stand where the last of their axes does.
  SmallVector<Lanes> counts;
  for (auto [axis, coordinate] : llvm::enumerate(form.sharedBy)) {
    if (coordinate) {
      counts.push_back(frame.size(dims[axis]));
    } else if (axis == scattered.back()) {
      counts.push_back(Lanes::index(owners));
    }
  }
  return emitTaskLoop(frame, counts,
                      [&](ArrayRef<Value> at) { return task(at); });
}

Status OwnerEmitter::task(ArrayRef<Value> at) {
  shared.assign(dims.size(), Lanes());
  owner = b.constantIndex(0);
  for (auto [axis, coordinate] : llvm::enumerate(form.sharedBy)) {
    if (coordinate) {
      shared[axis] = Lanes::index(at.front());
      at = at.drop_front();
    } else if (axis == scattered.back()) {
      owner = b.named("owner", at.front());
      at = at.drop_front();
    }
  }
  for (const Memory &output : frame.outputsOf(scatter.getResult())) {
    TW_RETURN_IF_ERROR(copy(output));
    auto updates = [&] { return walk(output); };
    Value exist = updatesExist();
    TW_RETURN_IF_ERROR(exist ? emitIf(b, exist, updates) : updates());
  }
  return Status::ok();
}

Value OwnerEmitter::countOf(ArrayRef<DimExpr> extents,
                            ArrayRef<unsigned> axes) {
  Lanes count = Lanes::index(1);
  for (unsigned axis : axes) {
    count = b.mul(count, frame.size(extents[axis]));
  }
  return b.first(count);
}

/// Sets the coordinates `axes` to those of an element's number.
void OwnerEmitter::place(Value number, ArrayRef<DimExpr> extents,
                         ArrayRef<unsigned> axes, SmallVectorImpl<Lanes> &at) {
  Value rest = number;
  for (size_t i = axes.size(); i-- > 0;) {
    if (i == 0) {
      at[axes[i]] = Lanes::index(rest);
      break;
    }
    Value extent = frame.sizeValue(extents[axes[i]]);
    at[axes[i]] = Lanes::index(math.mod(rest, extent));
    rest = math.over(rest, extent);
  }
}

/// Copies the owner's elements of the initial tensor. Those past the end are
/// loads of the last.
Status OwnerEmitter::copy(const Memory &output) {
  Value count = countOf(dims, scattered);
  Value last = b.createOrFold<arith::SubIOp>(count, b.constantIndex(1));
  return emitLoop(b, owner, count, owners * together, [&](Value first) {
    SmallVector<SmallVector<Lanes>> places;
    SmallVector<Value> exists;
    SmallVector<Lanes> values;
    for (int64_t i = 0; i < together; ++i) {
      Value number = math.plus(first, i * owners);
      exists.push_back(i == 0 ? Value() : math.isLess(number, count));
      if (i > 0) {
        number = b.createOrFold<arith::MinSIOp>(number, last);
      }
      places.push_back(shared);
      place(number, dims, scattered, places.back());
      Result<Lanes> value = loadInitial(frame, scatter, places.back());
      TW_RETURN_IF_ERROR(value.status());
      values.push_back(*value);
    }
    for (int64_t i = 0; i < together; ++i) {
      auto store = [&] {
        storeLanes(frame, output,
                   offsetOf(frame, output, scatter.getType(), places[i]),
                   values[i], Value());
        return Status::ok();
      };
      TW_RETURN_IF_ERROR(exists[i] ? emitIf(b, exists[i], store) : store());
    }
    return Status::ok();
  });
}

/// A shared axis of the updates may be shorter than the result's. \returns
/// null if none is.
Value OwnerEmitter::updatesExist() {
  Value exist;
  for (auto [axis, coordinate] : llvm::enumerate(form.sharedBy)) {
    if (coordinate && domain[*coordinate] != dims[axis]) {
      exist =
          math.both(exist, math.isLess(b.first(shared[axis]),
                                       frame.sizeValue(domain[*coordinate])));
    }
  }
  return exist;
}

/// \returns whether an update belongs to the owner: its number is below the
/// count, if `isUpdate` is not null, and its place is one of the owner's. Null:
/// always.
Value OwnerEmitter::isOwn(Value isUpdate, ArrayRef<Lanes> places) {
  if (owners == 1) {
    return isUpdate;
  }
  Value number = b.constantIndex(0);
  for (unsigned axis : scattered) {
    number = math.plus(math.times(number, frame.sizeValue(dims[axis])),
                       b.first(places[axis]));
  }
  return math.both(isUpdate,
                   b.create<arith::CmpIOp>(arith::CmpIPredicate::eq,
                                           math.mod(number, owners), owner));
}

/// Walks the updates for the owner's place in order. Some find out at once
/// where they go; past the end they are the last.
Status OwnerEmitter::walk(const Memory &output) {
  Block &body = scatter.getBody().front();
  OperandRange yielded = yieldOf(scatter).getOperands();
  Value count = b.named("updates", countOf(domain, form.walked));
  Value last = b.createOrFold<arith::SubIOp>(count, b.constantIndex(1));
  return emitLoop(b, b.constantIndex(0), count, together, [&](Value first) {
    BodyEmitter emitter(frame, body, Value());
    SmallVector<SmallVector<Lanes>> updates, places(together);
    SmallVector<Value> own;
    for (int64_t i = 0; i < together; ++i) {
      Value number = math.plus(first, i), isUpdate;
      if (i > 0) {
        isUpdate = math.isLess(number, count);
        number = b.createOrFold<arith::MinSIOp>(number, last);
      }
      SmallVector<Lanes> at(domain.size());
      for (auto [axis, coordinate] : llvm::enumerate(form.sharedBy)) {
        if (coordinate) {
          at[*coordinate] = shared[axis];
        }
      }
      place(number, domain, form.walked, at);
      for (Value yieldedPlace : yielded.drop_back()) {
        Result<Lanes> lanes = emitter.emitFor(i, at, yieldedPlace);
        TW_RETURN_IF_ERROR(lanes.status());
        places[i].push_back(*lanes);
      }
      own.push_back(isOwn(isUpdate, places[i]));
      updates.push_back(std::move(at));
    }
    for (int64_t i = 0; i < together; ++i) {
      auto write = [&]() -> Status {
        BodyEmitter ofValue(frame, body, Value());
        Result<Lanes> value = ofValue.emitFor(0, updates[i], yielded.back());
        TW_RETURN_IF_ERROR(value.status());
        emitUpdate(frame, scatter, output, places[i], *value);
        return Status::ok();
      };
      TW_RETURN_IF_ERROR(own[i] ? emitIf(b, own[i], write) : write());
    }
    return Status::ok();
  });
}

Result<twk::KernelOp> OwnedScatter::build(FusedOp op, const TargetSpec &target,
                                          StringRef kernelName,
                                          OpBuilder &builder) const {
  Result<FusedRegion> region = analyseRegion(op);
  TW_RETURN_IF_ERROR(region.status());
  KernelFrame frame(*region, target, kernelName, builder);
  Status status = OwnerEmitter(frame, ownersOf(parametersOf(op))).run();
  if (!status) {
    frame.getKernel()->erase();
    return status;
  }
  return frame.getKernel();
}

} // namespace tilewright::families
