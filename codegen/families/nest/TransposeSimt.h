//===- TransposeSimt.h - maps that read across memory ---------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// Neighbours of the results are far apart in an operand whose neighbours lie
// along another axis. A block takes a square of both axes: its threads go along
// the operand while they bring what it loads to shared memory, and along the
// results when they compute them.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "codegen/families/ReferenceTactic.h"

namespace tilewright::families {

/// The tactic `transpose.simt`.
class TransposedMaps : public ReferenceTactic {
public:
  TransposedMaps() : ReferenceTactic("transpose.simt", /*wide=*/false) {}

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
