//===- AttentionTilesResults.cpp - sums of attention become results -------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// The sums go through shared memory, so that neighbours in memory belong to
// neighbouring threads, and that warps with the same queries can add theirs.
//
//===----------------------------------------------------------------------===//

#include "codegen/families/attention/AttentionTilesEmitter.h"
#include "codegen/families/nest/TaskLoop.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include <limits>

using namespace mlir;
using namespace tilewright::tw;

namespace tilewright::families {

/// What warps that share queries have found of a row becomes that of all:
/// \returns what a warp's sums are to be multiplied by; null: nothing.
Result<SmallVector<Value>> TilesEmitter::shareRows(Values &max, Values &sum) {
  Values factors(rowsOfThread());
  if (tile.keyWarps == 1) {
    return factors;
  }
  auto place = [&](Value warpNumber, int64_t row) {
    return math.plus(math.times(warpNumber, tile.rows()), rowOf(row));
  };
  int64_t sumsAt = tile.keyWarps * tile.rows();
  Value isFirst = b.create<arith::CmpIOp>(
      arith::CmpIPredicate::eq, math.mod(warp.lane, 4), b.constantIndex(0));
  TW_RETURN_IF_ERROR(emitIf(b, isFirst, [&] {
    for (int64_t row = 0; row < rowsOfThread(); ++row) {
      Value at = place(keyWarp, row);
      b.create<memref::StoreOp>(max[row], rowMemory, at);
      b.create<memref::StoreOp>(sum[row], rowMemory, math.plus(at, sumsAt));
    }
    return Status::ok();
  }));
  b.create<gpu::BarrierOp>();
  for (int64_t row = 0; row < rowsOfThread(); ++row) {
    Values maxima, sums;
    Value greatest = kernel.splatFloat(std::numeric_limits<float>::lowest());
    for (int64_t other = 0; other < tile.keyWarps; ++other) {
      Value at = place(b.constantIndex(other), row);
      maxima.push_back(b.create<memref::LoadOp>(rowMemory, at));
      sums.push_back(
          b.create<memref::LoadOp>(rowMemory, math.plus(at, sumsAt)));
      greatest = kernel.greater(maxima.back(), greatest);
    }
    Value total;
    for (auto [ofWarp, part] : llvm::zip(maxima, sums)) {
      Result<Value> factor = kernel.exponential(ofWarp, greatest, Value());
      TW_RETURN_IF_ERROR(factor.status());
      Value scaled = b.create<arith::MulFOp>(part, *factor);
      total = total ? Value(b.create<arith::AddFOp>(total, scaled)) : scaled;
    }
    Result<Value> own = kernel.exponential(max[row], greatest, Value());
    TW_RETURN_IF_ERROR(own.status());
    factors[row] = *own;
    max[row] = greatest;
    sum[row] = total;
  }
  return factors;
}

/// Sums of exponentials times values become sums of weights times values, in
/// shared memory. Warps that share queries add theirs one after the other.
Status TilesEmitter::spillSums(ArrayRef<Value> state) {
  Values max(state.take_front(rowsOfThread())), sum;
  for (Value own : state.drop_front(rowsOfThread())) {
    sum.push_back(acrossRow(
        own, [&](Value x, Value y) { return b.create<arith::AddFOp>(x, y); }));
  }
  Result<Values> factors = shareRows(max, sum);
  TW_RETURN_IF_ERROR(factors.status());
  std::vector<AttentionScale> scales;
  for (int64_t row = 0; row < rowsOfThread(); ++row) {
    Result<AttentionScale> scale =
        kernel.scale(sum[row], max[row], queryOf(row), Value());
    TW_RETURN_IF_ERROR(scale.status());
    scales.push_back(*scale);
  }
  if (form.isPart()) {
    TW_RETURN_IF_ERROR(storeRows(max, sum));
  }
  for (int64_t turn = 0; turn < tile.keyWarps; ++turn) {
    auto add = [&]() -> Status {
      for (int64_t row = 0; row < rowsOfThread(); ++row) {
        spillRow(row, (*factors)[row], scales[row], /*adds=*/turn > 0);
      }
      return Status::ok();
    };
    if (tile.keyWarps == 1) {
      return add();
    }
    Value isOwn = b.create<arith::CmpIOp>(arith::CmpIPredicate::eq, keyWarp,
                                          b.constantIndex(turn));
    TW_RETURN_IF_ERROR(emitIf(b, isOwn, add));
    if (turn + 1 < tile.keyWarps) {
      b.create<gpu::BarrierOp>();
    }
  }
  return Status::ok();
}

/// Of a part, the greatest scores and the sums are results, too.
Status TilesEmitter::storeRows(ArrayRef<Value> max, ArrayRef<Value> sum) {
  using P = arith::CmpIPredicate;
  Value zero = b.constantIndex(0);
  Value isFirst =
      math.both(math.isMultiple(warp.lane, 4),
                b.createOrFold<arith::CmpIOp>(P::eq, keyWarp, zero));
  for (int64_t row = 0; row < rowsOfThread(); ++row) {
    Value place = math.plus(blockRow, rowOf(row));
    Value isOwn = math.both(isFirst, math.isLess(place, rowCount));
    TW_RETURN_IF_ERROR(emitIf(b, isOwn, [&] {
      kernel.storeRow(max[row], sum[row], enterRow(place));
      return Status::ok();
    }));
  }
  return Status::ok();
}

void TilesEmitter::spillRow(int64_t row, Value factor,
                            const AttentionScale &scale, bool adds) {
  int64_t stride = problem.valueElements() + MmaTile::sumPadding;
  Value start = math.plus(math.times(rowOf(row), stride),
                          math.times(math.mod(warp.lane, 4), 2));
  auto type = VectorType::get({2}, b.getF32Type());
  unrolled(b, warp.sums.columnUnits, "column", [&](Value column) {
    Value to = math.plus(start, math.times(column, MmaTile::unitColumns));
    Value others =
        adds ? Value(b.create<vector::LoadOp>(type, sumMemory, to)) : Value();
    Values pair;
    for (int64_t i : {0, 1}) {
      Value own = b.create<memref::LoadOp>(
          warp.sums.memory,
          warp.sums.at(b, row / halves, column, row % halves, i));
      own = factor ? Value(b.create<arith::MulFOp>(own, factor)) : own;
      own = kernel.scaled(own, scale);
      if (others) {
        Value other = b.create<vector::ExtractOp>(others, ArrayRef<int64_t>{i});
        own = b.create<arith::AddFOp>(other, own);
      }
      pair.push_back(own);
    }
    b.create<vector::StoreOp>(b.create<vector::FromElementsOp>(type, pair),
                              sumMemory, to);
  });
}

/// Several elements are on their way at once.
Status TilesEmitter::finish() {
  constexpr int64_t together = 4;
  auto storeOne = [&](Value element) {
    Value row = b.named("row", math.over(element, problem.values)),
          column = b.named("column", math.mod(element, problem.values));
    Value place = b.named("place", math.plus(blockRow, row));
    Value exists = math.both(math.isLess(row, b.constantIndex(tile.rows())),
                             math.isLess(place, rowCount));
    return emitIf(b, exists, [&] {
      int64_t stride = problem.valueElements() + MmaTile::sumPadding;
      Value value = b.create<memref::LoadOp>(
          sumMemory, math.plus(math.times(row, stride), column));
      return kernel.store(
          value, kernel.result(enterRow(place), Lanes::index(column)), Value());
    });
  };
  return emitSharedLoop(b, thread, tile.rows() * problem.values, tile.threads(),
                        together, storeOne)
      .status();
}

} // namespace tilewright::families
