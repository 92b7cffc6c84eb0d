//===- SharedLines.cpp - lines of elements in shared memory ---------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "codegen/families/contract/SharedLines.h"
#include "codegen/families/contract/SharedTile.h"
#include "codegen/families/emit/BodyEmitter.h"
#include "codegen/families/emit/Guards.h"
#include "codegen/families/emit/IndexMath.h"
#include "codegen/families/emit/MemoryAccess.h"
#include "codegen/families/nest/TaskLoop.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tilewright::tw;

namespace tilewright::families {

/// Chunks of 16 bytes in one row of all 32 banks.
constexpr int64_t chunksOfBanks = 8;

//===----------------------------------------------------------------------===//
// Layout
//===----------------------------------------------------------------------===//

int64_t SharedLines::chunkElements() const {
  return MmaTile::chunkBytes / elementBytes();
}

int64_t SharedLines::lineChunks() const {
  return chunks() <= chunksOfBanks
             ? static_cast<int64_t>(llvm::PowerOf2Ceil(chunks()))
             : static_cast<int64_t>(llvm::alignTo(chunks(), chunksOfBanks));
}

Value SharedLines::chunkAt(LaneBuilder &b, Value stage, Value line,
                           Value chunk) const {
  IndexMath math(b);
  int64_t permuted = std::min(lineChunks(), chunksOfBanks);
  Value permutation =
      math.mod(math.over(line, chunksOfBanks / permuted), permuted);
  Value place = b.createOrFold<arith::XOrIOp>(chunk, permutation);
  Value start = math.times(line, lineChunks() * chunkElements());
  if (stage) {
    start = math.plus(math.times(stage, stageElements()), start);
  }
  return math.plus(start, math.times(place, chunkElements()));
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

/// Whether the address of a load comes from memory.
static bool hasAddressFromMemory(LoadOp load) {
  SmallVector<Value> parts(load.getIndices());
  if (load.getGuard()) {
    parts.push_back(load.getGuard());
  }
  return llvm::any_of(neededFor(parts), llvm::IsaPred<LoadOp, ClampIndexOp>);
}

static bool padsZeros(LoadOp load) {
  return !load.getGuard() ||
         matchPattern(load.getOtherwise(), m_AnyZeroFloat());
}

LineCopy::LineCopy(KernelFrame &frame, LineSource lineSource,
                   const SharedLines &lines, Value thread, int64_t threads)
    : frame(frame), b(frame.getBuilder()), source(std::move(lineSource)),
      lines(lines), thread(thread), threads(threads) {
  auto load = source.scalar.getDefiningOp<LoadOp>();
  if (!load) {
    return;
  }
  Factor factor = factorOf(load, elementTypeOf(load.getSource().getType()));
  isTransposed = factor.mostlyContiguous == static_cast<int>(source.lineAxis);
  if (factor.contiguous != static_cast<int>(source.elementAxis) ||
      hasAddressFromMemory(load) || !padsZeros(load)) {
    return;
  }
  std::optional<Value> aligned =
      whenChunksAreWhole(frame, factor, source.elements, lines.chunkElements());
  if (aligned) {
    mayBeWhole = true;
    areWhole = *aligned ? b.named("aligned", *aligned) : Value();
  }
}

Status LineCopy::emit(Value firstLine, Value stage) {
  if (!mayBeWhole) {
    return copyElements(firstLine, stage);
  }
  if (!areWhole) {
    return copyChunks(firstLine, stage);
  }
  auto branch = b.create<scf::IfOp>(areWhole, /*withElse=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  TW_RETURN_IF_ERROR(copyChunks(firstLine, stage));
  b.setInsertionPointToStart(branch.elseBlock());
  return copyElements(firstLine, stage);
}

/// Gives each thread its chunks of a stage: `body` gets line and chunk.
Status LineCopy::eachChunk(bool linesFirst, bool isUnrolled,
                           llvm::function_ref<Status(Value, Value)> body) {
  int64_t count = lines.lines * lines.chunks();
  int64_t fast = linesFirst ? lines.lines : lines.chunks();
  IndexMath math(b);
  auto at = [&](Value number) {
    Value slow = math.over(number, fast), within = math.mod(number, fast);
    Value line = b.named("line", linesFirst ? within : slow);
    Value chunk = b.named("chunk", linesFirst ? slow : within);
    return body(line, chunk);
  };
  auto loop = b.create<scf::ForOp>(
      b.constantIndex(0), b.constantIndex(llvm::divideCeil(count, threads)),
      b.constantIndex(1));
  loop->setAttr(twk::nameAttr, b.getStringAttr("part"));
  loop->setAttr(twk::unrollAttr, isUnrolled
                                     ? Attribute(b.getUnitAttr())
                                     : Attribute(b.getI64IntegerAttr(1)));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value number = b.named(
      "number", math.plus(thread, math.times(loop.getInductionVar(), threads)));
  return count % threads == 0
             ? at(number)
             : emitIf(b, math.isLess(number, b.constantIndex(count)),
                      [&] { return at(number); });
}

/// Whether a chunk is within the extents; null: all are.
Value LineCopy::isInside(Value line, Value firstElement) {
  IndexMath math(b);
  auto bound = [&](Value at, DimExpr extent, int64_t tile) -> Value {
    std::optional<int64_t> constant = extent.getConstant();
    return constant && *constant % tile == 0
               ? Value()
               : math.isLess(at, frame.sizeValue(extent));
  };
  return math.both(bound(line, source.lines, lines.lines),
                   bound(firstElement, source.elements, lines.elements));
}

/// The coordinates of an element of a line.
SmallVector<Lanes> LineCopy::place(Value line, Value element) {
  IndexMath math(b);
  const LineGroup &group = source.group;
  SmallVector<Lanes> at(source.coordinates);
  at[source.lineAxis] = Lanes::index(math.over(line, group.size));
  if (group.axis) {
    at[*group.axis] =
        Lanes::index(math.plus(group.first, math.mod(line, group.size)));
  }
  at[source.elementAxis] = Lanes::index(element);
  return at;
}

/// Asynchronous copies of whole chunks.
Status LineCopy::copyChunks(Value firstLine, Value stage) {
  IndexMath math(b);
  auto load = source.scalar.getDefiningOp<LoadOp>();
  const Memory &memory = *frame.memoryOf(load.getSource());
  return eachChunk(
      false, /*isUnrolled=*/true, [&](Value line, Value chunk) -> Status {
        Value global = math.plus(firstLine, line);
        Value first = math.times(chunk, lines.chunkElements());
        SmallVector<Lanes> at = place(global, first);
        BodyEmitter emitter(frame, source.primitive->getRegion(0).front(),
                            Value());
        SmallVector<Lanes> indices;
        for (Value index : load.getIndices()) {
          Result<Lanes> lanes = emitter.emitFor(0, at, index);
          TW_RETURN_IF_ERROR(lanes.status());
          indices.push_back(*lanes);
        }
        Value inside = isInside(global, first);
        if (load.getGuard()) {
          Result<Lanes> guard = emitter.emitFor(0, at, load.getGuard());
          TW_RETURN_IF_ERROR(guard.status());
          inside = math.both(inside, guard->value);
        }
        Value from = b.first(
            offsetOf(frame, memory, load.getSource().getType(), indices));
        copyChunk(b, lines.memory, lines.chunkAt(b, stage, line, chunk), memory,
                  from, inside, lines.chunkElements());
        return Status::ok();
      });
}

/// Whether what `load` reads for a chunk is a vector of 16 bytes in memory.
bool LineCopy::isWhole(LoadOp load) {
  Type element = elementTypeOf(load.getSource().getType());
  constexpr int64_t vectorBytes = 16;
  if (!frame.memoryOf(load.getSource()) || load.getGuard() ||
      storageType(element) != load.getType() ||
      storageBytes(element) * lines.chunkElements() != vectorBytes ||
      hasAddressFromMemory(load)) {
    return false;
  }
  Factor factor = factorOf(load, element);
  if (factor.contiguous != static_cast<int>(source.elementAxis)) {
    return false;
  }
  std::optional<Value> whole =
      whenChunksAreWhole(frame, factor, source.elements, lines.chunkElements());
  return whole && !*whole;
}

Result<Value> LineCopy::loadWhole(LoadOp load, Value line, Value first) {
  const Memory &memory = *frame.memoryOf(load.getSource());
  BodyEmitter emitter(frame, source.primitive->getRegion(0).front(), Value());
  SmallVector<Lanes> at = place(line, first), indices;
  for (Value index : load.getIndices()) {
    Result<Lanes> lanes = emitter.emitFor(0, at, index);
    TW_RETURN_IF_ERROR(lanes.status());
    indices.push_back(*lanes);
  }
  Value from =
      b.first(offsetOf(frame, memory, load.getSource().getType(), indices));
  auto type = VectorType::get({lines.chunkElements()}, load.getType());
  return Value(b.create<vector::LoadOp>(type, memory.memref, from));
}

/// The elements from `first` on of a line that exists, zeros past its end.
Result<Value> LineCopy::elementsOf(Value line, Value first) {
  IndexMath math(b);
  Type storage = storageType(lines.element);
  Value extent = frame.sizeValue(source.elements);
  std::optional<int64_t> constant = source.elements.getConstant();
  bool isRagged = !constant || *constant % lines.chunkElements() != 0;
  Block &body = source.primitive->getRegion(0).front();
  auto needed = neededFor(source.scalar);
  llvm::SmallDenseMap<Operation *, Value> whole;
  for (LoadOp load : body.getOps<LoadOp>()) {
    if (needed.contains(load) && isWhole(load)) {
      Result<Value> vector = loadWhole(load, line, first);
      TW_RETURN_IF_ERROR(vector.status());
      whole[load] = *vector;
    }
  }
  BodyVariant variant;
  variant.load = [&](LoadOp load, unsigned copy) -> std::optional<Lanes> {
    Value vector = whole.lookup(load);
    return vector ? std::optional(Lanes::scalar(
                        b.create<vector::ExtractOp>(vector, int64_t(copy))))
                  : std::nullopt;
  };
  BodyEmitter emitter(frame, body, Value(), variant);
  SmallVector<Value> elements;
  for (int64_t i = 0; i < lines.chunkElements(); ++i) {
    Value element = math.plus(first, i);
    SmallVector<Lanes> at =
        place(line, isRagged ? Value(b.create<arith::MinSIOp>(
                                   element, math.plus(extent, -1)))
                             : element);
    Result<Lanes> value = emitter.emitFor(i, at, source.scalar);
    TW_RETURN_IF_ERROR(value.status());
    Value scalar = b.first(*value);
    if (isRagged) {
      scalar = b.create<arith::SelectOp>(
          math.isLess(element, extent), scalar,
          b.create<arith::ConstantOp>(b.getZeroAttr(storage)));
    }
    elements.push_back(scalar);
  }
  return Value(b.create<vector::FromElementsOp>(
      VectorType::get({lines.chunkElements()}, storage), elements));
}

/// Through registers, element by element: whatever computes them.
Status LineCopy::copyElements(Value firstLine, Value stage) {
  IndexMath math(b);
  return eachChunk(isTransposed, /*isUnrolled=*/false,
                   [&](Value line, Value chunk) -> Status {
                     Value global = math.plus(firstLine, line);
                     Value first = math.times(chunk, lines.chunkElements());
                     Value to = lines.chunkAt(b, stage, line, chunk);
                     auto store = [&]() -> Status {
                       Result<Value> elements = elementsOf(global, first);
                       TW_RETURN_IF_ERROR(elements.status());
                       b.create<vector::StoreOp>(*elements, lines.memory, to);
                       return Status::ok();
                     };
                     Value inside = isInside(global, first);
                     if (!inside) {
                       return store();
                     }
                     auto branch =
                         b.create<scf::IfOp>(inside, /*withElse=*/true);
                     OpBuilder::InsertionGuard guard(b);
                     b.setInsertionPointToStart(branch.thenBlock());
                     TW_RETURN_IF_ERROR(store());
                     b.setInsertionPointToStart(branch.elseBlock());
                     auto type = VectorType::get({lines.chunkElements()},
                                                 storageType(lines.element));
                     Value zeros =
                         b.create<arith::ConstantOp>(b.getZeroAttr(type));
                     b.create<vector::StoreOp>(zeros, lines.memory, to);
                     return Status::ok();
                   });
}

} // namespace tilewright::families
