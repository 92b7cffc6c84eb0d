//===- ReferenceTactic.h - plain loops over any region ----------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "codegen/families/Region.h"
#include "passes/tile/Tactic.h"

namespace tilewright::families {

/// Plain loops over every form of region; on a GPU a task is a thread's. The
/// faster tactics build upon it.
class ReferenceTactic : public Tactic {
public:
  /// \param wide floats are accumulated in f64.
  explicit ReferenceTactic(llvm::StringRef tacticName = "reference",
                           bool wide = true)
      : tacticName(tacticName), wide(wide) {}

  llvm::StringRef name() const override { return tacticName; }
  std::optional<Refusal> applicable(tw::FusedOp op,
                                    const TargetSpec &target) const override;
  Result<mlir::DictionaryAttr> choose(tw::FusedOp op,
                                      const TargetSpec &target) const override;
  Result<Launch> launch(tw::FusedOp op) const override;
  Result<twk::KernelOp> build(tw::FusedOp op, const TargetSpec &target,
                              llvm::StringRef kernelName,
                              mlir::OpBuilder &builder) const override;

protected:
  static mlir::DictionaryAttr parametersOf(tw::FusedOp op) {
    return llvm::cast<mlir::DictionaryAttr>(*op.getTactic());
  }

private:
  llvm::StringRef tacticName;
  bool wide;
};

} // namespace tilewright::families
