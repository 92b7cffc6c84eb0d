//===- main.cpp - tilewright-kernel-bench ---------------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// Google Benchmarks of single kernels over shape files. In each iteration the
// machine's peak is measured, then the kernel is run for a while; the share is
// the median of the ratios of such neighbours, so that a busy moment of a
// shared machine spoils one of them and not the figure.
//
//===----------------------------------------------------------------------===//

#include "bench/kernels/CompiledKernel.h"
#include "bench/kernels/MachinePeaks.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <benchmark/benchmark.h>
#include <chrono>
#include <cstdio>
#include <malloc.h>

using namespace tilewright;
using namespace tilewright::bench;

namespace {

struct Settings {
  std::vector<std::string> files;
  std::string level;
  unsigned threads = 1;
  unsigned rounds = 7;
  double seconds = 0.03; // of running the kernel, per round
  size_t streamMegabytes = 256;
  bool json = false;
};

} // namespace

static bool failed = false;

static void skip(benchmark::State &state, const Status &status) {
  failed = true;
  state.SkipWithError(status.toString().c_str());
}

static double median(std::vector<double> values) {
  auto middle = values.begin() + values.size() / 2;
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// Runs the kernel for at least `least` seconds.
/// \returns the seconds of one run, negative where one failed.
static double secondsPerRun(CompiledKernel &kernel, double least) {
  using Clock = std::chrono::steady_clock;
  Clock::time_point start = Clock::now();
  double seconds = 0;
  unsigned runs = 0;
  do {
    if (!kernel.run()) {
      return -1;
    }
    ++runs;
    seconds = std::chrono::duration<double>(Clock::now() - start).count();
  } while (seconds < least);
  return seconds / runs;
}

static void measure(benchmark::State &state, const Shape &shape,
                    const Settings &settings, const TargetSpec &target,
                    MachinePeaks &peaks) {
  Result<Workload> work = makeWorkload(shape);
  if (!work) {
    return skip(state, work.status());
  }
  auto kernel = CompiledKernel::create(*work, target, settings.threads);
  if (!kernel) {
    return skip(state, kernel.status());
  }
  auto measurePeak = [&] {
    return work->isComputeBound() ? peaks.flops()
                                  : peaks.bytes(work->streams, work->writes);
  };
  // Memory is touched for the first time here, not in a measurement.
  if (!work->isComputeBound()) {
    peaks.chooseLoop(work->streams, work->writes);
  }
  if (Status status = kernel->run(); !status) {
    return skip(state, status);
  }
  double amount = work->isComputeBound() ? work->flops : work->bytes;
  std::vector<double> rates, limits, shares;
  for (auto _ : state) {
    double limit = measurePeak();
    double seconds = secondsPerRun(*kernel, settings.seconds);
    if (seconds <= 0) {
      return skip(state, Status(ErrorCode::Internal, "a run failed"));
    }
    state.SetIterationTime(seconds);
    rates.push_back(amount / seconds);
    limits.push_back(limit);
    shares.push_back(rates.back() / limit);
  }
  const char *unit = work->isComputeBound() ? "gflops" : "gbytes";
  state.counters[unit] = median(rates) / 1e9;
  state.counters["peak"] = median(limits) / 1e9;
  state.counters["share"] = median(shares);
  state.counters["work"] = amount;
  state.counters["launches"] = static_cast<double>(kernel->launches());
  state.counters["count"] = static_cast<double>(shape.number("count", 1));
  if (shape.family == "contract") {
    state.counters["smallest"] = static_cast<double>(std::min(
        {shape.number("m", 1), shape.number("n", 1), shape.number("k", 1)}));
  }
}

/// Memory that is given back stays with the program: results of hundreds of
/// megabytes would be paid page by page in every run.
static void keepMemory() {
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, -1);
}

static Status registerAll(const Settings &settings, const TargetSpec &target,
                          MachinePeaks &peaks) {
  for (const std::string &path : settings.files) {
    Result<std::vector<Shape>> shapes = readShapes(path);
    if (!shapes) {
      return shapes.status();
    }
    for (const Shape &shape : *shapes) {
      if (Result<Workload> work = makeWorkload(shape); !work) {
        return work.status();
      }
      benchmark::RegisterBenchmark(
          (shape.family + "/" + shape.name).c_str(),
          [shape, &settings, &target, &peaks](benchmark::State &state) {
            measure(state, shape, settings, target, peaks);
          })
          ->UseManualTime()
          ->Iterations(settings.rounds)
          ->Unit(benchmark::kMillisecond);
    }
  }
  return Status::ok();
}

static int run(const Settings &settings, std::vector<std::string> rest) {
  const TargetSpec *target =
      settings.level.empty() ? hostTarget() : findTarget(settings.level);
  if (!target || !runsOnHost(*target)) {
    std::fprintf(stderr, "error: no such level here: %s\n",
                 settings.level.c_str());
    return 1;
  }
  keepMemory();
  Result<MachinePeaks> peaks = MachinePeaks::create(
      settings.threads, *target, settings.streamMegabytes << 20);
  Status status =
      peaks ? registerAll(settings, *target, *peaks) : peaks.status();
  if (!status) {
    std::fprintf(stderr, "%s\n", status.toString().c_str());
    return 1;
  }
  benchmark::AddCustomContext("target", std::string(target->name));
  benchmark::AddCustomContext("threads", std::to_string(settings.threads));
  if (settings.json) {
    rest.push_back("--benchmark_format=json");
  }
  std::vector<char *> arguments;
  for (std::string &argument : rest) {
    arguments.push_back(argument.data());
  }
  int count = static_cast<int>(arguments.size());
  benchmark::Initialize(&count, arguments.data());
  if (benchmark::ReportUnrecognizedArguments(count, arguments.data())) {
    return 1;
  }
  benchmark::RunSpecifiedBenchmarks();
  return failed ? 1 : 0;
}

int main(int argc, char **argv) {
  Settings settings;
  CLI::App program("Measures single kernels, and the machine's peak between "
                   "them. Google Benchmark's own options work, too.",
                   "tilewright-kernel-bench");
  program.add_option("shapes", settings.files, "Files of bench/shapes")
      ->required();
  program.add_option("--level", settings.level,
                     "A CPU level; else the best one here");
  program.add_option("--threads", settings.threads)->check(CLI::Range(1, 1024));
  program.add_option("--rounds", settings.rounds)->check(CLI::Range(1, 10000));
  program.add_option("--seconds", settings.seconds,
                     "How long a kernel runs in each round");
  program.add_option("--stream-mb", settings.streamMegabytes,
                     "Megabytes of each array of the bandwidth loops");
  program.add_flag("--json", settings.json, "Print Google Benchmark's JSON");
  program.allow_extras();
  try {
    program.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    return program.exit(error);
  }
  std::vector<std::string> rest = program.remaining();
  rest.insert(rest.begin(), argv[0]);
  return run(settings, std::move(rest));
}
