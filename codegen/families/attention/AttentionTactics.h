//===- AttentionTactics.h - attention in tiles of a block -------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "passes/tile/Tactic.h"

namespace tilewright::families {

/// The tactics `attention.mma`, whose products are those of matrix units, and
/// `attention.tiles`, which multiplies and adds f32: AttentionTiles.h.
class TiledAttention : public Tactic {
public:
  explicit TiledAttention(bool usesMatrixUnits)
      : usesMatrixUnits(usesMatrixUnits) {}

  llvm::StringRef name() const override {
    return usesMatrixUnits ? "attention.mma" : "attention.tiles";
  }
  std::optional<Refusal> applicable(tw::FusedOp op,
                                    const TargetSpec &target) const override;
  Result<mlir::DictionaryAttr> choose(tw::FusedOp op,
                                      const TargetSpec &target) const override;
  Result<Launch> launch(tw::FusedOp op) const override;
  Result<twk::KernelOp> build(tw::FusedOp op, const TargetSpec &target,
                              llvm::StringRef kernelName,
                              mlir::OpBuilder &builder) const override;

private:
  bool usesMatrixUnits;
};

/// \returns the parts of the keys, each for blocks of its own, with which a
/// region of form Attention should take least time, joining them included;
/// nothing if that is one part. Keys whose number only run time knows are
/// taken for many.
std::optional<int64_t> chooseKeyParts(tw::FusedOp op, const TargetSpec &target);

/// Bytes that the tiles of `op`, which has one of these tactics, exchange with
/// memory: attentionTraffic(). Nothing for any other.
std::optional<double> tiledAttentionTraffic(tw::FusedOp op);

} // namespace tilewright::families
