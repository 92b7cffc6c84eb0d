//===- Streaming.cpp - stores past the caches -----------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "codegen/families/nest/Streaming.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tilewright::tw;

namespace tilewright::families {

/// Results of so many bytes stream. What is smaller than the third-level cache
/// of a few cores is worth keeping for the kernel that reads it.
static int64_t streamedBytes(const TargetSpec &target) {
  constexpr int64_t cores = 4;
  return cores * target.l3Bytes;
}

static Lanes bytesOf(KernelFrame &frame, Value value) {
  LaneBuilder &b = frame.getBuilder();
  Lanes bytes = Lanes::index(storageBytes(elementTypeOf(value.getType())));
  for (DimExpr dim : dimsOf(value.getType())) {
    bytes = b.mul(bytes, frame.size(dim));
  }
  return bytes;
}

/// \returns whether the results stream, or null when they never do.
static Value streamCondition(KernelFrame &frame, ArrayRef<Value> results) {
  LaneBuilder &b = frame.getBuilder();
  int64_t least = streamedBytes(frame.getTarget());
  Lanes total = Lanes::index(0);
  SmallVector<Value> addresses;
  for (Value value : results) {
    for (const Memory &memory : frame.outputsOf(value)) {
      total = b.add(total, bytesOf(frame, value));
      addresses.push_back(
          b.create<memref::ExtractAlignedPointerAsIndexOp>(memory.memref));
    }
  }
  if (addresses.empty() || (total.isConstantIndex() && total.offset < least)) {
    return Value();
  }
  Value bits = addresses.front();
  for (Value address : ArrayRef(addresses).drop_front()) {
    bits = b.create<arith::OrIOp>(bits, address);
  }
  Value rest = b.create<arith::AndIOp>(
      bits, b.constantIndex(frame.getTarget().vectorBytes - 1));
  Value isAligned = b.create<arith::CmpIOp>(arith::CmpIPredicate::eq, rest,
                                            b.constantIndex(0));
  Value isLarge = b.create<arith::CmpIOp>(
      arith::CmpIPredicate::sge, b.first(total), b.constantIndex(least));
  return b.create<arith::AndIOp>(isAligned, isLarge);
}

Status emitStreaming(KernelFrame &frame, ArrayRef<Value> results,
                     llvm::function_ref<Status()> body) {
  if (frame.getTarget().isGpu()) {
    return body(); // a warp's stores fill their lines anyway
  }
  LaneBuilder &b = frame.getBuilder();
  Value condition = streamCondition(frame, results);
  if (!condition) {
    return body();
  }
  auto branch = b.create<scf::IfOp>(condition, /*withElse=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  frame.setStreaming(results, true);
  TW_RETURN_IF_ERROR(body());
  frame.setStreaming(results, false);
  b.setInsertionPointToStart(branch.elseBlock());
  return body();
}

} // namespace tilewright::families
