//===- ScatterSimt.h - scatters by owners of elements ---------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// Every thread of a GPU owns elements of the result: one place on the axes that
// scatters share (Scatter.h), and every n-th of the others. It copies them,
// walks all updates for its place in order, and writes those that meet its
// elements. Threads side by side own neighbours in memory. Where updates go is
// found out once for the threads of a block if it does not depend on the place.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "codegen/families/ReferenceTactic.h"

namespace tilewright::families {

/// The tactic `scatter.owners`.
class OwnedScatter : public ReferenceTactic {
public:
  OwnedScatter() : ReferenceTactic("scatter.owners") {}

  Result<mlir::DictionaryAttr> choose(tw::FusedOp op,
                                      const TargetSpec &target) const override;
  Result<Launch> launch(tw::FusedOp op) const override;
  Result<twk::KernelOp> build(tw::FusedOp op, const TargetSpec &target,
                              llvm::StringRef kernelName,
                              mlir::OpBuilder &builder) const override;
};

} // namespace tilewright::families
