//===- Recurrent.cpp - LSTM, GRU and RNN ----------------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "frontend/ops/Families.h"
#include "frontend/ops/Recurrence.h"
#include "frontend/ops/Scalars.h"

using namespace mlir;

namespace tilewright::frontend {

/// What goes into a gate's activation: W · x + R · h and both biases.
/// `products` holds R · h of gates from `first` on.
static Value gateInput(BodyBuilder &b, const Step &step, Value products,
                       size_t gate, size_t first, Value row, Value unit) {
  const Recurrence &cell = step.cell;
  Value position =
      b.add(unit, b.size(cell.hidden * static_cast<int64_t>(gate - first)));
  Value sum = b.addOf(step.input(b, gate, row, unit),
                      b.load(products, {row, position}));
  if (!cell.node.hasInput(3)) {
    return sum;
  }
  Value bias = b.addOf(cell.bias(b, step.direction, gate, unit, false),
                       cell.bias(b, step.direction, gate, unit, true));
  return b.addOf(sum, bias);
}

//===----------------------------------------------------------------------===//
// RNN
//===----------------------------------------------------------------------===//

static SmallVector<Value> stepRnn(const Step &step, ValueRange states) {
  const Recurrence &cell = step.cell;
  NodeImport &node = cell.node;
  Value products = cell.recurrentProducts(step.direction, states[0], 0, 1);
  return {tw::buildMap(node.builder(), node.loc(), {cell.batch, cell.hidden},
                       cell.real, [&](BodyBuilder &b, ValueRange at) {
                         Value x =
                             gateInput(b, step, products, 0, 0, at[0], at[1]);
                         return cell.activate(b, x, step.direction, 0);
                       })};
}

static Status importRnn(NodeImport &node) {
  return importRecurrence(node, /*gates=*/1, /*states=*/1, {"Tanh"}, stepRnn);
}

//===----------------------------------------------------------------------===//
// GRU: gates z, r, h
//===----------------------------------------------------------------------===//

/// The reset gate before the recurrent product of the candidate.
static Value resetState(const Step &step, Value products, Value state) {
  const Recurrence &cell = step.cell;
  return tw::buildMap(
      cell.node.builder(), cell.node.loc(), {cell.batch, cell.hidden},
      cell.real, [&](BodyBuilder &b, ValueRange at) {
        Value reset = gateInput(b, step, products, 1, 0, at[0], at[1]);
        reset = cell.activate(b, reset, step.direction, 0);
        return b.mulOf(reset, b.load(state, at));
      });
}

static SmallVector<Value> stepGru(const Step &step, ValueRange states) {
  const Recurrence &cell = step.cell;
  NodeImport &node = cell.node;
  Value state = states[0];
  bool resetsProduct = node.intAttribute("linear_before_reset", 0) != 0;
  Value products =
      cell.recurrentProducts(step.direction, state, 0, resetsProduct ? 3 : 2);
  Value candidates = products;
  if (!resetsProduct) {
    Value reset = resetState(step, products, state);
    candidates = cell.recurrentProducts(step.direction, reset, 2, 1);
  }
  return {tw::buildMap(
      node.builder(), node.loc(), {cell.batch, cell.hidden}, cell.real,
      [&](BodyBuilder &b, ValueRange at) {
        Value row = at[0], unit = at[1];
        Value candidate;
        if (resetsProduct) {
          Value reset = gateInput(b, step, products, 1, 0, row, unit);
          reset = cell.activate(b, reset, step.direction, 0);
          Value recurrent =
              b.load(products, {row, b.add(unit, b.size(cell.hidden * 2))});
          recurrent =
              b.addOf(recurrent, cell.bias(b, step.direction, 2, unit, true));
          Value input = b.addOf(step.input(b, 2, row, unit),
                                cell.bias(b, step.direction, 2, unit, false));
          candidate = b.addOf(input, b.mulOf(reset, recurrent));
        } else {
          candidate = gateInput(b, step, candidates, 2, 2, row, unit);
        }
        candidate = cell.activate(b, candidate, step.direction, 1);
        Value update = gateInput(b, step, products, 0, 0, row, unit);
        update = cell.activate(b, update, step.direction, 0);
        Value rest = b.subOf(literal(b, update, 1.0), update);
        return b.addOf(b.mulOf(rest, candidate),
                       b.mulOf(update, b.load(state, at)));
      })};
}

static Status importGru(NodeImport &node) {
  return importRecurrence(node, /*gates=*/3, /*states=*/1, {"Sigmoid", "Tanh"},
                          stepGru);
}

//===----------------------------------------------------------------------===//
// LSTM: gates i, o, f, c; peepholes i, o, f
//===----------------------------------------------------------------------===//

static SmallVector<Value> stepLstm(const Step &step, ValueRange states) {
  const Recurrence &cell = step.cell;
  NodeImport &node = cell.node;
  int64_t d = step.direction;
  bool couples = node.intAttribute("input_forget", 0) != 0;
  Value products = cell.recurrentProducts(d, states[0], 0, 4);
  return tw::buildMap(
      node.builder(), node.loc(), {cell.batch, cell.hidden},
      TypeRange({cell.real, cell.real}), [&](BodyBuilder &b, ValueRange at) {
        Value row = at[0], unit = at[1], old = b.load(states[1], at);
        auto input = [&](size_t gate) {
          return gateInput(b, step, products, gate, 0, row, unit);
        };
        auto peephole = [&](size_t gate, Value x, Value seen) {
          if (!node.hasInput(7)) {
            return x;
          }
          Value position =
              b.add(unit, b.size(cell.hidden * static_cast<int64_t>(gate)));
          Value weight = b.widen(b.load(node.input(7), {b.index(d), position}));
          return b.addOf(x, b.mulOf(weight, seen));
        };
        Value in = cell.activate(b, peephole(0, input(0), old), d, 0);
        Value forget = couples
                           ? b.subOf(literal(b, in, 1.0), in)
                           : cell.activate(b, peephole(2, input(2), old), d, 0);
        Value candidate = cell.activate(b, input(3), d, 1);
        Value now = b.addOf(b.mulOf(forget, old), b.mulOf(in, candidate));
        Value out = cell.activate(b, peephole(1, input(1), now), d, 0);
        Value hidden = b.mulOf(out, cell.activation(d, 2).apply(b, now));
        return SmallVector<Value>{hidden, now};
      });
}

static Status importLstm(NodeImport &node) {
  return importRecurrence(node, /*gates=*/4, /*states=*/2,
                          {"Sigmoid", "Tanh", "Tanh"}, stepLstm);
}

OperatorFamily recurrentOperators() {
  static const OperatorEntry entries[] = {
      {"", "GRU", 1, importGru},
      {"", "LSTM", 1, importLstm},
      {"", "RNN", 1, importRnn},
  };
  return entries;
}

} // namespace tilewright::frontend
