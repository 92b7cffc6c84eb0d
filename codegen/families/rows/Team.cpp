//===- Team.cpp - threads that compute a task together --------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "codegen/families/rows/Team.h"
#include "codegen/families/emit/MemoryAccess.h"
#include "codegen/families/nest/TaskLoop.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

namespace tilewright::families {

constexpr int64_t warpSize = GpuSpec::warpSize;
/// Each warp's part of a fold, whatever its type.
constexpr int64_t slotBytes = 8;

int64_t teamSharedBytes(int64_t threads, int64_t folds, int64_t across) {
  return threads > warpSize ? folds * threads / warpSize * across * slotBytes
                            : 0;
}

/// Folds over the lanes of a warp, or those `across` apart: pairs at distances.
static Value foldWarp(LaneBuilder &b, Value value, int64_t across,
                      llvm::function_ref<Value(Value, Value)> fold) {
  for (int64_t distance = warpSize / 2; distance >= across; distance /= 2) {
    auto other = b.create<gpu::ShuffleOp>(value, distance, warpSize,
                                          gpu::ShuffleMode::XOR);
    value = fold(value, other.getShuffleResult());
  }
  return value;
}

SmallVector<Value> foldTeam(KernelFrame &frame, ArrayRef<Value> parts,
                            llvm::function_ref<Value(Value, Value)> fold) {
  LaneBuilder &b = frame.getBuilder();
  int64_t warps = frame.teamSize() / warpSize, across = frame.teamAcross();
  SmallVector<Value> values;
  for (Value part : parts) {
    values.push_back(foldWarp(b, part, across, fold));
  }
  if (warps <= 1) {
    return values;
  }
  // Each fold of a kernel has slots of its own; the task loop ends in a
  // barrier.
  SmallVector<Value> slots;
  for (Value value : values) {
    slots.push_back(
        frame.takeShared(value.getType(), warps * across, slotBytes));
  }
  Value thread = frame.laneOfTeam();
  Value warp = b.create<arith::DivUIOp>(thread, b.constantIndex(warpSize));
  Value lane = b.create<arith::RemUIOp>(thread, b.constantIndex(warpSize));
  Value isFirst = b.create<arith::CmpIOp>(arith::CmpIPredicate::ult, lane,
                                          b.constantIndex(across));
  auto slotOf = [&](Value number, Value place) -> Value {
    if (across == 1) {
      return number;
    }
    Value row = b.create<arith::MulIOp>(number, b.constantIndex(across));
    return b.create<arith::AddIOp>(row, place);
  };
  (void)emitIf(b, isFirst, [&] {
    for (auto [value, own] : llvm::zip(values, slots)) {
      b.create<memref::StoreOp>(value, own, slotOf(warp, lane));
    }
    return Status::ok();
  });
  b.create<gpu::BarrierOp>();
  for (auto [value, own] : llvm::zip(values, slots)) {
    value = Value();
    for (int64_t i = 0; i < warps; ++i) {
      Value part = b.create<memref::LoadOp>(
          own, slotOf(b.constantIndex(i), frame.placeAcross()));
      value = value ? fold(value, part) : part;
    }
  }
  return values;
}

Status emitForOne(KernelFrame &frame, llvm::function_ref<Status()> body) {
  LaneBuilder &b = frame.getBuilder();
  if (frame.teamSize() == 1) {
    return body();
  }
  Value isFirst =
      b.create<arith::CmpIOp>(arith::CmpIPredicate::ult, frame.laneOfTeam(),
                              b.constantIndex(frame.teamAcross()));
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
