//===- Recurrence.cpp - what LSTM, GRU and RNN share ----------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "frontend/ops/Recurrence.h"
#include "frontend/ops/Scalars.h"

using namespace mlir;

namespace tilewright::frontend {

//===----------------------------------------------------------------------===//
// Parts of a step
//===----------------------------------------------------------------------===//

Value Recurrence::activate(BodyBuilder &b, Value x, int64_t direction,
                           size_t i) const {
  return activation(direction, i)
      .apply(b, clip ? clamp(b, x, -*clip, *clip) : x);
}

Value Recurrence::inputProducts(int64_t direction) const {
  Value x = node.input(0), weights = node.input(1);
  return tw::buildReduce(
      node.builder(), node.loc(), FoldKind::Add,
      {steps, batch, hidden * static_cast<int64_t>(gates)}, inputSize, real,
      [&](BodyBuilder &b, ValueRange at) {
        Value first = batchFirst ? at[1] : at[0],
              second = batchFirst ? at[0] : at[1];
        Value left = b.widen(b.load(x, {first, second, at[3]}));
        Value right =
            b.widen(b.load(weights, {b.index(direction), at[2], at[3]}));
        return b.mulOf(left, right);
      },
      "matmul");
}

Value Recurrence::recurrentProducts(int64_t direction, Value state,
                                    size_t first, size_t count) const {
  Value weights = node.input(2);
  return tw::buildReduce(
      node.builder(), node.loc(), FoldKind::Add,
      {batch, hidden * static_cast<int64_t>(count)}, hidden, real,
      [&](BodyBuilder &b, ValueRange at) {
        Value unit = b.add(at[1], b.size(hidden * static_cast<int64_t>(first)));
        Value left = b.load(state, {at[0], at[2]});
        Value right =
            b.widen(b.load(weights, {b.index(direction), unit, at[2]}));
        return b.mulOf(left, right);
      },
      "matmul");
}

Value Recurrence::bias(BodyBuilder &b, int64_t direction, size_t gate,
                       Value unit, bool recurrent) const {
  if (!node.hasInput(3)) {
    return b.constant(real, 0);
  }
  int64_t block = gate + (recurrent ? gates : 0);
  Value position = b.add(unit, b.size(hidden * block));
  return b.widen(b.load(node.input(3), {b.index(direction), position}));
}

Value Step::input(BodyBuilder &b, size_t gate, Value row, Value unit) const {
  Value position =
      b.add(unit, b.size(cell.hidden * static_cast<int64_t>(gate)));
  return b.load(products, {time(b), row, position});
}

//===----------------------------------------------------------------------===//
// The operator
//===----------------------------------------------------------------------===//

static Status checkOperands(Recurrence &cell) {
  NodeImport &node = cell.node;
  DimExpr directions = node.constant(cell.directions);
  DimExpr units = cell.hidden * static_cast<int64_t>(cell.gates);
  TW_RETURN_IF_ERROR(
      requireDims(node, 1, "W", {directions, units, cell.inputSize}));
  TW_RETURN_IF_ERROR(
      requireDims(node, 2, "R", {directions, units, cell.hidden}));
  if (node.hasInput(3)) {
    TW_RETURN_IF_ERROR(requireDims(node, 3, "B", {directions, units * 2}));
  }
  if (node.hasInput(4)) {
    TW_RETURN_IF_ERROR(requireInteger(node, 4));
    TW_RETURN_IF_ERROR(requireDims(node, 4, "sequence_lens", cell.batch));
  }
  Dims state = cell.batchFirst ? Dims{cell.batch, directions, cell.hidden}
                               : Dims{directions, cell.batch, cell.hidden};
  for (size_t i = 0; i < cell.states; ++i) {
    if (node.hasInput(5 + i)) {
      TW_RETURN_IF_ERROR(
          requireDims(node, 5 + i, i == 0 ? "initial_h" : "initial_c", state));
    }
  }
  if (cell.states == 2 && node.hasInput(7)) {
    TW_RETURN_IF_ERROR(
        requireDims(node, 7, "P", {directions, cell.hidden * 3}));
  }
  return Status::ok();
}

static Status describe(Recurrence &cell,
                       ArrayRef<llvm::StringRef> activations) {
  NodeImport &node = cell.node;
  TW_RETURN_IF_ERROR(requireFloat(node, 0));
  for (size_t i : {1, 2, 3, 5, 6, 7}) {
    if (node.hasInput(i) && node.element(i) != node.element(0)) {
      return node.error(
          ErrorCode::TypeMismatch,
          "inputs 0 and " + Twine(i) + " must have one element type, but are " +
              textOf(node.element(0)) + " and " + textOf(node.element(i)));
    }
  }
  TW_RETURN_IF_ERROR(requireRank(node, 0, 3));
  TW_RETURN_IF_ERROR(requireRank(node, 2, 3));
  std::string direction = node.stringAttribute("direction", "forward");
  if (direction != "forward" && direction != "reverse" &&
      direction != "bidirectional") {
    return node.error(
        ErrorCode::AttributeInvalid,
        "direction must be forward, reverse or bidirectional, not '" +
            direction + "'");
  }
  cell.directions = direction == "bidirectional" ? 2 : 1;
  cell.batchFirst = node.intAttribute("layout", 0) != 0;
  Dims x = node.dims(0);
  cell.steps = x[cell.batchFirst ? 1 : 0];
  cell.batch = x[cell.batchFirst ? 0 : 1];
  cell.inputSize = x[2];
  cell.hidden = node.dims(2)[2];
  if (!cell.hidden.getConstant() && node.hasAttribute("hidden_size")) {
    cell.hidden = node.constant(node.intAttribute("hidden_size", 0));
  }
  if (node.hasAttribute("clip")) {
    cell.clip = node.floatAttribute("clip", 0);
  }
  cell.element = node.element(0);
  cell.real = tw::computeType(cell.element);
  TW_RETURN_IF_ERROR(checkOperands(cell));
  Result<SmallVector<Activation>> functions =
      activationsOf(node, activations, cell.directions);
  if (!functions) {
    return functions.status();
  }
  cell.activations = *functions;
  return Status::ok();
}

/// One tensor out of one per direction: element d of `parts` where the result's
/// direction coordinate is d.
static Value
joinDirections(const Recurrence &cell, ArrayRef<DimExpr> dims,
               size_t directionAxis,
               llvm::function_ref<Value(BodyBuilder &, size_t, ValueRange,
                                        Value guard, Value otherwise)>
                   load) {
  NodeImport &node = cell.node;
  return tw::buildMap(node.builder(), node.loc(), dims, cell.element,
                      [&](BodyBuilder &b, ValueRange at) {
                        if (cell.directions == 1) {
                          return b.narrow(load(b, 0, at, {}, {}), cell.element);
                        }
                        Value isFirst = b.equal(at[directionAxis], b.index(0));
                        Value isSecond = b.equal(at[directionAxis], b.index(1));
                        Value zero = b.constant(cell.real, 0);
                        Value second = load(b, 1, at, isSecond, zero);
                        return b.narrow(load(b, 0, at, isFirst, second),
                                        cell.element);
                      });
}

Status importRecurrence(NodeImport &node, size_t gates, size_t states,
                        ArrayRef<llvm::StringRef> activations,
                        StepFunction step) {
  Recurrence cell(node, gates, states);
  TW_RETURN_IF_ERROR(describe(cell, activations));
  SmallVector<DirectionResult> results;
  for (int64_t d = 0; d < cell.directions; ++d) {
    bool isReverse =
        d == 1 || node.stringAttribute("direction", "forward") == "reverse";
    results.push_back(runDirection(cell, d, isReverse, step));
  }
  DimExpr directions = node.constant(cell.directions);
  bool batchFirst = cell.batchFirst;
  if (node.wantsOutput(0)) {
    Dims dims = batchFirst
                    ? Dims{cell.batch, cell.steps, directions, cell.hidden}
                    : Dims{cell.steps, directions, cell.batch, cell.hidden};
    node.setOutput(
        0, joinDirections(cell, dims, batchFirst ? 2 : 1,
                          [&](BodyBuilder &b, size_t d, ValueRange at,
                              Value guard, Value otherwise) {
                            Value time = batchFirst ? at[1] : at[0];
                            Value row = batchFirst ? at[0] : at[2];
                            if (results[d].isReversed) {
                              time = b.sub(b.size(cell.steps - 1), time);
                            }
                            return b.load(results[d].sequence,
                                          {time, row, at[3]}, guard, otherwise);
                          }));
  }
  for (size_t i = 0; i < states; ++i) {
    if (!node.wantsOutput(1 + i)) {
      continue;
    }
    Dims dims = batchFirst ? Dims{cell.batch, directions, cell.hidden}
                           : Dims{directions, cell.batch, cell.hidden};
    node.setOutput(
        1 + i, joinDirections(cell, dims, batchFirst ? 1 : 0,
                              [&](BodyBuilder &b, size_t d, ValueRange at,
                                  Value guard, Value otherwise) {
                                Value row = batchFirst ? at[0] : at[1];
                                return b.load(results[d].states[i],
                                              {row, at[2]}, guard, otherwise);
                              }));
  }
  return Status::ok();
}

} // namespace tilewright::frontend
