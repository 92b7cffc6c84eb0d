//===- ElementArithmetic.h - arithmetic on known elements -------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "frontend/NodeImport.h"

namespace tilewright::frontend {

/// \returns what the node's operator gives for the known elements of its
/// inputs, `length` integers of type `type`; null for elements that are not
/// known; nullopt for an operator that computes something else.
std::optional<Dims> computeIntegers(NodeImport &node, int64_t length, mlir::IntegerType type);

/// As above for floats, of constants alone, rounded to `type`.
std::optional<llvm::SmallVector<double>> computeReals(NodeImport &node, int64_t length,
                                                      mlir::FloatType type);

} // namespace tilewright::frontend
