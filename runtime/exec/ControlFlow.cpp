//===- ControlFlow.cpp - If and Loop --------------------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// Results of a called function are owned blocks, each of its own, so that they
// move: to an output, to the next iteration's parameter, or back to the pool.
//
//===----------------------------------------------------------------------===//

#include "runtime/exec/Executor.h"

#include <algorithm>
#include <cstring>

using namespace tilewright;

// In a device's memory: an iteration's number, and its condition, which begin
// where kernels may load 16 bytes.
static constexpr int64_t countersBytes = 32;
static constexpr int64_t conditionOffset = 16;
// Iterations whose counters are written at once.
static constexpr int64_t mostCounted = 1024;

Status Executor::branch(const format::IfT &branch) {
  bool condition = false;
  TW_RETURN_IF_ERROR(readFlag(branch.condition, condition));
  uint32_t index = condition ? branch.then : branch.otherwise;
  TW_RETURN_IF_ERROR(runFunction(index));
  const std::vector<uint32_t> &results = plan.functions[index]->results;
  for (size_t i = 0; i < results.size(); ++i) {
    TensorView view;
    TW_RETURN_IF_ERROR(resolve(results[i], view));
    releaseOwned(branch.outputs[i]);
    slots[branch.outputs[i]].block = std::move(blockOf(results[i]));
    std::copy(view.shape.begin(), view.shape.end(), shapeOf(branch.outputs[i]));
  }
  return Status::ok();
}

Status Executor::loop(const format::LoopT &loop,
                      const format::CommandT &command) {
  LoopState &state = loops.find(&loop)->second;
  bool goOn = true;
  TW_RETURN_IF_ERROR(startLoop(loop, state, goOn));
  while (goOn && state.iteration < state.trips) {
    Status status = iterate(loop, state, goOn);
    if (!status.isOk()) {
      return Status(status.code(), status.message() + ", in iteration " +
                                       std::to_string(state.iteration) +
                                       " of " + describe(command));
    }
    ++state.iteration;
  }
  blocks.give(std::move(state.counters));
  if (state.iteration == 0) {
    forgetBody(loop.body);
  }
  if (loop.trips_symbol >= 0) {
    symbols[static_cast<size_t>(loop.trips_symbol)] = state.iteration;
  }
  size_t carried = loop.carried.size();
  for (size_t i = 0; i < loop.outputs.size(); ++i) {
    if (loop.outputs[i] >= 0) {
      releaseOwned(static_cast<uint32_t>(loop.outputs[i]));
    }
    TW_RETURN_IF_ERROR(i < carried ? finishCarried(loop, state, i)
                                   : finishScan(loop, state, i));
  }
  return Status::ok();
}

/// Whether the body can end the loop.
bool Executor::hasOpenEnd(const format::LoopT &loop) {
  return loop.condition >= 0 || loop.trip_count < 0;
}

/// Whether sizes alone tell how often the body runs.
bool Executor::knowsTrips(const format::LoopT &loop) const {
  if (hasOpenEnd(loop)) {
    return false;
  }
  uint32_t root = verified.root[static_cast<uint32_t>(loop.trip_count)];
  auto writer = writers.find(root);
  return plan.values[root]->storage == format::Storage_Constant ||
         (writer != writers.end() && writer->second->sizes.size() == 1);
}

Status Executor::readTrips(const format::LoopT &loop, int64_t &trips) {
  uint32_t value = static_cast<uint32_t>(loop.trip_count);
  auto writer = writers.find(verified.root[value]);
  if (knowsTrips(loop) && writer != writers.end()) {
    trips = expressions[writer->second->sizes.front()];
    return Status::ok();
  }
  TensorView view;
  TW_RETURN_IF_ERROR(readOnHost(value, view));
  if (view.elements() != 1) {
    return Status(ErrorCode::DataInvalid,
                  describe(value) + ", a trip count, has the shape " +
                      view.shape.toString() + ", not one element");
  }
  trips = *view.as<int64_t>();
  return device.endHostAccess();
}

/// Sets the body's parameters for the first iteration.
Status Executor::startLoop(const format::LoopT &loop, LoopState &state,
                           bool &goOn) {
  const std::vector<uint32_t> &parameters =
      plan.functions[loop.body]->parameters;
  state.trips = INT64_MAX;
  if (loop.trip_count >= 0) {
    TW_RETURN_IF_ERROR(readTrips(loop, state.trips));
  }
  if (loop.condition >= 0) {
    TW_RETURN_IF_ERROR(readFlag(loop.condition, goOn));
  }
  state.iteration = 0;
  state.condition = goOn;
  if (device.isHost) {
    placeCounters(loop, &state.iteration, &state.condition);
  } else {
    state.counted =
        hasOpenEnd(loop) ? 1 : std::clamp<int64_t>(state.trips, 1, mostCounted);
    Result<Block> block =
        blocks.take(state.counted * countersBytes, "the loop's counters");
    if (!block) {
      return block.status();
    }
    state.counters = std::move(*block);
  }
  for (size_t i = 0; i < loop.carried.size(); ++i) {
    TensorView view;
    TW_RETURN_IF_ERROR(resolve(loop.carried[i], view));
    setParameter(parameters[2 + i], view.data, view.bytes(), view.shape);
  }
  for (Scan &scan : state.scans) {
    scan.used = 0;
  }
  return Status::ok();
}

/// Says where the body's first two parameters lie.
void Executor::placeCounters(const format::LoopT &loop, void *iteration,
                             void *condition) {
  const std::vector<uint32_t> &parameters =
      plan.functions[loop.body]->parameters;
  setParameter(parameters[0], iteration, sizeof(int64_t), {});
  setParameter(parameters[1], condition, sizeof(uint8_t), {});
  for (size_t i = 0; i < 2; ++i) {
    size_t rank = plan.values[parameters[i]]->dims.size();
    std::fill_n(shapeOf(parameters[i]), rank, 1);
  }
}

/// Gives a device the iteration's number and the condition. Those of
/// iterations that are sure to follow come with them.
Status Executor::setCounters(const format::LoopT &loop, LoopState &state) {
  int64_t place = state.iteration % state.counted;
  if (place == 0) {
    constexpr int64_t words = countersBytes / sizeof(int64_t);
    const int64_t shape[] = {state.counted, words};
    TensorView all(DType::I64, ShapeRef(shape, 2), state.counters.data());
    TW_RETURN_IF_ERROR(device.writeOnHost(all));
    std::memset(all.data, 0, static_cast<size_t>(all.bytes()));
    for (int64_t i = 0; i < state.counted; ++i) {
      char *own = static_cast<char *>(all.data) + i * countersBytes;
      int64_t iteration = state.iteration + i;
      std::memcpy(own, &iteration, sizeof iteration);
      std::memcpy(own + conditionOffset, &state.condition,
                  sizeof state.condition);
    }
    TW_RETURN_IF_ERROR(device.endHostAccess());
  }
  char *own = state.counters.data() + place * countersBytes;
  placeCounters(loop, own, own + conditionOffset);
  return Status::ok();
}

/// Runs the body once and passes its results on.
Status Executor::iterate(const format::LoopT &loop, LoopState &state,
                         bool &goOn) {
  const format::FunctionT &body = *plan.functions[loop.body];
  if (!device.isHost) {
    TW_RETURN_IF_ERROR(setCounters(loop, state));
  }
  TW_RETURN_IF_ERROR(runFunction(loop.body));

  // Without a condition, ONNX ignores what the body says.
  if (loop.condition >= 0) {
    TW_RETURN_IF_ERROR(readFlag(body.results[0], goOn));
    state.condition = goOn;
  }
  releaseOwned(body.results[0]);

  for (size_t i = 0; i < state.carried.size(); ++i) {
    uint32_t result = body.results[1 + i];
    TensorView view;
    TW_RETURN_IF_ERROR(resolve(result, view));
    blocks.give(std::move(state.carried[i]));
    state.carried[i] = std::move(blockOf(result));
    setParameter(body.parameters[2 + i], view.data, view.bytes(), view.shape);
  }
  for (size_t i = 0; i < state.scans.size(); ++i) {
    uint32_t result = body.results[1 + state.carried.size() + i];
    Scan &scan = state.scans[i];
    if (state.iteration == 0) {
      scan.shape.clear();
    }
    if (loop.outputs[state.carried.size() + i] >= 0) {
      TensorView view;
      TW_RETURN_IF_ERROR(resolve(result, view));
      if (state.iteration == 0) {
        scan.shape.assign(view.shape.begin(), view.shape.end());
      } else if (ShapeRef(scan.shape) != view.shape) {
        return Status(ErrorCode::DataInvalid,
                      describe(result) + " has the shape " +
                          view.shape.toString() + " after " +
                          ShapeRef(scan.shape).toString());
      }
      TW_RETURN_IF_ERROR(
          append(scan, result, hasOpenEnd(loop) ? 0 : state.trips));
    }
    releaseOwned(result);
  }
  return Status::ok();
}

/// Adds one iteration's value to a scan output, which has memory for `expected`
/// of them, and grows by doubling.
Status Executor::append(Scan &scan, uint32_t result, int64_t expected) {
  int64_t bytes =
      bytesOf(static_cast<DType>(plan.values[result]->dtype), scan.shape);
  int64_t needed = 0;
  if (__builtin_add_overflow(scan.used, bytes, &needed)) {
    return Status(ErrorCode::OutOfMemory, "the stacked values of " +
                                              describe(result) +
                                              " do not fit into memory");
  }
  if (!scan.block || scan.block.capacity() < needed) {
    int64_t all = 0;
    if (__builtin_mul_overflow(bytes, expected, &all)) {
      all = needed;
    }
    Result<Block> block =
        blocks.take(std::max({needed, all, scan.block.capacity() * 2}));
    if (!block) {
      return block.status();
    }
    if (device.tracksLives) { // values are added until the block is full
      device.beginLife(block->data(), block->capacity(), describe(result));
    }
    if (scan.used > 0) {
      TW_RETURN_IF_ERROR(
          device.copy(block->data(), scan.block.data(), scan.used));
    }
    blocks.give(std::move(scan.block));
    scan.block = std::move(*block);
  }
  char *end = scan.block.data() + scan.used;
  scan.used = needed;
  return bytes > 0 ? device.copy(end, blockOf(result).data(), bytes)
                   : Status::ok();
}

/// Makes a carried value's last state an output of the loop.
Status Executor::finishCarried(const format::LoopT &loop, LoopState &state,
                               size_t i) {
  uint32_t parameter = plan.functions[loop.body]->parameters[2 + i];
  Block block = std::move(state.carried[i]);
  if (loop.outputs[i] < 0) {
    blocks.give(std::move(block));
    return Status::ok();
  }
  uint32_t output = static_cast<uint32_t>(loop.outputs[i]);
  ShapeRef shape = actualShape(parameter);
  if (!block) { // no iteration: the initial value
    int64_t bytes = slots[parameter].capacity;
    Result<Block> fresh = blocks.take(bytes);
    if (!fresh) {
      return fresh.status();
    }
    block = std::move(*fresh);
    if (bytes > 0) {
      TW_RETURN_IF_ERROR(
          device.copy(block.data(), slots[parameter].data, bytes));
    }
  }
  std::copy(shape.begin(), shape.end(), shapeOf(output));
  slots[output].block = std::move(block);
  return Status::ok();
}

/// Makes the stacked values an output of the loop.
Status Executor::finishScan(const format::LoopT &loop, LoopState &state,
                            size_t i) {
  uint32_t result = plan.functions[loop.body]->results[1 + i];
  Scan &scan = state.scans[i - loop.carried.size()];
  Block block = std::move(scan.block);
  if (loop.outputs[i] < 0) {
    blocks.give(std::move(block));
    return Status::ok();
  }
  uint32_t output = static_cast<uint32_t>(loop.outputs[i]);
  int64_t *shape = shapeOf(output);
  *shape++ = state.iteration;
  if (state.iteration > 0) {
    std::copy(scan.shape.begin(), scan.shape.end(), shape);
  } else {
    // Sizes that only an iteration would have told are 0.
    for (uint32_t dim : plan.values[result]->dims) {
      *shape++ = std::max<int64_t>(expressions[dim], 0);
    }
  }
  if (!block) {
    Result<Block> fresh = blocks.take(0);
    if (!fresh) {
      return fresh.status();
    }
    block = std::move(*fresh);
  }
  slots[output].block = std::move(block);
  return Status::ok();
}

/// Sets what a function evaluates to 0, so that nothing remains of the last
/// time that it ran.
void Executor::forgetBody(uint32_t index) {
  auto forget = [this](const std::vector<uint32_t> &list) {
    for (uint32_t expr : list) {
      if (!verified.isConstant[expr]) {
        expressions[expr] = 0;
      }
    }
  };
  const format::FunctionT &function = *plan.functions[index];
  forget(function.evaluate);
  for (const auto &command : function.commands) {
    forget(command->evaluate);
  }
}
