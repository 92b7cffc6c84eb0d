//===- SharedChecks.cpp - accesses to shared and local memory
//---------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// Races between the threads of a block: each byte of shared memory has a word
// with its last writer and its readers since the last barrier. Threads of one
// warp are ordered by bar.warp.sync, but the words do not say when: a warp
// that has had one since the barrier is trusted within itself.
//
//===----------------------------------------------------------------------===//

#include "targets/sim/checks/Traffic.h"
#include "targets/sim/exec/Access.h"

#include <cstring>

using namespace tilewright::sim;

namespace {
/// Who touched a byte: nobody, a thread, threads of one warp, or more.
constexpr uint32_t nobody = 0;
constexpr uint32_t firstThread = 1;
constexpr uint32_t firstWarp = firstThread + 1024;
constexpr uint32_t atomics = firstWarp + 32;
constexpr uint32_t everybody = 2047;

struct Cell {
  uint32_t writer;
  uint32_t reader;

  static Cell unpack(uint32_t bits, uint32_t epoch) {
    if (bits >> 22 != epoch) {
      return {nobody, nobody};
    }
    return {bits >> 11 & 2047, bits & 2047};
  }
  uint32_t pack(uint32_t epoch) const {
    return epoch << 22 | writer << 11 | reader;
  }
};
} // namespace

/// \returns the warp of a party that lies in one, or 32.
static uint32_t warpOf(uint32_t party) {
  return party >= firstWarp && party < atomics ? party - firstWarp
         : party >= firstThread && party < firstWarp
             ? (party - firstThread) / lanesPerWarp
             : 32;
}

/// Whether what `party` did may clash with the thread `self`.
static bool clashes(const Warp &warp, uint32_t party, uint32_t self) {
  if (party == nobody || party == self) {
    return false;
  }
  return !(warpOf(party) == warp.index && warp.synchronized);
}

static uint32_t joined(uint32_t party, uint32_t self) {
  if (party == nobody || party == self) {
    return self;
  }
  if (party == everybody) {
    return everybody;
  }
  uint32_t ours = warpOf(self);
  return warpOf(party) == ours ? firstWarp + ours : everybody;
}

static const char *findRace(const Warp &warp, const Cell &cell, uint32_t self,
                            AccessKind kind) {
  if (kind == AccessKind::Atomic) {
    if (cell.writer != atomics && clashes(warp, cell.writer, self)) {
      return "another thread has written the bytes since the last barrier";
    }
    return clashes(warp, cell.reader, self)
               ? "another thread has read the bytes since the last barrier"
               : nullptr;
  }
  if (clashes(warp, cell.writer, self)) {
    return "another thread has written the bytes since the last barrier";
  }
  if (kind == AccessKind::Store && clashes(warp, cell.reader, self)) {
    return "another thread has read the bytes since the last barrier";
  }
  return nullptr;
}

static Cell after(const Cell &cell, uint32_t self, AccessKind kind) {
  switch (kind) {
  case AccessKind::Load:
    return {cell.writer, joined(cell.reader, self)};
  case AccessKind::Store:
    return {self, cell.reader == self ? self : nobody};
  case AccessKind::Atomic:
    return {atomics, cell.reader};
  }
  return cell;
}

/// Whether the four words that begin here are the same.
static bool sameFour(const uint32_t *cells) {
  return cells[0] == cells[1] && cells[0] == cells[2] && cells[0] == cells[3];
}

/// A load of one address by several lanes, of bytes that nobody has written
/// since the barrier: most accesses of inner loops. \returns false if it is
/// something else.
static bool noteBroadcast(Warp &warp, const Access &access) {
  Block &block = *warp.block;
  unsigned first = unsigned(__builtin_ctz(warp.exec));
  uint32_t *cells = block.sharedCells + access.address[first];
  uint32_t epoch = block.sharedEpoch;
  uint32_t self = firstWarp + warp.index;
  for (uint32_t i = 0; i < access.bytes; ++i) {
    if (Cell::unpack(cells[i], epoch).writer != nobody) {
      return false;
    }
  }
  for (uint32_t i = 0; i < access.bytes; ++i) {
    uint32_t reader = Cell::unpack(cells[i], epoch).reader;
    bool ours = reader == nobody || warpOf(reader) == warp.index;
    cells[i] = Cell{nobody, ours ? self : everybody}.pack(epoch);
  }
  return true;
}

bool tilewright::sim::checkSharedRaces(Warp &warp, const Inst &inst,
                                       const Access &access, AccessKind kind) {
  Block &block = *warp.block;
  uint32_t epoch = block.sharedEpoch;
  uint32_t base = warp.index * lanesPerWarp + firstThread;
  bool isBroadcast = access.isUniform && kind == AccessKind::Load &&
                     (warp.exec & (warp.exec - 1)) != 0;
  if (isBroadcast && noteBroadcast(warp, access)) {
    return true;
  }
  // First look at all lanes, then remember: lanes of one instruction that
  // store to one place are not a race between instructions.
  uint32_t known = 0;
  for (uint32_t rest = warp.exec; rest != 0; rest &= rest - 1) {
    unsigned lane = unsigned(__builtin_ctz(rest));
    const uint32_t *cells = block.sharedCells + access.address[lane];
    bool changes = false;
    for (uint32_t i = 0; i < access.bytes;) {
      uint32_t bits = cells[i];
      uint32_t step = i + 4 <= access.bytes && sameFour(cells + i) ? 4 : 1;
      Cell cell = Cell::unpack(bits, epoch);
      if (const char *detail = findRace(warp, cell, base + lane, kind)) {
        raise(warp, inst, FaultKind::SharedRace, lane, access.address[lane] + i,
              access.bytes, "shared", detail);
        return false;
      }
      changes |= after(cell, base + lane, kind).pack(epoch) != bits;
      i += step;
    }
    known |= uint32_t(!changes) << lane;
  }
  for (uint32_t rest = warp.exec & ~known; rest != 0; rest &= rest - 1) {
    unsigned lane = unsigned(__builtin_ctz(rest));
    uint32_t *cells = block.sharedCells + access.address[lane];
    for (uint32_t i = 0; i < access.bytes; ++i) {
      uint32_t old = cells[i];
      uint32_t now =
          after(Cell::unpack(old, epoch), base + lane, kind).pack(epoch);
      cells[i] = now;
      // Most often, a lane's bytes have one history.
      while (i + 1 < access.bytes && cells[i + 1] == old) {
        cells[++i] = now;
      }
    }
  }
  return true;
}

/// Finds the first lane of a load whose bytes are not all initialised.
static bool checkBytes(Warp &warp, const Inst &inst, const Access &access,
                       const uint8_t *shadow, const char *space) {
  uint32_t lanes = access.isUniform ? warp.exec & (0 - warp.exec) : warp.exec;
  for (uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
    unsigned lane = unsigned(__builtin_ctz(rest));
    const uint8_t *bytes = shadow + access.address[lane];
    if (access.bytes == 4) {
      uint32_t word;
      std::memcpy(&word, bytes, 4);
      if (word == initializedBit * 0x01010101u) {
        continue;
      }
    }
    uint8_t all = initializedBit;
    uint8_t any = 0;
    for (uint32_t i = 0; i < access.bytes; ++i) {
      all &= bytes[i];
      any |= bytes[i];
    }
    if (any & pendingBit) {
      raise(warp, inst, FaultKind::AsyncCopyPending, lane, access.address[lane],
            access.bytes, space);
      return false;
    }
    if (!(all & initializedBit) && access.kind != AccessKind::Store) {
      raise(warp, inst, FaultKind::Uninitialized, lane, access.address[lane],
            access.bytes, space);
      return false;
    }
  }
  return true;
}

static void markBytes(Warp &warp, const Access &access, uint8_t *shadow) {
  for (uint32_t rest = warp.exec; rest != 0; rest &= rest - 1) {
    std::memset(shadow + access.address[__builtin_ctz(rest)], initializedBit,
                access.bytes);
  }
}

bool tilewright::sim::inspectShared(Warp &warp, const Inst &inst,
                                    Access &access) {
  Launch &launch = *warp.launch;
  if (launch.checks) {
    if (!isAligned(warp, inst, access, "shared") ||
        !checkBytes(warp, inst, access, warp.block->sharedShadow, "shared")) {
      return false;
    }
    if (access.kind == AccessKind::Store) {
      markBytes(warp, access, warp.block->sharedShadow);
    }
    AccessKind kind =
        (inst.mode & synchronizingBit) ? AccessKind::Atomic : access.kind;
    if (!checkSharedRaces(warp, inst, access, kind)) {
      return false;
    }
  }
  if (launch.countMemory) {
    countShared(warp, access);
  }
  return true;
}

bool tilewright::sim::inspectLocal(Warp &warp, const Inst &inst,
                                   Access &access) {
  Access aligned = access;
  for (unsigned i = 0; i < lanesPerWarp; ++i) {
    aligned.address[i] -= uint64_t(i) * warp.launch->code->localBytes;
  }
  if (!isAligned(warp, inst, aligned, "local")) {
    return false;
  }
  if (access.kind == AccessKind::Store) {
    markBytes(warp, access, warp.localShadow);
    return true;
  }
  return checkBytes(warp, inst, access, warp.localShadow, "local");
}
