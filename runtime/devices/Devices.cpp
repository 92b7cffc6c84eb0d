//===- Devices.cpp - opening the device that runs a module ----------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "runtime/devices/Devices.h"

#include "runtime/devices/cpu/CpuDevice.h"

using namespace tilewright;

Result<OpenedDevice> tilewright::openDevice(const LoadedModule &module,
                                            const ContextOptions &options,
                                            ThreadPool &pool) {
  if (module.device != DeviceKind::Cpu) {
#ifdef TILEWRIGHT_WITH_CUDA
    return openCudaDevice(module, options);
#else
    return Status(ErrorCode::DeviceUnsupported,
                  "this build of Tilewright cannot run modules on a GPU: it "
                  "was built without CUDA's headers; run scripts/setup.sh, "
                  "which brings them, and build again");
#endif
  }
  OpenedDevice opened;
  opened.variant = &module.variants[0];
  opened.device = std::make_unique<CpuDevice>(module, *opened.variant, pool);
  opened.name = std::string("cpu:") + nameOf(module.level);
  return opened;
}
