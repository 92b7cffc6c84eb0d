//===- Settings.h - what the environment asks of the simulator --*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "tilewright/Status.h"

#include <cstdint>
#include <optional>
#include <string>

namespace tilewright::sim {

/// Read whenever a device's context is created; docs/gpu.md lists the
/// variables.
struct Settings {
  /// Orders what streams leave open, and the blocks of a launch; 0: everything
  /// in the order in which it was asked for.
  uint64_t seed = 1;
  bool checks = true;
  /// Traffic and bank conflicts in the counters.
  bool counters = false;
  uint64_t memoryBytes = uint64_t(16) << 30;
  unsigned threads = 0;
  std::optional<uint64_t> approxSeed;
  /// Instructions of a warp of one block, 0 for no limit.
  uint64_t instructionLimit = 0;
  /// A line of JSON per launch goes to the end of this file.
  std::string traceFile;

  /// Error: OptionInvalid, with the name of the variable.
  static Result<Settings> fromEnvironment();
};

} // namespace tilewright::sim
