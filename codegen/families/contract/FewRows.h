//===- FewRows.h - products of a few rows ---------------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// A product with a few rows (or a single one) reads the other factor, and
// computes little: so every element of that factor is read once, 16 bytes by a
// thread, and all rows are multiplied by it. Where it lies along the depth, the
// threads of a team take the depth in turn and fold what they have got. Where
// it lies along the columns, some threads side by side have columns of their
// own, and a block's others take the depth in turn.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "codegen/families/ReferenceTactic.h"

namespace tilewright::families {

/// The tactic `contract.few`.
class FewRows : public ReferenceTactic {
public:
  FewRows() : ReferenceTactic("contract.few", /*wide=*/false) {}

  std::optional<Refusal> applicable(tw::FusedOp op,
                                    const TargetSpec &target) const override;
  Result<mlir::DictionaryAttr> choose(tw::FusedOp op,
                                      const TargetSpec &target) const override;
  Result<Launch> launch(tw::FusedOp op) const override;
};

} // namespace tilewright::families
