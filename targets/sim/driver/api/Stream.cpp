//===- Stream.cpp - streams of the driver API -----------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "targets/sim/driver/Context.h"

using namespace tilewright::sim;

/// A question that a stream cannot be asked while it records.
template <typename Body>
static CUresult withWorkingStream(CUstream handle, Body &&body) {
  return withContext([&](Context &context) -> CUresult {
    Stream *stream = context.stream(handle);
    if (!stream) {
      return CUDA_ERROR_INVALID_HANDLE;
    }
    if (stream->capture) {
      stream->capture->isInvalid = true;
      return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    return body(context, *stream);
  });
}

CUresult CUDAAPI cuStreamCreate(CUstream *stream, unsigned flags) {
  return withContext([&](Context &context) -> CUresult {
    if (!stream || (flags & ~unsigned(CU_STREAM_NON_BLOCKING))) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    bool isBlocking = flags == CU_STREAM_DEFAULT;
    *stream =
        reinterpret_cast<CUstream>(context.scheduler.addStream(isBlocking));
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuStreamDestroy(CUstream handle) {
  return withContextAnyway([&](Context &context) -> CUresult {
    Stream *stream = context.scheduler.find(handle);
    if (!stream || stream == context.defaultStream) {
      return CUDA_ERROR_INVALID_HANDLE;
    }
    context.scheduler.remove(stream);
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuStreamSynchronize(CUstream handle) {
  return withWorkingStream(handle, [](Context &context, Stream &stream) {
    context.scheduler.run(stream);
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuStreamQuery(CUstream handle) {
  return withWorkingStream(handle, [](Context &context, Stream &stream) {
    // Whoever asks again and again gets an end.
    context.scheduler.step();
    return stream.queue.empty() ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
  });
}

CUresult CUDAAPI cuStreamWaitEvent(CUstream handle, CUevent event,
                                   unsigned flags) {
  return withContext([&](Context &context) -> CUresult {
    Stream *stream = context.stream(handle);
    Event *found = context.events.find(event);
    if (!stream || !found) {
      return CUDA_ERROR_INVALID_HANDLE;
    }
    if (flags != CU_EVENT_WAIT_DEFAULT) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    return context.scheduler.wait(*stream, *found)
               ? CUDA_SUCCESS
               : CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
  });
}
