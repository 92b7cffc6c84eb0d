//===- Gpu.h - one GPU's primary context ------------------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "runtime/devices/cuda/Driver.h"
#include "runtime/module/GpuArchitecture.h"

#include <memory>
#include <string>

namespace tilewright {

/// A GPU whose primary context is held as long as this lives.
class Gpu {
public:
  /// Opens device `ordinal` of the driver.
  /// Errors: DeviceMissing, DeviceFault, DeviceMemory.
  static Result<std::shared_ptr<const Gpu>> open(const Driver &driver,
                                                 int ordinal);

  /// Opens the device of the simulator that has this architecture's
  /// capability. Errors: the same.
  static Result<std::shared_ptr<const Gpu>>
  openSimulated(const Driver &driver, const GpuArchitecture &architecture);

  ~Gpu();
  Gpu(const Gpu &) = delete;
  Gpu &operator=(const Gpu &) = delete;

  /// Makes the context current in the calling thread.
  Status makeCurrent() const {
    return driver.check(driver.ctxSetCurrent(context), "using the GPU");
  }

  const Driver &driver;
  CUdevice device = 0;
  CUcontext context = nullptr;
  GpuArchitecture architecture; ///< isSpecific says nothing here
  std::string name;             ///< "NVIDIA H200 (sm_90)"
  bool hasMemoryPools = false;

private:
  explicit Gpu(const Driver &driver) : driver(driver) {}
};

} // namespace tilewright
