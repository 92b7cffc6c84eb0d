//===- AttentionTilesKeys.cpp - the tiles of keys that a block walks ------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// A block walks the tiles of keys that one of its queries may see
// (VisibleKeys.h). Where hidden keys have no weight only in rows that see
// something, a second walk goes through the other tiles if a row of the block
// has seen nothing.
//
//===----------------------------------------------------------------------===//

#include "codegen/families/attention/AttentionTilesEmitter.h"
#include "codegen/families/attention/KeyRange.h"
#include "codegen/families/nest/TaskLoop.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include <limits>

using namespace mlir;
using namespace tilewright::tw;

namespace tilewright::families {

/// \returns the greatest score and the sum of exponentials of each row.
Result<SmallVector<Value>> TilesEmitter::overKeys() {
  ReduceOp scoresOp = form.scores, valuesOp = form.values, maxOp = form.max;
  unsigned rank = maxOp.getParallelRank();
  DimExpr depth = scoresOp.getExtents().getDims().front();
  DimExpr count = maxOp.getExtents().getDims().front();
  DimExpr size = dimsOf(valuesOp.getType())[form.valueAxis];
  Lanes zero = Lanes::index(0);
  LineCopy copyKeys =
      copyOf(scoresOp, form.keyFactor, warp.keys, rank, rank + 1,
             kernel.product(zero, zero, zero), count, depth);
  LineCopy copyValues =
      copyOf(valuesOp, form.valueFactor, warp.values, rank + 1, form.valueAxis,
             kernel.weighted(zero, zero, zero), count, size);
  // Without an axis of queries, the key's counts them, which has no meaning
  // there.
  LineCopy copyQueries = copyOf(scoresOp, form.queryFactor, warp.queries,
                                form.queryAxis.value_or(rank), rank + 1,
                                kernel.product(zero, zero, zero),
                                rowsOfGroup(form, frame.getRegion().parallel),
                                depth, {group.axis, firstHead, group.size});
  Value steps = math.parts(frame.sizeValue(count), tile.keys());
  name("steps", steps);
  auto copy = [&](Value step, Value stage) -> Status {
    Value first = math.times(step, tile.keys());
    TW_RETURN_IF_ERROR(copyKeys.emit(first, stage));
    return copyValues.emit(first, stage);
  };
  // They are part of the first group of copies.
  TW_RETURN_IF_ERROR(copyQueries.emit(blockRow, Value()));
  clear(warp.sums);
  // The least finite number, not -inf: exp(score − max) is a number as long as
  // the scores are none but -inf. Where all are, the sum stays zero.
  Values state(rowsOfThread(),
               kernel.splatFloat(std::numeric_limits<float>::lowest()));
  state.append(rowsOfThread(), kernel.splatFloat(0));
  if (kernel.visible.isAll()) {
    return walk(steps, [](Value number) { return number; }, state, copy);
  }
  return overVisible(steps, state, copy);
}

/// Walks `count` tiles.
Result<SmallVector<Value>> TilesEmitter::walk(Value count, StepAt stepAt,
                                              ArrayRef<Value> initial,
                                              StepCopy copy) {
  auto token = nvgpu::DeviceAsyncTokenType::get(b.getContext());
  auto copyIfExists = [&](Value number, Value stage) -> Status {
    auto both = [&] { return copy(stepAt(number), stage); };
    Value exists = math.isLess(number, count);
    return matchPattern(exists, m_One()) ? both() : emitIf(b, exists, both);
  };
  // A group ends where the next begins.
  for (int64_t stage = 0; stage + 1 < tile.stages; ++stage) {
    if (stage > 0) {
      b.create<nvgpu::DeviceAsyncCreateGroupOp>(token, ValueRange());
    }
    Value number = b.constantIndex(stage);
    TW_RETURN_IF_ERROR(copyIfExists(number, number));
  }
  auto loop = b.create<scf::ForOp>(b.constantIndex(0), count,
                                   b.constantIndex(1), initial);
  loop->setAttr(twk::nameAttr, b.getStringAttr("step"));
  loop->setAttr(twk::unrollAttr, b.getI64IntegerAttr(1));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value number = loop.getInductionVar();
  Value group = b.create<nvgpu::DeviceAsyncCreateGroupOp>(token, ValueRange());
  b.create<nvgpu::DeviceAsyncWaitOp>(group,
                                     b.getI32IntegerAttr(tile.stages - 2));
  b.create<gpu::BarrierOp>();
  Value next = b.named("next", math.plus(number, tile.stages - 1));
  TW_RETURN_IF_ERROR(copyIfExists(next, math.mod(next, tile.stages)));
  Value stage = b.named("stage", math.mod(number, tile.stages));
  Result<Values> after =
      step(stepAt(number), stage,
           llvm::to_vector_of<Value>(loop.getRegionIterArgs()));
  TW_RETURN_IF_ERROR(after.status());
  b.create<scf::YieldOp>(*after);
  return llvm::to_vector_of<Value>(loop.getResults());
}

/// Walks the tiles between the first and the last that a query sees, and the
/// others if need be.
Result<SmallVector<Value>>
TilesEmitter::overVisible(Value steps, ArrayRef<Value> initial, StepCopy copy) {
  Value last = math.plus(b.createOrFold<arith::MinSIOp>(
                             math.plus(blockRow, tile.rows()), rowCount),
                         -1);
  Result<KeyRange> range =
      emitKeyRange(kernel, kernel.visible, math.over(blockRow, group.size),
                   math.over(last, group.size));
  TW_RETURN_IF_ERROR(range.status());
  Value begin = math.over(range->begin, tile.keys());
  name("begin", begin);
  Value seen = b.createOrFold<arith::MaxSIOp>(
      math.minus(math.parts(range->end, tile.keys()), begin),
      b.constantIndex(0));
  name("seen", seen);
  if (!kernel.visible.settledAbove) {
    return walk(
        seen, [&](Value number) { return math.plus(number, begin); }, initial,
        copy);
  }
  // The second walk leaves out the tiles of the first: from `split` on, numbers
  // are `shift` behind.
  Values carried(initial);
  carried.append({seen, begin});
  if (kernel.visible.hasLower()) {
    carried.push_back(b.constantIndex(0));
  }
  auto loop = b.create<scf::ForOp>(b.constantIndex(0), b.constantIndex(2),
                                   b.constantIndex(1), carried);
  loop->setAttr(twk::nameAttr, b.getStringAttr("turn"));
  loop->setAttr(twk::unrollAttr, b.getI64IntegerAttr(1));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Values arguments = llvm::to_vector_of<Value>(loop.getRegionIterArgs());
  size_t size = initial.size();
  Value count = arguments[size], shift = arguments[size + 1],
        split = kernel.visible.hasLower() ? arguments[size + 2] : Value();
  auto stepAt = [&](Value number) {
    Value shifted = math.plus(number, shift);
    return split ? b.createOrFold<arith::SelectOp>(math.isLess(number, split),
                                                   number, shifted)
                 : shifted;
  };
  Result<Values> next =
      walk(count, stepAt, ArrayRef(arguments).take_front(size), copy);
  TW_RETURN_IF_ERROR(next.status());
  waitForAll();
  Value others = b.create<arith::SelectOp>(
      isUnsettled(ArrayRef(*next).take_front(rowsOfThread())),
      math.minus(steps, seen), b.constantIndex(0));
  next->append({others, seen});
  if (split) {
    next->push_back(begin);
  }
  b.create<scf::YieldOp>(*next);
  return llvm::to_vector_of<Value>(loop.getResults().take_front(size));
}

/// Waits for all copies, of all threads.
void TilesEmitter::waitForAll() {
  Value last = b.create<nvgpu::DeviceAsyncCreateGroupOp>(
      nvgpu::DeviceAsyncTokenType::get(b.getContext()), ValueRange());
  b.create<nvgpu::DeviceAsyncWaitOp>(last, b.getI32IntegerAttr(0));
  b.create<gpu::BarrierOp>();
}

/// Whether a row of the block has no score yet that leaves hidden keys without
/// weight; the same in all threads.
Value TilesEmitter::isUnsettled(ArrayRef<Value> max) {
  auto place = [&](Value ofWarp, Value row) {
    return math.plus(math.times(ofWarp, tile.rows()), row);
  };
  for (auto [row, own] : llvm::enumerate(max)) {
    Value at = place(keyWarp, rowOf(static_cast<int64_t>(row)));
    // Four threads have the same.
    (void)emitIf(b, math.isMultiple(warp.lane, 4), [&] {
      b.create<memref::StoreOp>(own, greatestMemory, at);
      return Status::ok();
    });
  }
  b.create<gpu::BarrierOp>();
  // Every warp looks at all rows, each of its threads at some of them.
  Value least;
  for (int64_t first = 0; first < tile.rows(); first += GpuSpec::warpSize) {
    Value row = math.mod(math.plus(warp.lane, first), tile.rows());
    Value greatest;
    for (int64_t other = 0; other < tile.keyWarps; ++other) {
      Value own = b.create<memref::LoadOp>(greatestMemory,
                                           place(b.constantIndex(other), row));
      greatest = greatest ? kernel.greater(own, greatest) : own;
    }
    least =
        least ? Value(b.create<arith::MinNumFOp>(least, greatest)) : greatest;
  }
  for (int64_t distance = 1; distance < GpuSpec::warpSize; distance *= 2) {
    auto other = b.create<gpu::ShuffleOp>(least, distance, GpuSpec::warpSize,
                                          gpu::ShuffleMode::XOR);
    least = b.create<arith::MinNumFOp>(least, other.getShuffleResult());
  }
  return b.create<arith::CmpFOp>(
      arith::CmpFPredicate::ULE, least,
      kernel.splatFloat(*kernel.visible.settledAbove));
}

} // namespace tilewright::families
