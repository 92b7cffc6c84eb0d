//===- Access.cpp - from addresses of a space to the host's memory
//---------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "targets/sim/exec/Access.h"

#include "targets/sim/DeviceMemory.h"

#include <algorithm>

using namespace tilewright::sim;

void tilewright::sim::describeAddresses(const Warp &warp, Access &access) {
  uint64_t first = access.address[unsigned(__builtin_ctz(warp.exec))];
  access.lowest = access.highest = first;
  access.isContiguous = warp.exec == ~uint32_t(0);
  for (unsigned i = 0; i < lanesPerWarp; ++i) {
    if (!(warp.exec >> i & 1)) {
      access.address[i] = first;
    }
    uint64_t address = access.address[i];
    access.isContiguous &= address == first + uint64_t(i) * access.bytes;
    access.lowest = std::min(access.lowest, address);
    access.highest = std::max(access.highest, address);
  }
  access.isUniform = access.lowest == access.highest;
}

void tilewright::sim::readAddresses(const Warp &warp, const Inst &inst,
                                    Access &access) {
  for (unsigned i = 0; i < lanesPerWarp; ++i) {
    access.address[i] =
        inst.a == noOperand ? uint64_t(inst.imm)
        : inst.narrowAddress
            ? uint32_t(warp.at<uint32_t>(inst.a)[i] + uint32_t(inst.imm))
            : warp.at<uint64_t>(inst.a)[i] + uint64_t(inst.imm);
  }
  describeAddresses(warp, access);
}

bool tilewright::sim::locateGlobal(Warp &warp, const Inst &inst,
                                   Access &access) {
  Launch &launch = *warp.launch;
  if (launch.checks || launch.countMemory) {
    if (!inspectGlobal(warp, inst, access)) {
      return false;
    }
  }
  uint64_t low = access.lowest - launch.base;
  uint64_t high = access.highest - launch.base;
  if (low > launch.reach - access.bytes || high > launch.reach - access.bytes) {
    unsigned lane = unsigned(__builtin_ctz(warp.exec));
    for (unsigned i = 0; i < lanesPerWarp; ++i) {
      if ((warp.exec >> i & 1) &&
          access.address[i] - launch.base > launch.reach - access.bytes) {
        lane = i;
        break;
      }
    }
    raise(warp, inst, FaultKind::OutOfBounds, lane, access.address[lane],
          access.bytes, "global");
    return false;
  }
  access.delta = uint64_t(launch.host) - launch.base;
  return true;
}

/// Shared and local memory begin at 0.
static bool checkWindow(Warp &warp, const Inst &inst, const Access &access,
                        uint64_t bytes, const char *space) {
  if (access.bytes <= bytes && access.lowest <= bytes - access.bytes &&
      access.highest <= bytes - access.bytes) {
    return true;
  }
  for (unsigned i = 0; i < lanesPerWarp; ++i) {
    if ((warp.exec >> i & 1) &&
        (access.bytes > bytes || access.address[i] > bytes - access.bytes)) {
      raise(warp, inst, FaultKind::OutOfBounds, i, access.address[i],
            access.bytes, space);
      break;
    }
  }
  return false;
}

bool tilewright::sim::locateShared(Warp &warp, const Inst &inst,
                                   Access &access) {
  if (!checkWindow(warp, inst, access, warp.block->sharedBytes, "shared")) {
    return false;
  }
  Launch &launch = *warp.launch;
  if ((launch.checks || launch.countMemory) &&
      !inspectShared(warp, inst, access)) {
    return false;
  }
  access.delta = uint64_t(warp.block->shared);
  return true;
}

bool tilewright::sim::locateLocal(Warp &warp, const Inst &inst,
                                  Access &access) {
  uint64_t size = warp.launch->code->localBytes;
  if (!checkWindow(warp, inst, access, size, "local")) {
    return false;
  }
  // Each lane has a part of its own.
  for (unsigned i = 0; i < lanesPerWarp; ++i) {
    access.address[i] += i * size;
  }
  access.isUniform = false;
  access.isContiguous = false;
  if (warp.launch->checks && !inspectLocal(warp, inst, access)) {
    return false;
  }
  access.delta = uint64_t(warp.local);
  return true;
}

bool tilewright::sim::locateParameter(Warp &warp, const Inst &inst,
                                      Access &access) {
  if (!checkWindow(warp, inst, access, warp.launch->parameterBytes,
                   "parameter")) {
    return false;
  }
  access.delta = uint64_t(warp.launch->parameters);
  return true;
}

namespace {
using Locate = bool (*)(Warp &, const Inst &, Access &);
struct Window {
  uint64_t begin;
  Locate locate;
};
} // namespace

bool tilewright::sim::locateGeneric(Warp &warp, const Inst &inst,
                                    Access &access) {
  const Window windows[] = {{sharedWindow, locateShared},
                            {localWindow, locateLocal}};
  auto inside = [](uint64_t address, const Window &window) {
    return address - window.begin < windowBytes;
  };
  for (const Window &window : windows) {
    if (inside(access.lowest, window) && inside(access.highest, window)) {
      for (uint64_t &address : access.address) {
        address -= window.begin;
      }
      access.lowest -= window.begin;
      access.highest -= window.begin;
      return window.locate(warp, inst, access);
    }
  }
  if (access.highest < sharedWindow) {
    return locateGlobal(warp, inst, access);
  }
  // Lanes in different spaces: each space for itself, then host addresses.
  const uint32_t exec = warp.exec;
  uint32_t rest = exec;
  bool good = true;
  auto part = [&](uint32_t mask, uint64_t begin, Locate locate) {
    if (mask == 0 || !good) {
      return;
    }
    Access one = access;
    for (uint64_t &address : one.address) {
      address -= begin;
    }
    warp.exec = mask;
    describeAddresses(warp, one);
    good = locate(warp, inst, one);
    for (unsigned i = 0; i < lanesPerWarp; ++i) {
      if (mask >> i & 1) {
        access.address[i] = one.address[i] + one.delta;
      }
    }
  };
  for (const Window &window : windows) {
    uint32_t mask = 0;
    for (unsigned i = 0; i < lanesPerWarp; ++i) {
      mask |= uint32_t(inside(access.address[i], window)) << i;
    }
    mask &= rest;
    rest &= ~mask;
    part(mask, window.begin, window.locate);
  }
  part(rest, 0, locateGlobal);
  warp.exec = exec;
  access.delta = 0;
  access.isUniform = false;
  access.isContiguous = false;
  return good;
}
