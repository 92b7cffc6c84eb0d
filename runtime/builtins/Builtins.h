//===- Builtins.h - irregular operators -------------------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// Operators that no loop over coordinates describes. README.md beside this file
// lists their operands and attributes, in the order that a plan gives them.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "runtime/ThreadPool.h"
#include "runtime/format/module_generated.h"
#include "tilewright/Status.h"
#include "tilewright/Tensor.h"

#include <string_view>
#include <vector>

namespace tilewright {

/// What a builtin gets to do its work. The executor implements it.
class BuiltinCall {
public:
  virtual ~BuiltinCall() = default;

  /// \returns input `index`, or null when it is left out.
  const TensorView *input(size_t index) const {
    return index < plan->inputs.size() && plan->inputs[index] >= 0
               ? &inputViews[index]
               : nullptr;
  }
  /// \returns output `index`, or null when it is not wanted. After allocate().
  const TensorView *output(size_t index) const {
    return index < plan->outputs.size() && plan->outputs[index] >= 0
               ? &outputViews[index]
               : nullptr;
  }

  const std::vector<int64_t> &ints() const { return plan->ints; }
  const std::vector<double> &floats() const { return plan->floats; }
  std::string_view name() const { return plan->name; }

  /// Sets the sizes that depend on data, in the builtin's own order (a plan may
  /// want fewer), and gives the outputs memory.
  virtual Status allocate(std::initializer_list<int64_t> sizes) = 0;

  /// How many times this command has run before in this run of the model.
  virtual uint64_t occurrence() = 0;

  virtual ThreadPool &threads() = 0;

  /// \returns an error unless output `index`, if wanted, has this type and
  /// shape.
  Status expectOutput(size_t index, DType dtype, ShapeRef shape) const;

  /// \returns the error for an input of a type that the builtin lacks.
  Status unsupportedType(DType dtype) const;

  /// \returns a DataInvalid error.
  Status invalid(const std::string &what) const;

protected:
  const format::BuiltinT *plan = nullptr;
  std::vector<TensorView> inputViews;
  std::vector<TensorView> outputViews;
};

/// How many of something a builtin takes.
struct Arity {
  size_t least;
  size_t most;
};

struct Builtin {
  const char *name;
  Status (*run)(BuiltinCall &call);
  Arity inputs; ///< the first `least` may not be left out
  Arity outputs;
  Arity ints;
  Arity floats;
  size_t defines; ///< at most
};

/// \returns the builtin of that name, or null.
const Builtin *findBuiltin(std::string_view name);

/// \returns an error unless the builtin exists and takes these numbers of
/// operands and attributes.
Status checkBuiltin(const format::BuiltinT &builtin);

namespace builtins {
Status nonzero(BuiltinCall &call);
Status compress(BuiltinCall &call);
Status unique(BuiltinCall &call);
Status topk(BuiltinCall &call);
Status nonMaxSuppression(BuiltinCall &call);
Status randomNormal(BuiltinCall &call);
Status randomUniform(BuiltinCall &call);
Status bernoulli(BuiltinCall &call);
Status multinomial(BuiltinCall &call);
Status determinant(BuiltinCall &call);
} // namespace builtins

} // namespace tilewright
