//===- ProcAddress.cpp - finding functions of the driver API --------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include <cstring>
#include <cuda.h>

namespace {
struct Entry {
  const char *name;
  void *address;
};
} // namespace

// The name without a version, and the function that the header means by it.
#define TILEWRIGHT_ENTRY(function)                                             \
  {#function, reinterpret_cast<void *>(function)}

static const Entry entries[] = {
    TILEWRIGHT_ENTRY(cuInit),
    TILEWRIGHT_ENTRY(cuDriverGetVersion),
    TILEWRIGHT_ENTRY(cuGetErrorName),
    TILEWRIGHT_ENTRY(cuGetErrorString),
    TILEWRIGHT_ENTRY(cuGetProcAddress),
    TILEWRIGHT_ENTRY(cuDeviceGetCount),
    TILEWRIGHT_ENTRY(cuDeviceGet),
    TILEWRIGHT_ENTRY(cuDeviceGetName),
    TILEWRIGHT_ENTRY(cuDeviceGetAttribute),
    TILEWRIGHT_ENTRY(cuDeviceTotalMem),
    TILEWRIGHT_ENTRY(cuDevicePrimaryCtxRetain),
    TILEWRIGHT_ENTRY(cuDevicePrimaryCtxRelease),
    TILEWRIGHT_ENTRY(cuCtxSetCurrent),
    TILEWRIGHT_ENTRY(cuCtxGetCurrent),
    TILEWRIGHT_ENTRY(cuCtxSynchronize),
    TILEWRIGHT_ENTRY(cuMemAlloc),
    TILEWRIGHT_ENTRY(cuMemFree),
    TILEWRIGHT_ENTRY(cuMemAllocAsync),
    TILEWRIGHT_ENTRY(cuMemFreeAsync),
    TILEWRIGHT_ENTRY(cuMemGetInfo),
    TILEWRIGHT_ENTRY(cuMemAllocHost),
    TILEWRIGHT_ENTRY(cuMemFreeHost),
    TILEWRIGHT_ENTRY(cuMemcpyHtoD),
    TILEWRIGHT_ENTRY(cuMemcpyDtoH),
    TILEWRIGHT_ENTRY(cuMemcpyDtoD),
    TILEWRIGHT_ENTRY(cuMemcpyHtoDAsync),
    TILEWRIGHT_ENTRY(cuMemcpyDtoHAsync),
    TILEWRIGHT_ENTRY(cuMemcpyDtoDAsync),
    TILEWRIGHT_ENTRY(cuMemsetD8Async),
    TILEWRIGHT_ENTRY(cuModuleLoadDataEx),
    TILEWRIGHT_ENTRY(cuModuleUnload),
    TILEWRIGHT_ENTRY(cuModuleGetFunction),
    TILEWRIGHT_ENTRY(cuFuncSetAttribute),
    TILEWRIGHT_ENTRY(cuFuncGetAttribute),
    TILEWRIGHT_ENTRY(cuLaunchKernel),
    TILEWRIGHT_ENTRY(cuStreamCreate),
    TILEWRIGHT_ENTRY(cuStreamDestroy),
    TILEWRIGHT_ENTRY(cuStreamSynchronize),
    TILEWRIGHT_ENTRY(cuStreamQuery),
    TILEWRIGHT_ENTRY(cuStreamWaitEvent),
    TILEWRIGHT_ENTRY(cuStreamBeginCapture),
    TILEWRIGHT_ENTRY(cuStreamEndCapture),
    TILEWRIGHT_ENTRY(cuEventCreate),
    TILEWRIGHT_ENTRY(cuEventDestroy),
    TILEWRIGHT_ENTRY(cuEventRecord),
    TILEWRIGHT_ENTRY(cuEventQuery),
    TILEWRIGHT_ENTRY(cuEventSynchronize),
    TILEWRIGHT_ENTRY(cuEventElapsedTime),
    TILEWRIGHT_ENTRY(cuGraphInstantiateWithFlags),
    TILEWRIGHT_ENTRY(cuGraphLaunch),
    TILEWRIGHT_ENTRY(cuGraphDestroy),
    TILEWRIGHT_ENTRY(cuGraphExecDestroy),
};

CUresult CUDAAPI cuGetProcAddress(const char *symbol, void **address,
                                  int version, cuuint64_t flags,
                                  CUdriverProcAddressQueryResult *found) {
  if (!symbol || !address) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  *address = nullptr;
  // The oldest version whose signatures these are.
  bool isRecent = version >= 12000;
  for (const Entry &entry : entries) {
    if (isRecent && std::strcmp(entry.name, symbol) == 0) {
      *address = entry.address;
    }
  }
  if (found) {
    *found = *address    ? CU_GET_PROC_ADDRESS_SUCCESS
             : !isRecent ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
                         : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  }
  return *address || found ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}
