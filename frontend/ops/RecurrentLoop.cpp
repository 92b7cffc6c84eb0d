//===- RecurrentLoop.cpp - one direction of a recurrent node --------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "frontend/ops/Recurrence.h"

using namespace mlir;

namespace tilewright::frontend {

namespace {

class Direction {
public:
  Direction(const Recurrence &cell, int64_t direction, bool isReverse,
            StepFunction step)
      : cell(cell), node(cell.node), direction(direction), isReverse(isReverse),
        step(step), products(cell.inputProducts(direction)) {}

  DirectionResult run() const;

private:
  Value initialState(size_t i) const;
  /// The states after a step, and the output; shorter sequences keep their
  /// state and give zeros.
  SmallVector<Value> stepAt(llvm::function_ref<Value(BodyBuilder &)> time,
                            ValueRange states) const;
  DirectionResult loop(ValueRange states) const;

  const Recurrence &cell;
  NodeImport &node;
  int64_t direction;
  bool isReverse;
  StepFunction step;
  Value products;
};

} // namespace

Value Direction::initialState(size_t i) const {
  bool given = node.hasInput(5 + i);
  return tw::buildMap(node.builder(), node.loc(), {cell.batch, cell.hidden},
                      cell.real, [&](BodyBuilder &b, ValueRange at) {
                        if (!given) {
                          return b.constant(cell.real, 0);
                        }
                        Value d = b.index(direction);
                        Value first = cell.batchFirst ? at[0] : d;
                        Value second = cell.batchFirst ? d : at[0];
                        return b.widen(
                            b.load(node.input(5 + i), {first, second, at[1]}));
                      });
}

SmallVector<Value>
Direction::stepAt(llvm::function_ref<Value(BodyBuilder &)> time,
                  ValueRange states) const {
  SmallVector<Value> after = step({cell, direction, products, time}, states);
  Value output = after[0];
  if (!node.hasInput(4)) {
    after.push_back(output);
    return after;
  }
  Value lengths = node.input(4);
  Type element = node.element(4);
  auto whileActive = [&](Value now, Value otherwise) {
    return tw::buildMap(
        node.builder(), node.loc(), {cell.batch, cell.hidden}, cell.real,
        [&](BodyBuilder &b, ValueRange at) {
          Value length =
              b.cast(b.load(lengths, at[0]), element, b.getI64Type());
          Value active = b.less(time(b), b.createOrFold<arith::IndexCastOp>(
                                             b.getIndexType(), length));
          Value rest =
              otherwise ? b.load(otherwise, at) : b.constant(cell.real, 0);
          return b.select(active, b.load(now, at), rest);
        });
  };
  for (size_t i = 0; i < after.size(); ++i) {
    after[i] = whileActive(after[i], states[i]);
  }
  after.push_back(whileActive(output, {}));
  return after;
}

DirectionResult Direction::loop(ValueRange states) const {
  OpBuilder &builder = node.builder();
  Location loc = node.loc();
  auto counter = RankedTensorType::get({}, builder.getI64Type());
  Value trips = tw::SizesOp::create(
      builder, loc, counter, tw::DimsAttr::get(node.context(), {cell.steps}));
  SmallVector<Type> types(states.getTypes());
  types.push_back(
      tw::tensorType({cell.steps, cell.batch, cell.hidden}, cell.real));
  auto loop = tw::LoopOp::create(builder, loc, types, trips, Value(), states,
                                 ArrayAttr());

  OpBuilder::InsertionGuard guard(builder);
  Block &body = loop.getBody().emplaceBlock();
  Value iteration = body.addArgument(counter, loc);
  Value condition =
      body.addArgument(RankedTensorType::get({}, builder.getI1Type()), loc);
  SmallVector<Value> before;
  for (Value state : states) {
    before.push_back(body.addArgument(state.getType(), loc));
  }
  builder.setInsertionPointToStart(&body);
  auto time = [&](BodyBuilder &b) {
    Value now = b.dataIndex(b.load(iteration, {}), cell.steps, /*wrap=*/false);
    return isReverse ? b.sub(b.size(cell.steps - 1), now) : now;
  };
  SmallVector<Value> results{condition};
  results.append(stepAt(time, before));
  tw::YieldOp::create(builder, loc, results);

  DirectionResult result;
  result.states.assign(loop.getResults().begin(),
                       std::prev(loop.getResults().end()));
  result.sequence = loop.getResults().back();
  result.isReversed = isReverse;
  return result;
}

DirectionResult Direction::run() const {
  SmallVector<Value> states;
  for (size_t i = 0; i < cell.states; ++i) {
    states.push_back(initialState(i));
  }
  if (!cell.steps.isConstant(1)) {
    return loop(states);
  }
  SmallVector<Value> after =
      stepAt([](BodyBuilder &b) { return b.index(0); }, states);
  DirectionResult result;
  result.sequence =
      tw::buildReshape(node.builder(), node.loc(), after.pop_back_val(),
                       {cell.steps, cell.batch, cell.hidden});
  result.states = after;
  return result;
}

DirectionResult runDirection(const Recurrence &cell, int64_t direction,
                             bool isReverse, StepFunction step) {
  return Direction(cell, direction, isReverse, step).run();
}

} // namespace tilewright::frontend
