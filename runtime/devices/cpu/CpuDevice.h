//===- CpuDevice.h - kernels on the processor -------------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "runtime/ThreadPool.h"
#include "runtime/exec/Device.h"

namespace tilewright {

class CpuDevice final : public Device {
public:
  /// All three outlive the device.
  CpuDevice(const LoadedModule &module, const LoadedVariant &variant,
            ThreadPool &pool);

  Result<Block> allocate(int64_t bytes) override {
    return Block::allocate(bytes);
  }
  Result<KernelReport> launch(const LaunchRequest &request) override;
  Status copy(void *to, const void *from, int64_t bytes) override;

private:
  const LoadedVariant &variant;
  ThreadPool &pool;
  Block workspace;
  std::vector<int32_t> statuses; // one per worker, each on its own cache line
};

} // namespace tilewright
