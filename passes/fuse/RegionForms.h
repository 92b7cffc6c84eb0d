//===- RegionForms.h - which primitives can be one kernel -------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "mlir/IR/Operation.h"
#include "passes/ReasonCodes.h"
#include <optional>

namespace tilewright {

/// The forms that code generation takes.
enum class RegionForm {
  Maps, // maps over one domain, reading each other at their own coordinates
  Reduction, // one reduction or several contractions, which read no member,
             // then maps over their results' dims
  Rows, // reductions over the same inner axes, and maps over rows or elements
  RowBlocks, // contractions and maps as in Reduction, then Rows over what they
             // give
  Attention, // two contractions and softmax between (AttentionForm.h)
  Single     // anything alone
};

/// What a set of primitives is, or why they cannot be a region.
struct RegionShape {
  RegionForm form = RegionForm::Single;
  unsigned rows = 0; // Rows, RowBlocks: how many leading axes count the rows
  const Reason *reason = nullptr; // set if there is no form

  explicit operator bool() const { return reason == nullptr; }
};

/// \returns the form of `members`, which are primitives of one block.
RegionShape shapeOf(llvm::ArrayRef<mlir::Operation *> members);

} // namespace tilewright
