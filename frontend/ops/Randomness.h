//===- Randomness.h - random numbers in import functions --------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "frontend/NodeImport.h"

namespace tilewright::frontend {

/// \returns a tensor of numbers in [low, high), by the node's seed.
mlir::Value randomUniform(NodeImport &node, llvm::ArrayRef<DimExpr> dims,
                          mlir::Type element, double low, double high);

} // namespace tilewright::frontend
