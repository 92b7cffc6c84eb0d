//===- Memory.cpp - memory of the driver API ------------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "targets/sim/driver/Context.h"

#include <cstdlib>

using namespace tilewright;
using namespace tilewright::sim;

static CUresult allocate(Context &context, CUdeviceptr *memory, size_t bytes) {
  if (!memory || bytes == 0) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  Result<DeviceAddress> address = context.memory->allocate(bytes, "memory");
  if (!address) {
    // Memory may be on its way back.
    context.scheduler.runAll();
    address = context.memory->allocate(bytes, "memory");
  }
  if (!address) {
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  *memory = *address;
  return CUDA_SUCCESS;
}

static void release(Context &context, CUdeviceptr memory) {
  BufferRange range = context.memory->allocationOf(memory);
  if (range.begin != memory || range.end == 0) {
    context.fail(CUDA_ERROR_INVALID_VALUE,
                 "memory was freed that nothing begins at");
    return;
  }
  context.endLives(range.begin, range.end - range.begin);
  Status status = context.memory->free(memory);
  if (!status.isOk()) {
    context.fail(CUDA_ERROR_INVALID_VALUE, status.message());
  }
}

CUresult CUDAAPI cuMemAlloc(CUdeviceptr *memory, size_t bytes) {
  return withContext(
      [&](Context &context) { return allocate(context, memory, bytes); });
}

CUresult CUDAAPI cuMemAllocAsync(CUdeviceptr *memory, size_t bytes,
                                 CUstream stream) {
  return withContext([&](Context &context) -> CUresult {
    Stream *found = context.stream(stream);
    if (!found) {
      return CUDA_ERROR_INVALID_HANDLE;
    }
    return found->capture ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED
                          : allocate(context, memory, bytes);
  });
}

CUresult CUDAAPI cuMemFree(CUdeviceptr memory) {
  return withContextAnyway([&](Context &context) -> CUresult {
    if (memory) {
      context.scheduler.runAll();
      release(context, memory);
    }
    return context.error;
  });
}

CUresult CUDAAPI cuMemFreeAsync(CUdeviceptr memory, CUstream stream) {
  return withContext([&](Context &context) -> CUresult {
    Stream *found = context.stream(stream);
    if (found && found->capture) {
      return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    return context.submit(found,
                          [&context, memory] { release(context, memory); });
  });
}

CUresult CUDAAPI cuMemGetInfo(size_t *free, size_t *total) {
  return withContext([&](Context &context) -> CUresult {
    if (!free || !total) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    *total = context.memory->capacity();
    *free = *total - context.memory->usedBytes();
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuMemAllocHost(void **memory, size_t bytes) {
  return withMachine([&](Machine &machine) -> CUresult {
    if (!memory || bytes == 0) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    void *data = nullptr;
    if (posix_memalign(&data, 4096, bytes) != 0) {
      return CUDA_ERROR_OUT_OF_MEMORY;
    }
    machine.pinned[static_cast<const char *>(data)] = bytes;
    *memory = data;
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuMemFreeHost(void *memory) {
  return withMachine([&](Machine &machine) -> CUresult {
    auto found = machine.pinned.find(static_cast<const char *>(memory));
    if (found == machine.pinned.end()) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    // Copies may still be under way.
    for (size_t i = 0; i < playedDeviceCount; ++i) {
      machine.contexts[i].scheduler.runAll();
    }
    machine.pinned.erase(found);
    std::free(memory);
    return CUDA_SUCCESS;
  });
}
