//===- Access.h - the addresses of one memory instruction *- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "targets/sim/exec/Machine.h"

namespace tilewright::sim {

/// Bits of Inst::mode of loads, stores and atomics.
enum AccessMode : uint16_t {
  /// Volatile or with a memory order: takes part in no race.
  synchronizingBit = 1,
  acquireBit = 2,
  releaseBit = 4,
};

enum class AccessKind : uint8_t { Load, Store, Atomic };

struct Access {
  /// By lane; lanes that do not execute hold the address of one that does.
  /// In its space at first; with `delta` added, host addresses.
  alignas(64) uint64_t address[lanesPerWarp];
  uint64_t delta = 0;
  /// Bytes per lane.
  uint32_t bytes = 0;
  AccessKind kind = AccessKind::Load;
  /// All 32 lanes execute, and each begins where the one before ends.
  bool isContiguous = false;
  /// All lanes have the same address.
  bool isUniform = false;
  uint64_t lowest = 0;
  uint64_t highest = 0;

  template <typename T> T *at(unsigned lane) const {
    return reinterpret_cast<T *>(address[lane] + delta);
  }
};

/// Checks and counts an access to device, shared or local memory, whose
/// addresses are still those of the space. \returns false after a fault.
bool inspectGlobal(Warp &warp, const Inst &inst, Access &access);
bool inspectShared(Warp &warp, const Inst &inst, Access &access);
bool inspectLocal(Warp &warp, const Inst &inst, Access &access);
/// The part of inspectShared that looks for races.
bool checkSharedRaces(Warp &warp, const Inst &inst, const Access &access,
                      AccessKind kind);

/// Turns generic addresses into host addresses, space by space.
bool locateGeneric(Warp &warp, const Inst &inst, Access &access);
/// The same for the parameters of the kernel.
bool locateParameter(Warp &warp, const Inst &inst, Access &access);

/// After the addresses are known: checks what a space demands and makes them
/// host addresses. \returns false after a fault.
bool locateGlobal(Warp &warp, const Inst &inst, Access &access);
bool locateShared(Warp &warp, const Inst &inst, Access &access);
bool locateLocal(Warp &warp, const Inst &inst, Access &access);

/// Finds lowest, highest and the pattern again, after addresses changed.
void describeAddresses(const Warp &warp, Access &access);
/// Reads the address register and adds the offset, then describes them.
void readAddresses(const Warp &warp, const Inst &inst, Access &access);

} // namespace tilewright::sim
