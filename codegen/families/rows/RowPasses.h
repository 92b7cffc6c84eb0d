//===- RowPasses.h - rows too long for registers --------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// A block walks its row once for all reductions that do not wait for each
// other (RowSchedule.h), and once more for the results. Maps are computed
// wherever their elements are needed, so that nothing but results is written.
// What the first pass loads stays in shared memory where all of it fits.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "codegen/families/ReferenceTactic.h"

namespace tilewright::families {

/// The tactic `rows.passes`.
class RowPasses : public ReferenceTactic {
public:
  RowPasses() : ReferenceTactic("rows.passes", /*wide=*/false) {}

  std::optional<Refusal> applicable(tw::FusedOp op,
                                    const TargetSpec &target) const override;
  Result<mlir::DictionaryAttr> choose(tw::FusedOp op,
                                      const TargetSpec &target) const override;
  Result<Launch> launch(tw::FusedOp op) const override;
  Result<twk::KernelOp> build(tw::FusedOp op, const TargetSpec &target,
                              llvm::StringRef kernelName,
                              mlir::OpBuilder &builder) const override;
};

} // namespace tilewright::families
