//===- Counters.cpp - what a launch did ---------------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "targets/sim/Counters.h"

using namespace tilewright::sim;

const char *tilewright::sim::nameOf(InstructionClass cls) {
  static const char *const names[numInstructionClasses] = {
      "integer",   "float32",   "float64", "half",    "special",    "convert",
      "move",      "predicate", "control", "global",  "shared",     "local",
      "parameter", "atomic",    "warp",    "barrier", "async copy", "matrix"};
  return names[size_t(cls)];
}

uint64_t Counters::totalLaneInstructions() const {
  uint64_t sum = 0;
  for (uint64_t count : laneInstructions) {
    sum += count;
  }
  return sum;
}

static void add(Counters::Traffic &to, const Counters::Traffic &from) {
  to.requests += from.requests;
  to.sectors += from.sectors;
  to.transactions += from.transactions;
  to.bytes += from.bytes;
}

Counters &Counters::operator+=(const Counters &other) {
  for (size_t i = 0; i < numInstructionClasses; ++i) {
    laneInstructions[i] += other.laneInstructions[i];
  }
  for (size_t i = 0; i < numMatrixTypes; ++i) {
    matrixMultiplyAdds[i] += other.matrixMultiplyAdds[i];
  }
  warpInstructions += other.warpInstructions;
  add(globalLoads, other.globalLoads);
  add(globalStores, other.globalStores);
  atomicRequests += other.atomicRequests;
  sharedRequests += other.sharedRequests;
  sharedConflicts += other.sharedConflicts;
  blocks += other.blocks;
  barriers += other.barriers;
  return *this;
}
