//===- SharedTile.cpp - a factor's tile in shared memory ------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "codegen/families/contract/SharedTile.h"
#include "codegen/families/emit/BodyEmitter.h"
#include "codegen/families/emit/IndexMath.h"
#include "codegen/families/emit/MemoryAccess.h"
#include "codegen/families/nest/TaskLoop.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tilewright::tw;

namespace tilewright::families {

/// Chunks of 16 bytes in one row of all 32 banks.
constexpr int64_t chunksOfBanks = 8;

//===----------------------------------------------------------------------===//
// Layout
//===----------------------------------------------------------------------===//

SharedTile::SharedTile(const Factor &factor, ArrayRef<unsigned> coordinates,
                       int64_t positions, int64_t depth, int64_t stages,
                       bool likeMemory)
    : factor(factor), coordinates(coordinates), positions(positions),
      depth(depth), stages(stages), elementBytes(storageBytes(factor.element)) {
  isTransposed = llvm::is_contained(
      coordinates, static_cast<unsigned>(factor.mostlyContiguous));
  // ldmatrix transposes elements of 16 bits; others are as they are read.
  alongDepth = !isTransposed || (elementBytes != 2 && !likeMemory);
}

Value SharedTile::permutationOf(LaneBuilder &b, Value line) const {
  int64_t chunks = std::min(chunksOfLine(), chunksOfBanks);
  IndexMath math(b);
  return math.mod(math.over(line, chunksOfBanks / chunks), chunks);
}

Value SharedTile::offsetOf(LaneBuilder &b, Value stage, Value line, Value chunk,
                           Value permutation) const {
  IndexMath math(b);
  Value place = b.createOrFold<arith::XOrIOp>(chunk, permutation);
  Value start = math.plus(math.times(stage, elements()),
                          math.times(line, lineElements()));
  return math.plus(start, math.times(place, chunkElements()));
}

void splitIndex(KernelFrame &frame, const MatrixProduct &contraction,
                ArrayRef<unsigned> group, Value index,
                MutableArrayRef<Lanes> coordinates) {
  LaneBuilder &b = frame.getBuilder();
  IndexMath math(b);
  SmallVector<unsigned> wide;
  for (unsigned coordinate : group) {
    if (contraction.extentOf(coordinate).isConstant(1)) {
      coordinates[coordinate] = Lanes::index(0);
    } else {
      wide.push_back(coordinate);
    }
  }
  for (unsigned coordinate : llvm::reverse(wide)) {
    if (coordinate == wide.front()) {
      coordinates[coordinate] = Lanes::index(index);
      return;
    }
    Value extent = frame.sizeValue(contraction.extentOf(coordinate));
    coordinates[coordinate] = Lanes::index(math.mod(index, extent));
    index = math.over(index, extent);
  }
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

TileCopy::TileCopy(KernelFrame &frame, const MatrixProduct &contraction,
                   const SharedTile &tile, Value thread, int64_t threads,
                   Value firstPosition, ArrayRef<Lanes> batch)
    : frame(frame), b(frame.getBuilder()), contraction(contraction), tile(tile),
      thread(thread), threads(threads), firstPosition(firstPosition),
      batch(batch) {}

std::optional<Value> whenChunksAreWhole(KernelFrame &frame,
                                        const Factor &factor, DimExpr extent,
                                        int64_t elements) {
  LoadOp load = factor.load;
  const Memory &memory = *frame.memoryOf(load.getSource());
  SmallVector<DimExpr> dims = dimsOf(load.getSource().getType());
  size_t axis = dims.size();
  while (axis > 0 && dims[axis - 1].isConstant(1)) {
    --axis;
  }
  if (factor.contiguous < 0 || axis == 0) {
    return std::nullopt;
  }
  SmallVector<DimExpr> multiples = {extent};
  if (memory.slice) {
    dims = dimsOf(memory.slice->whole);
    if (memory.slice->axis == axis - 1) {
      multiples.push_back(memory.slice->offset);
    }
  }
  for (DimExpr behind : ArrayRef(dims).drop_front(axis)) {
    if (!behind.isConstant(1)) {
      return std::nullopt;
    }
  }
  multiples.push_back(dims[axis - 1]);
  LaneBuilder &b = frame.getBuilder();
  IndexMath math(b);
  Value aligned;
  for (DimExpr multiple : multiples) {
    if (std::optional<int64_t> constant = multiple.getConstant()) {
      if (*constant % elements != 0) {
        return std::nullopt;
      }
      continue;
    }
    aligned = math.both(aligned,
                        math.isMultiple(frame.sizeValue(multiple), elements));
  }
  return aligned;
}

void copyChunk(LaneBuilder &b, Value shared, Value to, const Memory &memory,
               Value from, Value inside, int64_t elements, bool isWhole) {
  Value count = b.constantIndex(elements);
  if (inside) {
    Value zero = b.constantIndex(0);
    from = b.create<arith::SelectOp>(inside, from, zero);
    count = b.create<arith::SelectOp>(inside, count, zero);
  }
  b.create<nvgpu::DeviceAsyncCopyOp>(
      nvgpu::DeviceAsyncTokenType::get(b.getContext()), shared, ValueRange(to),
      memory.memref, ValueRange(from), b.getIndexAttr(elements), count,
      isWhole ? b.getUnitAttr() : UnitAttr());
}

/// Decides whether chunks can be copied as such.
void TileCopy::prepare() {
  ArrayRef<unsigned> along =
      tile.alongDepth ? ArrayRef(contraction.depth) : tile.coordinates;
  if (along.empty() ||
      along.back() != static_cast<unsigned>(tile.factor.contiguous)) {
    return;
  }
  std::optional<Value> aligned =
      whenChunksAreWhole(frame, tile.factor, contraction.extentOf(along.back()),
                         tile.chunkElements());
  if (aligned) {
    mayBeAligned = true;
    isAligned = *aligned ? b.named("aligned", *aligned) : Value();
  }
}

Result<TileCopy::Address> TileCopy::addressOf(Value position, Value depth) {
  SmallVector<Lanes> coordinates = batch;
  splitIndex(frame, contraction, tile.coordinates, position, coordinates);
  splitIndex(frame, contraction, contraction.depth, depth, coordinates);
  LoadOp load = tile.factor.load;
  BodyEmitter emitter(frame, contraction.body(), Value());
  SmallVector<Lanes> indices;
  for (Value index : load.getIndices()) {
    Result<Lanes> lanes = emitter.emitFor(0, coordinates, index);
    TW_RETURN_IF_ERROR(lanes.status());
    indices.push_back(*lanes);
  }
  Address address;
  IndexMath math(b);
  auto bound = [&](Value value, ArrayRef<unsigned> group, int64_t tileSize) {
    DimExpr extent = contraction.extentOf(group);
    std::optional<int64_t> constant = extent.getConstant();
    if (constant && *constant % tileSize == 0) {
      return;
    }
    Lanes limit = Lanes::index(1);
    for (unsigned coordinate : group) {
      limit = b.mul(limit, frame.size(contraction.extentOf(coordinate)));
    }
    address.inside =
        math.both(address.inside, math.isLess(value, b.first(limit)));
  };
  bound(position, tile.coordinates, tile.positions);
  bound(depth, contraction.depth, tile.depth);
  if (load.getGuard()) {
    Result<Lanes> guard = emitter.emitFor(0, coordinates, load.getGuard());
    TW_RETURN_IF_ERROR(guard.status());
    address.inside = math.both(address.inside, guard->value);
  }
  const Memory &memory = *frame.memoryOf(load.getSource());
  address.offset =
      b.first(offsetOf(frame, memory, load.getSource().getType(), indices));
  return address;
}

Status TileCopy::emit(Value step, Value stage) {
  if (!mayBeAligned) {
    return copyElements(step, stage);
  }
  if (!isAligned) {
    return copyChunks(step, stage);
  }
  auto branch = b.create<scf::IfOp>(isAligned, /*withElse=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  TW_RETURN_IF_ERROR(copyChunks(step, stage));
  b.setInsertionPointToStart(branch.elseBlock());
  return copyElements(step, stage);
}

/// Asynchronous copies of whole chunks.
Status TileCopy::copyChunks(Value step, Value stage) {
  int64_t chunks = tile.lines() * tile.chunksOfLine();
  IndexMath math(b);
  Value firstDepth = math.times(step, tile.depth);
  auto copy = [&](Value number) -> Status {
    Value line = b.named("line", math.over(number, tile.chunksOfLine()));
    Value chunk = b.named("chunk", math.mod(number, tile.chunksOfLine()));
    Value within = math.times(chunk, tile.chunkElements());
    Value position = math.plus(firstPosition, tile.alongDepth ? line : within);
    Value depth = math.plus(firstDepth, tile.alongDepth ? within : line);
    Result<Address> address = addressOf(position, depth);
    TW_RETURN_IF_ERROR(address.status());
    copyAsync(*address,
              tile.offsetOf(b, stage, line, chunk, tile.permutationOf(b, line)),
              tile.chunkElements());
    return Status::ok();
  };
  return overThreads(chunks, copy);
}

/// Starts a copy; what is outside of the factor becomes zeros.
void TileCopy::copyAsync(const Address &from, Value to, int64_t count) {
  copyChunk(b, tile.memory, to,
            *frame.memoryOf(LoadOp(tile.factor.load).getSource()), from.offset,
            from.inside, count, count == tile.chunkElements());
}

Attribute unrollOfCopies(LaneBuilder &b, int64_t count, int64_t threads) {
  // What does not change from step to step of each copy that is written out
  // takes registers.
  constexpr int64_t most = 8, few = 4;
  return count > most * threads ? Attribute(b.getI64IntegerAttr(few))
                                : Attribute(b.getUnitAttr());
}

Status TileCopy::overThreads(int64_t count,
                             llvm::function_ref<Status(Value)> body) {
  IndexMath math(b);
  auto loop = b.create<scf::ForOp>(
      b.constantIndex(0), b.constantIndex(llvm::divideCeil(count, threads)),
      b.constantIndex(1));
  loop->setAttr(twk::nameAttr, b.getStringAttr("part"));
  loop->setAttr(twk::unrollAttr, unrollOfCopies(b, count, threads));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value number = b.named(
      "number", math.plus(thread, math.times(loop.getInductionVar(), threads)));
  if (count % threads == 0) {
    return body(number);
  }
  return emitIf(b, math.isLess(number, b.constantIndex(count)),
                [&] { return body(number); });
}

/// Asynchronous copies of single elements of 4 bytes. Threads side by side take
/// neighbours of a line, which lie side by side in memory.
Status TileCopy::copySingles(Value step, Value stage) {
  IndexMath math(b);
  Value firstDepth = math.times(step, tile.depth);
  return overThreads(tile.elements(), [&](Value number) -> Status {
    Value line = b.named("line", math.over(number, tile.lineElements()));
    Value within = b.named("within", math.mod(number, tile.lineElements()));
    Value position = math.plus(firstPosition, tile.alongDepth ? line : within);
    Value depth = math.plus(firstDepth, tile.alongDepth ? within : line);
    Result<Address> address = addressOf(position, depth);
    TW_RETURN_IF_ERROR(address.status());
    Value to =
        tile.offsetOf(b, stage, line, math.over(within, tile.chunkElements()),
                      tile.permutationOf(b, line));
    copyAsync(*address, math.plus(to, math.mod(within, tile.chunkElements())),
              1);
    return Status::ok();
  });
}

/// Element by element: any alignment, any order. What is smaller than 4 bytes,
/// or lies across the lines, goes through registers.
Status TileCopy::copyElements(Value step, Value stage) {
  if (tile.elementBytes == 4 && tile.alongDepth != tile.isTransposed) {
    return copySingles(step, stage);
  }
  int64_t chunks = tile.lines() * tile.chunksOfLine();
  IndexMath math(b);
  Value firstDepth = math.times(step, tile.depth);
  const Memory &memory = *frame.memoryOf(LoadOp(tile.factor.load).getSource());
  Type storage = storageType(memory.element);
  Value zero = b.create<arith::ConstantOp>(b.getZeroAttr(storage));
  auto loop = b.create<scf::ForOp>(thread, b.constantIndex(chunks),
                                   b.constantIndex(threads));
  loop->setAttr(twk::nameAttr, b.getStringAttr("number"));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value number = loop.getInductionVar();
  // Threads side by side read what lies side by side.
  bool linesFirst = tile.alongDepth && tile.isTransposed;
  int64_t count = linesFirst ? tile.lines() : tile.chunksOfLine();
  Value line = math.over(number, count), chunk = math.mod(number, count);
  if (linesFirst) {
    std::swap(line, chunk);
  }
  b.named("line", line);
  b.named("chunk", chunk);
  Value within = math.times(chunk, tile.chunkElements());
  SmallVector<Value> elements;
  for (int64_t i = 0; i < tile.chunkElements(); ++i) {
    Value at = math.plus(within, i);
    Value position = math.plus(firstPosition, tile.alongDepth ? line : at);
    Value depth = math.plus(firstDepth, tile.alongDepth ? at : line);
    Result<Address> address = addressOf(position, depth);
    TW_RETURN_IF_ERROR(address.status());
    if (!address->inside) {
      elements.push_back(
          b.create<memref::LoadOp>(memory.memref, address->offset));
      continue;
    }
    auto branch = b.create<scf::IfOp>(TypeRange(storage), address->inside,
                                      /*withElse=*/true);
    OpBuilder::InsertionGuard inner(b);
    b.setInsertionPointToStart(branch.thenBlock());
    Value loaded = b.create<memref::LoadOp>(memory.memref, address->offset);
    b.create<scf::YieldOp>(loaded);
    b.setInsertionPointToStart(branch.elseBlock());
    b.create<scf::YieldOp>(zero);
    elements.push_back(branch.getResult(0));
  }
  Value whole = b.create<vector::FromElementsOp>(
      VectorType::get({tile.chunkElements()}, storage), elements);
  Value to = tile.offsetOf(b, stage, line, chunk, tile.permutationOf(b, line));
  b.create<vector::StoreOp>(whole, tile.memory, to);
  return Status::ok();
}

} // namespace tilewright::families
