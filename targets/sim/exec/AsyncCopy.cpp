//===- AsyncCopy.cpp - cp.async, ldmatrix and stmatrix ------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// An asynchronous copy reads its source at once and keeps the bytes aside;
// they reach shared memory when the thread waits for the copy's group. So a
// missing wait shows as old contents, or with checks as a finding.
//
//===----------------------------------------------------------------------===//

#include "targets/sim/exec/AsyncCopy.h"

#include "targets/sim/exec/Access.h"
#include "targets/sim/exec/Handlers.h"

#include <algorithm>
#include <cstring>

using namespace tilewright::sim;

void exec::copyAsync(Warp &warp, const Inst &inst) {
  Launch &launch = *warp.launch;
  const uint32_t size = inst.size;
  // The source, of as many bytes as each lane asks for.
  PendingCopy copy;
  copy.inst = &inst;
  copy.mask = warp.exec;
  copy.bytes = size;
  std::memset(copy.data, 0, sizeof(copy.data));
  const uint64_t *from = warp.at<uint64_t>(inst.b);
  const uint64_t *offset = warp.at<uint64_t>(launch.code->wide[inst.wide]);
  uint32_t lengths[lanesPerWarp];
  uint32_t whole = 0;
  for (unsigned lane = 0; lane < lanesPerWarp; ++lane) {
    lengths[lane] = size;
    if (inst.c != noOperand) {
      lengths[lane] = std::min(size, warp.at<uint32_t>(inst.c)[lane]);
    }
    whole |= uint32_t(lengths[lane] == size) << lane;
  }
  const uint32_t exec = warp.exec;
  auto read = [&](uint32_t mask, uint32_t bytes) {
    if (mask == 0 || bytes == 0 || !warp.running) {
      return;
    }
    Access source;
    source.bytes = bytes;
    for (unsigned lane = 0; lane < lanesPerWarp; ++lane) {
      source.address[lane] = from[lane] + offset[lane];
    }
    warp.exec = mask;
    describeAddresses(warp, source);
    if (locateGlobal(warp, inst, source)) {
      for (uint32_t rest = mask; rest != 0; rest &= rest - 1) {
        unsigned lane = unsigned(__builtin_ctz(rest));
        std::memcpy(copy.data + lane * 16, source.at<uint8_t>(lane), bytes);
      }
    }
    warp.exec = exec;
  };
  read(exec & whole, size);
  for (uint32_t rest = exec & ~whole; rest != 0; rest &= rest - 1) {
    unsigned lane = unsigned(__builtin_ctz(rest));
    read(uint32_t(1) << lane, lengths[lane]);
  }
  if (!warp.running) {
    return;
  }
  // The destination must be there now, and nobody may read it meanwhile.
  Access target;
  target.bytes = size;
  target.kind = AccessKind::Store;
  readAddresses(warp, inst, target);
  std::memcpy(copy.address, target.address, sizeof(copy.address));
  if (!locateShared(warp, inst, target)) {
    return;
  }
  if (launch.checks) {
    for (uint32_t rest = exec; rest != 0; rest &= rest - 1) {
      unsigned lane = unsigned(__builtin_ctz(rest));
      std::memset(warp.block->sharedShadow + copy.address[lane], pendingBit,
                  size);
    }
  }
  for (unsigned lane = 0; lane < lanesPerWarp; ++lane) {
    copy.group[lane] = warp.copies->committed[lane];
  }
  warp.copies->pending.push_back(copy);
}

void exec::copyCommit(Warp &warp, const Inst &) {
  for (unsigned lane = 0; lane < lanesPerWarp; ++lane) {
    warp.copies->committed[lane] += warp.exec >> lane & 1;
  }
}

/// Writes the lanes of `mask` of one copy to shared memory.
static void land(Warp &warp, PendingCopy &copy, uint32_t mask) {
  Launch &launch = *warp.launch;
  if (launch.checks) {
    Access access;
    access.bytes = copy.bytes;
    access.kind = AccessKind::Store;
    std::memcpy(access.address, copy.address, sizeof(copy.address));
    uint32_t exec = warp.exec;
    warp.exec = mask;
    bool good = checkSharedRaces(warp, *copy.inst, access, AccessKind::Store);
    warp.exec = exec;
    if (!good) {
      return;
    }
  }
  for (uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    unsigned lane = unsigned(__builtin_ctz(rest));
    std::memcpy(warp.block->shared + copy.address[lane], copy.data + lane * 16,
                copy.bytes);
    if (launch.checks) {
      std::memset(warp.block->sharedShadow + copy.address[lane], initializedBit,
                  copy.bytes);
    }
  }
  copy.mask &= ~mask;
}

/// imm: how many of the latest groups may stay; -1 for none, not even copies
/// without a group.
void exec::copyWait(Warp &warp, const Inst &inst) {
  std::vector<PendingCopy> &pending = warp.copies->pending;
  for (PendingCopy &copy : pending) {
    uint32_t mask = 0;
    for (unsigned lane = 0; lane < lanesPerWarp; ++lane) {
      int64_t newest = int64_t(warp.copies->committed[lane]) - inst.imm;
      bool done = inst.imm < 0 || int64_t(copy.group[lane]) < newest;
      mask |= uint32_t(done) << lane;
    }
    mask &= copy.mask & warp.exec;
    if (mask != 0 && warp.running) {
      land(warp, copy, mask);
    }
  }
  pending.erase(
      std::remove_if(pending.begin(), pending.end(),
                     [](const PendingCopy &copy) { return copy.mask == 0; }),
      pending.end());
}

/// Addresses of the rows: lanes 8k to 8k + 7 give those of matrix k.
static bool locateRows(Warp &warp, const Inst &inst, Access &access) {
  if (warp.exec != ~uint32_t(0)) {
    raise(warp, inst, FaultKind::DivergentWarp,
          unsigned(__builtin_ctz(warp.exec)), 0, 0, nullptr,
          "a matrix instruction needs all 32 lanes");
    return false;
  }
  access.bytes = 16;
  warp.exec =
      inst.vector == 4 ? ~uint32_t(0) : (uint32_t(1) << (8 * inst.vector)) - 1;
  readAddresses(warp, inst, access);
  bool good = locateShared(warp, inst, access);
  warp.exec = ~uint32_t(0);
  return good;
}

void exec::loadMatrix(Warp &warp, const Inst &inst) {
  Access access;
  if (!locateRows(warp, inst, access)) {
    return;
  }
  const uint32_t *wide = warp.launch->code->wide.data() + inst.wide;
  for (unsigned k = 0; k < inst.vector; ++k) {
    uint16_t *to = warp.at<uint16_t>(wide[k]);
    for (unsigned row = 0; row < 8; ++row) {
      const uint8_t *from = access.at<uint8_t>(8 * k + row);
      for (unsigned column = 0; column < 8; ++column) {
        // Lane 4 r + c holds columns 2 c and 2 c + 1 of row r.
        unsigned at = inst.mode ? 8 * column + row : 8 * row + column;
        std::memcpy(&to[at], from + 2 * column, 2);
      }
    }
  }
}

void exec::storeMatrix(Warp &warp, const Inst &inst) {
  Access access;
  access.kind = AccessKind::Store;
  if (!locateRows(warp, inst, access)) {
    return;
  }
  const uint32_t *wide = warp.launch->code->wide.data() + inst.wide;
  for (unsigned k = 0; k < inst.vector; ++k) {
    const uint16_t *from = warp.at<uint16_t>(wide[k]);
    for (unsigned row = 0; row < 8; ++row) {
      uint8_t *to = access.at<uint8_t>(8 * k + row);
      for (unsigned column = 0; column < 8; ++column) {
        unsigned at = inst.mode ? 8 * column + row : 8 * row + column;
        std::memcpy(to + 2 * column, &from[at], 2);
      }
    }
  }
}
