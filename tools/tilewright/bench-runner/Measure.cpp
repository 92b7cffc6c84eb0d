//===- Measure.cpp - times and memory of a module -------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "tools/tilewright/bench-runner/Measure.h"

#include "tools/tilewright/bench-runner/KernelTimes.h"

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
// Runs whose commands are timed one by one.
static constexpr unsigned mostTimedRuns = 20;

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

/// What does not depend on how the runs were measured.
static nlohmann::json describe(const Context &context,
                               const MadeInputs &inputs) {
  ContextStatistics statistics = context.statistics();
  return {{"peak_rss_mb", peakMegabytes()},
          {"kernels", statistics.launches},
          {"commands", statistics.commands},
          {"arena_bytes", statistics.arenaBytes},
          {"threads", context.threads()},
          {"device", context.deviceName()},
          {"library_refusal", statistics.libraryRefusal},
          {"assumed", inputs.assumed}};
}

/// Measures runs on a device that has a clock.
static Status measureRuns(Context &context,
                          const std::vector<TensorView> &inputs,
                          const MeasureOptions &options,
                          nlohmann::json &figures) {
  double last = 0;
  auto runOnce = [&]() -> Status {
    Clock::time_point begin = Clock::now();
    auto outputs = context.run(inputs);
    last = millisecondsSince(begin);
    return outputs.status();
  };
  TW_RETURN_IF_ERROR(runOnce());
  figures["first_run_ms"] = last;
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
  figures["runs"] = runs;
  figures["latency_ms"] = latencies(std::move(times));
  if (!options.kernels) {
    return Status::ok();
  }
  Result<nlohmann::json> kernels =
      timeKernels(context, inputs, std::min(runs, mostTimedRuns));
  if (kernels) {
    figures["kernel_table"] = std::move(*kernels);
  }
  return kernels.status();
}

Result<nlohmann::json> measure(const std::string &path,
                               const MeasureOptions &options) {
  bool isSimulated = options.open.device == DeviceKind::Simulator;
  KernelCounts counts;
  TW_RETURN_IF_ERROR(isSimulated ? counts.begin() : Status::ok());

  Clock::time_point start = Clock::now();
  auto module = Module::open(path, options.open);
  if (!module) {
    return module.status();
  }
  auto context = Context::create(*module, options.context);
  if (!context) {
    return context.status();
  }
  double load = millisecondsSince(start);

  Result<MadeInputs> inputs = makeInputs((*module)->inputs(), options.inputs);
  if (!inputs) {
    return inputs.status();
  }
  nlohmann::json measured;
  if (isSimulated) {
    TW_RETURN_IF_ERROR((*context)->run(inputs->views()).status());
    Result<nlohmann::json> counted = counts.end();
    TW_RETURN_IF_ERROR(counted.status());
    measured["counted"] = std::move(*counted);
  } else {
    measured["load_ms"] = load;
    TW_RETURN_IF_ERROR(
        measureRuns(**context, inputs->views(), options, measured));
  }
  measured.update(describe(**context, *inputs));
  return measured;
}

} // namespace tilewright
