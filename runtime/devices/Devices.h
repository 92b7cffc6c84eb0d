//===- Devices.h - opening the device that runs a module --------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "runtime/ThreadPool.h"
#include "runtime/exec/Device.h"
#include "tilewright/Context.h"

#include <memory>
#include <string>

namespace tilewright {

/// A device and which of the module's variants it runs.
struct OpenedDevice {
  std::unique_ptr<Device> device;
  const LoadedVariant *variant = nullptr;
  std::string name;
};

/// Opens the device that the module was opened for. Module and pool outlive
/// it. Errors: those of Context::create().
Result<OpenedDevice> openDevice(const LoadedModule &module,
                                const ContextOptions &options,
                                ThreadPool &pool);

/// The same for a GPU or its simulator.
Result<OpenedDevice> openCudaDevice(const LoadedModule &module,
                                    const ContextOptions &options);

} // namespace tilewright
