//===- CpuDevice.cpp - kernels on the processor ---------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "runtime/devices/cpu/CpuDevice.h"

#include <algorithm>
#include <cstring>

using namespace tilewright;

// A status word per worker, a cache line apart.
static constexpr size_t statusStride = 16;

// Copies are cut into pieces of this size; smaller ones gain no time.
static constexpr int64_t copyPiece = int64_t(256) << 10;

CpuDevice::CpuDevice(const LoadedModule &module, const LoadedVariant &variant,
                     ThreadPool &pool)
    : Device(/*isHost=*/true, /*tracksLives=*/false), variant(variant),
      pool(pool) {
  constantList = module.constants;
}

Result<KernelReport> CpuDevice::launch(const LaunchRequest &request) {
  int64_t scratch = request.workspace;
  int64_t scratchBytes = 0;
  if (__builtin_mul_overflow(scratch, int64_t(pool.size()), &scratchBytes)) {
    return Status(ErrorCode::OutOfMemory,
                  "there is not enough memory for a kernel's workspace");
  }
  if (scratchBytes > workspace.capacity()) {
    workspace = Block();
    Result<Block> block = Block::allocate(scratchBytes);
    if (!block) {
      return block.status();
    }
    workspace = std::move(*block);
  }
  statuses.assign(pool.size() * statusStride, KernelOk);
  KernelFunction kernel = variant.kernels[request.launch.kernel];
  pool.forEach(request.tasks, request.launch.grain,
               [&](int64_t begin, int64_t end, int worker) {
                 KernelArgs args;
                 args.buffers = request.buffers.data();
                 args.sizes = request.sizes.data();
                 args.workspace =
                     scratch ? workspace.data() + worker * scratch : nullptr;
                 args.status =
                     &statuses[static_cast<size_t>(worker) * statusStride];
                 kernel(&args, begin, end, worker);
               });
  KernelReport report;
  for (size_t worker = 0; worker < pool.size(); ++worker) {
    if (int32_t status = statuses[worker * statusStride]) {
      report.command = &request.command;
      report.status = status;
      break;
    }
  }
  return report;
}

Status CpuDevice::copy(void *to, const void *from, int64_t bytes) {
  auto move = [&](int64_t begin, int64_t end) {
    std::memmove(static_cast<char *>(to) + begin,
                 static_cast<const char *>(from) + begin,
                 static_cast<size_t>(end - begin));
  };
  if (bytes <= copyPiece) {
    move(0, bytes);
    return Status::ok();
  }
  pool.forEach((bytes + copyPiece - 1) / copyPiece, 1,
               [&](int64_t begin, int64_t end, int) {
                 move(begin * copyPiece, std::min(bytes, end * copyPiece));
               });
  return Status::ok();
}
