//===- Simulator.cpp - what is not in the driver API ----------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "runtime/devices/cuda/SimulatorInterface.h"
#include "targets/sim/driver/Launch.h"

using namespace tilewright;
using namespace tilewright::sim;

static CUresult beginLife(CUdeviceptr data, size_t bytes, const char *label,
                          CUstream stream) {
  return withContext([&](Context &context) -> CUresult {
    std::string name = label ? label : "";
    return context.submit(context.stream(stream),
                          [&context, data, bytes, name] {
                            context.beginLife(data, bytes, name);
                          });
  });
}

/// Another buffer's life may have ended it before.
static CUresult endLife(CUdeviceptr data, CUstream stream) {
  return withContext([&](Context &context) -> CUresult {
    return context.submit(context.stream(stream),
                          [&context, data] { context.endLife(data); });
  });
}

static void labelLaunch(const char *label) { launchLabel = label ? label : ""; }

static const char *finding() {
  static thread_local std::string text;
  Machine &machine = Machine::get();
  std::lock_guard<std::recursive_mutex> lock(machine.mutex);
  text = !openFailure.empty() ? openFailure
         : currentContext     ? currentContext->finding
                              : "";
  return text.c_str();
}

static SimulatorCounters counters() {
  Machine &machine = Machine::get();
  std::lock_guard<std::recursive_mutex> lock(machine.mutex);
  const Counters &sum = machine.counters;
  SimulatorCounters result;
  result.launches = machine.launches;
  result.laneInstructions = sum.totalLaneInstructions();
  result.warpInstructions = sum.warpInstructions;
  result.globalRequests = sum.globalLoads.requests + sum.globalStores.requests;
  result.globalSectors = sum.globalLoads.sectors + sum.globalStores.sectors;
  result.globalTransactions =
      sum.globalLoads.transactions + sum.globalStores.transactions;
  result.globalBytes = sum.globalLoads.bytes + sum.globalStores.bytes;
  result.sharedRequests = sum.sharedRequests;
  result.sharedConflicts = sum.sharedConflicts;
  for (uint64_t count : sum.matrixMultiplyAdds) {
    result.matrixMultiplyAdds += count;
  }
  result.blocks = sum.blocks;
  result.barriers = sum.barriers;
  return result;
}

static void resetCounters() {
  Machine &machine = Machine::get();
  std::lock_guard<std::recursive_mutex> lock(machine.mutex);
  machine.counters = Counters();
  machine.launches = 0;
}

extern "C" __attribute__((visibility("default"))) const SimulatorInterface *
tilewrightSimulator(unsigned version) {
  static constexpr SimulatorInterface interface = {
      beginLife, endLife, labelLaunch, finding, counters, resetCounters};
  return version == simulatorInterfaceVersion ? &interface : nullptr;
}
