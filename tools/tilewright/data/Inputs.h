//===- Inputs.h - tensors for a model's inputs ------------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "tilewright/Module.h"
#include "tilewright/Tensor.h"
#include "tools/tilewright/data/Bindings.h"

#include <utility>

namespace tilewright {

/// How a run's inputs are made.
struct InputOptions {
  std::vector<InputBinding> bindings;
  Shapes shapes;
  uint64_t seed = 0;
};

/// A run's inputs, in the order of Module::inputs().
struct MadeInputs {
  std::vector<Tensor> tensors;
  std::vector<std::string> sources; ///< "x.npy", "zeros", "ones" or "random"
  /// Sizes that nobody gave, and so are 1.
  std::vector<std::string> assumed;

  std::vector<TensorView> views() const;
};

/// Reads or generates every input. An input without a binding gets random data:
/// integers and booleans from {0, 1}, floats from [-1, 1). A symbolic size is
/// what `shapes` or the shape of a given file says, else 1.
///
/// Errors: InputName, InputType, InputShape, InputUnreadable, OutOfMemory,
/// UnsupportedType.
Result<MadeInputs> makeInputs(const std::vector<Parameter> &parameters,
                              const InputOptions &options);

/// \returns "the inputs are 'x', 'y'".
std::string listNames(const std::string &what,
                      const std::vector<Parameter> &parameters);

} // namespace tilewright
