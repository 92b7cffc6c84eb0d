//===- AttentionForm.h - softmax between two contractions -------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// Attention is found by structure alone:
//
//   scores  = sum over d of query · key          [rows…, keys]
//   score   = maps over scores                   scale, mask, bias
//   max     = greatest score of a row
//   sum     = sum over keys of exp(score − max)
//   weights = exp(score − max) / sum, or times a function of sum; zero in rows
//             that a condition names
//   values  = sum over keys of weights · value   [rows… and one more axis]
//   maps over values
//
// A region may be a part of that, for some of the keys: its weights are
// exp(score − max), rounded or not, and it gives maximum and sum as well, by
// which another region joins parts.
//
// All of it reads itself at its own coordinates. Scores and weights may be
// rounded to 16 bits; kernels keep the rounding of scores, and what they weigh
// values with is not more exact than the weights' type. The pass that forms
// regions and code generation both read it through this analysis.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "ir/TwOps.h"
#include "passes/ReasonCodes.h"

namespace tilewright {

/// exp(score − max), wherever it stands.
struct Exponential {
  mlir::Value score, max; // tensors
  mlir::Value scalar;     // in the body of `computedIn`
  mlir::Operation *computedIn = nullptr;
  tw::MapOp map; // set if the exponentials are a tensor
};

struct AttentionForm {
  tw::ReduceOp scores, max, sum, values;
  tw::MapOp weights;
  llvm::SmallVector<tw::MapOp> scoreMaps; // in order
  llvm::SmallVector<tw::MapOp> rowMaps;   // functions of the sum, in order
  llvm::SmallVector<tw::MapOp> epilogue;  // in order
  Exponential exponential;                // as the sum reads it

  mlir::Value queryFactor, keyFactor, valueFactor; // scalars of the products
  /// In `weights`: of the exponential …; null for a part.
  mlir::Operation *scale = nullptr;
  mlir::Value denominator; // … by this scalar
  mlir::Value cleared; // in `weights`: rows where this is so have no weights
  bool clearsWhere = true; // … or is not so

  llvm::SmallVector<unsigned> rowAxes; // per row axis, the axis of `values`
  unsigned valueAxis = 0;              // the axis of `values` that no row has
  /// The innermost row axis on which neither keys nor values depend.
  std::optional<unsigned> queryAxis;

  /// Weights are exponentials, and maximum and sum may be results.
  bool isPart() const { return !scale; }
  /// What softmax reads.
  mlir::Value score() const { return exponential.score; }
  /// All primitives, in the order of their block.
  llvm::SmallVector<mlir::Operation *> members() const;
};

/// Matches the attention that ends in the contraction `values`.
/// \returns nullopt if that is something else, or, with a reason, if it cannot
/// be one kernel.
std::optional<AttentionForm> matchAttention(tw::ReduceOp values,
                                            const Reason *&reason);

} // namespace tilewright
