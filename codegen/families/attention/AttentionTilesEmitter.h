//===- AttentionTilesEmitter.h - a kernel of attention in tiles -*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "codegen/families/attention/AttentionKernel.h"
#include "codegen/families/attention/AttentionTiles.h"
#include "codegen/families/attention/FragmentProducts.h"
#include "codegen/families/attention/HeadGroup.h"

namespace tilewright::families {

/// Emits the kernel that AttentionTiles.cpp describes.
class TilesEmitter {
public:
  TilesEmitter(KernelFrame &frame, const AttentionForm &form,
               const AttentionTile &tile, const AttentionProblem &problem)
      : frame(frame), b(frame.getBuilder()), math(b), form(form), tile(tile),
        problem(problem), kernel(frame, form, parameters),
        group(headGroupOf(form)) {
    if (group.axis) {
      kernel.visible = visibleKeys(form, *group.axis);
    }
  }

  Status run();

private:
  using Value = mlir::Value;
  using Values = llvm::SmallVector<Value>;
  static constexpr int64_t halves = 2; ///< of a unit's rows

  /// What copies the keys and values of a tile into a stage.
  using StepCopy = llvm::function_ref<Status(Value step, Value stage)>;
  /// The number of a tile, of those that a walk goes through.
  using StepAt = llvm::function_ref<Value(Value number)>;

  bool isLastLongest();
  void findPlace();
  void takeMemory();
  Value registers(int64_t count, llvm::StringRef name);
  LineCopy copyOf(mlir::Operation *primitive, Value factor,
                  const SharedLines &lines, unsigned lineAxis,
                  unsigned elementAxis, llvm::SmallVector<Lanes> coordinates,
                  tw::DimExpr count, tw::DimExpr elements,
                  LineGroup group = {});
  void clear(const FragmentSums &sums);

  Result<Values> overKeys();
  Result<Values> walk(Value count, StepAt stepAt, llvm::ArrayRef<Value> initial,
                      StepCopy copy);
  Result<Values> overVisible(Value steps, llvm::ArrayRef<Value> initial,
                             StepCopy copy);
  void waitForAll();
  Value isUnsettled(llvm::ArrayRef<Value> max);
  Result<Values> step(Value step, Value stage, llvm::ArrayRef<Value> state);
  Result<Values> scores(Value step, llvm::ArrayRef<Value> max);
  Result<Values> exponentials(llvm::ArrayRef<Value> max,
                              llvm::ArrayRef<Value> sum);
  Value acrossRow(Value value, llvm::function_ref<Value(Value, Value)> fold);
  Result<Values> shareRows(Values &max, Values &sum);
  Status spillSums(llvm::ArrayRef<Value> state);
  Status storeRows(llvm::ArrayRef<Value> max, llvm::ArrayRef<Value> sum);
  void spillRow(int64_t row, Value factor, const AttentionScale &scale,
                bool adds);
  Status finish();

  /// The rows of a thread, by unit and half.
  int64_t rowsOfThread() const { return tile.rowUnits * halves; }
  Value rowOf(int64_t row) {
    return math.plus(math.plus(warp.firstRow, math.over(warp.lane, 4)),
                     row / halves * MmaTile::unitRows + row % halves * 8);
  }
  Lanes enterRow(Value place);
  Lanes queryOf(int64_t row);
  void name(llvm::StringRef text, Value value) {
    if (value.getDefiningOp()) {
      b.named(text, value);
    }
  }

  KernelFrame &frame;
  LaneBuilder &b;
  IndexMath math;
  const AttentionForm &form;
  const AttentionTile &tile;
  const AttentionProblem &problem;
  AttentionParameters parameters;
  AttentionKernel kernel;
  HeadGroup group;
  WarpLines warp;
  std::unique_ptr<FragmentProducts> products;
  Value thread, keyWarp;    // which of the warps that share queries
  Value firstHead;          // of the group; null without one
  Value blockRow, rowCount; // the block's first row, and how many there are
  Value sumMemory, rowMemory;
  Value greatestMemory; // of each row, by the warps that share queries
};

} // namespace tilewright::families
