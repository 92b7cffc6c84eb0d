//===- AttentionKernel.h - what attention's kernels share -------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "codegen/families/attention/Attention.h"
#include "codegen/families/attention/VisibleKeys.h"
#include "codegen/families/emit/BodyEmitter.h"
#include <vector>

namespace tilewright::families {

/// The workspace of a task, in f32. What is per query lies query by query along
/// the innermost axis, `rows` apart; for a query alone, `rows` is 1.
struct AttentionBuffers {
  mlir::Value queries; ///< [depth][rows]
  mlir::Value scores;  ///< [keys of a block][rows]
  mlir::Value values;  ///< [value axis][rows]
  mlir::Value block;   ///< keys, later values, of a block: [key][element]
  llvm::SmallVector<mlir::Value> masks; ///< [keys of a block][rows] each
};

/// How the sums of a row become its result; of a part, they are.
struct AttentionScale {
  mlir::Value denominator;
  mlir::Value cleared; ///< rows without weights; may be null
};

/// True if all loads behind a factor step by one element, or stay, as
/// `coordinate` of its primitive grows.
bool readsRows(mlir::Operation *primitive, mlir::Value factor,
               unsigned coordinate, int64_t width);

/// The loads of masks whose elements differ by query and by key, and lie side
/// by side along the keys: a kernel with queries along the lanes reads them by
/// rows and turns them around.
llvm::SmallVector<tw::LoadOp> turnedMasks(const AttentionForm &form,
                                          int64_t width);

/// The frame of the kernel, the match, and places in the region's domains.
class AttentionKernel {
public:
  AttentionKernel(KernelFrame &frame, const AttentionForm &form,
                  const AttentionParameters &parameters)
      : frame(frame), b(frame.getBuilder()), form(form), parameters(parameters),
        visible(visibleKeys(form)) {}

  /// The coordinates of a row; `query` replaces that of the query axis.
  llvm::SmallVector<Lanes> row(const Lanes &query) const;
  /// … of a score.
  llvm::SmallVector<Lanes> score(const Lanes &query, const Lanes &key) const;
  /// … of an element of the scores' product.
  llvm::SmallVector<Lanes> product(const Lanes &query, const Lanes &key,
                                   const Lanes &depth) const;
  /// … of an element of the result.
  llvm::SmallVector<Lanes> result(const Lanes &query, const Lanes &value) const;
  /// … of an element of the values' product.
  llvm::SmallVector<Lanes> weighted(const Lanes &query, const Lanes &value,
                                    const Lanes &key) const;

  Lanes depth() const;     ///< the extent that the scores sum over
  Lanes keys() const;      ///< the number of keys
  Lanes valueSize() const; ///< the extent of the value axis

  /// A coordinate that steps by one from lane to lane.
  Lanes along(const Lanes &position) const {
    return Lanes::coordinate(b.first(position), position.firstAlignment());
  }
  /// The mask of the lanes at `position` that lie below `count`; null when all
  /// do.
  mlir::Value lanesBelow(const Lanes &position, const Lanes &count) const;

  /// `extent` rounded up to whole vectors.
  Lanes wholeVectors(const Lanes &extent) const;

  /// Allocates the parts of the workspace.
  AttentionBuffers buffers() const;

  /// exp(score − max) for values in registers, f32. Scores of 16 bits are
  /// rounded already.
  Result<mlir::Value> exponential(mlir::Value score, mlir::Value max,
                                  mlir::Value activeLanes);
  /// The score after its maps, in f32, from the sum of products at `at`.
  Result<mlir::Value> finishScore(unsigned copy, mlir::Value sum,
                                  llvm::ArrayRef<Lanes> at,
                                  mlir::MutableArrayRef<BodyEmitter> maps);
  /// One emitter for each map over scores.
  std::vector<BodyEmitter> scoreEmitters(mlir::Value activeLanes);
  /// What the weights of a row scale by, for sums and maxima in registers.
  Result<AttentionScale> scale(mlir::Value sum, mlir::Value max,
                               const Lanes &query, mlir::Value activeLanes);
  /// Sums of exponentials times values as sums of weights times values.
  mlir::Value scaled(mlir::Value accumulated, const AttentionScale &scale);
  /// Runs the maps over the result and writes what the region yields.
  Status store(mlir::Value value, llvm::ArrayRef<Lanes> at,
               mlir::Value activeLanes);

  /// Writes the greatest score and the sum of a row that the region yields.
  void storeRow(mlir::Value max, mlir::Value sum, const Lanes &query);

  /// The greater one, `max` where a score is no number: its exponential is
  /// none either, and makes the row's sum what the greatest score would.
  mlir::Value greater(mlir::Value score, mlir::Value max);
  mlir::Value splatFloat(double value);
  mlir::Value multiplyAdd(mlir::Value x, mlir::Value y, mlir::Value sum);
  mlir::Value loadVector(mlir::Value buffer, const Lanes &at);
  void storeVector(mlir::Value value, mlir::Value buffer, const Lanes &at);

  KernelFrame &frame;
  LaneBuilder &b;
  const AttentionForm &form;
  const AttentionParameters &parameters;
  VisibleKeys visible;
  llvm::SmallVector<Lanes> outer; ///< the task's row; the query axis is unset

private:
  mlir::Value whole(const Lanes &lanes);
  llvm::SmallVector<Lanes> place(const Lanes &query, const Lanes &value) const;
};

/// Column i of as many vectors as they have lanes becomes vector i.
llvm::SmallVector<mlir::Value> transpose(LaneBuilder &b,
                                         llvm::ArrayRef<mlir::Value> rows);

/// A loop that carries values.
Result<llvm::SmallVector<mlir::Value>>
carryingLoop(LaneBuilder &b, mlir::Value from, mlir::Value to, int64_t step,
             llvm::ArrayRef<mlir::Value> initial,
             llvm::function_ref<Result<llvm::SmallVector<mlir::Value>>(
                 mlir::Value, llvm::ArrayRef<mlir::Value>)>
                 body);

/// Full steps of `tile`, then single ones: `body` gets the position and how
/// many there are.
Result<llvm::SmallVector<mlir::Value>>
tiledLoop(LaneBuilder &b, const Lanes &from, const Lanes &count, int64_t tile,
          llvm::ArrayRef<mlir::Value> initial,
          llvm::function_ref<Result<llvm::SmallVector<mlir::Value>>(
              mlir::Value, int64_t, llvm::ArrayRef<mlir::Value>)>
              body);

/// A loop over the blocks of keys that one of the queries `first` to `last`
/// sees, and over the others if `isUnsettled` says of the state after these
/// that a row needs them. `body` gets the first key.
Result<llvm::SmallVector<mlir::Value>> overVisibleBlocks(
    AttentionKernel &kernel, mlir::Value first, mlir::Value last,
    llvm::ArrayRef<mlir::Value> initial,
    llvm::function_ref<Result<llvm::SmallVector<mlir::Value>>(
        mlir::Value, llvm::ArrayRef<mlir::Value>)>
        body,
    llvm::function_ref<mlir::Value(llvm::ArrayRef<mlir::Value>)> isUnsettled);

/// Whether hidden keys may have a weight in a row with one of these greatest
/// scores, scalars or vectors of which the lanes `active` exist.
mlir::Value anyUnsettled(AttentionKernel &kernel,
                         llvm::ArrayRef<mlir::Value> max,
                         llvm::ArrayRef<mlir::Value> active);

/// Emits `vectors` vectors of queries from `first` on, `left` of which exist.
Status emitQueriesInLanes(AttentionKernel &kernel, int64_t vectors,
                          mlir::Value first, mlir::Value left);

/// Emits one query; lanes run along the products' axis, the keys and the
/// values.
Status emitQueryAlone(AttentionKernel &kernel, const Lanes &query);

/// Emits one row in scalars, with all its scores: `reference`.
Status emitAttentionRow(KernelFrame &frame, const AttentionForm &form,
                        llvm::ArrayRef<mlir::Value> row);
/// The workspace of emitAttentionRow.
tw::DimExpr attentionRowBytes(const AttentionForm &form);

} // namespace tilewright::families
