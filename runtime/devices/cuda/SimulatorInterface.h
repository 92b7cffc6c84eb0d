//===- SimulatorInterface.h - beyond the driver API -------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// The simulator's library exports the CUDA driver API and one function more,
// found by dlsym, which gives this table. It tells the simulator what a GPU
// never learns, and the runtime what a GPU never says.
//
//===----------------------------------------------------------------------===//

#pragma once

#include <cstddef>
#include <cstdint>
#include <cuda.h>

namespace tilewright {

/// Sums over the launches since they were reset.
struct SimulatorCounters {
  uint64_t launches = 0;
  uint64_t laneInstructions = 0;
  uint64_t warpInstructions = 0;
  uint64_t globalRequests = 0;
  uint64_t globalSectors = 0;      ///< of 32 bytes
  uint64_t globalTransactions = 0; ///< of 128 bytes
  uint64_t globalBytes = 0;
  uint64_t sharedRequests = 0;
  uint64_t sharedConflicts = 0;
  uint64_t matrixMultiplyAdds = 0;
  uint64_t blocks = 0;
  uint64_t barriers = 0;
};

struct SimulatorInterface {
  /// In the order of `stream`: [data, data + bytes), a part of one allocation,
  /// is one buffer with undefined contents. Buffers that it overlaps have
  /// ended. `label` is copied.
  CUresult (*beginLife)(CUdeviceptr data, size_t bytes, const char *label,
                        CUstream stream);

  /// In the order of `stream`: the buffer that begins at `data` has ended.
  CUresult (*endLife)(CUdeviceptr data, CUstream stream);

  /// What findings say of the next launch of this thread: "node 'conv1'".
  void (*labelLaunch)(const char *label);

  /// \returns what the current context's first failed operation did wrong,
  /// empty if none has failed. Valid until the next call of this thread.
  const char *(*finding)();

  /// Since the process began or resetCounters() was called, for all devices.
  SimulatorCounters (*counters)();
  void (*resetCounters)();
};

/// Of this header; the library answers another version with null.
constexpr unsigned simulatorInterfaceVersion = 1;

/// Exported as "tilewrightSimulator".
using SimulatorEntry = const SimulatorInterface *(*)(unsigned version);

} // namespace tilewright
