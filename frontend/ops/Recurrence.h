//===- Recurrence.h - what LSTM, GRU and RNN share --------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// The products of all inputs with the weights are one contraction over all
// time steps. A loop over time then holds the recurrent contraction and the
// gates; a sequence of one step needs no loop.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "frontend/ops/Activations.h"

namespace tilewright::frontend {

/// A recurrent node. States and sums are `real`: f32, or f64 for f64.
struct Recurrence {
  NodeImport &node;
  size_t gates;
  size_t states; // one, or two with a cell state

  Recurrence(NodeImport &node, size_t gates, size_t states)
      : node(node), gates(gates), states(states) {}

  DimExpr steps, batch, inputSize, hidden;
  int64_t directions = 1;
  bool batchFirst = false; // layout = 1
  std::optional<double> clip;
  SmallVector<Activation> activations; // all directions' one after the other
  Type element, real;

  size_t activationsPerDirection() const {
    return activations.size() / directions;
  }
  const Activation &activation(int64_t direction, size_t i) const {
    return activations[direction * activationsPerDirection() + i];
  }
  /// `activation` of x, which is clipped first.
  Value activate(BodyBuilder &b, Value x, int64_t direction, size_t i) const;

  /// W[d] · x for all steps and gates: [steps, batch, gates * hidden].
  Value inputProducts(int64_t direction) const;
  /// R[d] · state for gates [first, first + count): [batch, count * hidden].
  Value recurrentProducts(int64_t direction, Value state, size_t first,
                          size_t count) const;
  /// The input's bias of a gate, the recurrent bias if `recurrent`; zero if
  /// none.
  Value bias(BodyBuilder &b, int64_t direction, size_t gate, Value unit,
             bool recurrent) const;
};

/// One step of a direction: from the inputs' products, the coordinate of the
/// step as a builder of it, and the states before, the states after.
struct Step {
  const Recurrence &cell;
  int64_t direction;
  Value products;
  llvm::function_ref<Value(BodyBuilder &)> time;

  /// W · x of a gate at the step.
  Value input(BodyBuilder &b, size_t gate, Value row, Value unit) const;
};
using StepFunction = SmallVector<Value> (*)(const Step &, ValueRange states);

/// What a direction leaves: the states after the last step, and the hidden
/// state after each, [steps, batch, hidden] in the order of the loop.
struct DirectionResult {
  SmallVector<Value> states;
  Value sequence;
  bool isReversed = false;
};

DirectionResult runDirection(const Recurrence &cell, int64_t direction,
                             bool isReverse, StepFunction step);

/// Imports a recurrent operator with `gates` gates and `states` states, whose
/// default activations are `activations`.
Status importRecurrence(NodeImport &node, size_t gates, size_t states,
                        ArrayRef<llvm::StringRef> activations,
                        StepFunction step);

} // namespace tilewright::frontend
