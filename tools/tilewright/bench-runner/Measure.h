//===- Measure.h - times and memory of a module -----------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "tilewright/Context.h"
#include "tools/tilewright/data/Inputs.h"

#include <nlohmann/json.hpp>

namespace tilewright {

struct MeasureOptions {
  InputOptions inputs;
  unsigned runs = 0; ///< 0: as many as fit into two seconds, 10 to 1000
  unsigned warmup = 3;
  bool kernels = false; ///< also what each kernel takes
  OpenOptions open;
  ContextOptions context;
};

/// Opens the module, runs it, and \returns {latency_ms: {p50, p90, p99, min,
/// mean}, load_ms, first_run_ms, peak_rss_mb, kernels, commands, arena_bytes,
/// runs, threads, device, assumed}, with `kernels` also {kernel_table} of
/// timeKernels(). On the simulator there are no times: {counted} of
/// countKernels() stands for latency_ms, load_ms, first_run_ms and runs.
/// Errors: those of Module, Context and makeInputs().
Result<nlohmann::json> measure(const std::string &path,
                               const MeasureOptions &options);

} // namespace tilewright
