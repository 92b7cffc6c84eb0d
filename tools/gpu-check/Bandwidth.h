//===- Bandwidth.h - how fast memory is copied ------------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "tools/gpu-check/Session.h"

namespace tilewright::gpucheck {

/// Copies {copy: "device to device", "host to device" or "device to host",
/// bytes} several times, on the host from and to page-locked memory.
/// \returns {ms, gb_per_s} of the best: bytes read and written on the GPU
/// count. Errors: OptionInvalid, DeviceMemory, DeviceFault.
Result<nlohmann::json> measureCopy(const Session &session,
                                   const nlohmann::json &entry);

} // namespace tilewright::gpucheck
