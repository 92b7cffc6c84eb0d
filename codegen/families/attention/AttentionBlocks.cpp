//===- AttentionBlocks.cpp - the blocks of keys of a task -----------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// A task walks the blocks of keys that one of its queries may see
// (VisibleKeys.h), and the others if a row has seen nothing.
//
//===----------------------------------------------------------------------===//

#include "codegen/families/attention/KeyRange.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tilewright::tw;

namespace tilewright::families {

using Values = SmallVector<Value>;
using BlockBody =
    llvm::function_ref<Result<Values>(Value start, ArrayRef<Value> state)>;

Value anyUnsettled(AttentionKernel &kernel, ArrayRef<Value> max,
                   ArrayRef<Value> active) {
  LaneBuilder &b = kernel.b;
  float above = kernel.visible.settledAbove.value_or(0);
  Value any;
  for (auto [v, greatest] : llvm::enumerate(max)) {
    bool isVector = isa<VectorType>(greatest.getType());
    Value limit = b.create<arith::ConstantOp>(b.getF32FloatAttr(above));
    Value own = b.create<arith::CmpFOp>(arith::CmpFPredicate::OLE, greatest,
                                        isVector ? b.splat(limit) : limit);
    if (isVector) {
      own = b.create<arith::AndIOp>(own, active[v]);
      own = b.create<vector::ReductionOp>(vector::CombiningKind::OR, own);
    }
    any = any ? Value(b.create<arith::OrIOp>(any, own)) : own;
  }
  return any;
}

Result<Values>
overVisibleBlocks(AttentionKernel &kernel, Value first, Value last,
                  ArrayRef<Value> initial, BlockBody body,
                  llvm::function_ref<Value(ArrayRef<Value>)> isUnsettled) {
  LaneBuilder &b = kernel.b;
  int64_t size = kernel.parameters.keys;
  Value zero = b.constantIndex(0), keys = b.first(kernel.keys());
  if (kernel.visible.isAll()) {
    return carryingLoop(b, zero, keys, size, initial, body);
  }
  Result<KeyRange> range = emitKeyRange(kernel, kernel.visible, first, last);
  TW_RETURN_IF_ERROR(range.status());
  // Blocks begin at multiples of their size.
  auto whole = [&](Value at, int64_t more) {
    Lanes up = b.add(Lanes::index(at), Lanes::index(more));
    return b.first(
        b.mul(b.floorDiv(up, Lanes::index(size)), Lanes::index(size)));
  };
  Value begin = whole(range->begin, 0);
  if (!kernel.visible.settledAbove) {
    return carryingLoop(b, begin, range->end, size, initial, body);
  }
  // The second turn leaves out the blocks of the first: from `split` on, they
  // are `shift` behind.
  Value seen = b.create<arith::MaxSIOp>(
      b.create<arith::SubIOp>(whole(range->end, size - 1), begin), zero);
  Values carried(initial);
  carried.append({seen, begin, zero});
  size_t count = initial.size();
  auto turns = carryingLoop(
      b, zero, b.constantIndex(2), 1, carried,
      [&](Value, ArrayRef<Value> state) -> Result<Values> {
        Value end = state[count], shift = state[count + 1],
              split = state[count + 2];
        auto next = carryingLoop(
            b, zero, end, size, state.take_front(count),
            [&](Value at, ArrayRef<Value> inner) {
              Value isBefore =
                  b.create<arith::CmpIOp>(arith::CmpIPredicate::slt, at, split);
              Value skipped = b.create<arith::SelectOp>(isBefore, zero, shift);
              return body(b.create<arith::AddIOp>(at, skipped), inner);
            });
        TW_RETURN_IF_ERROR(next.status());
        Value others = b.create<arith::SelectOp>(
            isUnsettled(*next),
            b.create<arith::MaxSIOp>(b.create<arith::SubIOp>(keys, seen), zero),
            zero);
        next->append({others, seen, begin});
        return next;
      });
  TW_RETURN_IF_ERROR(turns.status());
  turns->truncate(count);
  return turns;
}

} // namespace tilewright::families
