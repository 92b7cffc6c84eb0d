//===- TargetSpec.h - what a target offers ----------------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// Descriptions of what code is generated for: CPU levels, and GPUs (GpuSpec.h).
// They stand in specs/*.json, and CMake turns them into constants of this
// library: schedules take every tile size and threshold from here or from a
// tactic's parameters.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "targets/GpuSpec.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tilewright {

/// One CPU level, or one GPU. Cache sizes are what schedules may count on, not
/// what the best machine of the level has.
struct TargetSpec {
  std::string_view name;         ///< as in `--target cpu:NAME`, `cuda:NAME`
  std::string_view summary;      ///< one line for people
  int order;                     ///< a higher level runs what a lower one runs
  std::string_view llvmCpu;      ///< LLVM's `target-cpu`
  std::string_view llvmFeatures; ///< LLVM's `target-features`
  unsigned vectorBytes;          ///< 16, 32 or 64
  unsigned vectorRegisters;
  bool hasFma;
  bool hasF16C;       ///< f16 ↔ f32 in one instruction
  bool hasAvx512Bf16; ///< f32 → bf16 in one instruction
  bool hasMaskedOps;  ///< masked loads and stores of every element size
  int64_t l1Bytes;    ///< data cache of a core
  int64_t l2Bytes;    ///< of a core
  int64_t l3Bytes;    ///< a core's share
  /// Set for a GPU. Then vectors are what one thread loads at once, and the
  /// caches are a multiprocessor's shared memory and the second cache.
  const GpuSpec *gpu = nullptr;

  bool isGpu() const { return gpu != nullptr; }

  /// \returns how many elements of `elementBytes` one vector register holds.
  unsigned lanes(unsigned elementBytes) const {
    return vectorBytes / elementBytes;
  }
};

/// \returns all CPU levels, lowest first.
const std::vector<TargetSpec> &allTargets();

/// \returns all GPUs, oldest first.
const std::vector<TargetSpec> &gpuTargets();

/// \returns the CPU level or GPU called `name`, or null.
const TargetSpec *findTarget(std::string_view name);

/// \returns the target as users name it: `cpu:avx2`, `cuda:sm_80`.
std::string fullName(const TargetSpec &target);

/// \returns true when code for `target` runs on this machine.
bool runsOnHost(const TargetSpec &target);

/// \returns the highest level that runs on this machine, or null when not even
/// the baseline does.
const TargetSpec *hostTarget();

} // namespace tilewright
