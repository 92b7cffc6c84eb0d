//===- Timing.cpp - when commands run on a GPU ----------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "runtime/devices/cuda/Timing.h"

using namespace tilewright;

Timing::~Timing() {
  if (gpu->makeCurrent().isOk()) {
    for (CUevent event : events) {
      gpu->driver.eventDestroy(event);
    }
  }
}

Result<CUevent> Timing::record(CUstream stream) {
  const Driver &driver = gpu->driver;
  if (used == events.size()) {
    CUevent event = nullptr;
    TW_RETURN_IF_ERROR(driver.check(
        driver.eventCreate(&event, CU_EVENT_DEFAULT), "creating an event"));
    events.push_back(event);
  }
  CUevent event = events[used++];
  TW_RETURN_IF_ERROR(
      driver.check(driver.eventRecord(event, stream), "timing a command"));
  return event;
}

Status Timing::start(CUstream stream) {
  used = 0;
  open.clear();
  spans.clear();
  if (!isOn) {
    return Status::ok();
  }
  Result<CUevent> event = record(stream);
  first = event ? *event : nullptr;
  return event.status();
}

Status Timing::begin(CUstream stream) {
  if (!isOn) {
    return Status::ok();
  }
  Result<CUevent> event = record(stream);
  if (event) {
    open.push_back(*event);
  }
  return event.status();
}

Status Timing::end(CUstream stream) {
  if (!isOn) {
    return Status::ok();
  }
  Result<CUevent> event = record(stream);
  if (event) {
    spans.push_back({open.back(), *event});
    open.pop_back();
  }
  return event.status();
}

Result<uint64_t> Timing::sinceStart(CUevent event) {
  float milliseconds = 0;
  TW_RETURN_IF_ERROR(gpu->driver.check(
      gpu->driver.eventElapsedTime(&milliseconds, first, event),
      "timing a command"));
  return static_cast<uint64_t>(static_cast<double>(milliseconds) * 1e6);
}

Result<std::vector<CommandTime>> Timing::times() {
  std::vector<CommandTime> result;
  for (const Span &span : spans) {
    Result<uint64_t> begin = sinceStart(span.begin);
    Result<uint64_t> end = sinceStart(span.end);
    if (!begin || !end) {
      return begin ? end.status() : begin.status();
    }
    result.push_back({*begin, *end});
  }
  return result;
}
