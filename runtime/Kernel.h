//===- Kernel.h - how the executor calls a kernel ---------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// The binary interface of compiled kernels; docs/design/architecture.md has its
// other side.
//
//===----------------------------------------------------------------------===//

#pragma once

#include <cstddef>
#include <cstdint>

namespace tilewright {

/// What every call of a kernel in one launch gets.
struct KernelArgs {
  void *const *buffers; ///< inputs, then outputs
  const int64_t *sizes; ///< in the launch command's order
  void *workspace;      ///< this worker's scratch memory, 64-byte aligned
  int32_t *status;      ///< set to a KernelStatus when something is wrong
};

static_assert(sizeof(KernelArgs) == 32 && offsetof(KernelArgs, status) == 24,
              "generated code relies on this layout");

/// Does tasks [begin, end) as worker number `worker`.
using KernelFunction = void (*)(const KernelArgs *args, int64_t begin,
                                int64_t end, int32_t worker);

/// What a kernel may put into its status word.
enum KernelStatus : int32_t {
  KernelOk = 0,
  KernelIndexOutOfRange = 1,
};

} // namespace tilewright
