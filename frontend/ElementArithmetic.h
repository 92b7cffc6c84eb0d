//===- ElementArithmetic.h - arithmetic on known elements -------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "frontend/NodeImport.h"

namespace tilewright::frontend {

/// \returns what the node's operator gives for the known elements of its
/// inputs: `length` whole numbers of the integer or float type `type`; null for
/// elements that are not known; nullopt for an operator that computes something
/// else. Whole floats are taken as exact, as sizes below 2^24 are in f32.
std::optional<Dims> computeWholeNumbers(NodeImport &node, int64_t length,
                                        mlir::Type type);

/// As above for any floats, of constants alone, rounded to `type`.
std::optional<llvm::SmallVector<double>>
computeReals(NodeImport &node, int64_t length, mlir::FloatType type);

} // namespace tilewright::frontend
