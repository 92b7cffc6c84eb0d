//===- ConstantSubgraphs.h - what depends on constants alone ----*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "mlir/IR/Operation.h"
#include "llvm/ADT/SetVector.h"
#include <vector>

namespace tilewright {

class Decisions;

/// A value without run-time inputs whose users have some.
struct ConstantSubgraph {
  mlir::Value result;
  /// What computes it, constants included, in program order.
  llvm::SetVector<mlir::Operation *> operations;
};

/// \returns true if no run-time input reaches `value`.
bool dependsOnConstantsOnly(mlir::Value value);

/// Finds the maximal constant subgraphs below `root` that are worth evaluating.
/// One that would give too large a constant shrinks to its parts. Masks that
/// coordinates tell stay computations: they are added to `masks`.
std::vector<ConstantSubgraph>
findConstantSubgraphs(mlir::Operation *root, Decisions &decisions,
                      std::vector<ConstantSubgraph> &masks);

} // namespace tilewright
