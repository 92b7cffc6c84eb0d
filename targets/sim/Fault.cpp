//===- Fault.cpp - what a check found -----------------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "targets/sim/Fault.h"

#include <cstdio>

using namespace tilewright::sim;

const char *tilewright::sim::nameOf(FaultKind kind) {
  switch (kind) {
  case FaultKind::None:
    return "no fault";
  case FaultKind::OutOfBounds:
    return "out of bounds";
  case FaultKind::UseAfterFree:
    return "use after free";
  case FaultKind::Misaligned:
    return "misaligned access";
  case FaultKind::Uninitialized:
    return "read of uninitialised memory";
  case FaultKind::SharedRace:
    return "race in shared memory";
  case FaultKind::GlobalRace:
    return "race between blocks";
  case FaultKind::DivergentBarrier:
    return "barrier in divergent code";
  case FaultKind::BarrierDeadlock:
    return "barrier that is never complete";
  case FaultKind::DivergentWarp:
    return "warp operation without all its lanes";
  case FaultKind::AsyncCopyPending:
    return "access to an asynchronous copy before its wait";
  case FaultKind::Trap:
    return "trap";
  case FaultKind::InstructionLimit:
    return "too many instructions";
  }
  return "fault";
}

static std::string triple(const std::array<uint32_t, 3> &value) {
  return "(" + std::to_string(value[0]) + ", " + std::to_string(value[1]) +
         ", " + std::to_string(value[2]) + ")";
}

std::string Fault::toString() const {
  std::string result = std::string(nameOf(kind)) + ": kernel '" + kernel +
                       "', line " + std::to_string(ptxLine) + " (" +
                       instruction + ")";
  if (sourceLine != 0) {
    result += " of " + (sourceFile.empty() ? "source" : sourceFile) + ":" +
              std::to_string(sourceLine);
  }
  result += ", block " + triple(block) + ", thread " + triple(thread);
  if (!space.empty()) {
    char hex[24];
    std::snprintf(hex, sizeof(hex), "0x%llx", (unsigned long long)address);
    result += ": " + std::to_string(bytes) + " bytes at " + hex + " of " +
              space + " memory";
    if (!buffer.empty()) {
      result += ", " + buffer;
    }
  }
  if (!detail.empty()) {
    result += "; " + detail;
  }
  return result;
}
