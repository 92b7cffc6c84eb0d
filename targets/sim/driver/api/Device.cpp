//===- Device.cpp - devices and contexts of the driver API ----------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "targets/sim/driver/Context.h"

#include <algorithm>
#include <cstring>

using namespace tilewright::sim;

// What this driver says that it is.
static constexpr int driverVersion = 12000;

static bool isDevice(CUdevice device) {
  return device >= 0 && static_cast<size_t>(device) < playedDeviceCount;
}

CUresult CUDAAPI cuInit(unsigned flags) {
  if (flags != 0) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  Machine &machine = Machine::get();
  std::lock_guard<std::recursive_mutex> lock(machine.mutex);
  if (!machine.isInitialised) {
    machine.contexts = std::make_unique<Context[]>(playedDeviceCount);
    for (size_t i = 0; i < playedDeviceCount; ++i) {
      machine.contexts[i].device = &playedDevices[i];
    }
    machine.isInitialised = true;
  }
  return CUDA_SUCCESS;
}

CUresult CUDAAPI cuDriverGetVersion(int *version) {
  if (!version) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  *version = driverVersion;
  return CUDA_SUCCESS;
}

CUresult CUDAAPI cuDeviceGetCount(int *count) {
  return withMachine([&](Machine &) -> CUresult {
    if (!count) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    *count = static_cast<int>(playedDeviceCount);
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuDeviceGet(CUdevice *device, int ordinal) {
  return withMachine([&](Machine &) -> CUresult {
    if (!device) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    if (!isDevice(ordinal)) {
      return CUDA_ERROR_INVALID_DEVICE;
    }
    *device = ordinal;
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuDeviceGetName(char *name, int size, CUdevice device) {
  return withMachine([&](Machine &) -> CUresult {
    if (!name || size < 1) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    if (!isDevice(device)) {
      return CUDA_ERROR_INVALID_DEVICE;
    }
    size_t bytes = std::min<size_t>(strlen(playedDevices[device].name),
                                    static_cast<size_t>(size) - 1);
    std::memcpy(name, playedDevices[device].name, bytes);
    name[bytes] = '\0';
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuDeviceTotalMem(size_t *bytes, CUdevice device) {
  return withMachine([&](Machine &) -> CUresult {
    if (!bytes) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    if (!isDevice(device)) {
      return CUDA_ERROR_INVALID_DEVICE;
    }
    tilewright::Result<Settings> settings = Settings::fromEnvironment();
    if (!settings) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    *bytes = settings->memoryBytes;
    return CUDA_SUCCESS;
  });
}

/// \returns the attribute's value, or -1 for one that is not known.
static int attributeOf(const PlayedDevice &device, CUdevice_attribute which) {
  switch (which) {
  case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
    return device.major;
  case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
    return device.minor;
  case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
    return device.multiprocessors;
  case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR:
    return device.threadsPerMultiprocessor;
  case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR:
    return device.sharedPerMultiprocessor;
  case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN:
    return device.sharedPerBlock;
  case CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE:
    return device.l2Bytes;
  case CU_DEVICE_ATTRIBUTE_CLOCK_RATE:
    return device.clockKilohertz;
  case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK:
    return 48 * 1024;
  case CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK:
    return 1024;
  case CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY:
    return 64 * 1024;
  case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK:
  case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR:
    return 64 * 1024;
  case CU_DEVICE_ATTRIBUTE_WARP_SIZE:
    return 32;
  case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
  case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X:
  case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y:
    return 1024;
  case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z:
    return 64;
  case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X:
    return INT32_MAX;
  case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y:
  case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z:
    return 65535;
  case CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED:
  case CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING:
  case CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS:
  case CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT:
    return 1;
  case CU_DEVICE_ATTRIBUTE_INTEGRATED:
  case CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH:
  case CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY:
    return 0;
  default:
    return -1;
  }
}

CUresult CUDAAPI cuDeviceGetAttribute(int *value, CUdevice_attribute which,
                                      CUdevice device) {
  return withMachine([&](Machine &) -> CUresult {
    if (!value) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    if (!isDevice(device)) {
      return CUDA_ERROR_INVALID_DEVICE;
    }
    int found = attributeOf(playedDevices[device], which);
    if (found < 0) {
      return CUDA_ERROR_NOT_SUPPORTED;
    }
    *value = found;
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device) {
  return withMachine([&](Machine &machine) -> CUresult {
    if (!context) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    if (!isDevice(device)) {
      return CUDA_ERROR_INVALID_DEVICE;
    }
    Context &primary = machine.contexts[static_cast<size_t>(device)];
    if (primary.references == 0) {
      CUresult result = primary.open();
      if (result != CUDA_SUCCESS) {
        return result;
      }
    }
    ++primary.references;
    *context = reinterpret_cast<CUcontext>(&primary);
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuDevicePrimaryCtxRelease(CUdevice device) {
  return withMachine([&](Machine &machine) -> CUresult {
    if (!isDevice(device)) {
      return CUDA_ERROR_INVALID_DEVICE;
    }
    Context &primary = machine.contexts[static_cast<size_t>(device)];
    if (primary.references == 0) {
      return CUDA_ERROR_INVALID_CONTEXT;
    }
    if (--primary.references == 0) {
      primary.close();
    }
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuCtxSetCurrent(CUcontext context) {
  return withMachine([&](Machine &machine) -> CUresult {
    for (size_t i = 0; context && i < playedDeviceCount; ++i) {
      if (reinterpret_cast<CUcontext>(&machine.contexts[i]) == context) {
        currentContext = &machine.contexts[i];
        return currentContext->references > 0 ? CUDA_SUCCESS
                                              : CUDA_ERROR_INVALID_CONTEXT;
      }
    }
    currentContext = nullptr;
    return context ? CUDA_ERROR_INVALID_CONTEXT : CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuCtxGetCurrent(CUcontext *context) {
  return withMachine([&](Machine &) -> CUresult {
    if (!context) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    *context = reinterpret_cast<CUcontext>(currentContext);
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuCtxSynchronize() {
  return withContext([](Context &context) {
    context.scheduler.runAll();
    return CUDA_SUCCESS;
  });
}
