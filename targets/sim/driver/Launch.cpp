//===- Launch.cpp - one launch, from its parameters to its counters -------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "targets/sim/driver/Launch.h"

#include <cstdio>

using namespace tilewright;
using namespace tilewright::sim;

thread_local std::string tilewright::sim::launchLabel;

CUresult tilewright::sim::resultOf(FaultKind kind) {
  switch (kind) {
  case FaultKind::OutOfBounds:
  case FaultKind::UseAfterFree:
    return CUDA_ERROR_ILLEGAL_ADDRESS;
  case FaultKind::Misaligned:
    return CUDA_ERROR_MISALIGNED_ADDRESS;
  case FaultKind::InstructionLimit:
  case FaultKind::BarrierDeadlock:
    return CUDA_ERROR_LAUNCH_TIMEOUT;
  case FaultKind::Trap:
    return CUDA_ERROR_ASSERT;
  default:
    return CUDA_ERROR_LAUNCH_FAILED;
  }
}

static std::string quoted(const std::string &text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
    }
    out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return out + "\"";
}

/// Appends a line of JSON about a launch to the trace.
static void trace(const std::string &path, const Launch &launch,
                  const Counters &counters) {
  FILE *file = std::fopen(path.c_str(), "a");
  if (!file) {
    return; // A trace that cannot be written changes no result.
  }
  auto number = [&](const char *name, uint64_t value) {
    std::fprintf(file, ", \"%s\": %llu", name,
                 static_cast<unsigned long long>(value));
  };
  auto traffic = [&](const std::string &name, const Counters::Traffic &sum) {
    number((name + "_requests").c_str(), sum.requests);
    number((name + "_sectors").c_str(), sum.sectors);
    number((name + "_transactions").c_str(), sum.transactions);
    number((name + "_bytes").c_str(), sum.bytes);
  };
  std::fprintf(file, "{\"kernel\": %s, \"nodes\": %s",
               quoted(launch.kernel->name).c_str(),
               quoted(launch.label).c_str());
  number("grid", launch.shape.grid.count());
  number("block", launch.shape.block.count());
  number("dynamic_shared", launch.shape.sharedBytes);
  number("lane_instructions", counters.totalLaneInstructions());
  number("warp_instructions", counters.warpInstructions);
  for (size_t i = 0; i < numInstructionClasses; ++i) {
    if (counters.laneInstructions[i] > 0) {
      number((std::string("lane_") + nameOf(static_cast<InstructionClass>(i)))
                 .c_str(),
             counters.laneInstructions[i]);
    }
  }
  traffic("loads", counters.globalLoads);
  traffic("stores", counters.globalStores);
  number("atomics", counters.atomicRequests);
  number("shared_requests", counters.sharedRequests);
  number("shared_conflicts", counters.sharedConflicts);
  static constexpr const char *types[] = {"tf32", "f16", "bf16", "int8", "fp8"};
  static_assert(sizeof types / sizeof types[0] == numMatrixTypes,
                "a name for each type");
  for (size_t i = 0; i < numMatrixTypes; ++i) {
    if (counters.matrixMultiplyAdds[i] > 0) {
      number((std::string("mma_") + types[i]).c_str(),
             counters.matrixMultiplyAdds[i]);
    }
  }
  number("barriers", counters.barriers);
  std::fputs("}\n", file);
  std::fclose(file);
}

void Launch::run(Context &context) const {
  const Settings &settings = context.settings;
  ExecuteOptions options;
  options.checks = settings.checks;
  options.countMemory = settings.counters;
  options.blockOrderSeed =
      settings.seed == 0 ? 0 : 1 + context.scheduler.draw(SIZE_MAX);
  options.approxSeed = settings.approxSeed;
  options.threads = settings.threads;
  options.maxWarpInstructionsPerBlock = settings.instructionLimit;
  options.computeCapability =
      static_cast<unsigned>(context.device->major * 10 + context.device->minor);
  Counters counters;
  Fault fault;
  Status status =
      execute(*instance, *kernel, shape, parameters.data(), parameters.size(),
              *context.memory, options, counters, &fault);
  Machine &machine = Machine::get();
  machine.counters += counters;
  ++machine.launches;
  if (!settings.traceFile.empty()) {
    trace(settings.traceFile, *this, counters);
  }
  if (!status.isOk()) {
    context.fail(resultOf(fault.kind),
                 status.message() +
                     (label.empty() ? "" : ", in the launch for " + label));
  }
}
