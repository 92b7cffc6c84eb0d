//===- Cases.h - modules with known results ---------------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "tools/gpu-check/Session.h"

#include <filesystem>

namespace tilewright::gpucheck {

/// Runs {name, module, inputs: [FILE.npy], outputs: [as checkOutput() reads],
/// tolerance: [relative, absolute], measure: bool, seeded: weights that
/// replaceWeights() makes} three times, the last two as
/// a recorded graph where the plan allows it. \returns {wrong}, which is empty
/// when every run gave what was expected, and with `measure` {latency_ms,
/// kernel_ms, launches, kernels}: the median of whole runs, copies included,
/// and the sum and table of timeKernels(). Errors: those of Module, Context and
/// readNpy().
Result<nlohmann::json> runCase(const Session &session,
                               const nlohmann::json &entry,
                               const std::filesystem::path &folder);

} // namespace tilewright::gpucheck
