//===- Error.cpp - error names of the driver API --------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include <cuda.h>

namespace {
struct ErrorText {
  CUresult result;
  const char *name;
  const char *text;
};
} // namespace

#define TILEWRIGHT_ERROR(name, text) {name, #name, text}

// Those that this driver returns.
static constexpr ErrorText texts[] = {
    TILEWRIGHT_ERROR(CUDA_SUCCESS, "no error"),
    TILEWRIGHT_ERROR(CUDA_ERROR_INVALID_VALUE, "an argument is invalid"),
    TILEWRIGHT_ERROR(CUDA_ERROR_OUT_OF_MEMORY, "out of memory"),
    TILEWRIGHT_ERROR(CUDA_ERROR_NOT_INITIALIZED, "cuInit was not called"),
    TILEWRIGHT_ERROR(CUDA_ERROR_INVALID_DEVICE, "there is no such device"),
    TILEWRIGHT_ERROR(CUDA_ERROR_INVALID_CONTEXT, "there is no such context"),
    TILEWRIGHT_ERROR(CUDA_ERROR_NO_BINARY_FOR_GPU,
                     "there is no code for this device"),
    TILEWRIGHT_ERROR(CUDA_ERROR_INVALID_PTX, "the PTX is not well-formed"),
    TILEWRIGHT_ERROR(CUDA_ERROR_INVALID_HANDLE, "there is no such object"),
    TILEWRIGHT_ERROR(CUDA_ERROR_ILLEGAL_STATE,
                     "the object is in no state for this"),
    TILEWRIGHT_ERROR(CUDA_ERROR_NOT_FOUND, "there is nothing of that name"),
    TILEWRIGHT_ERROR(CUDA_ERROR_NOT_READY, "the work is not done yet"),
    TILEWRIGHT_ERROR(CUDA_ERROR_ILLEGAL_ADDRESS,
                     "an access outside of live memory"),
    TILEWRIGHT_ERROR(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES,
                     "the launch needs more than the device has"),
    TILEWRIGHT_ERROR(CUDA_ERROR_LAUNCH_TIMEOUT, "the kernel does not end"),
    TILEWRIGHT_ERROR(CUDA_ERROR_ASSERT, "the kernel stopped itself"),
    TILEWRIGHT_ERROR(CUDA_ERROR_MISALIGNED_ADDRESS, "a misaligned access"),
    TILEWRIGHT_ERROR(CUDA_ERROR_LAUNCH_FAILED, "a kernel failed"),
    TILEWRIGHT_ERROR(CUDA_ERROR_NOT_SUPPORTED, "this is not supported"),
    TILEWRIGHT_ERROR(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
                     "a stream cannot record this"),
    TILEWRIGHT_ERROR(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED,
                     "the recording has failed before"),
    TILEWRIGHT_ERROR(CUDA_ERROR_STREAM_CAPTURE_UNMATCHED,
                     "the recording began on another stream"),
    TILEWRIGHT_ERROR(CUDA_ERROR_STREAM_CAPTURE_UNJOINED,
                     "a stream was not joined before the recording's end"),
    TILEWRIGHT_ERROR(CUDA_ERROR_STREAM_CAPTURE_ISOLATION,
                     "the recording would depend on what is outside of it"),
    TILEWRIGHT_ERROR(CUDA_ERROR_CAPTURED_EVENT,
                     "the event was last recorded as a part of a graph"),
};

static const ErrorText *find(CUresult result) {
  for (const ErrorText &entry : texts) {
    if (entry.result == result) {
      return &entry;
    }
  }
  return nullptr;
}

CUresult CUDAAPI cuGetErrorName(CUresult result, const char **name) {
  const ErrorText *entry = find(result);
  if (!name || !entry) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  *name = entry->name;
  return CUDA_SUCCESS;
}

CUresult CUDAAPI cuGetErrorString(CUresult result, const char **text) {
  const ErrorText *entry = find(result);
  if (!text || !entry) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  *text = entry->text;
  return CUDA_SUCCESS;
}
