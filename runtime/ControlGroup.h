//===- ControlGroup.h - limits that Linux puts on this process --*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include <cstdint>

namespace tilewright {

/// \returns the bytes that the process's control groups leave it; INT64_MAX
/// where they set no limit.
int64_t controlGroupMemoryLeft();

/// \returns the processors that the control groups grant, rounded up, at least
/// 1; UINT32_MAX where they set no limit.
unsigned controlGroupProcessors();

} // namespace tilewright
