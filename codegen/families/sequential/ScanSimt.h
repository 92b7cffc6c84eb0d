//===- ScanSimt.h - scans by teams ----------------------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// A warp or a block of a GPU takes a line: its threads have the next elements
// side by side, learn by shuffles and through shared memory what is before
// them, and go on to the next piece of the line. What is folded with what is
// fixed, whatever runs first.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "codegen/families/ReferenceTactic.h"

namespace tilewright::families {

/// The tactic `scan.team`.
class TeamScan : public ReferenceTactic {
public:
  TeamScan() : ReferenceTactic("scan.team") {}

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
