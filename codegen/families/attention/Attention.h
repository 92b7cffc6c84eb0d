//===- Attention.h - scores, softmax and values in one kernel ---*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// The kernel walks the keys in blocks and keeps, for each query, the greatest
// score so far and the sum and values that go with it ("online softmax":
// Milakov and Gimelshein, arXiv:1805.02867; with values: Dao et al.,
// arXiv:2205.14135). A new greatest score scales both by exp(old − new), which
// the region's own exponential computes. Scores exist for one block at a time.
//
// Many queries lie along vector lanes, so that sums and maxima need no shuffles
// and keys and values are read where they are, one scalar for all lanes. A few
// queries are computed one by one, with lanes along the head's axes.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "codegen/families/emit/KernelFrame.h"
#include "passes/fuse/AttentionForm.h"
#include "passes/tile/Tactic.h"

namespace tilewright::families {

struct AttentionParameters {
  int64_t width = 1;   ///< lanes; 1 is the reference: a row after the other
  int64_t vectors = 1; ///< vectors of queries in a task
  int64_t keys = 1;    ///< keys in a block
  int64_t tile = 1;    ///< keys, or elements of values, in a register tile
  int64_t alone = 0;   ///< so many queries are computed one by one

  /// The queries of one task.
  int64_t rows() const { return width * vectors; }

  mlir::DictionaryAttr toAttribute(mlir::MLIRContext *context,
                                   llvm::StringRef tactic) const;
  static AttentionParameters fromAttribute(mlir::DictionaryAttr attribute);
};

/// The match in a region of form Attention. \pre analyseRegion succeeded.
AttentionForm attentionOf(const FusedRegion &region);

/// \returns blocks that suit the registers and the first cache of `target`.
AttentionParameters chooseAttention(const FusedRegion &region,
                                    const TargetSpec &target);

/// \returns the tasks, sizes and workspace of a region of form Attention.
Launch attentionLaunch(const FusedRegion &region,
                       const AttentionParameters &parameters);

/// Builds the kernel of a region of form Attention.
Result<twk::KernelOp> buildAttention(const FusedRegion &region,
                                     const AttentionParameters &parameters,
                                     const TargetSpec &target,
                                     llvm::StringRef name,
                                     mlir::OpBuilder &builder);

} // namespace tilewright::families
