//===- DeviceRun.cpp - running a plan on a device of its own --------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// What a run does around the plan's commands when they are not done at once:
// inputs and outputs are copied, what kernels report comes at the end, and a
// run whose commands depend on nothing but the inputs' shapes is recorded the
// second time and repeated from then on.
//
//===----------------------------------------------------------------------===//

#include "runtime/exec/Executor.h"

#include <algorithm>

using namespace tilewright;

// Recordings kept; a model rarely sees more combinations of shapes.
static constexpr size_t keptRecordings = 16;

// Commands that a recording may have, with those of each iteration of a loop:
// what a graph takes of memory and to make grows with them.
static constexpr uint64_t mostRecorded = 1 << 15;

namespace {
/// Ends a run that failed, however it did.
struct RunGuard {
  Device &device;
  BlockPool &blocks;
  bool hasEnded = false;
  ~RunGuard() {
    if (!hasEnded) {
      device.abandonRun();
    }
    blocks.settle();
  }
};
} // namespace

Status Executor::runOnDevice(const std::vector<TensorView> &inputs,
                             std::vector<Tensor> &outputs) {
  timed.clear();
  device.setTiming(static_cast<bool>(listener));
  TW_RETURN_IF_ERROR(device.beginRun());
  RunGuard guard{device, blocks};
  std::vector<Place> results;
  TW_RETURN_IF_ERROR(setInputs(inputs));
  TW_RETURN_IF_ERROR(runCommands(inputs, results));
  for (const Place &place : results) {
    Result<Tensor> output = Tensor::create(place.dtype, place.shape);
    if (!output) {
      return output.status();
    }
    TW_RETURN_IF_ERROR(
        device.getOutput(output->data(), place.data, output->bytes()));
    outputs.push_back(std::move(*output));
  }
  Result<KernelReport> report = device.endRun();
  if (!report) {
    return report.status();
  }
  guard.hasEnded = true;
  TW_RETURN_IF_ERROR(kernelError(*report));
  return listener ? reportTimes() : Status::ok();
}

/// Runs the main function, or repeats what was recorded of it.
Status Executor::runCommands(const std::vector<TensorView> &inputs,
                             std::vector<Place> &results) {
  Recording *recording =
      isRecordable && !listener ? &findRecording(inputs) : nullptr;
  bool isRepeated =
      recording && recording->isKnown && recording->commands <= mostRecorded;
  if (!isRepeated) {
    TW_RETURN_IF_ERROR(runFunction(0));
    if (recording) {
      recording->isKnown = true;
      recording->commands = commandCount;
    }
    return takeResults(results);
  }
  if (!recording->run || recording->releases != device.releases()) {
    TW_RETURN_IF_ERROR(record(*recording));
  }
  return replay(*recording, results);
}

/// Whether a function does the same whenever the inputs have the same shapes,
/// without asking the processor.
bool Executor::isFixed(const format::FunctionT &function) const {
  return std::all_of(function.commands.begin(), function.commands.end(),
                     [this](const std::unique_ptr<format::CommandT> &command) {
                       if (const format::LoopT *loop = command->body.AsLoop()) {
                         return knowsTrips(*loop) &&
                                isFixed(*plan.functions[loop->body]);
                       }
                       format::CommandBody type = command->body.type;
                       return type == format::CommandBody_Launch ||
                              type == format::CommandBody_Copy ||
                              type == format::CommandBody_WriteSizes;
                     });
}

/// \returns what is known of runs with these shapes. The first one only finds
/// out how much memory they take, and how long they are.
Executor::Recording &
Executor::findRecording(const std::vector<TensorView> &inputs) {
  std::vector<int64_t> shapes;
  for (const TensorView &input : inputs) {
    shapes.insert(shapes.end(), input.shape.begin(), input.shape.end());
  }
  for (Recording &recording : recordings) {
    if (recording.shapes == shapes) {
      return recording;
    }
  }
  if (recordings.size() == keptRecordings) {
    recordings.erase(recordings.begin());
  }
  recordings.emplace_back();
  recordings.back().shapes = std::move(shapes);
  return recordings.back();
}

Status Executor::record(Recording &recording) {
  recording.run.reset();
  recording.results.clear();
  recording.releases = device.releases();
  TW_RETURN_IF_ERROR(device.beginRecording());
  TW_RETURN_IF_ERROR(runFunction(0));
  TW_RETURN_IF_ERROR(takeResults(recording.results));
  Result<std::unique_ptr<RecordedRun>> run = device.endRecording();
  if (!run) {
    return run.status();
  }
  recording.run = std::move(*run);
  recording.commands = commandCount;
  recording.launches = launchCount;
  return Status::ok();
}

Status Executor::replay(Recording &recording, std::vector<Place> &results) {
  ++replayCount;
  commandCount = recording.commands;
  launchCount = recording.launches;
  results = recording.results;
  return device.replay(*recording.run);
}

/// Says where the results lie. Their blocks go back to the pool: nothing takes
/// one before the run has ended.
Status Executor::takeResults(std::vector<Place> &results) {
  for (uint32_t result : plan.functions[0]->results) {
    TensorView view;
    TW_RETURN_IF_ERROR(resolve(result, view));
    results.push_back({view.data, view.dtype, view.shape.vec()});
  }
  for (uint32_t result : plan.functions[0]->results) {
    releaseOwned(result);
  }
  return Status::ok();
}

Status Executor::reportTimes() {
  Result<std::vector<CommandTime>> times = device.times();
  if (!times) {
    return times.status();
  }
  for (size_t i = 0; i < timed.size() && i < times->size(); ++i) {
    report(*timed[i], (*times)[i].begin, (*times)[i].end);
  }
  return Status::ok();
}

/// Names each buffer of an arena after the first value in it.
void Executor::labelBuffers() {
  for (FunctionState &state : functions) {
    state.labels.assign(state.buffers.size(), "a value");
  }
  for (size_t i = plan.values.size(); i-- > 0;) {
    const format::ValueT &value = *plan.values[i];
    if (value.storage == format::Storage_Arena &&
        verified.definer[i] != noFunction && !value.name.empty()) {
      functions[verified.definer[i]].labels[value.index] = value.name;
    }
  }
}

void Executor::beginLives(uint32_t function, uint32_t position) {
  const FunctionState &state = functions[function];
  for (size_t i = 0; i < state.buffers.size(); ++i) {
    const ArenaBuffer &buffer = state.buffers[i];
    if (buffer.first == position && buffer.bytes > 0) {
      device.beginLife(bufferData(state, i), buffer.bytes, state.labels[i]);
    }
  }
}

/// With several streams, only the memory's next life ends one: a value may
/// still be read on another stream than that of its last command.
void Executor::endLives(uint32_t function, uint32_t position) {
  const FunctionState &state = functions[function];
  if (plan.functions[function]->streams > 1) {
    return;
  }
  for (size_t i = 0; i < state.buffers.size(); ++i) {
    const ArenaBuffer &buffer = state.buffers[i];
    if (buffer.last == position && buffer.bytes > 0) {
      device.endLife(bufferData(state, i));
    }
  }
}
