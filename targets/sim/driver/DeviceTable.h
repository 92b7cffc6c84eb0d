//===- DeviceTable.h - the GPUs that the simulator plays --------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include <cstddef>

namespace tilewright::sim {

/// A GPU by its limits. Each architecture is one device of the driver.
struct PlayedDevice {
  const char *name;
  int major;
  int minor;
  int multiprocessors;
  int threadsPerMultiprocessor;
  int sharedPerMultiprocessor; ///< bytes
  int sharedPerBlock;          ///< bytes that a kernel may opt in to
  int l2Bytes;
  int clockKilohertz;
};

/// The devices in the order of their numbers.
extern const PlayedDevice playedDevices[];
extern const size_t playedDeviceCount;

} // namespace tilewright::sim
