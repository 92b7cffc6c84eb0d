//===- Event.cpp - events of the driver API -------------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "targets/sim/driver/Context.h"

using namespace tilewright::sim;

template <typename Body>
static CUresult withEvent(CUevent handle, Body &&body) {
  return withContext([&](Context &context) -> CUresult {
    Event *event = context.events.find(handle);
    return event ? body(context, *event) : CUDA_ERROR_INVALID_HANDLE;
  });
}

CUresult CUDAAPI cuEventCreate(CUevent *event, unsigned flags) {
  return withContext([&](Context &context) -> CUresult {
    if (!event || (flags & CU_EVENT_INTERPROCESS)) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    auto made = std::make_unique<Event>();
    made->isTimed = !(flags & CU_EVENT_DISABLE_TIMING);
    *event = reinterpret_cast<CUevent>(context.events.add(std::move(made)));
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuEventDestroy(CUevent event) {
  return withContextAnyway([&](Context &context) -> CUresult {
    return context.events.remove(event) ? CUDA_SUCCESS
                                        : CUDA_ERROR_INVALID_HANDLE;
  });
}

CUresult CUDAAPI cuEventRecord(CUevent handle, CUstream stream) {
  return withEvent(handle, [&](Context &context, Event &event) -> CUresult {
    Stream *found = context.stream(stream);
    if (!found) {
      return CUDA_ERROR_INVALID_HANDLE;
    }
    if (found == context.defaultStream) {
      context.scheduler.runBlocking();
    }
    context.scheduler.record(*found, event);
    if (found == context.defaultStream) {
      context.scheduler.run(*found);
    }
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuEventQuery(CUevent handle) {
  return withEvent(handle, [](Context &context, Event &event) -> CUresult {
    if (event.capture) {
      return CUDA_ERROR_CAPTURED_EVENT;
    }
    context.scheduler.step();
    return !event.recorded || event.recorded->done ? CUDA_SUCCESS
                                                   : CUDA_ERROR_NOT_READY;
  });
}

CUresult CUDAAPI cuEventSynchronize(CUevent handle) {
  return withEvent(handle, [](Context &context, Event &event) -> CUresult {
    if (event.capture) {
      return CUDA_ERROR_CAPTURED_EVENT;
    }
    context.scheduler.runUntil(
        [&] { return !event.recorded || event.recorded->done; });
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuEventElapsedTime(float *milliseconds, CUevent from,
                                    CUevent to) {
  return withEvent(from, [&](Context &context, Event &begin) -> CUresult {
    Event *end = context.events.find(to);
    if (!end || !begin.recorded || !end->recorded || !begin.isTimed ||
        !end->isTimed) {
      return CUDA_ERROR_INVALID_HANDLE;
    }
    if (!milliseconds) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    if (!begin.recorded->done || !end->recorded->done) {
      return CUDA_ERROR_NOT_READY;
    }
    *milliseconds = static_cast<float>(
        (end->recorded->seconds - begin.recorded->seconds) * 1e3);
    return CUDA_SUCCESS;
  });
}
