//===- Team.cpp - threads that compute a task together --------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "codegen/families/Team.h"
#include "codegen/families/MemoryAccess.h"
#include "codegen/families/TaskLoop.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

namespace tilewright::families {

constexpr int64_t warpSize = GpuSpec::warpSize;
/// Each warp's part of a fold, whatever its type.
constexpr int64_t slotBytes = 8;

int64_t teamSharedBytes(int64_t threads, int64_t folds) {
  return threads > warpSize ? folds * threads / warpSize * slotBytes : 0;
}

/// Folds over the lanes of a warp: pairs at growing distances.
static Value foldWarp(LaneBuilder &b, Value value,
                      llvm::function_ref<Value(Value, Value)> fold) {
  for (int64_t distance = warpSize / 2; distance >= 1; distance /= 2) {
    auto other = b.create<gpu::ShuffleOp>(value, distance, warpSize,
                                          gpu::ShuffleMode::XOR);
    value = fold(value, other.getShuffleResult());
  }
  return value;
}

Value foldTeam(KernelFrame &frame, Value value,
               llvm::function_ref<Value(Value, Value)> fold) {
  LaneBuilder &b = frame.getBuilder();
  int64_t warps = frame.teamSize() / warpSize;
  value = foldWarp(b, value, fold);
  if (warps <= 1) {
    return value;
  }
  // Each fold of a kernel has slots of its own; the task loop ends in a
  // barrier.
  Value slots = frame.takeShared(value.getType(), warps, slotBytes);
  Value thread = frame.laneOfTeam();
  Value warp = b.create<arith::DivUIOp>(thread, b.constantIndex(warpSize));
  Value lane = b.create<arith::RemUIOp>(thread, b.constantIndex(warpSize));
  Value isFirst = b.create<arith::CmpIOp>(arith::CmpIPredicate::eq, lane,
                                          b.constantIndex(0));
  (void)emitIf(b, isFirst, [&] {
    b.create<memref::StoreOp>(value, slots, warp);
    return Status::ok();
  });
  b.create<gpu::BarrierOp>();
  Value total;
  for (int64_t i = 0; i < warps; ++i) {
    Value part = b.create<memref::LoadOp>(slots, b.constantIndex(i));
    total = total ? fold(total, part) : part;
  }
  return total;
}

Status emitForOne(KernelFrame &frame, llvm::function_ref<Status()> body) {
  LaneBuilder &b = frame.getBuilder();
  if (frame.teamSize() == 1) {
    return body();
  }
  Value isFirst = b.create<arith::CmpIOp>(
      arith::CmpIPredicate::eq, frame.laneOfTeam(), b.constantIndex(0));
  return emitIf(b, isFirst, body);
}

Status storeForOne(KernelFrame &frame, Value value, ArrayRef<Lanes> at,
                   const Lanes &lanes) {
  if (frame.outputsOf(value).empty()) {
    return Status::ok();
  }
  return emitForOne(frame, [&] {
    for (const Memory &memory : frame.outputsOf(value)) {
      storeLanes(frame, memory, offsetOf(frame, memory, value.getType(), at),
                 lanes, Value());
    }
    return Status::ok();
  });
}

} // namespace tilewright::families
