//===- Launch.cpp - launches of the driver API ----------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "targets/sim/driver/Launch.h"

#include <algorithm>
#include <cstring>

using namespace tilewright::sim;

// The limits of a grid in y and z, and of a block.
static constexpr unsigned mostBlocks = 65535;
static constexpr unsigned mostThreads = 1024;
static constexpr unsigned mostThreadsInZ = 64;

static CUresult checkShape(const Function &function, const LaunchShape &shape) {
  if (shape.grid.count() == 0 || shape.block.count() == 0 ||
      shape.grid.x > INT32_MAX || shape.grid.y > mostBlocks ||
      shape.grid.z > mostBlocks || shape.block.x > mostThreads ||
      shape.block.y > mostThreads || shape.block.z > mostThreadsInZ ||
      shape.block.count() > mostThreads ||
      shape.sharedBytes > static_cast<unsigned>(function.dynamicSharedLimit)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  return shape.block.count() > function.kernel->maxThreads
             ? CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES
             : CUDA_SUCCESS;
}

CUresult CUDAAPI cuLaunchKernel(CUfunction handle, unsigned gridX,
                                unsigned gridY, unsigned gridZ, unsigned blockX,
                                unsigned blockY, unsigned blockZ,
                                unsigned sharedBytes, CUstream stream,
                                void **parameters, void **extra) {
  return withContext([&](Context &context) -> CUresult {
    std::string label = std::move(launchLabel);
    launchLabel.clear();
    auto *function = reinterpret_cast<Function *>(handle);
    if (!context.functions.count(function)) {
      return CUDA_ERROR_INVALID_HANDLE;
    }
    const Kernel &kernel = *function->kernel;
    if (extra || (!parameters && !kernel.parameters.empty())) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    auto launch = std::make_shared<Launch>();
    launch->instance = function->module->instance;
    launch->kernel = &kernel;
    launch->shape.grid = {gridX, gridY, gridZ};
    launch->shape.block = {blockX, blockY, blockZ};
    launch->shape.sharedBytes = sharedBytes;
    launch->label = std::move(label);
    CUresult result = checkShape(*function, launch->shape);
    if (result != CUDA_SUCCESS) {
      return result;
    }
    launch->parameters.resize(kernel.parameterBytes);
    for (size_t i = 0; i < kernel.parameters.size(); ++i) {
      const KernelParameter &parameter = kernel.parameters[i];
      std::memcpy(launch->parameters.data() + parameter.offset, parameters[i],
                  parameter.bytes);
    }
    return context.submit(context.stream(stream),
                          [&context, launch] { launch->run(context); });
  });
}
