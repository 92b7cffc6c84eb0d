//===- BuildRegion.h - putting primitives into tw.fused ---------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "ir/TwOps.h"
#include "passes/fuse/RegionForms.h"
#include "llvm/ADT/StringSet.h"

namespace tilewright {

/// Gives every region a name of its own, made of ONNX node names.
class RegionNames {
public:
  /// \returns e.g. "conv1_relu1" for a region from node conv1 to node relu1.
  std::string nameFor(mlir::Location loc);
  /// Notes a name that a region has.
  void take(llvm::StringRef name) { taken.insert(name); }

private:
  llvm::StringSet<> taken;
};

/// Moves `members` into a new tw.fused at the builder's insertion point, in an
/// order in which a reduction precedes its epilogue.
tw::FusedOp buildRegion(mlir::OpBuilder &builder,
                        llvm::ArrayRef<mlir::Operation *> members,
                        const RegionShape &shape, RegionNames &names);

} // namespace tilewright
