//===- Measure.h - times and memory of a module -----------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "tools/tilewright/data/Inputs.h"

#include <nlohmann/json.hpp>

namespace tilewright {

struct MeasureOptions {
  InputOptions inputs;
  unsigned threads = 0;
  unsigned runs = 0; ///< 0: as many as fit into two seconds, 10 to 1000
  unsigned warmup = 3;
  std::string level; ///< empty: the best that runs here
};

/// Opens the module, runs it, and \returns {latency_ms: {p50, p90, p99, min,
/// mean}, load_ms, first_run_ms, peak_rss_mb, kernels, commands, arena_bytes,
/// runs, threads, assumed}. Errors: those of Module, Context and makeInputs().
Result<nlohmann::json> measure(const std::string &path,
                               const MeasureOptions &options);

} // namespace tilewright
