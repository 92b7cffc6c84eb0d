//===- Builtins.cpp - the table of irregular operators --------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "runtime/builtins/Builtins.h"

#include "runtime/module/PlanVerifier.h"

using namespace tilewright;

// README.md beside this file says what each number means.
static constexpr Builtin table[] = {
    // name, function, inputs, outputs, ints, floats, defines
    {"bernoulli", builtins::bernoulli, {1, 1}, {1, 1}, {1, 1}, {0, 0}, 0},
    {"compress", builtins::compress, {2, 2}, {1, 1}, {0, 1}, {0, 0}, 1},
    {"det", builtins::determinant, {1, 1}, {1, 1}, {0, 0}, {0, 0}, 0},
    {"multinomial", builtins::multinomial, {1, 1}, {1, 1}, {1, 1}, {0, 0}, 0},
    {"non_max_suppression",
     builtins::nonMaxSuppression,
     {2, 5},
     {1, 1},
     {1, 1},
     {0, 0},
     1},
    {"nonzero", builtins::nonzero, {1, 1}, {1, 1}, {0, 0}, {0, 0}, 1},
    {"random_normal",
     builtins::randomNormal,
     {0, 0},
     {1, 1},
     {1, 1},
     {2, 2},
     0},
    {"random_uniform",
     builtins::randomUniform,
     {0, 0},
     {1, 1},
     {1, 1},
     {2, 2},
     0},
    {"topk", builtins::topk, {2, 2}, {1, 2}, {3, 3}, {0, 0}, 1},
    {"unique", builtins::unique, {1, 1}, {1, 4}, {1, 2}, {0, 0}, 1},
};

const Builtin *tilewright::findBuiltin(std::string_view name) {
  for (const Builtin &builtin : table) {
    if (name == builtin.name) {
      return &builtin;
    }
  }
  return nullptr;
}

static bool within(const Arity &arity, size_t count) {
  return count >= arity.least && count <= arity.most;
}

Status tilewright::checkBuiltin(const format::BuiltinT &builtin) {
  const Builtin *row = findBuiltin(builtin.name);
  if (!row) {
    return Status(ErrorCode::UnsupportedOperator,
                  "the module needs the builtin '" + builtin.name +
                      "', which this runtime does not have");
  }
  bool good = within(row->inputs, builtin.inputs.size()) &&
              within(row->outputs, builtin.outputs.size()) &&
              within(row->ints, builtin.ints.size()) &&
              within(row->floats, builtin.floats.size()) &&
              builtin.strings.empty() && builtin.defines.size() <= row->defines;
  for (size_t i = 0; good && i < row->inputs.least; ++i) {
    good = builtin.inputs[i] >= 0;
  }
  return good ? Status::ok()
              : planError("builtin '" + builtin.name +
                          "' has the wrong number of operands or attributes");
}

Status BuiltinCall::expectOutput(size_t index, DType dtype,
                                 ShapeRef shape) const {
  const TensorView *view = output(index);
  if (!view || (view->dtype == dtype && view->shape == shape)) {
    return Status::ok();
  }
  return planError("builtin '" + plan->name + "' gives output " +
                   std::to_string(index) + " as " + nameOf(dtype) +
                   shape.toString() + ", and the plan expects " +
                   nameOf(view->dtype) + view->shape.toString());
}

Status BuiltinCall::unsupportedType(DType dtype) const {
  return Status(ErrorCode::UnsupportedType,
                "'" + plan->name + "' does not take elements of type " +
                    nameOf(dtype));
}

Status BuiltinCall::invalid(const std::string &what) const {
  return Status(ErrorCode::DataInvalid, what);
}
