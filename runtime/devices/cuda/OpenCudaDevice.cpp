//===- OpenCudaDevice.cpp - opening a GPU for a module --------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "runtime/devices/Devices.h"
#include "runtime/devices/cuda/CudaDevice.h"

using namespace tilewright;

static Result<std::shared_ptr<const Gpu>>
openGpu(const LoadedModule &module, const ContextOptions &options) {
  bool simulated = module.device == DeviceKind::Simulator;
  Result<const Driver *> driver =
      simulated ? Driver::openSimulator(options.simulatorLibrary)
                : Driver::openNvidia();
  if (!driver) {
    return driver.status();
  }
  return simulated ? Gpu::openSimulated(
                         **driver, *GpuArchitecture::parse(module.architecture))
                   : Gpu::open(**driver, options.device);
}

/// \returns the best of the module's variants that runs on the GPU.
static Result<const LoadedVariant *> chooseVariant(const LoadedModule &module,
                                                   const Gpu &gpu) {
  std::string present;
  for (const LoadedVariant &variant : module.variants) {
    if (runsOn(variant, gpu.architecture)) {
      return &variant;
    }
    present += (present.empty() ? "" : ", ") + variant.architecture.name();
  }
  return Status(ErrorCode::DeviceArchitecture,
                "the module has no code for the GPU '" + gpu.name +
                    "': neither machine code for it nor PTX that can be "
                    "compiled for it; it has code for " +
                    present + "; compile the model with --target cuda:" +
                    gpu.architecture.name());
}

Result<OpenedDevice> tilewright::openCudaDevice(const LoadedModule &module,
                                                const ContextOptions &options) {
  Result<std::shared_ptr<const Gpu>> gpu = openGpu(module, options);
  if (!gpu) {
    return gpu.status();
  }
  Result<const LoadedVariant *> variant = chooseVariant(module, **gpu);
  if (!variant) {
    return variant.status();
  }
  Result<std::shared_ptr<const DeviceImage>> image =
      DeviceImage::get(*gpu, module, **variant);
  if (!image) {
    return image.status();
  }
  Result<std::unique_ptr<Device>> device =
      CudaDevice::create(*gpu, *image, **variant);
  if (!device) {
    return device.status();
  }
  OpenedDevice opened;
  opened.device = std::move(*device);
  opened.variant = *variant;
  opened.name = (*gpu)->name;
  return opened;
}
