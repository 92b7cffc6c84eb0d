//===- Scatter.cpp - writes at computed places ----------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "codegen/families/sequential/Scatter.h"
#include "codegen/families/emit/BodyEmitter.h"
#include "codegen/families/emit/Guards.h"
#include "codegen/families/emit/MemoryAccess.h"
#include "codegen/families/nest/NestSchedule.h"
#include "codegen/families/nest/Reduction.h"
#include "codegen/families/nest/TaskLoop.h"
#include "ir/TensorTypes.h"

using namespace mlir;
using namespace tilewright::tw;

namespace tilewright::families {

//===----------------------------------------------------------------------===//
// Form, parameters, launch
//===----------------------------------------------------------------------===//

ScatterForm wholeScatterOf(const FusedRegion &region) {
  ScatterForm form;
  form.op = cast<ScatterOp>(region.primitives.front());
  form.sharedBy.resize(dimsOf(form.op.getType()).size());
  for (unsigned i = 0; i < form.op.getDomain().size(); ++i) {
    form.walked.push_back(i);
  }
  return form;
}

ScatterForm scatterFormOf(const FusedRegion &region) {
  ScatterForm form = wholeScatterOf(region);
  OperandRange places = yieldOf(form.op).getOperands().drop_back();
  for (auto [axis, place] : llvm::enumerate(places)) {
    auto argument = dyn_cast<BlockArgument>(place);
    if (!argument) {
      continue;
    }
    auto found = llvm::find(form.walked, argument.getArgNumber());
    if (found != form.walked.end()) { // of a diagonal one axis is enough
      form.sharedBy[axis] = argument.getArgNumber();
      form.walked.erase(found);
    }
  }
  return form;
}

DictionaryAttr ScatterParameters::toAttribute(MLIRContext *context,
                                              StringRef tactic) const {
  Builder b(context);
  NamedAttrList entries;
  entries.set("name", b.getStringAttr(tactic));
  if (chunk > 0) {
    entries.set("chunk", b.getI64IntegerAttr(chunk));
    entries.set("width", b.getI64IntegerAttr(width));
  }
  return entries.getDictionary(context);
}

ScatterParameters ScatterParameters::fromAttribute(DictionaryAttr attribute) {
  ScatterParameters parameters;
  auto read = [&](StringRef entry, int64_t &value) {
    if (auto number = attribute.getAs<IntegerAttr>(entry)) {
      value = number.getInt();
    }
  };
  read("chunk", parameters.chunk);
  read("width", parameters.width);
  return parameters;
}

ScatterParameters chooseScatter(const FusedRegion &region,
                                const TargetSpec &target) {
  constexpr int64_t floatBytes = 4, vectorsOfChunk = 16;
  ScatterParameters parameters;
  parameters.width = target.lanes(floatBytes);
  parameters.chunk = parameters.width * vectorsOfChunk;
  return parameters;
}

static ScatterForm formOf(const FusedRegion &region,
                          const ScatterParameters &parameters) {
  return parameters.chunk > 0 ? scatterFormOf(region) : wholeScatterOf(region);
}

Launch scatterLaunch(const FusedRegion &region,
                     const ScatterParameters &parameters) {
  constexpr int64_t elementsOfThread = 16384;
  MLIRContext *context = region.op.getContext();
  ScatterForm form = formOf(region, parameters);
  Launch launch;
  launch.sizes = sizesOf(region.op);
  launch.workspaceBytes = DimExpr::constant(context, 0);
  launch.tasks = DimExpr::constant(context, 1);
  SmallVector<DimExpr> dims = dimsOf(form.op.getType());
  int64_t copied = 1, written = 1;
  for (auto [axis, coordinate] : llvm::enumerate(form.sharedBy)) {
    DimExpr dim = dims[axis];
    bool isLast = axis + 1 == dims.size();
    if (coordinate) {
      launch.tasks =
          launch.tasks * (isLast ? dim.ceilDiv(parameters.chunk) : dim);
    }
    if (!coordinate || isLast) {
      copied *= guessedExtent(dim, axis == 0);
    }
  }
  for (unsigned coordinate : form.walked) {
    written *= guessedExtent(form.op.getDomain()[coordinate], coordinate == 0);
  }
  if (!form.sharedBy.empty() && form.sharedBy.back()) {
    int64_t chunk =
        std::min(parameters.chunk, guessedExtent(dims.back(), false));
    copied = copied / guessedExtent(dims.back(), false) * chunk;
    written *= chunk;
  }
  launch.grain = std::max<int64_t>(
      1, elementsOfThread / std::max<int64_t>(copied + written, 1));
  return launch;
}

//===----------------------------------------------------------------------===//
// What schedules share
//===----------------------------------------------------------------------===//

Status checkScatter(ScatterOp scatter) {
  Type scalar = scalarType(elementTypeOf(scatter.getType()));
  bool isNarrow = bodyType(scalar) != scalar;
  return isNarrow && scatter.getKind() != FoldKind::Assign
             ? Status(ErrorCode::UnsupportedType,
                      "a scatter cannot fold 8-bit or 4-bit floats")
             : Status::ok();
}

Result<Lanes> loadInitial(KernelFrame &frame, ScatterOp scatter,
                          ArrayRef<Lanes> at) {
  const Memory *initial = frame.memoryOf(scatter.getInit());
  if (!initial) {
    return Status(ErrorCode::Internal,
                  "a scatter's initial tensor has no memory");
  }
  return loadLanes(frame, *initial,
                   offsetOf(frame, *initial, scatter.getType(), at), {});
}

void emitUpdate(KernelFrame &frame, ScatterOp scatter, const Memory &output,
                ArrayRef<Lanes> at, const Lanes &update) {
  LaneBuilder &b = frame.getBuilder();
  Lanes offset = offsetOf(frame, output, scatter.getType(), at);
  if (scatter.getKind() == FoldKind::Assign) {
    storeLanes(frame, output, offset, update, Value());
    return;
  }
  Lanes there = loadLanes(frame, output, offset, {});
  Value old = there.value;
  Value own = there.isVector() ? b.asVector(update) : b.first(update);
  Type type = getElementTypeOrSelf(own.getType());
  bool isSmallFloat = isa<FloatType>(type) && type.getIntOrFloatBitWidth() < 32;
  auto ofLanes = [&](Type scalar) {
    return there.isVector() ? Type(b.vectorOf(scalar)) : scalar;
  };
  if (isSmallFloat) {
    Type wide = ofLanes(b.getF32Type());
    old = b.create<arith::ExtFOp>(wide, old);
    own = b.create<arith::ExtFOp>(wide, own);
  }
  bool isUnsignedFold =
      isUnsigned(elementTypeOf(scatter.getType())) || type.isInteger(1);
  Value joined = fold(b, scatter.getKind(), isUnsignedFold, old, own);
  if (isSmallFloat) {
    joined = b.create<arith::TruncFOp>(ofLanes(type), joined);
  }
  storeLanes(frame, output, offset,
             there.isVector() ? Lanes::vector(joined) : Lanes::scalar(joined),
             Value());
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

namespace {

class ScatterEmitter {
public:
  ScatterEmitter(KernelFrame &frame, const ScatterParameters &parameters)
      : frame(frame), b(frame.getBuilder()), parameters(parameters),
        form(formOf(frame.getRegion(), parameters)), scatter(form.op),
        dims(dimsOf(scatter.getType())), domain(scatter.getDomain()) {}

  Status run();

private:
  Status task(ArrayRef<Value> at);
  Status copy(const Memory &output, SmallVector<Lanes> &at, size_t axis);
  Status walk(const Memory &output, SmallVector<Lanes> &at, size_t number);
  Status update(const Memory &output, ArrayRef<Lanes> at,
                SmallVector<Lanes> places = {});
  Status alongLast(Value from, Value to, int64_t width,
                   llvm::function_ref<Status(const Lanes &)> body);
  bool sharesLast() const {
    return !form.sharedBy.empty() && form.sharedBy.back();
  }
  bool placesStay();
  Result<SmallVector<Lanes>> placesAt(ArrayRef<Lanes> at);

  KernelFrame &frame;
  LaneBuilder &b;
  const ScatterParameters &parameters;
  ScatterForm form;
  ScatterOp scatter;
  SmallVector<DimExpr> dims, domain;
  /// Of the task: its places on shared axes, and its part of the last one.
  SmallVector<std::optional<Lanes>> own;
  Value from, to;
};

} // namespace

Status ScatterEmitter::run() {
  TW_RETURN_IF_ERROR(checkScatter(scatter));
  SmallVector<Lanes> counts;
  for (auto [axis, coordinate] : llvm::enumerate(form.sharedBy)) {
    if (coordinate) {
      bool isLast = axis + 1 == dims.size();
      counts.push_back(frame.size(isLast ? dims[axis].ceilDiv(parameters.chunk)
                                         : dims[axis]));
    }
  }
  return emitTaskLoop(frame, counts,
                      [&](ArrayRef<Value> at) { return task(at); });
}

Status ScatterEmitter::task(ArrayRef<Value> at) {
  own.assign(dims.size(), std::nullopt);
  size_t next = 0;
  for (auto [axis, coordinate] : llvm::enumerate(form.sharedBy)) {
    if (!coordinate) {
      continue;
    }
    Lanes place = Lanes::index(at[next++]);
    if (axis + 1 == dims.size()) {
      Lanes chunk = Lanes::index(parameters.chunk);
      Lanes start = b.mul(place, chunk);
      from = b.first(start);
      to = b.first(b.min(b.add(start, chunk), frame.size(dims[axis])));
    } else {
      own[axis] = place;
    }
  }
  for (const Memory &output : frame.outputsOf(scatter.getResult())) {
    SmallVector<Lanes> start;
    TW_RETURN_IF_ERROR(copy(output, start, 0));
    // A shared axis of the updates may be shorter than the result's.
    Value exists;
    SmallVector<Lanes> places(domain.size());
    for (auto [axis, coordinate] : llvm::enumerate(form.sharedBy)) {
      if (!coordinate || !own[axis]) {
        continue;
      }
      places[*coordinate] = *own[axis];
      if (domain[*coordinate] != dims[axis]) {
        Value isUpdate = b.create<arith::CmpIOp>(
            arith::CmpIPredicate::slt, b.first(*own[axis]),
            frame.sizeValue(domain[*coordinate]));
        exists = exists ? b.create<arith::AndIOp>(exists, isUpdate) : isUpdate;
      }
    }
    auto updates = [&] { return walk(output, places, 0); };
    TW_RETURN_IF_ERROR(exists ? emitIf(b, exists, updates) : updates());
  }
  return Status::ok();
}

/// Whole vectors, then single elements.
Status
ScatterEmitter::alongLast(Value from, Value to, int64_t width,
                          llvm::function_ref<Status(const Lanes &)> body) {
  Value tail = from;
  if (width > 1) {
    Lanes count =
        b.max(b.sub(Lanes::index(to), Lanes::index(from)), Lanes::index(0));
    Lanes whole =
        b.mul(b.floorDiv(count, Lanes::index(width)), Lanes::index(width));
    tail = b.first(b.add(Lanes::index(from), whole));
    b.setWidth(width);
    Status status = emitLoop(b, from, tail, width, [&](Value at) {
      return body(Lanes::coordinate(at, 1));
    });
    b.setWidth(1);
    TW_RETURN_IF_ERROR(status);
  }
  return emitLoop(b, tail, to, 1,
                  [&](Value at) { return body(Lanes::index(at)); });
}

/// Copies what the task has of the initial tensor.
Status ScatterEmitter::copy(const Memory &output, SmallVector<Lanes> &at,
                            size_t axis) {
  if (axis == dims.size()) {
    Result<Lanes> value = loadInitial(frame, scatter, at);
    TW_RETURN_IF_ERROR(value.status());
    storeLanes(frame, output, offsetOf(frame, output, scatter.getType(), at),
               *value, Value());
    return Status::ok();
  }
  auto next = [&](const Lanes &place) {
    at.push_back(place);
    Status status = copy(output, at, axis + 1);
    at.pop_back();
    return status;
  };
  if (own[axis]) {
    return next(*own[axis]);
  }
  if (axis + 1 < dims.size()) {
    return emitLoop(b, b.constantIndex(0), frame.sizeValue(dims[axis]), 1,
                    [&](Value place) { return next(Lanes::index(place)); });
  }
  return sharesLast()
             ? alongLast(from, to, parameters.width, next)
             : alongLast(b.constantIndex(0), frame.sizeValue(dims[axis]),
                         parameters.width, next);
}

/// Walks the updates' coordinates that are not shared in order, then the
/// task's part of the last axis.
Status ScatterEmitter::walk(const Memory &output, SmallVector<Lanes> &at,
                            size_t number) {
  if (number < form.walked.size()) {
    unsigned coordinate = form.walked[number];
    return emitLoop(b, b.constantIndex(0), frame.sizeValue(domain[coordinate]),
                    1, [&](Value place) {
                      at[coordinate] = Lanes::index(place);
                      return walk(output, at, number + 1);
                    });
  }
  if (!sharesLast()) {
    return update(output, at);
  }
  unsigned coordinate = *form.sharedBy.back();
  Value end = to;
  if (domain[coordinate] != dims.back()) {
    end = b.first(b.min(Lanes::index(to), frame.size(domain[coordinate])));
  }
  bool isVector = placesStay();
  SmallVector<Lanes> places;
  if (isVector) {
    Result<SmallVector<Lanes>> found = placesAt(at);
    TW_RETURN_IF_ERROR(found.status());
    places = *found;
  }
  return alongLast(from, end, isVector ? parameters.width : 1,
                   [&](const Lanes &place) {
                     at[coordinate] = place;
                     if (isVector) {
                       places.back() = place;
                     }
                     return update(output, at, places);
                   });
}

/// Whether one place on the other axes is that of all along the last one.
bool ScatterEmitter::placesStay() {
  BlockArgument last =
      scatter.getBody().front().getArgument(*form.sharedBy.back());
  OperandRange places = yieldOf(scatter).getOperands().drop_back(2);
  return llvm::none_of(places,
                       [&](Value place) { return dependsOn(place, last); });
}

/// The places that stay, and an empty one.
Result<SmallVector<Lanes>> ScatterEmitter::placesAt(ArrayRef<Lanes> at) {
  BodyEmitter emitter(frame, scatter.getBody().front(), Value());
  SmallVector<Lanes> places;
  for (Value place : yieldOf(scatter).getOperands().drop_back(2)) {
    Result<Lanes> lanes = emitter.emitFor(0, at, place);
    TW_RETURN_IF_ERROR(lanes.status());
    places.push_back(*lanes);
  }
  places.push_back(Lanes());
  return places;
}

/// \param places where the update goes, if that is known already.
Status ScatterEmitter::update(const Memory &output, ArrayRef<Lanes> at,
                              SmallVector<Lanes> places) {
  BodyEmitter emitter(frame, scatter.getBody().front(), Value());
  OperandRange yielded = yieldOf(scatter).getOperands();
  if (!places.empty()) {
    Result<Lanes> value = emitter.emitFor(0, at, yielded.back());
    TW_RETURN_IF_ERROR(value.status());
    emitUpdate(frame, scatter, output, places, *value);
    return Status::ok();
  }
  TW_RETURN_IF_ERROR(emitter.emit(0, at));
  for (Value place : yielded.drop_back()) {
    places.push_back(emitter.get(place));
  }
  emitUpdate(frame, scatter, output, places, emitter.get(yielded.back()));
  return Status::ok();
}

Result<twk::KernelOp> buildScatter(const FusedRegion &region,
                                   const ScatterParameters &parameters,
                                   const TargetSpec &target, StringRef name,
                                   OpBuilder &builder) {
  KernelFrame frame(region, target, name, builder);
  return frame.finish(ScatterEmitter(frame, parameters).run());
}

} // namespace tilewright::families
