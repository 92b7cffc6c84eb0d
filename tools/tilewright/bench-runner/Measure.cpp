//===- Measure.cpp - times and memory of a module -------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "tools/tilewright/bench-runner/Measure.h"

#include "tilewright/Context.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <numeric>
#include <sys/resource.h>

namespace tilewright {

using Clock = std::chrono::steady_clock;

static constexpr double measuredMilliseconds = 2000;
static constexpr unsigned fewestRuns = 10, mostRuns = 1000;

static double millisecondsSince(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start)
      .count();
}

/// The most memory that this program had. Not getrusage(): its figure would
/// include that of the process that started this one.
static double peakMegabytes() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    double kilobytes = 0;
    if (word == "VmHWM:" && status >> kilobytes) {
      return kilobytes * 1024 / 1e6;
    }
  }
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) * 1024 / 1e6;
}

/// \returns the smallest value that a share `rank` of all is not above.
static double percentile(const std::vector<double> &sorted, double rank) {
  double position = std::ceil(rank * static_cast<double>(sorted.size()));
  return sorted[std::max<size_t>(static_cast<size_t>(position), 1) - 1];
}

static nlohmann::json latencies(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  double sum = std::accumulate(times.begin(), times.end(), 0.0);
  return {{"p50", percentile(times, 0.50)},
          {"p90", percentile(times, 0.90)},
          {"p99", percentile(times, 0.99)},
          {"min", times.front()},
          {"mean", sum / static_cast<double>(times.size())}};
}

Result<nlohmann::json> measure(const std::string &path,
                               const MeasureOptions &options) {
  OpenOptions openOptions;
  openOptions.level = cpuLevelFromName(options.level);
  openOptions.threads = options.threads;
  ContextOptions contextOptions;
  contextOptions.threads = options.threads;

  Clock::time_point start = Clock::now();
  auto module = Module::open(path, openOptions);
  if (!module) {
    return module.status();
  }
  auto context = Context::create(*module, contextOptions);
  if (!context) {
    return context.status();
  }
  double load = millisecondsSince(start);

  Result<MadeInputs> inputs = makeInputs((*module)->inputs(), options.inputs);
  if (!inputs) {
    return inputs.status();
  }
  std::vector<TensorView> views = inputs->views();
  double last = 0;
  auto runOnce = [&]() -> Status {
    Clock::time_point begin = Clock::now();
    auto outputs = (*context)->run(views);
    last = millisecondsSince(begin);
    return outputs.status();
  };
  TW_RETURN_IF_ERROR(runOnce());
  double firstRun = last;
  for (unsigned i = 0; i < options.warmup; ++i) {
    TW_RETURN_IF_ERROR(runOnce());
  }
  unsigned runs = options.runs;
  if (runs == 0) {
    double fitting = measuredMilliseconds / std::max(last, 1e-3);
    runs = static_cast<unsigned>(
        std::clamp<double>(fitting, fewestRuns, mostRuns));
  }
  std::vector<double> times;
  for (unsigned i = 0; i < runs; ++i) {
    TW_RETURN_IF_ERROR(runOnce());
    times.push_back(last);
  }
  ContextStatistics statistics = (*context)->statistics();
  return nlohmann::json{{"latency_ms", latencies(std::move(times))},
                        {"load_ms", load},
                        {"first_run_ms", firstRun},
                        {"peak_rss_mb", peakMegabytes()},
                        {"kernels", statistics.launches},
                        {"commands", statistics.commands},
                        {"arena_bytes", statistics.arenaBytes},
                        {"runs", runs},
                        {"threads", (*context)->threads()},
                        {"assumed", inputs->assumed}};
}

} // namespace tilewright
