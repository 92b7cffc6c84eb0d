//===- FragmentProducts.cpp - a warp's products of shared lines -----------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "codegen/families/attention/FragmentProducts.h"
#include "codegen/families/contract/MmaTile.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace tilewright::families {

void unrolled(LaneBuilder &b, int64_t count, StringRef name,
              llvm::function_ref<void(Value)> body, int64_t times) {
  auto loop = b.create<scf::ForOp>(b.constantIndex(0), b.constantIndex(count),
                                   b.constantIndex(1));
  loop->setAttr(twk::nameAttr, b.getStringAttr(name));
  loop->setAttr(twk::unrollAttr, times == 0
                                     ? Attribute(b.getUnitAttr())
                                     : Attribute(b.getI64IntegerAttr(times)));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  body(loop.getInductionVar());
}

Value FragmentSums::at(LaneBuilder &b, int64_t rowUnit, Value columnUnit,
                       int64_t half, int64_t column) const {
  IndexMath math(b);
  return math.plus(math.times(columnUnit, unitElements),
                   rowUnit * columnUnits * unitElements + half * 2 + column);
}

//===----------------------------------------------------------------------===//
// Matrix units
//===----------------------------------------------------------------------===//

namespace {

class MatrixUnits : public FragmentProducts {
public:
  using FragmentProducts::FragmentProducts;

  void addScores(Value stage) override;
  void addValues(Value stage) override;

private:
  bool isShort() { return warp.keys.elementBytes() == 2; }
  /// Matrices of 8 rows and 16 bytes, `rows` of which ldmatrix gives as one.
  VectorType fragmentType(int64_t matrices) {
    return VectorType::get({matrices, 4 / warp.keys.elementBytes()},
                           warp.keys.element);
  }
  Value load(const SharedLines &lines, Value stage, Value line, Value chunk,
             bool transpose);
  Value half(Value pair, int64_t number);
  Value weights(int64_t rowUnit, Value keyUnit);
  void multiply(const FragmentSums &sums, int64_t rowUnit, Value columnUnit,
                Value x, Value y);
  void addShortValues(Value stage);
  void addWideValues(Value stage);
};

} // namespace

Value MatrixUnits::load(const SharedLines &lines, Value stage, Value line,
                        Value chunk, bool transpose) {
  Value at = lines.chunkAt(b, stage, line, chunk);
  return b.create<nvgpu::LdMatrixOp>(fragmentType(4), lines.memory,
                                     ValueRange(at), transpose, 4);
}

Value MatrixUnits::half(Value pair, int64_t number) {
  return b.create<vector::ExtractStridedSliceOp>(
      pair, ArrayRef<int64_t>{2 * number}, ArrayRef<int64_t>{2},
      ArrayRef<int64_t>{1});
}

void MatrixUnits::multiply(const FragmentSums &sums, int64_t rowUnit,
                           Value columnUnit, Value x, Value y) {
  SmallVector<Value> old;
  for (int64_t half : {0, 1}) {
    for (int64_t column : {0, 1}) {
      old.push_back(b.create<memref::LoadOp>(
          sums.memory, sums.at(b, rowUnit, columnUnit, half, column)));
    }
  }
  Value sum = b.create<vector::FromElementsOp>(
      VectorType::get({2, 2}, b.getF32Type()), old);
  int64_t depth = MmaTile::unitBytes / warp.keys.elementBytes();
  sum = b.create<nvgpu::MmaSyncOp>(
      x, y, sum,
      ArrayRef<int64_t>{MmaTile::unitRows, MmaTile::unitColumns, depth},
      /*tf32Enabled=*/!isShort());
  for (int64_t half : {0, 1}) {
    for (int64_t column : {0, 1}) {
      b.create<memref::StoreOp>(
          b.create<vector::ExtractOp>(sum, ArrayRef<int64_t>{half, column}),
          sums.memory, sums.at(b, rowUnit, columnUnit, half, column));
    }
  }
}

/// Of 16 queries, matrices 0 and 1 are the upper and the lower half, 2 and 3
/// the same at the next 16 bytes. Of two units of 8 keys, 0 and 1 are the first
/// one's 16 bytes and the next, 2 and 3 the second one's.
void MatrixUnits::addScores(Value stage) {
  int64_t units = warp.keys.elements / (2 * warp.keys.chunkElements());
  Value next = math.over(warp.lane, 16);
  Value odd = math.mod(math.over(warp.lane, 8), 2);
  auto addUnit = [&](Value unit) {
    SmallVector<Value> rows;
    for (int64_t r = 0; r < warp.scores.rowUnits; ++r) {
      Value line = math.plus(math.plus(warp.firstRow, math.mod(warp.lane, 16)),
                             r * MmaTile::unitRows);
      rows.push_back(load(warp.queries, Value(), line,
                          math.plus(math.times(unit, 2), next), false));
    }
    unrolled(b, warp.scores.columnUnits / 2, "pair", [&](Value pair) {
      Value line =
          math.plus(math.plus(math.times(pair, 16), math.times(next, 8)),
                    math.mod(warp.lane, 8));
      Value keys = load(warp.keys, stage, keyLine(line),
                        math.plus(math.times(unit, 2), odd), false);
      for (int64_t i : {0, 1}) {
        for (auto [r, x] : llvm::enumerate(rows)) {
          multiply(warp.scores, static_cast<int64_t>(r),
                   math.plus(math.times(pair, 2), i), x, half(keys, i));
        }
      }
    });
  };
  // Unrolled whole, the places of all units would stay in registers.
  unrolled(b, units, "unit", addUnit, /*times=*/2);
}

void MatrixUnits::addValues(Value stage) {
  return isShort() ? addShortValues(stage) : addWideValues(stage);
}

/// The scores of two units of keys as the first factor of a product: what a
/// thread has of them is what it must give.
Value MatrixUnits::weights(int64_t rowUnit, Value keyUnit) {
  SmallVector<Value> elements;
  auto add = [&](int64_t unit, int64_t half, int64_t column) {
    Value weight = b.create<memref::LoadOp>(
        warp.scores.memory,
        warp.scores.at(b, rowUnit, math.plus(keyUnit, unit), half, column));
    elements.push_back(isShort() ? Value(b.create<arith::TruncFOp>(
                                       warp.values.element, weight))
                                 : weight);
  };
  if (isShort()) {
    for (int64_t unit : {0, 1}) {
      for (int64_t half : {0, 1}) {
        add(unit, half, 0);
        add(unit, half, 1);
      }
    }
  } else {
    for (int64_t column : {0, 1}) {
      add(0, 0, column);
      add(0, 1, column);
    }
  }
  return b.create<vector::FromElementsOp>(fragmentType(4), elements);
}

/// Matrices are 8 keys and 8 elements of values, turned around as they come.
void MatrixUnits::addShortValues(Value stage) {
  Value next = math.over(warp.lane, 16);
  unrolled(b, warp.scores.columnUnits / 2, "unit", [&](Value unit) {
    SmallVector<Value> rows;
    for (int64_t r = 0; r < warp.sums.rowUnits; ++r) {
      rows.push_back(weights(r, math.times(unit, 2)));
    }
    unrolled(b, warp.sums.columnUnits / 2, "pair", [&](Value pair) {
      Value line = math.plus(math.times(unit, 16), math.mod(warp.lane, 16));
      Value values = load(warp.values, stage, keyLine(line),
                          math.plus(math.times(pair, 2), next), true);
      for (int64_t i : {0, 1}) {
        for (auto [r, x] : llvm::enumerate(rows)) {
          multiply(warp.sums, static_cast<int64_t>(r),
                   math.plus(math.times(pair, 2), i), x, half(values, i));
        }
      }
    });
  });
}

/// The unit wants keys t and t + 4 from thread t of four, whose scores are
/// those of keys 2t and 2t + 1: the values are read in that order.
void MatrixUnits::addWideValues(Value stage) {
  unrolled(b, warp.scores.columnUnits, "unit", [&](Value unit) {
    SmallVector<Value> rows;
    for (int64_t r = 0; r < warp.sums.rowUnits; ++r) {
      rows.push_back(weights(r, unit));
    }
    unrolled(b, warp.sums.columnUnits, "column", [&](Value column) {
      Value chunk = math.plus(math.times(column, 2), math.over(group(), 4));
      SmallVector<Value> elements;
      for (int64_t i : {0, 1}) {
        Value line =
            math.plus(math.plus(math.times(unit, 8), math.times(quad(), 2)), i);
        Value at =
            math.plus(warp.values.chunkAt(b, stage, keyLine(line), chunk),
                      math.mod(group(), 4));
        elements.push_back(b.create<memref::LoadOp>(warp.values.memory, at));
      }
      Value y = b.create<vector::FromElementsOp>(fragmentType(2), elements);
      for (auto [r, x] : llvm::enumerate(rows)) {
        multiply(warp.sums, static_cast<int64_t>(r), column, x, y);
      }
    });
  });
}

std::unique_ptr<FragmentProducts> matrixUnits(LaneBuilder &b,
                                              const WarpLines &warp) {
  return std::make_unique<MatrixUnits>(b, warp);
}

//===----------------------------------------------------------------------===//
// Plain arithmetic
//===----------------------------------------------------------------------===//

namespace {

class PlainProducts : public FragmentProducts {
public:
  using FragmentProducts::FragmentProducts;

  void addScores(Value stage) override;
  void addValues(Value stage) override;

private:
  Value load(const SharedLines &lines, Value at, int64_t elements) {
    return b.create<vector::LoadOp>(VectorType::get({elements}, b.getF32Type()),
                                    lines.memory, at);
  }
  Value element(Value vector, int64_t number) {
    return b.create<vector::ExtractOp>(vector, ArrayRef<int64_t>{number});
  }
};

} // namespace

/// Four elements of a line at once.
void PlainProducts::addScores(Value stage) {
  constexpr int64_t elements = 4;
  auto addChunk = [&](Value chunk) {
    SmallVector<std::array<Value, 2>> rows;
    for (int64_t r = 0; r < warp.scores.rowUnits; ++r) {
      auto row = [&](int64_t half) {
        Value line = math.plus(math.plus(warp.firstRow, group()),
                               r * MmaTile::unitRows + half * 8);
        return load(warp.queries, warp.queries.chunkAt(b, Value(), line, chunk),
                    elements);
      };
      rows.push_back({row(0), row(1)});
    }
    unrolled(b, warp.scores.columnUnits, "unit", [&](Value unit) {
      for (int64_t column : {0, 1}) {
        Value line = math.plus(
            math.plus(math.times(unit, 8), math.times(quad(), 2)), column);
        Value key =
            load(warp.keys, warp.keys.chunkAt(b, stage, keyLine(line), chunk),
                 elements);
        for (auto [r, row] : llvm::enumerate(rows)) {
          for (int64_t half : {0, 1}) {
            Value at =
                warp.scores.at(b, static_cast<int64_t>(r), unit, half, column);
            Value sum = b.create<memref::LoadOp>(warp.scores.memory, at);
            for (int64_t i = 0; i < elements; ++i) {
              sum = b.create<math::FmaOp>(element(row[half], i),
                                          element(key, i), sum);
            }
            b.create<memref::StoreOp>(sum, warp.scores.memory, at);
          }
        }
      }
    });
  };
  unrolled(b, warp.keys.chunks(), "chunk", addChunk, /*times=*/1);
}

/// The four threads of a row have two keys of each unit. Each takes its own
/// first, then those of the thread whose number differs in one bit, and so on:
/// their lines lie in different banks.
void PlainProducts::addValues(Value stage) {
  constexpr int64_t warpSize = GpuSpec::warpSize, threadsOfRow = 4;
  Value width = b.create<arith::ConstantOp>(b.getI32IntegerAttr(warpSize));
  auto addKey = [&](Value unit, Value other, int64_t key) {
    Value distance = b.create<arith::IndexCastOp>(b.getI32Type(), other);
    SmallVector<std::array<Value, 2>> weights;
    for (int64_t r = 0; r < warp.sums.rowUnits; ++r) {
      auto weight = [&](int64_t half) -> Value {
        Value own = b.create<memref::LoadOp>(
            warp.scores.memory, warp.scores.at(b, r, unit, half, key));
        return b
            .create<gpu::ShuffleOp>(own, distance, width, gpu::ShuffleMode::XOR)
            .getShuffleResult();
      };
      weights.push_back({weight(0), weight(1)});
    }
    Value thread = b.createOrFold<arith::XOrIOp>(quad(), other);
    Value line =
        math.plus(math.plus(math.times(unit, 8), math.times(thread, 2)), key);
    unrolled(b, warp.sums.columnUnits, "column", [&](Value column) {
      Value chunk = math.plus(math.times(column, 2), math.over(quad(), 2));
      Value at = math.plus(warp.values.chunkAt(b, stage, keyLine(line), chunk),
                           math.times(math.mod(quad(), 2), 2));
      Value pair = load(warp.values, at, 2);
      for (auto [r, row] : llvm::enumerate(weights)) {
        for (int64_t half : {0, 1}) {
          for (int64_t i : {0, 1}) {
            Value place =
                warp.sums.at(b, static_cast<int64_t>(r), column, half, i);
            Value sum = b.create<memref::LoadOp>(warp.sums.memory, place);
            sum = b.create<math::FmaOp>(row[half], element(pair, i), sum);
            b.create<memref::StoreOp>(sum, warp.sums.memory, place);
          }
        }
      }
    });
  };
  unrolled(b, warp.scores.columnUnits, "unit", [&](Value unit) {
    // Code four times as long would hardly be faster.
    unrolled(
        b, threadsOfRow, "other",
        [&](Value other) {
          addKey(unit, other, 0);
          addKey(unit, other, 1);
        },
        /*times=*/1);
  });
}

std::unique_ptr<FragmentProducts> plainProducts(LaneBuilder &b,
                                                const WarpLines &warp) {
  return std::make_unique<PlainProducts>(b, warp);
}

} // namespace tilewright::families
