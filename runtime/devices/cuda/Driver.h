//===- Driver.h - the CUDA driver API, opened at run time -------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "runtime/devices/cuda/SimulatorInterface.h"
#include "tilewright/Status.h"

#include <cuda.h>
#include <string>

// Member of Driver, function of the driver API.
#define TILEWRIGHT_CUDA_FUNCTIONS(X)                                           \
  X(init, cuInit)                                                              \
  X(driverGetVersion, cuDriverGetVersion)                                      \
  X(getErrorName, cuGetErrorName)                                              \
  X(getErrorString, cuGetErrorString)                                          \
  X(deviceGetCount, cuDeviceGetCount)                                          \
  X(deviceGet, cuDeviceGet)                                                    \
  X(deviceGetName, cuDeviceGetName)                                            \
  X(deviceGetAttribute, cuDeviceGetAttribute)                                  \
  X(deviceTotalMem, cuDeviceTotalMem)                                          \
  X(primaryCtxRetain, cuDevicePrimaryCtxRetain)                                \
  X(primaryCtxRelease, cuDevicePrimaryCtxRelease)                              \
  X(ctxSetCurrent, cuCtxSetCurrent)                                            \
  X(memAlloc, cuMemAlloc)                                                      \
  X(memFree, cuMemFree)                                                        \
  X(memAllocAsync, cuMemAllocAsync)                                            \
  X(memAllocHost, cuMemAllocHost)                                              \
  X(memFreeHost, cuMemFreeHost)                                                \
  X(memcpyHtoDAsync, cuMemcpyHtoDAsync)                                        \
  X(memcpyDtoHAsync, cuMemcpyDtoHAsync)                                        \
  X(memcpyDtoDAsync, cuMemcpyDtoDAsync)                                        \
  X(memsetD8Async, cuMemsetD8Async)                                            \
  X(moduleLoadDataEx, cuModuleLoadDataEx)                                      \
  X(moduleUnload, cuModuleUnload)                                              \
  X(moduleGetFunction, cuModuleGetFunction)                                    \
  X(funcSetAttribute, cuFuncSetAttribute)                                      \
  X(launchKernel, cuLaunchKernel)                                              \
  X(streamCreate, cuStreamCreate)                                              \
  X(streamDestroy, cuStreamDestroy)                                            \
  X(streamSynchronize, cuStreamSynchronize)                                    \
  X(streamWaitEvent, cuStreamWaitEvent)                                        \
  X(streamBeginCapture, cuStreamBeginCapture)                                  \
  X(streamEndCapture, cuStreamEndCapture)                                      \
  X(eventCreate, cuEventCreate)                                                \
  X(eventDestroy, cuEventDestroy)                                              \
  X(eventRecord, cuEventRecord)                                                \
  X(eventSynchronize, cuEventSynchronize)                                      \
  X(eventElapsedTime, cuEventElapsedTime)                                      \
  X(graphInstantiate, cuGraphInstantiateWithFlags)                             \
  X(graphLaunch, cuGraphLaunch)                                                \
  X(graphDestroy, cuGraphDestroy)                                              \
  X(graphExecDestroy, cuGraphExecDestroy)

namespace tilewright {

/// The functions of a driver that has been opened and initialised. It stays
/// open until the process ends.
struct Driver {
#define TILEWRIGHT_CUDA_MEMBER(member, function) decltype(&::function) member;
  TILEWRIGHT_CUDA_FUNCTIONS(TILEWRIGHT_CUDA_MEMBER)
#undef TILEWRIGHT_CUDA_MEMBER

  void *library = nullptr; ///< of dlopen

  /// Null on NVIDIA's driver.
  const SimulatorInterface *simulator = nullptr;

  /// Opens NVIDIA's driver. Error: DeviceDriver.
  static Result<const Driver *> openNvidia();

  /// Opens the simulator; `path` as ContextOptions::simulatorLibrary.
  /// Errors: SimulatorMissing, DeviceDriver.
  static Result<const Driver *> openSimulator(const std::string &path);

  /// \returns "CUDA_ERROR_X (what that means)", on the simulator with what it
  /// has found.
  std::string describe(CUresult result) const;

  /// \returns an error unless `result` is a success: DeviceMemory when the
  /// device has no memory left, else DeviceFault. `what` could not be done.
  template <typename Text>
  Status check(CUresult result, const Text &what) const {
    return result == CUDA_SUCCESS ? Status::ok() : failure(result, what);
  }
  Status failure(CUresult result, const std::string &what) const;
};

} // namespace tilewright
