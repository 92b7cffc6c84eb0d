//===- DeviceImage.h - a module's kernels and constants on a GPU *- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "runtime/LoadedModule.h"
#include "runtime/devices/cuda/Gpu.h"

#include <memory>
#include <vector>

namespace tilewright {

/// What contexts over the same variant share on one GPU.
class DeviceImage {
public:
  /// Loads the kernels and copies the constants, or finds what another context
  /// has. The module outlives the image. Errors: DeviceMemory, DeviceFault,
  /// OutOfMemory, ModuleDamaged and UnsupportedInstruction (the kernels'
  /// PTX).
  static Result<std::shared_ptr<const DeviceImage>>
  get(std::shared_ptr<const Gpu> gpu, const LoadedModule &module,
      const LoadedVariant &variant);

  ~DeviceImage();
  DeviceImage(const DeviceImage &) = delete;
  DeviceImage &operator=(const DeviceImage &) = delete;

  CUfunction kernel(uint32_t index) const { return kernels[index]; }

  /// One per constant of the module; without data where no value needs it.
  const std::vector<LoadedConstant> &constants() const { return constantList; }

  /// How many kernels the driver has compiled from PTX.
  uint64_t compiledKernels() const { return compiled; }

private:
  explicit DeviceImage(std::shared_ptr<const Gpu> gpu) : gpu(std::move(gpu)) {}
  Status loadKernels(const LoadedVariant &variant);
  Status loadKernel(const LoadedDeviceKernel &code, const std::string &name,
                    bool hasMachineCode, bool hasPtx, CUmodule &module);
  Status allowShared(const format::PlanT &plan);
  Status copyConstants(const LoadedModule &module, const format::PlanT &plan);

  std::shared_ptr<const Gpu> gpu;
  std::vector<CUmodule> modules;
  std::vector<CUfunction> kernels;
  std::vector<LoadedConstant> constantList;
  CUdeviceptr constantMemory = 0;
  uint64_t compiled = 0;
};

/// Whether the variant has code for all its kernels that runs on such a GPU,
/// as machine code or by compiling PTX.
bool runsOn(const LoadedVariant &variant, const GpuArchitecture &device);

} // namespace tilewright
