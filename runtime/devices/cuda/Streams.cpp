//===- Streams.cpp - a plan's streams and events on a GPU -----------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "runtime/devices/cuda/Streams.h"

using namespace tilewright;

Result<std::unique_ptr<Streams>> Streams::create(std::shared_ptr<const Gpu> gpu,
                                                 const format::PlanT &plan) {
  std::unique_ptr<Streams> streams(new Streams(std::move(gpu)));
  uint32_t main = 0;
  TW_RETURN_IF_ERROR(streams->addStream(main));
  for (const auto &function : plan.functions) {
    TW_RETURN_IF_ERROR(streams->addFunction(*function));
  }
  return streams;
}

Streams::~Streams() {
  if (!gpu->makeCurrent().isOk()) {
    return;
  }
  for (CUevent event : allEvents) {
    gpu->driver.eventDestroy(event);
  }
  for (CUstream stream : all) {
    gpu->driver.streamDestroy(stream);
  }
}

Status Streams::addStream(uint32_t &number) {
  CUstream stream = nullptr;
  TW_RETURN_IF_ERROR(gpu->driver.check(
      gpu->driver.streamCreate(&stream, CU_STREAM_NON_BLOCKING),
      "creating a stream"));
  number = static_cast<uint32_t>(all.size());
  all.push_back(stream);
  return Status::ok();
}

Status Streams::addEvent(CUevent &event) {
  TW_RETURN_IF_ERROR(gpu->driver.check(
      gpu->driver.eventCreate(&event, CU_EVENT_DISABLE_TIMING),
      "creating an event"));
  allEvents.push_back(event);
  return Status::ok();
}

Status Streams::addFunction(const format::FunctionT &function) {
  FunctionStreams streams;
  streams.others.resize(function.streams - 1);
  streams.left.resize(streams.others.size());
  streams.events.resize(function.events);
  for (uint32_t &other : streams.others) {
    TW_RETURN_IF_ERROR(addStream(other));
  }
  for (CUevent &event : streams.left) {
    TW_RETURN_IF_ERROR(addEvent(event));
  }
  for (CUevent &event : streams.events) {
    TW_RETURN_IF_ERROR(addEvent(event));
  }
  if (!streams.others.empty()) {
    TW_RETURN_IF_ERROR(addEvent(streams.entered));
  }
  functions.push_back(std::move(streams));
  return Status::ok();
}

void Streams::restart() { number = 0; }

Status Streams::waitFor(CUevent event, uint32_t stream) {
  return gpu->driver.check(
      gpu->driver.streamWaitEvent(all[stream], event, CU_EVENT_WAIT_DEFAULT),
      "waiting for an event");
}

Status Streams::record(CUevent event, uint32_t stream) {
  return gpu->driver.check(gpu->driver.eventRecord(event, all[stream]),
                           "recording an event");
}

Status Streams::enter(uint32_t function) {
  FunctionStreams &streams = functions[function];
  streams.base = number;
  if (!streams.others.empty()) {
    TW_RETURN_IF_ERROR(record(streams.entered, streams.base));
  }
  for (uint32_t other : streams.others) {
    TW_RETURN_IF_ERROR(waitFor(streams.entered, other));
  }
  return Status::ok();
}

Status Streams::leave(uint32_t function) {
  FunctionStreams &streams = functions[function];
  number = streams.base;
  for (size_t i = 0; i < streams.others.size(); ++i) {
    TW_RETURN_IF_ERROR(record(streams.left[i], streams.others[i]));
    TW_RETURN_IF_ERROR(waitFor(streams.left[i], streams.base));
  }
  return Status::ok();
}

Status Streams::begin(uint32_t function, const format::CommandT &command) {
  FunctionStreams &streams = functions[function];
  number =
      command.stream == 0 ? streams.base : streams.others[command.stream - 1];
  for (uint32_t event : command.waits) {
    TW_RETURN_IF_ERROR(waitFor(streams.events[event], number));
  }
  return Status::ok();
}

Status Streams::end(uint32_t function, const format::CommandT &command) {
  FunctionStreams &streams = functions[function];
  return command.records < 0
             ? Status::ok()
             : record(streams.events[static_cast<size_t>(command.records)],
                      number);
}

CUresult Streams::synchronize() {
  CUresult first = CUDA_SUCCESS;
  for (CUstream stream : all) {
    CUresult result = gpu->driver.streamSynchronize(stream);
    first = first == CUDA_SUCCESS ? result : first;
  }
  return first;
}
