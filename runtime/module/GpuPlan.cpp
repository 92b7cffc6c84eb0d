//===- GpuPlan.cpp - plans that a GPU can execute -------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// What a plan says beyond a processor's: blocks of threads, streams, events.
//
//===----------------------------------------------------------------------===//

#include "runtime/module/PlanVerifier.h"

using namespace tilewright;

// What every GPU allows a block to have, whatever its kernel takes.
static constexpr uint32_t mostThreads = 1024;

// A launch with more is refused by every device.
static constexpr uint32_t mostShared = uint32_t(1) << 20;

// A typing error, not a plan.
static constexpr uint32_t mostStreams = 64;

static Status verifyFunction(const format::FunctionT &function) {
  if (function.streams < 1 || function.streams > mostStreams ||
      function.events > function.commands.size()) {
    return planError("function '" + function.name + "' has " +
                     std::to_string(function.streams) + " streams and " +
                     std::to_string(function.events) + " events");
  }
  std::vector<bool> recorded(function.events);
  for (const auto &command : function.commands) {
    bool good = command->stream < function.streams;
    for (uint32_t event : command->waits) {
      good = good && event < function.events && recorded[event];
    }
    if (command->records != -1) {
      good = good && command->records >= 0 &&
             static_cast<uint32_t>(command->records) < function.events &&
             !recorded[static_cast<uint32_t>(command->records)];
      if (good) {
        recorded[static_cast<uint32_t>(command->records)] = true;
      }
    }
    if (!good) {
      return planError("a command of function '" + function.name +
                       "' names a stream or an event that does not exist, or "
                       "waits for one that nothing records before");
    }
    const format::LaunchT *launch = command->body.AsLaunch();
    if (launch && (launch->threads < 1 || launch->threads > mostThreads ||
                   launch->shared > mostShared)) {
      return planError("a launch has blocks of " +
                       std::to_string(launch->threads) + " threads with " +
                       std::to_string(launch->shared) +
                       " bytes of shared memory");
    }
  }
  return Status::ok();
}

Status tilewright::verifyForGpu(const format::PlanT &plan) {
  for (const auto &function : plan.functions) {
    TW_RETURN_IF_ERROR(verifyFunction(*function));
  }
  return Status::ok();
}
