//===- Copy.cpp - copies of the driver API --------------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// Page-locked memory is read and written when the stream gets there; other
// memory of the processor when the copy is asked for, like on a GPU.
//
//===----------------------------------------------------------------------===//

#include "targets/sim/driver/Context.h"

using namespace tilewright;
using namespace tilewright::sim;

static void check(Context &context, const Status &status) {
  if (!status.isOk()) {
    context.fail(CUDA_ERROR_ILLEGAL_ADDRESS, status.message());
  }
}

static void write(Context &context, CUdeviceptr to, const void *from,
                  size_t bytes) {
  check(context, context.memory->write(to, from, bytes));
}

static void read(Context &context, void *to, CUdeviceptr from, size_t bytes) {
  check(context,
        context.memory->read(to, from, bytes, context.settings.checks));
}

CUresult CUDAAPI cuMemcpyHtoD(CUdeviceptr to, const void *from, size_t bytes) {
  return withContext([&](Context &context) {
    return context.submit(context.defaultStream,
                          [&] { write(context, to, from, bytes); });
  });
}

CUresult CUDAAPI cuMemcpyDtoH(void *to, CUdeviceptr from, size_t bytes) {
  return withContext([&](Context &context) {
    return context.submit(context.defaultStream,
                          [&] { read(context, to, from, bytes); });
  });
}

CUresult CUDAAPI cuMemcpyDtoD(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  return withContext([&](Context &context) {
    return context.submit(context.defaultStream, [&] {
      check(context, context.memory->copy(to, from, bytes));
    });
  });
}

CUresult CUDAAPI cuMemcpyHtoDAsync(CUdeviceptr to, const void *from,
                                   size_t bytes, CUstream stream) {
  return withContext([&](Context &context) -> CUresult {
    Stream *found = context.stream(stream);
    if (!found) {
      return CUDA_ERROR_INVALID_HANDLE;
    }
    if (found->capture || Machine::get().isPinned(from)) {
      return context.submit(found, [&context, to, from, bytes] {
        write(context, to, from, bytes);
      });
    }
    auto staged =
        std::make_shared<std::string>(static_cast<const char *>(from), bytes);
    return context.submit(found, [&context, to, staged] {
      write(context, to, staged->data(), staged->size());
    });
  });
}

CUresult CUDAAPI cuMemcpyDtoHAsync(void *to, CUdeviceptr from, size_t bytes,
                                   CUstream stream) {
  return withContext([&](Context &context) -> CUresult {
    Stream *found = context.stream(stream);
    CUresult result = context.submit(
        found, [&context, to, from, bytes] { read(context, to, from, bytes); });
    if (result == CUDA_SUCCESS && !found->capture &&
        !Machine::get().isPinned(to)) {
      context.scheduler.run(*found);
    }
    return result;
  });
}

CUresult CUDAAPI cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from,
                                   size_t bytes, CUstream stream) {
  return withContext([&](Context &context) {
    return context.submit(context.stream(stream), [&context, to, from, bytes] {
      check(context, context.memory->copy(to, from, bytes));
    });
  });
}

CUresult CUDAAPI cuMemsetD8Async(CUdeviceptr to, unsigned char value,
                                 size_t bytes, CUstream stream) {
  return withContext([&](Context &context) {
    return context.submit(context.stream(stream), [&context, to, value, bytes] {
      check(context, context.memory->fill(to, value, 1, bytes));
    });
  });
}
