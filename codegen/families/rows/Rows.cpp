//===- Rows.cpp - regions that work row by row ----------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "codegen/families/rows/Rows.h"
#include "codegen/families/emit/BodyEmitter.h"
#include "codegen/families/emit/MemoryAccess.h"
#include "codegen/families/nest/Reduction.h"
#include "codegen/families/nest/Streaming.h"
#include "codegen/families/nest/TaskLoop.h"
#include "codegen/families/rows/RowEmitter.h"
#include "codegen/families/rows/Team.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "passes/fuse/Access.h"

using namespace mlir;
using namespace tilewright::tw;

namespace tilewright::families {

//===----------------------------------------------------------------------===//
// Parameters and launch
//===----------------------------------------------------------------------===//

DictionaryAttr RowParameters::toAttribute(MLIRContext *context,
                                          StringRef tactic) const {
  Builder b(context);
  SmallVector<NamedAttribute> entries = {
      b.getNamedAttr("name", b.getStringAttr(tactic)),
      b.getNamedAttr("width", b.getI64IntegerAttr(width))};
  if (wide) {
    entries.push_back(b.getNamedAttr("wide", b.getUnitAttr()));
  }
  return b.getDictionaryAttr(entries);
}

RowParameters RowParameters::fromAttribute(DictionaryAttr attribute) {
  RowParameters result;
  if (auto width = attribute.getAs<IntegerAttr>("width")) {
    result.width = width.getInt();
  }
  result.wide = attribute.contains("wide");
  return result;
}

/// A map's extents within a row.
static SmallVector<DimExpr> innerExtents(const FusedRegion &region,
                                         Operation *primitive) {
  SmallVector<DimExpr> domain = domainOf(primitive);
  domain.erase(domain.begin(), domain.begin() + region.rows);
  return domain;
}

/// What the primitives of the region load.
static llvm::DenseSet<Value> loadedValues(const FusedRegion &region) {
  llvm::DenseSet<Value> loaded;
  for (Operation *primitive : region.primitives) {
    primitive->walk(
        [&](LoadOp load) { loaded.insert(stripReshapes(load.getSource())); });
  }
  return loaded;
}

/// The values that later primitives read and that neither a register nor an
/// output holds: each gets a buffer of one row, 64-byte aligned.
static SmallVector<Value> rowBuffers(const FusedRegion &region) {
  llvm::DenseSet<Value> yielded, loaded = loadedValues(region);
  for (Value value : region.getYield().getOperands()) {
    yielded.insert(stripReshapes(value));
  }
  SmallVector<Value> buffers;
  for (Operation *primitive : region.primitives) {
    if (!isa<MapOp>(primitive) || innerExtents(region, primitive).empty()) {
      continue;
    }
    for (Value result : primitive->getResults()) {
      if (loaded.contains(result) && !yielded.contains(result)) {
        buffers.push_back(result);
      }
    }
  }
  return buffers;
}

static DimExpr rowElements(const FusedRegion &region, Value value) {
  return productOf(region.op.getContext(),
                   innerExtents(region, value.getDefiningOp()));
}

/// The bytes of a row buffer, rounded up to whole cache lines.
static DimExpr rowBytes(const FusedRegion &region, Value value) {
  constexpr int64_t lineBytes = 64;
  DimExpr bytes =
      rowElements(region, value) * storageBytes(elementTypeOf(value.getType()));
  return bytes.ceilDiv(lineBytes) * lineBytes;
}

DimExpr rowWorkspace(const FusedRegion &region) {
  DimExpr bytes = DimExpr::constant(region.op.getContext(), 0);
  for (Value value : rowBuffers(region)) {
    bytes = bytes + rowBytes(region, value);
  }
  return bytes;
}

Launch rowsLaunch(const FusedRegion &region) {
  MLIRContext *context = region.op.getContext();
  constexpr int64_t stepsPerThread = 8192, unknownExtent = 64;
  Launch launch;
  launch.sizes = sizesOf(region.op);
  launch.tasks = productOf(context, region.parallel);
  launch.inPlace = true;
  launch.workspaceBytes = rowWorkspace(region);
  int64_t steps = 0;
  for (Operation *primitive : region.primitives) {
    int64_t own = 1;
    for (DimExpr extent : innerExtents(region, primitive)) {
      own = std::min(own * std::max<int64_t>(
                               extent.getConstant().value_or(unknownExtent), 1),
                     stepsPerThread);
    }
    steps += own;
  }
  launch.grain =
      std::max<int64_t>(1, stepsPerThread / std::max<int64_t>(steps, 1));
  return launch;
}

/// True if the load reads an operand of the region element by element.
static bool readsOperand(LoadOp load) {
  return isa<BlockArgument>(stripReshapes(load.getSource())) &&
         readsAtOwnCoordinates(load) &&
         load.getIndices().size() == domainOf(primitiveOf(load)).size();
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

Status RowEmitter::run() {
  makeBuffers(Lanes::index(0));
  for (Operation *primitive : region.primitives) {
    auto map = dyn_cast<MapOp>(primitive);
    if (map && region.rows > 0 && !frame.getTarget().isGpu() &&
        llvm::any_of(map.getBody().getOps<LoadOp>(), readsOperand)) {
      prefetching = map;
    }
  }
  SmallVector<Lanes> counts;
  for (DimExpr extent : region.parallel) {
    counts.push_back(frame.size(extent));
  }
  return emitStreaming(frame, finalResults(), [&] {
    return emitTaskLoop(frame, counts,
                        [&](ArrayRef<Value> at) { return row(at); });
  });
}

/// The results of maps that no later primitive reads.
SmallVector<Value> RowEmitter::finalResults() {
  llvm::DenseSet<Value> loaded = loadedValues(region);
  SmallVector<Value> results;
  for (Operation *primitive : region.primitives) {
    if (isa<MapOp>(primitive) && !innerExtents(region, primitive).empty()) {
      llvm::copy_if(primitive->getResults(), std::back_inserter(results),
                    [&](Value value) { return !loaded.contains(value); });
    }
  }
  return results;
}

/// Results that are read again are read from their output.
Lanes RowEmitter::makeBuffers(Lanes offset) {
  for (Value value : region.getYield().getOperands()) {
    Value source = stripReshapes(value);
    frame.setMemory(source, frame.outputsOf(source).front());
  }
  SmallVector<Value> buffers = rowBuffers(region);
  if (buffers.empty()) {
    return offset;
  }
  auto bytesOf = [&](Value value) {
    int64_t bytes = storageBytes(elementTypeOf(value.getType()));
    return frame.wholeLines(
        b.mul(frame.size(rowElements(region, value)), Lanes::index(bytes)));
  };
  Lanes total = offset;
  for (Value value : buffers) {
    total = b.add(total, bytesOf(value));
  }
  Value workspace = frame.workspace(total);
  for (Value value : buffers) {
    Type element = elementTypeOf(value.getType());
    auto type = MemRefType::get({ShapedType::kDynamic}, storageType(element));
    Value elements = frame.sizeValue(rowElements(region, value));
    Value view = b.create<memref::ViewOp>(type, workspace, b.first(offset),
                                          ValueRange(elements));
    frame.setMemory(value, {view, element, region.rows});
    offset = b.add(offset, bytesOf(value));
  }
  return offset;
}

Status RowEmitter::row(ArrayRef<Value> at) {
  frame.clearRegisters();
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

Status RowEmitter::reduction(ReduceOp reduce) {
  ReductionPlan plan;
  plan.op = reduce;
  plan.axes = plainAxes(reduce.getExtents().getDims());
  plan.innerWidth = reduce.isArg() || plan.axes.empty() ? 1 : parameters.width;
  plan.wide = parameters.wide;
  SmallVector<SmallVector<Lanes>> copies = {rowAt};
  Result<SmallVector<Lanes>> result =
      emitReduction(frame, plan, copies, Value());
  TW_RETURN_IF_ERROR(result.status());
  Value value = reduce.getResult();
  return keepScalar(value, result->front());
}

/// A scalar of the row: in a register, and written where it is an output.
Status RowEmitter::keepScalar(Value value, const Lanes &lanes) {
  frame.setRegister(value, 0, lanes);
  return storeForOne(frame, value, rowAt, lanes);
}

/// Whether a later primitive loads a result of `map`.
bool RowEmitter::isReadInRow(MapOp map) {
  llvm::DenseSet<Value> loaded = loadedValues(region);
  return llvm::any_of(map.getResults(),
                      [&](Value value) { return loaded.contains(value); });
}

Status RowEmitter::map(MapOp map) {
  SmallVector<DimExpr> inner = innerExtents(region, map);
  SmallVector<Lanes> coordinates = rowAt;
  coordinates.append(inner.size(), Lanes::index(0));
  if (!inner.empty()) {
    TW_RETURN_IF_ERROR(mapLoops(map, plainAxes(inner), coordinates));
    // Others of the team may read what this thread has written.
    if (frame.teamSize() > 1 && isReadInRow(map)) {
      b.create<gpu::BarrierOp>();
    }
    return Status::ok();
  }
  BodyEmitter emitter(frame, map.getBody().front(), Value());
  TW_RETURN_IF_ERROR(emitter.emit(0, coordinates));
  for (auto [result, yielded] :
       llvm::zip(map.getResults(), yieldOf(map).getOperands())) {
    TW_RETURN_IF_ERROR(keepScalar(result, emitter.get(yielded)));
  }
  return Status::ok();
}

Status RowEmitter::mapLoops(MapOp map, ArrayRef<TileAxis> axes,
                            SmallVector<Lanes> coordinates) {
  if (axes.empty()) {
    return mapPoint(map, coordinates, Value());
  }
  const TileAxis &axis = axes.front();
  if (axes.size() == 1 && parameters.width > 1) {
    return mapVectors(map, axis, coordinates);
  }
  bool isShared = frame.teamSize() > 1 && axes.size() == 1;
  Value first = isShared ? frame.laneOfTeam() : b.constantIndex(0);
  return emitLoop(b, first, frame.sizeValue(axis.extent),
                  isShared ? frame.teamSize() : 1, [&](Value at) {
                    coordinates[region.rows + axis.last] = Lanes::index(at);
                    return mapLoops(map, axes.drop_front(), coordinates);
                  });
}

/// For a map whose only result streams to rows that begin anywhere: the
/// elements of a row in front of the first whole line. Null where there is
/// nothing to line up.
Value RowEmitter::unalignedHead(MapOp map, const TileAxis &axis,
                                ArrayRef<Lanes> coordinates) {
  /// A row of fewer vectors would lose more to masks than it gains.
  constexpr int64_t fewVectors = 8;
  ArrayRef<Memory> outputs = frame.outputsOf(map.getResult(0));
  int64_t least = fewVectors * parameters.width;
  if (axis.extent.getConstant().value_or(least) < least ||
      map->getNumResults() != 1 || outputs.size() != 1 ||
      !outputs.front().isStreamed || !frame.getTarget().hasMaskedOps) {
    return Value();
  }
  const Memory &memory = outputs.front();
  int64_t lanes = frame.getTarget().vectorBytes / storageBytes(memory.element);
  Lanes start =
      offsetOf(frame, memory, map.getResult(0).getType(), coordinates);
  if (lanes <= 1 || start.firstAlignment() % lanes == 0) {
    return Value();
  }
  // The buffer begins at a whole line: that is the condition for streaming.
  Value rest = b.create<arith::SubIOp>(b.constantIndex(0), b.first(start));
  Value head = b.create<arith::AndIOp>(rest, b.constantIndex(lanes - 1));
  return b.create<arith::MinSIOp>(head, frame.sizeValue(axis.extent));
}

/// The elements of a row in [from, end), at most a vector, under a mask.
Status RowEmitter::maskedVector(MapOp map, const TileAxis &axis,
                                SmallVector<Lanes> coordinates, Value from,
                                Value end) {
  Value isThere = b.create<arith::CmpIOp>(arith::CmpIPredicate::slt, from, end);
  return emitIf(b, isThere, [&] {
    b.setWidth(parameters.width);
    Value left = b.create<arith::SubIOp>(end, from);
    Value mask =
        b.create<vector::CreateMaskOp>(b.vectorOf(b.getI1Type()), left);
    coordinates[region.rows + axis.last] =
        Lanes::coordinate(from, parameters.width);
    Status status = mapPoint(map, coordinates, mask);
    b.setWidth(1);
    return status;
  });
}

Status RowEmitter::mapVectors(MapOp map, const TileAxis &axis,
                              SmallVector<Lanes> coordinates) {
  int64_t width = parameters.width;
  Lanes &coordinate = coordinates[region.rows + axis.last];
  std::optional<int64_t> extent = axis.extent.getConstant();
  Value head = unalignedHead(map, axis, coordinates);
  Value begin = head ? head : b.constantIndex(0);
  if (head) {
    TW_RETURN_IF_ERROR(
        maskedVector(map, axis, coordinates, b.constantIndex(0), head));
  }
  Lanes count = head ? b.sub(frame.size(axis.extent), Lanes::index(head))
                     : frame.size(axis.extent);
  Lanes blocks = b.floorDiv(count, Lanes::index(width));
  Value mainEnd =
      b.first(b.add(b.mul(blocks, Lanes::index(width)), Lanes::index(begin)));
  Value end = frame.sizeValue(axis.extent);
  if (!extent || *extent >= width) {
    linesUp = head != nullptr;
    Status status = emitLoop(b, begin, mainEnd, width, [&](Value at) {
      b.setWidth(width);
      coordinate = Lanes::coordinate(at, head ? 1 : width);
      if (map == prefetching) {
        prefetchNextRow(map, coordinates);
      }
      Status point = mapPoint(map, coordinates, Value());
      b.setWidth(1);
      return point;
    });
    linesUp = false;
    TW_RETURN_IF_ERROR(status);
  }
  if (!head && extent && *extent % width == 0) {
    return Status::ok();
  }
  if (frame.getTarget().hasMaskedOps) {
    return maskedVector(map, axis, coordinates, mainEnd, end);
  }
  return emitLoop(b, mainEnd, end, 1, [&](Value at) {
    coordinate = Lanes::index(at);
    return mapPoint(map, coordinates, Value());
  });
}

/// A row's passes over the caches leave the memory idle: the last one asks for
/// the next row.
void RowEmitter::prefetchNextRow(MapOp map, ArrayRef<Lanes> coordinates) {
  constexpr int64_t lineBytes = 64, secondCache = 2; // as in llvm.prefetch
  constexpr int64_t leastAhead = 2048;
  SmallVector<Lanes> next(coordinates);
  Lanes &row = next[region.rows - 1];
  int64_t rowBytes = 1;
  for (DimExpr extent : innerExtents(region, map)) {
    rowBytes *= std::max<int64_t>(extent.getConstant().value_or(leastAhead), 1);
    rowBytes = std::min(rowBytes, leastAhead);
  }
  for (LoadOp load : map.getBody().getOps<LoadOp>()) {
    if (!readsOperand(load)) {
      continue;
    }
    const Memory &memory = *frame.memoryOf(load.getSource());
    int64_t rows =
        llvm::divideCeil(leastAhead, rowBytes * storageBytes(memory.element));
    row = b.add(coordinates[region.rows - 1], Lanes::index(rows));
    Lanes offset = offsetOf(frame, memory, load.getSource().getType(), next);
    int64_t elements = lineBytes / storageBytes(memory.element);
    for (int64_t i = 0; i < parameters.width; i += elements) {
      Value at = b.first(b.add(offset, Lanes::index(i)));
      b.create<memref::PrefetchOp>(memory.memref, at, /*isWrite=*/false,
                                   secondCache, /*isDataCache=*/true);
    }
  }
}

/// Evaluates a map at one place of the row and writes it where it is needed.
Status RowEmitter::mapPoint(MapOp map, ArrayRef<Lanes> coordinates,
                            Value activeLanes) {
  BodyEmitter emitter(frame, map.getBody().front(), activeLanes);
  TW_RETURN_IF_ERROR(emitter.emit(0, coordinates));
  for (auto [result, yielded] :
       llvm::zip(map.getResults(), yieldOf(map).getOperands())) {
    SmallVector<Memory> targets(frame.outputsOf(result));
    if (targets.empty()) {
      if (const Memory *buffer = frame.memoryOf(result)) {
        targets.push_back(*buffer);
      }
    }
    for (Memory &memory : targets) {
      memory.linesUp = linesUp;
      storeLanes(frame, memory,
                 offsetOf(frame, memory, result.getType(), coordinates),
                 emitter.get(yielded), activeLanes);
    }
  }
  return Status::ok();
}

Result<twk::KernelOp> buildRows(const FusedRegion &region,
                                const RowParameters &parameters,
                                const TargetSpec &target, StringRef name,
                                OpBuilder &builder) {
  KernelFrame frame(region, target, name, builder);
  return frame.finish(RowEmitter(frame, region, parameters).run());
}

} // namespace tilewright::families
