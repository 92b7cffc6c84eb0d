//===- Execute.h - running a kernel on the simulated GPU --------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "targets/sim/Counters.h"
#include "targets/sim/Fault.h"
#include "targets/sim/Program.h"
#include "tilewright/Status.h"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace tilewright::sim {

class DeviceMemory;

struct Dim3 {
  uint32_t x = 1;
  uint32_t y = 1;
  uint32_t z = 1;
  uint64_t count() const { return uint64_t(x) * y * z; }
};

/// The shape of one launch.
struct LaunchShape {
  Dim3 grid;
  Dim3 block;
  /// Dynamic shared memory in bytes.
  uint32_t sharedBytes = 0;
};

struct ExecuteOptions {
  /// Bounds, alignment, initialisation, races. Without them, wild accesses
  /// stay inside the simulated memory but are not reported.
  bool checks = true;
  /// Races between the blocks of a launch; part of `checks`.
  bool checkGlobalRaces = true;
  /// Traffic and bank conflicts in the counters (instructions always count).
  bool countMemory = true;
  /// Order of the blocks: 0 is ascending, any other value a permutation.
  uint64_t blockOrderSeed = 0;
  /// Where PTX gives only an error bound: correctly rounded without a seed,
  /// otherwise off by a pseudo-random amount within the bound.
  std::optional<uint64_t> approxSeed;
  /// Host threads; 0 for as many as the machine has.
  unsigned threads = 0;
  /// Limits per block, 0 for none: a kernel that does not end is a fault.
  uint64_t maxWarpInstructionsPerBlock = 0;
  /// Of the simulated device: limits of shared memory and instructions that
  /// exist from some architecture on.
  unsigned computeCapability = 80;
};

/// Runs `kernel`, which belongs to `instance`, to its end.
///
/// \param parameters the parameter block, laid out as Kernel::parameters says.
/// \param counters is added to.
/// \param fault if not null, receives the finding behind a DeviceFault.
/// \returns OptionInvalid for a shape or parameter block that does not fit,
/// DeviceFault for a finding of the checks, with everything known about it.
Status execute(const Instance &instance, const Kernel &kernel,
               const LaunchShape &shape, const void *parameters,
               size_t parameterBytes, DeviceMemory &memory,
               const ExecuteOptions &options, Counters &counters,
               Fault *fault = nullptr);

} // namespace tilewright::sim
