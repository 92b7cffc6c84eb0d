//===- Launch.cpp - running a kernel on the simulated GPU ---------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "targets/sim/DeviceMemory.h"
#include "targets/sim/Execute.h"
#include "targets/sim/exec/Worker.h"

#include <algorithm>
#include <cfenv>
#include <cstdlib>
#include <mutex>
#include <new>
#include <thread>

using namespace tilewright;
using namespace tilewright::sim;

namespace {
/// A launch with what its workers share and handlers do not touch.
struct LaunchState : Launch {
  std::mutex mutex;
  Fault fault;
  std::atomic<uint64_t> nextBlock{0};
  uint64_t blocks = 0;
  uint64_t seed = 0;
  bool outOfMemory = false;
};

/// Blocks that cells of races can tell apart; see GlobalChecks.cpp.
constexpr uint64_t namedBlocks = uint64_t(1) << 20;
} // namespace

static std::string describeBuffer(const Warp &warp, const Fault &fault) {
  if (fault.space == "global") {
    BufferRange range = warp.launch->memory->lookup(fault.address);
    if (!range.live) {
      return range.label;
    }
    return "byte " + std::to_string(fault.address - range.begin) + " of '" +
           range.label + "' (" + std::to_string(range.end - range.begin) +
           " bytes)";
  }
  if (fault.space == "shared") {
    return "of which the block has " + std::to_string(warp.block->sharedBytes) +
           " bytes";
  }
  if (fault.space == "local") {
    return "of which the thread has " +
           std::to_string(warp.launch->code->localBytes) + " bytes";
  }
  return "";
}

void tilewright::sim::raise(Warp &warp, const Inst &inst, FaultKind kind,
                            unsigned lane, uint64_t address, uint32_t bytes,
                            const char *space, const char *detail) {
  auto &launch = static_cast<LaunchState &>(*warp.launch);
  warp.running = false;
  std::lock_guard lock(launch.mutex);
  if (launch.fault.kind != FaultKind::None) {
    return;
  }
  const Code &code = *launch.code;
  const CodeLine &line = code.lines[size_t(&inst - code.instructions.data())];
  Fault &fault = launch.fault;
  fault.kind = kind;
  fault.kernel = code.kernelName;
  fault.instruction = std::string(line.text);
  fault.ptxLine = line.ptxLine;
  fault.sourceLine = line.sourceLine;
  if (line.sourceFile < code.files.size()) {
    fault.sourceFile = code.files[line.sourceFile];
  }
  const Dim3 &shape = launch.shape.block;
  uint32_t thread = warp.index * lanesPerWarp + lane;
  fault.thread = {thread % shape.x, thread / shape.x % shape.y,
                  thread / shape.x / shape.y};
  fault.block = {warp.block->id[0], warp.block->id[1], warp.block->id[2]};
  fault.address = address;
  fault.bytes = bytes;
  fault.space = space ? space : "";
  fault.detail = detail ? detail : "";
  fault.buffer = describeBuffer(warp, fault);
  launch.stop.store(true);
}

/// A permutation of [0, count) that depends on the seed: steps that can be
/// undone on the next power of two, repeated until the result is in range.
static uint64_t permuted(uint64_t index, uint64_t count, uint64_t seed) {
  if (seed == 0 || count < 2) {
    return index;
  }
  unsigned bits = 64 - unsigned(__builtin_clzll(count - 1));
  uint64_t mask = (uint64_t(1) << bits) - 1;
  unsigned shift = bits / 2 + 1;
  do {
    index = (index + seed) & mask;
    index = index * 0x9E3779B97F4A7C15u & mask;
    index ^= index >> shift;
    index = (index + (seed >> 32)) & mask;
    index = index * 0xBF58476D1CE4E5B9u & mask;
    index ^= index >> shift;
  } while (index >= count);
  return index;
}

static void work(LaunchState &launch, Counters &counters) {
  // Arithmetic rounds to nearest and keeps denormals, whatever the host did.
  std::fenv_t environment;
  std::fegetenv(&environment);
  std::fesetenv(FE_DFL_ENV);
  try {
    BlockRunner runner(launch);
    while (!launch.stop.load(std::memory_order_relaxed)) {
      uint64_t index = launch.nextBlock.fetch_add(1);
      if (index >= launch.blocks) {
        break;
      }
      runner.run(permuted(index, launch.blocks, launch.seed));
    }
    std::lock_guard lock(launch.mutex);
    runner.addTo(counters);
  } catch (const std::bad_alloc &) {
    std::lock_guard lock(launch.mutex);
    launch.outOfMemory = true;
    launch.stop.store(true);
  }
  std::fesetenv(&environment);
}

static Status invalid(const Kernel &kernel, const std::string &what) {
  return {ErrorCode::OptionInvalid, "kernel '" + kernel.name + "': " + what};
}

/// Shared memory that a block may have, by the manual's table.
static uint32_t sharedLimit(unsigned capability) {
  switch (capability) {
  case 80:
  case 87:
    return 163 * 1024;
  case 86:
  case 89:
  case 120:
  case 121:
    return 99 * 1024;
  default:
    return capability >= 90 ? 227 * 1024 : 96 * 1024;
  }
}

static Status checkShape(const Kernel &kernel, const LaunchShape &shape,
                         size_t parameterBytes, const ExecuteOptions &options) {
  const Dim3 &grid = shape.grid;
  const Dim3 &block = shape.block;
  if (grid.count() == 0 || grid.x > 0x7FFFFFFF || grid.y > 65535 ||
      grid.z > 65535) {
    return invalid(kernel, "a grid of " + std::to_string(grid.x) + " x " +
                               std::to_string(grid.y) + " x " +
                               std::to_string(grid.z) + " blocks");
  }
  if (block.count() == 0 || block.x > 1024 || block.y > 1024 || block.z > 64 ||
      block.count() > kernel.maxThreads || block.count() > 1024) {
    return invalid(kernel, "blocks of " + std::to_string(block.x) + " x " +
                               std::to_string(block.y) + " x " +
                               std::to_string(block.z) +
                               " threads; it is made for " +
                               std::to_string(kernel.maxThreads));
  }
  uint64_t shared = uint64_t(kernel.staticSharedBytes) + shape.sharedBytes;
  uint32_t limit = sharedLimit(options.computeCapability);
  if (shared > limit) {
    return invalid(kernel, std::to_string(shared) +
                               " bytes of shared memory; the device has " +
                               std::to_string(limit));
  }
  if (parameterBytes < kernel.parameterBytes) {
    return invalid(kernel, "its parameters have " +
                               std::to_string(kernel.parameterBytes) +
                               " bytes, not " + std::to_string(parameterBytes));
  }
  return Status::ok();
}

static void fillLaunch(LaunchState &launch, const Instance &instance,
                       const Kernel &kernel, DeviceMemory &memory,
                       const ExecuteOptions &options) {
  launch.code = kernel.code.get();
  launch.kernel = &kernel;
  launch.instance = &instance;
  launch.memory = &memory;
  launch.parameterBytes = kernel.parameterBytes;
  launch.checks = options.checks;
  launch.raceChecks = options.checks && options.checkGlobalRaces;
  launch.countMemory = options.countMemory;
  launch.jitter = options.approxSeed.has_value();
  launch.jitterSeed = options.approxSeed.value_or(0);
  launch.budgetPerBlock =
      options.maxWarpInstructionsPerBlock != 0
          ? int64_t(std::min<uint64_t>(options.maxWarpInstructionsPerBlock,
                                       INT64_MAX))
          : INT64_MAX;
  launch.host = memory.host();
  launch.shadow = memory.shadow();
  launch.raceCells = memory.raceCells();
  launch.base = DeviceMemory::base;
  launch.reach = memory.reach();
  launch.seed = options.blockOrderSeed;
}

Status tilewright::sim::execute(const Instance &instance, const Kernel &kernel,
                                const LaunchShape &shape,
                                const void *parameters, size_t parameterBytes,
                                DeviceMemory &memory,
                                const ExecuteOptions &options,
                                Counters &counters, Fault *fault) {
  TW_RETURN_IF_ERROR(checkShape(kernel, shape, parameterBytes, options));
  LaunchState launch;
  fillLaunch(launch, instance, kernel, memory, options);
  launch.shape = shape;
  launch.parameters = static_cast<const uint8_t *>(parameters);
  launch.blocks = shape.grid.count();
  std::unique_ptr<std::atomic<uint64_t>[]> orders;
  try {
    if (launch.raceChecks && launch.blocks > 1) {
      uint64_t named = std::min(launch.blocks, namedBlocks) + 1;
      orders.reset(new std::atomic<uint64_t>[2 * named]());
      launch.releases = orders.get();
      launch.acquires = orders.get() + named;
      launch.raceEpoch = memory.beginRaceEpoch();
    } else {
      launch.raceChecks = false;
    }
    unsigned threads =
        options.threads ? options.threads : std::thread::hardware_concurrency();
    threads =
        unsigned(std::min<uint64_t>(std::max(threads, 1u), launch.blocks));
    std::vector<std::thread> helpers;
    try {
      for (unsigned i = 1; i < threads; ++i) {
        helpers.emplace_back([&] { work(launch, counters); });
      }
    } catch (const std::system_error &) {
      // Fewer threads do the same work.
    }
    work(launch, counters);
    for (std::thread &helper : helpers) {
      helper.join();
    }
  } catch (const std::bad_alloc &) {
    launch.outOfMemory = true;
  }
  if (launch.outOfMemory) {
    return {ErrorCode::OutOfMemory,
            "the host has no memory for the state of kernel '" + kernel.name +
                "'"};
  }
  if (launch.fault.kind != FaultKind::None) {
    if (fault) {
      *fault = launch.fault;
    }
    return {ErrorCode::DeviceFault, launch.fault.toString()};
  }
  return Status::ok();
}
