//===- Traffic.cpp - what an access costs a GPU -------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "targets/sim/checks/Traffic.h"

#include <algorithm>

using namespace tilewright::sim;

constexpr uint64_t sectorBytes = 32;
constexpr uint64_t transactionBytes = 128;
constexpr unsigned banks = 32;

/// \returns how many different units of `unit` bytes the lanes touch.
static unsigned countUnits(const Warp &warp, const Access &access,
                           uint64_t unit) {
  // A table of the units seen, open-addressed: a lane touches one or two.
  constexpr unsigned slots = 128;
  uint64_t table[slots];
  bool taken[slots] = {};
  unsigned count = 0;
  uint64_t last = ~uint64_t(0);
  for (uint32_t rest = warp.exec; rest != 0; rest &= rest - 1) {
    uint64_t address = access.address[__builtin_ctz(rest)];
    uint64_t end = (address + access.bytes - 1) / unit;
    for (uint64_t at = address / unit; at <= end; ++at) {
      if (at == last) {
        continue;
      }
      last = at;
      unsigned slot = unsigned(at * 0x9E3779B97F4A7C15u >> 57);
      while (taken[slot] && table[slot] != at) {
        slot = (slot + 1) % slots;
      }
      count += !taken[slot];
      taken[slot] = true;
      table[slot] = at;
    }
  }
  return count;
}

void tilewright::sim::countGlobal(Warp &warp, const Access &access) {
  Counters &counters = warp.worker->counters;
  if (access.kind == AccessKind::Atomic) {
    ++counters.atomicRequests;
  }
  Counters::Traffic &traffic = access.kind == AccessKind::Load
                                   ? counters.globalLoads
                                   : counters.globalStores;
  ++traffic.requests;
  traffic.bytes +=
      uint64_t(access.bytes) * unsigned(__builtin_popcount(warp.exec));
  if (access.isContiguous || access.isUniform) {
    uint64_t end = access.highest + access.bytes - 1;
    traffic.sectors += end / sectorBytes - access.lowest / sectorBytes + 1;
    traffic.transactions +=
        end / transactionBytes - access.lowest / transactionBytes + 1;
    return;
  }
  traffic.sectors += countUnits(warp, access, sectorBytes);
  traffic.transactions += countUnits(warp, access, transactionBytes);
}

/// \returns the passes that the lanes in `mask` need: the most different
/// words that one bank has to give.
static unsigned passes(const Access &access, uint32_t mask) {
  uint64_t words[banks][lanesPerWarp];
  uint8_t counts[banks] = {};
  unsigned most = 0;
  for (; mask != 0; mask &= mask - 1) {
    uint64_t address = access.address[__builtin_ctz(mask)];
    uint64_t end = (address + access.bytes - 1) / 4;
    for (uint64_t word = address / 4; word <= end; ++word) {
      unsigned bank = unsigned(word % banks);
      unsigned count = counts[bank];
      if (std::find(words[bank], words[bank] + count, word) !=
              words[bank] + count ||
          count == lanesPerWarp) {
        continue;
      }
      words[bank][count] = word;
      counts[bank] = uint8_t(count + 1);
      most = std::max(most, count + 1);
    }
  }
  return most;
}

void tilewright::sim::countShared(Warp &warp, const Access &access) {
  Counters &counters = warp.worker->counters;
  ++counters.sharedRequests;
  if (access.isContiguous || access.isUniform) {
    return;
  }
  // 128 bytes go at a time.
  unsigned groups = access.bytes == 16 ? 4 : access.bytes == 8 ? 2 : 1;
  unsigned lanes = lanesPerWarp / groups;
  for (unsigned group = 0; group < groups; ++group) {
    uint32_t part = groups == 1
                        ? ~uint32_t(0)
                        : ((uint32_t(1) << lanes) - 1) << (group * lanes);
    unsigned needed = passes(access, warp.exec & part);
    counters.sharedConflicts += needed > 1 ? needed - 1 : 0;
  }
}

bool tilewright::sim::isAligned(Warp &warp, const Inst &inst,
                                const Access &access, const char *space) {
  uint64_t low = 0;
  for (uint64_t address : access.address) {
    low |= address;
  }
  uint64_t rest = access.bytes - 1;
  if ((low & rest) == 0) {
    return true;
  }
  for (unsigned i = 0; i < lanesPerWarp; ++i) {
    if ((warp.exec >> i & 1) && (access.address[i] & rest) != 0) {
      raise(warp, inst, FaultKind::Misaligned, i, access.address[i],
            access.bytes, space);
      return false;
    }
  }
  return true;
}
