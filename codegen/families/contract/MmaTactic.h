//===- MmaTactic.h - contractions on matrix units ---------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "passes/tile/Tactic.h"

namespace tilewright::families {

/// The attribute of a module that lets contractions of f32 round their factors
/// to tf32: the string `tf32`. Without it they do not run on matrix units.
constexpr llvm::StringLiteral precisionAttr = "tw.precision";

/// Whether the module of `op` has it.
bool allowsTf32(tw::FusedOp op);

/// The tactic `contract.mma`: MmaKernel.h.
class MmaContract : public Tactic {
public:
  llvm::StringRef name() const override { return "contract.mma"; }
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
