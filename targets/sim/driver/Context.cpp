//===- Context.cpp - a played device and what is on it --------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "targets/sim/driver/Context.h"

#include <iterator>

using namespace tilewright;
using namespace tilewright::sim;

thread_local Context *tilewright::sim::currentContext = nullptr;
thread_local std::string tilewright::sim::openFailure;

Machine &Machine::get() {
  // Never destroyed: a program may free its memory while it ends.
  static Machine &machine = *new Machine;
  return machine;
}

bool Machine::isPinned(const void *data) const {
  auto after = pinned.upper_bound(static_cast<const char *>(data));
  if (after == pinned.begin()) {
    return false;
  }
  auto range = std::prev(after);
  return static_cast<const char *>(data) < range->first + range->second;
}

CUresult Context::open() {
  Result<Settings> read = Settings::fromEnvironment();
  if (!read) {
    openFailure = read.status().message();
    return CUDA_ERROR_INVALID_VALUE;
  }
  settings = *read;
  Result<std::unique_ptr<DeviceMemory>> created =
      DeviceMemory::create(settings.memoryBytes);
  if (!created) {
    openFailure = created.status().message();
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  memory = std::move(*created);
  scheduler.reset(settings.seed);
  defaultStream = scheduler.addStream(/*isBlocking=*/false);
  error = CUDA_SUCCESS;
  finding.clear();
  openFailure.clear();
  return CUDA_SUCCESS;
}

void Context::close() {
  scheduler.runAll();
  scheduler.reset(0);
  defaultStream = nullptr;
  executables.clear();
  graphs.clear();
  events.clear();
  functions.clear();
  modules.clear();
  lives.clear();
  memory.reset();
}

void Context::fail(CUresult result, std::string text) {
  if (error == CUDA_SUCCESS) {
    error = result;
    finding = std::move(text);
  }
}

Stream *Context::stream(CUstream handle) {
  return !handle || handle == CU_STREAM_LEGACY ? defaultStream
                                               : scheduler.find(handle);
}

CUresult Context::submit(Stream *stream, Work work) {
  if (!stream) {
    return CUDA_ERROR_INVALID_HANDLE;
  }
  // After a failure nothing more is done; events are reached nevertheless.
  Work guarded = [this, work = std::move(work)] {
    if (error == CUDA_SUCCESS) {
      work();
    }
  };
  if (stream == defaultStream) {
    scheduler.runBlocking();
    guarded();
    return error;
  }
  scheduler.submit(*stream, std::move(guarded));
  return CUDA_SUCCESS;
}

void Context::beginLife(CUdeviceptr begin, uint64_t bytes,
                        const std::string &label) {
  endLives(begin, bytes);
  Status status = memory->beginLife(begin, bytes, label);
  if (!status.isOk()) {
    fail(CUDA_ERROR_INVALID_VALUE, status.message());
    return;
  }
  lives[begin] = bytes;
}

void Context::endLife(CUdeviceptr begin) {
  if (lives.erase(begin) > 0) {
    Status status = memory->endLife(begin);
    if (!status.isOk()) {
      fail(CUDA_ERROR_INVALID_VALUE, status.message());
    }
  }
}

void Context::endLives(CUdeviceptr begin, uint64_t bytes) {
  auto it = lives.upper_bound(begin);
  if (it != lives.begin() &&
      std::prev(it)->first + std::prev(it)->second > begin) {
    --it;
  }
  while (it != lives.end() && it->first < begin + bytes) {
    CUdeviceptr overlapped = it->first;
    ++it;
    endLife(overlapped);
  }
}
