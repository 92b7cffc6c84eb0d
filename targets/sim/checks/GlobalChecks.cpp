//===- GlobalChecks.cpp - accesses to device memory ---------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// Bounds come from the live buffers of the device's memory; each instruction
// remembers the one it met last. Races between blocks: per four bytes, the
// last block that wrote and the blocks that read during this launch, with
// masks of bytes. Where blocks touch different bytes of one word, the newer
// one replaces the older: such a word may hide a race, but never invents one.
// Blocks are kept modulo 2^20 - 2, with the same consequence.
//
// An access is ordered after another block's, and no race, when that block has
// since released (a fence, and an atomic or store with a memory order behind
// it) and this one has looked after that (an atomic or load with an order).
//
//===----------------------------------------------------------------------===//

#include "targets/sim/DeviceMemory.h"
#include "targets/sim/checks/Traffic.h"
#include "targets/sim/exec/Access.h"

#include <cstring>

using namespace tilewright::sim;

/// Finds the buffer of each lane; the last one goes into the cache.
static bool checkBounds(Warp &warp, const Inst &inst, const Access &access) {
  Launch &launch = *warp.launch;
  RangeCache &cache =
      warp.worker->ranges[&inst - launch.code->instructions.data()];
  uint64_t generation = launch.memory->generation();
  if (cache.generation == generation && access.lowest >= cache.begin &&
      access.highest < cache.end &&
      cache.end - access.highest >= access.bytes) {
    return true;
  }
  for (uint32_t rest = warp.exec; rest != 0; rest &= rest - 1) {
    unsigned lane = unsigned(__builtin_ctz(rest));
    uint64_t address = access.address[lane];
    if (cache.generation == generation && address >= cache.begin &&
        address < cache.end && cache.end - address >= access.bytes) {
      continue;
    }
    BufferRange range = launch.memory->lookup(address);
    if (!range.live || range.end - address < access.bytes) {
      raise(warp, inst,
            range.wasLive ? FaultKind::UseAfterFree : FaultKind::OutOfBounds,
            lane, address, access.bytes, "global");
      return false;
    }
    cache.begin = range.begin;
    cache.end = range.end;
    cache.generation = generation;
  }
  return true;
}

/// Whether `count` shadow bytes all say that they are initialised.
static bool allInitialized(const uint8_t *shadow, uint64_t count) {
  uint64_t i = 0;
  uint64_t all = 0x0101010101010101u;
  for (; i + 8 <= count; i += 8) {
    uint64_t part;
    std::memcpy(&part, shadow + i, 8);
    all &= part;
  }
  if (all != 0x0101010101010101u) {
    return false;
  }
  for (; i < count; ++i) {
    if (shadow[i] != 1) {
      return false;
    }
  }
  return true;
}

static bool checkInitialized(Warp &warp, const Inst &inst,
                             const Access &access) {
  Launch &launch = *warp.launch;
  if ((access.isContiguous || access.isUniform) &&
      allInitialized(launch.shadow + (access.lowest - launch.base),
                     access.highest - access.lowest + access.bytes)) {
    return true;
  }
  for (uint32_t rest = warp.exec; rest != 0; rest &= rest - 1) {
    unsigned lane = unsigned(__builtin_ctz(rest));
    if (!allInitialized(launch.shadow + (access.address[lane] - launch.base),
                        access.bytes)) {
      raise(warp, inst, FaultKind::Uninitialized, lane, access.address[lane],
            access.bytes, "global");
      return false;
    }
  }
  return true;
}

static void markInitialized(Warp &warp, const Access &access) {
  Launch &launch = *warp.launch;
  if (access.isContiguous) {
    std::memset(launch.shadow + (access.lowest - launch.base), 1,
                access.highest - access.lowest + access.bytes);
    return;
  }
  for (uint32_t rest = warp.exec; rest != 0; rest &= rest - 1) {
    unsigned lane = unsigned(__builtin_ctz(rest));
    std::memset(launch.shadow + (access.address[lane] - launch.base), 1,
                access.bytes);
  }
}

namespace {
/// What one word of four bytes remembers: 16 bits of the launch, 20 bits each
/// of writer and reader, 4 bits each of their bytes.
struct Cell {
  static constexpr uint32_t none = 0;
  static constexpr uint32_t many = (1u << 20) - 1;
  uint32_t epoch;
  uint32_t writer;
  uint32_t reader;
  uint32_t writtenBytes;
  uint32_t readBytes;

  static Cell unpack(uint64_t bits, uint32_t epoch) {
    if (bits >> 48 != epoch) {
      return {epoch, none, none, 0, 0};
    }
    return {epoch, uint32_t(bits >> 28) & many, uint32_t(bits >> 8) & many,
            uint32_t(bits >> 4) & 15, uint32_t(bits) & 15};
  }
  uint64_t pack() const {
    return uint64_t(epoch) << 48 | uint64_t(writer) << 28 |
           uint64_t(reader) << 8 | writtenBytes << 4 | readBytes;
  }
};
} // namespace

/// Blocks as cells name them: 1 to many - 1.
static uint32_t cellName(uint64_t block) {
  return uint32_t(block % (Cell::many - 1)) + 1;
}

/// Whether `other` published what it did before this block looked.
static bool isOrdered(const Warp &warp, uint32_t other) {
  Launch &launch = *warp.launch;
  uint32_t self = cellName(warp.block->linear);
  if (other == Cell::many) {
    return false;
  }
  uint64_t released = launch.releases[other].load(std::memory_order_acquire);
  uint64_t acquired = launch.acquires[self].load(std::memory_order_relaxed);
  return released != 0 && acquired > released;
}

static bool updateCell(Warp &warp, std::atomic<uint64_t> &place, uint32_t bytes,
                       bool isWrite, const char *&detail) {
  uint32_t self = cellName(warp.block->linear);
  uint64_t old = place.load(std::memory_order_relaxed);
  Cell cell = Cell::unpack(old, warp.launch->raceEpoch);
  if (cell.writer != Cell::none && cell.writer != self &&
      (cell.writtenBytes & bytes) != 0 && !isOrdered(warp, cell.writer)) {
    detail = isWrite ? "another block has written the same bytes"
                     : "another block has written the bytes";
    return false;
  }
  if (isWrite) {
    if (cell.reader != Cell::none && cell.reader != self &&
        (cell.readBytes & bytes) != 0 && !isOrdered(warp, cell.reader)) {
      detail = "another block has read the bytes";
      return false;
    }
    cell.writtenBytes = cell.writer == self ? cell.writtenBytes | bytes : bytes;
    cell.writer = self;
  } else if (cell.reader == self) {
    cell.readBytes |= bytes;
  } else if (cell.reader == Cell::none || cell.readBytes != bytes) {
    cell.reader = self;
    cell.readBytes = bytes;
  } else {
    cell.reader = Cell::many;
  }
  uint64_t now = cell.pack();
  if (now != old) {
    place.store(now, std::memory_order_relaxed);
  }
  return true;
}

static bool checkRaces(Warp &warp, const Inst &inst, const Access &access) {
  Launch &launch = *warp.launch;
  bool isWrite = access.kind == AccessKind::Store;
  uint32_t step = access.isUniform ? warp.exec & (0 - warp.exec) : warp.exec;
  for (uint32_t rest = step; rest != 0; rest &= rest - 1) {
    unsigned lane = unsigned(__builtin_ctz(rest));
    uint64_t offset = access.address[lane] - launch.base;
    uint64_t end = offset + access.bytes;
    for (uint64_t word = offset / 4; word * 4 < end; ++word) {
      uint64_t begin = word * 4;
      uint32_t bytes = 15;
      if (begin < offset || begin + 4 > end) {
        unsigned first = begin < offset ? unsigned(offset - begin) : 0;
        unsigned last = begin + 4 > end ? unsigned(end - begin) : 4;
        bytes = ((1u << (last - first)) - 1) << first;
      }
      const char *detail = nullptr;
      if (!updateCell(warp, launch.raceCells[word], bytes, isWrite, detail)) {
        raise(warp, inst, FaultKind::GlobalRace, lane, access.address[lane],
              access.bytes, "global", detail);
        return false;
      }
    }
  }
  return true;
}

/// Atomics, and accesses with a memory order, synchronise blocks instead.
static void synchronize(Warp &warp, const Inst &inst, const Access &access) {
  Launch &launch = *warp.launch;
  uint32_t self = cellName(warp.block->linear);
  uint64_t now = launch.order.fetch_add(1, std::memory_order_acq_rel) + 1;
  if (access.kind != AccessKind::Load &&
      (warp.block->hasFenced || (inst.mode & releaseBit))) {
    launch.releases[self].store(now, std::memory_order_release);
  }
  if (access.kind != AccessKind::Store) {
    launch.acquires[self].store(now, std::memory_order_relaxed);
  }
}

bool tilewright::sim::inspectGlobal(Warp &warp, const Inst &inst,
                                    Access &access) {
  Launch &launch = *warp.launch;
  if (launch.checks) {
    if (!checkBounds(warp, inst, access) ||
        !isAligned(warp, inst, access, "global")) {
      return false;
    }
    if (access.kind != AccessKind::Store &&
        !checkInitialized(warp, inst, access)) {
      return false;
    }
    if (access.kind == AccessKind::Store) {
      markInitialized(warp, access);
    }
    if (launch.raceChecks) {
      if (access.kind == AccessKind::Atomic || (inst.mode & synchronizingBit)) {
        synchronize(warp, inst, access);
      } else if (!checkRaces(warp, inst, access)) {
        return false;
      }
    }
  }
  if (launch.countMemory) {
    countGlobal(warp, access);
  }
  return true;
}
