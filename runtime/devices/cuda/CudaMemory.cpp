//===- CudaMemory.cpp - memory of a GPU and copies to and from it ---------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "runtime/devices/cuda/CudaDevice.h"

#include <algorithm>
#include <cstring>

using namespace tilewright;

// Blocks of memory are multiples of this.
static constexpr int64_t allocationGranularity = 256;

// Once so much page-locked memory is in use within a run, it waits for the
// copies and uses it again.
static constexpr int64_t mostStaging = int64_t(64) << 20;

static CUdeviceptr address(const void *pointer) {
  return reinterpret_cast<CUdeviceptr>(pointer);
}

/// Takes memory in the order of the current stream, where the GPU can; a
/// recorded run must not hold the memory that it records.
CUresult CudaDevice::allocateOnce(CUdeviceptr &memory, size_t bytes) {
  return gpu->hasMemoryPools && !recordedStaging
             ? driver.memAllocAsync(&memory, bytes, streams->current())
             : driver.memAlloc(&memory, bytes);
}

Result<Block> CudaDevice::allocate(int64_t bytes) {
  int64_t rounded = std::max(bytes, int64_t(1));
  if (__builtin_add_overflow(rounded, allocationGranularity - 1, &rounded)) {
    return driver.failure(CUDA_ERROR_OUT_OF_MEMORY,
                          "placing " + std::to_string(bytes) + " bytes");
  }
  rounded = rounded / allocationGranularity * allocationGranularity;
  CUdeviceptr memory = 0;
  CUresult result = allocateOnce(memory, static_cast<size_t>(rounded));
  if (result == CUDA_ERROR_OUT_OF_MEMORY && !released.empty() &&
      !recordedStaging) {
    streams->synchronize();
    freeReleased();
    result = allocateOnce(memory, static_cast<size_t>(rounded));
  }
  if (result != CUDA_SUCCESS) {
    return driver.failure(result, "placing " + std::to_string(bytes) +
                                      " bytes on the GPU");
  }
  return Block(reinterpret_cast<void *>(memory), rounded, *this);
}

/// Work that is under way may still use the memory.
void CudaDevice::release(void *memory, int64_t bytes) {
  ++releaseCount;
  released.push_back(address(memory));
}

void CudaDevice::freeReleased() {
  for (CUdeviceptr memory : released) {
    driver.memFree(memory);
  }
  released.clear();
}

/// Launches on one stream share a workspace: they run one after the other.
Status CudaDevice::growWorkspace(int64_t bytes, Block *&workspace) {
  if (bytes == 0) {
    return Status::ok();
  }
  Block &block = workspaces[currentStream];
  if (block.capacity() < bytes) {
    block = Block();
    Result<Block> fresh = allocate(bytes);
    if (!fresh) {
      return fresh.status();
    }
    block = std::move(*fresh);
  }
  if (tracksLives) {
    beginLife(block.data(), bytes, "the workspace");
  }
  workspace = &block;
  return Status::ok();
}

Status CudaDevice::toDevice(void *to, const void *from, int64_t bytes) {
  return driver.check(driver.memcpyHtoDAsync(address(to), from,
                                             static_cast<size_t>(bytes),
                                             streams->current()),
                      "copying a value to the GPU");
}

Status CudaDevice::toHost(void *to, const void *from, int64_t bytes) {
  return driver.check(driver.memcpyDtoHAsync(to, address(from),
                                             static_cast<size_t>(bytes),
                                             streams->current()),
                      "copying a value from the GPU");
}

Result<void *> CudaDevice::setInput(size_t index, const void *data,
                                    int64_t bytes) {
  Block &block = inputs[index];
  if (!block || block.capacity() < bytes) {
    block = Block();
    Result<Block> fresh = allocate(bytes);
    if (!fresh) {
      return fresh.status();
    }
    block = std::move(*fresh);
  }
  if (bytes > 0) {
    Result<char *> staged = staging.take(bytes);
    if (!staged) {
      return staged.status();
    }
    std::memcpy(*staged, data, static_cast<size_t>(bytes));
    if (tracksLives) {
      beginLife(block.data(), bytes, "input " + std::to_string(index));
    }
    TW_RETURN_IF_ERROR(toDevice(block.data(), *staged, bytes));
  }
  return static_cast<void *>(block.data());
}

Status CudaDevice::getOutput(void *to, const void *from, int64_t bytes) {
  if (bytes == 0) {
    return Status::ok();
  }
  Result<char *> staged = staging.take(bytes);
  if (!staged) {
    return staged.status();
  }
  TW_RETURN_IF_ERROR(toHost(*staged, from, bytes));
  outputs.push_back({to, *staged, bytes});
  return Status::ok();
}

Status CudaDevice::readOnHost(TensorView &view) {
  int64_t bytes = view.bytes();
  Result<char *> staged = staging.take(bytes);
  if (!staged) {
    return staged.status();
  }
  if (bytes > 0) {
    TW_RETURN_IF_ERROR(toHost(*staged, view.data, bytes));
    TW_RETURN_IF_ERROR(
        driver.check(driver.streamSynchronize(streams->current()),
                     "waiting for a value that the processor needs"));
  }
  view.data = *staged;
  return Status::ok();
}

Status CudaDevice::writeOnHost(TensorView &view) {
  int64_t bytes = view.bytes();
  Result<char *> staged = currentStaging().take(bytes);
  if (!staged) {
    return staged.status();
  }
  written.push_back({view.data, *staged, bytes});
  view.data = *staged;
  return Status::ok();
}

Status CudaDevice::endHostAccess() {
  for (const Transfer &transfer : written) {
    if (transfer.bytes > 0) {
      TW_RETURN_IF_ERROR(toDevice(transfer.to, transfer.from, transfer.bytes));
    }
  }
  written.clear();
  if (staging.used() > mostStaging && !recordedStaging) {
    CUresult result = streams->synchronize();
    TW_RETURN_IF_ERROR(driver.check(result, "running the model"));
    staging.reset();
  }
  return Status::ok();
}
