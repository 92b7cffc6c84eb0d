//===- GpuSpec.h - what a GPU offers ----------------------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// Descriptions of the GPUs that code is generated for: one per architecture,
// with the figures of its usual representative. They stand in specs/sm_*.json,
// each with its source.
//
//===----------------------------------------------------------------------===//

#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace tilewright {

struct GpuSpec {
  std::string_view name;    ///< NVRTC's `sm_NN`; a trailing `a`: code for this
                            ///< architecture alone
  std::string_view summary; ///< one line for people
  int order;                ///< from the oldest to the newest
  int computeCapability;    ///< 80 for 8.0
  int multiprocessors;
  int threadsPerMultiprocessor;
  int blocksPerMultiprocessor;
  int64_t registersPerMultiprocessor;
  int64_t sharedBytesPerMultiprocessor;
  int64_t sharedBytesPerBlock; ///< the most that one block may ask for
  int64_t l2Bytes;
  int64_t memoryGBPerSecond;
  int64_t clockMHz;
  /// Multiply-adds per multiprocessor and clock: f32 in plain arithmetic, and
  /// in matrix units with 32-bit accumulators; 0 where there is no such unit.
  int floatOps;
  int mmaF16; ///< and bf16
  int mmaTf32;
  int mmaS8;
  int mmaF8;
  /// How much of these rates `mma.sync` reaches: newer instructions feed the
  /// units of some GPUs better.
  int mmaSyncPercent;

  static constexpr int warpSize = 32;
  static constexpr int mostThreadsPerBlock = 1024;
  static constexpr int mostRegistersPerThread = 255;

  /// Whether code for this architecture runs on no newer one.
  bool isSpecific() const { return name.back() == 'a'; }
};

/// \returns all GPUs, oldest first.
const std::vector<GpuSpec> &allGpus();

} // namespace tilewright
