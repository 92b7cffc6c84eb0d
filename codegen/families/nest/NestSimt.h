//===- NestSimt.h - nests whose threads take vectors ----------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// Threads side by side take neighbours in memory. Each takes as many elements
// as one access of 16 bytes has where all accesses allow that, and of a window
// that slides several positions, which share what they load.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "codegen/families/ReferenceTactic.h"

namespace tilewright::families {

/// Maps in vectors along the innermost axis: `pointwise.simt`.
class VectorMaps : public ReferenceTactic {
public:
  VectorMaps() : ReferenceTactic("pointwise.simt", /*wide=*/false) {}

  std::optional<Refusal> applicable(tw::FusedOp op,
                                    const TargetSpec &target) const override;
  Result<mlir::DictionaryAttr> choose(tw::FusedOp op,
                                      const TargetSpec &target) const override;
};

/// A window that slides over its operand, for each channel or with few of them
/// together: depthwise and grouped convolutions, pools. `window.simt`.
class SlidingWindow : public ReferenceTactic {
public:
  SlidingWindow() : ReferenceTactic("window.simt", /*wide=*/false) {}

  std::optional<Refusal> applicable(tw::FusedOp op,
                                    const TargetSpec &target) const override;
  Result<mlir::DictionaryAttr> choose(tw::FusedOp op,
                                      const TargetSpec &target) const override;
};

} // namespace tilewright::families
