//===- CommandAccess.h - what a command reads and writes --------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "runtime/format/module_generated.h"

#include <vector>

namespace tilewright {

/// What a command does with values that commands of its function write.
struct CommandAccess {
  std::vector<uint32_t> reads, writes;
  /// A call of other functions, which read what they like: everything before
  /// comes before it, everything behind after it.
  bool isBarrier = false;
};

CommandAccess accessOf(const format::CommandT &command);

} // namespace tilewright
