//===- Session.h - the GPU that is checked ----------------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "runtime/devices/cuda/Gpu.h"
#include "tilewright/Context.h"

#include <nlohmann/json.hpp>

namespace tilewright::gpucheck {

/// A GPU, or the simulator of one, that stays open from check to check: opening
/// it takes far longer than most of them.
struct Session {
  /// Opens GPU number `device` for a target that openOptionsFor() reads:
  /// "cuda", "cuda:sm_80", "sim:sm_80". Errors: OptionInvalid, those of Driver
  /// and Gpu.
  static Result<Session> open(const std::string &target, int device);

  bool isSimulated() const { return gpu->driver.simulator != nullptr; }

  /// \returns {name, architecture, driver, memory_bytes, simulated}.
  Result<nlohmann::json> describe() const;

  std::shared_ptr<const Gpu> gpu;
  OpenOptions options;
  ContextOptions context;
};

/// A buffer on the GPU.
class DeviceBuffer {
public:
  DeviceBuffer() = default;
  DeviceBuffer(DeviceBuffer &&other) noexcept { swap(other); }
  DeviceBuffer &operator=(DeviceBuffer &&other) noexcept {
    swap(other);
    return *this;
  }
  ~DeviceBuffer();

  /// Errors: DeviceMemory, DeviceFault.
  static Result<DeviceBuffer> create(const Gpu &gpu, size_t bytes);

  CUdeviceptr address() const { return memory; }
  void *pointer() const { return reinterpret_cast<void *>(memory); }

private:
  void swap(DeviceBuffer &other) {
    std::swap(gpu, other.gpu);
    std::swap(memory, other.memory);
  }
  const Gpu *gpu = nullptr;
  CUdeviceptr memory = 0;
};

/// A stream with a pair of events.
class Stopwatch {
public:
  Stopwatch() = default;
  Stopwatch(const Stopwatch &) = delete;
  Stopwatch &operator=(const Stopwatch &) = delete;
  ~Stopwatch();

  /// Errors: DeviceMemory, DeviceFault.
  Status open(const Gpu &gpu);
  CUstream stream() const { return queue; }

  /// Runs `work`, which puts something on the stream, and waits for it.
  /// \returns how long it took there, in milliseconds.
  template <typename Work> Result<double> time(Work &&work) {
    TW_RETURN_IF_ERROR(record(begin));
    TW_RETURN_IF_ERROR(work());
    TW_RETURN_IF_ERROR(record(end));
    return elapsed();
  }

private:
  Status record(CUevent event);
  Result<double> elapsed();

  const Gpu *gpu = nullptr;
  CUstream queue = nullptr;
  CUevent begin = nullptr;
  CUevent end = nullptr;
};

} // namespace tilewright::gpucheck
