//===- Gpu.cpp - one GPU's primary context --------------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "runtime/devices/cuda/Gpu.h"

using namespace tilewright;

static Result<int> attribute(const Driver &driver, CUdevice device,
                             CUdevice_attribute which) {
  int value = 0;
  TW_RETURN_IF_ERROR(
      driver.check(driver.deviceGetAttribute(&value, which, device),
                   "asking the GPU for its properties"));
  return value;
}

static Result<GpuArchitecture> capability(const Driver &driver,
                                          CUdevice device) {
  Result<int> major =
      attribute(driver, device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
  Result<int> minor =
      attribute(driver, device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  if (!major || !minor) {
    return major ? minor.status() : major.status();
  }
  GpuArchitecture result;
  result.major = *major;
  result.minor = *minor;
  return result;
}

static Result<int> countDevices(const Driver &driver) {
  int count = 0;
  TW_RETURN_IF_ERROR(
      driver.check(driver.deviceGetCount(&count), "counting the GPUs"));
  return count;
}

Result<std::shared_ptr<const Gpu>> Gpu::open(const Driver &driver,
                                             int ordinal) {
  Result<int> count = countDevices(driver);
  if (!count) {
    return count.status();
  }
  if (ordinal < 0 || ordinal >= *count) {
    return Status(ErrorCode::DeviceMissing,
                  "there is no GPU number " + std::to_string(ordinal) +
                      ": this machine has " + std::to_string(*count));
  }
  std::shared_ptr<Gpu> gpu(new Gpu(driver));
  TW_RETURN_IF_ERROR(
      driver.check(driver.deviceGet(&gpu->device, ordinal), "finding the GPU"));
  Result<GpuArchitecture> architecture = capability(driver, gpu->device);
  if (!architecture) {
    return architecture.status();
  }
  gpu->architecture = *architecture;
  char name[256] = "";
  TW_RETURN_IF_ERROR(
      driver.check(driver.deviceGetName(name, sizeof name, gpu->device),
                   "asking the GPU for its name"));
  gpu->name = std::string(name) + " (" + architecture->name() + ")";
  Result<int> pools = attribute(driver, gpu->device,
                                CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED);
  if (!pools) {
    return pools.status();
  }
  gpu->hasMemoryPools = *pools != 0;
  TW_RETURN_IF_ERROR(
      driver.check(driver.primaryCtxRetain(&gpu->context, gpu->device),
                   "opening the GPU '" + gpu->name + "'"));
  TW_RETURN_IF_ERROR(gpu->makeCurrent());
  return std::shared_ptr<const Gpu>(std::move(gpu));
}

Result<std::shared_ptr<const Gpu>>
Gpu::openSimulated(const Driver &driver, const GpuArchitecture &wanted) {
  Result<int> count = countDevices(driver);
  if (!count) {
    return count.status();
  }
  std::string present;
  for (int ordinal = 0; ordinal < *count; ++ordinal) {
    CUdevice device = 0;
    TW_RETURN_IF_ERROR(
        driver.check(driver.deviceGet(&device, ordinal), "finding the GPU"));
    Result<GpuArchitecture> found = capability(driver, device);
    if (!found) {
      return found.status();
    }
    if (found->major == wanted.major && found->minor == wanted.minor) {
      return open(driver, ordinal);
    }
    present += (present.empty() ? "" : ", ") + found->name();
  }
  return Status(ErrorCode::DeviceMissing, "the simulator cannot play a GPU '" +
                                              wanted.name() + "'; it plays " +
                                              present);
}

Gpu::~Gpu() {
  if (context) {
    driver.primaryCtxRelease(device);
  }
}
