//===- Activations.h - activation functions by name -------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "frontend/ops/Common.h"

namespace tilewright::frontend {

/// An activation function with its parameters.
struct Activation {
  std::string name; // in lower case
  double alpha = 0, beta = 0;

  Value apply(BodyBuilder &b, Value x) const;
};

/// The functions that a recurrent node names, direction by direction. Values
/// of activation_alpha and activation_beta go to the functions that take them,
/// in order. Errors: AttributeInvalid.
Result<SmallVector<Activation>>
activationsOf(NodeImport &node, ArrayRef<llvm::StringRef> defaults,
              int64_t directions);

} // namespace tilewright::frontend
