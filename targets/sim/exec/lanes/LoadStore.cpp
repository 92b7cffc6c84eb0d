//===- LoadStore.cpp - loads and stores ---------------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "targets/sim/exec/Access.h"
#include "targets/sim/exec/lanes/Lanes.h"
#include "targets/sim/exec/lanes/Level.h"

using namespace tilewright::sim;
using namespace tilewright::sim::TW_SIM_LEVEL;
using ptx::Space;
using ptx::Type;

namespace {

template <typename T> T peek(const uint8_t *from) {
  T value;
  __builtin_memcpy(&value, from, sizeof(value));
  return value;
}
template <typename T> void poke(uint8_t *to, T value) {
  __builtin_memcpy(to, &value, sizeof(value));
}

/// Lanes' addresses, and what pattern they make.
void addresses(const Warp &warp, const Inst &inst, Access &access) {
  uint64_t offset = uint64_t(inst.imm);
  uint64_t *to = access.address;
  if (inst.a == noOperand) {
    TW_LANES
    for (unsigned i = 0; i < lanesPerWarp; ++i) {
      to[i] = offset;
    }
    access.lowest = access.highest = offset;
    access.isUniform = true;
    return;
  }
  if (inst.narrowAddress) {
    const uint32_t *from = warp.at<uint32_t>(inst.a);
    TW_LANES
    for (unsigned i = 0; i < lanesPerWarp; ++i) {
      to[i] = uint32_t(from[i] + uint32_t(offset));
    }
  } else {
    const uint64_t *from = warp.at<uint64_t>(inst.a);
    TW_LANES
    for (unsigned i = 0; i < lanesPerWarp; ++i) {
      to[i] = from[i] + offset;
    }
  }
  uint32_t exec = warp.exec;
  if (exec != allLanes) {
    uint64_t filler = to[__builtin_ctz(exec)];
    TW_LANES
    for (unsigned i = 0; i < lanesPerWarp; ++i) {
      to[i] = (exec >> i & 1) ? to[i] : filler;
    }
  }
  uint64_t first = to[0];
  uint64_t bytes = access.bytes;
  uint64_t differs = 0;
  uint64_t breaks = 0;
  TW_LANES
  for (unsigned i = 0; i < lanesPerWarp; ++i) {
    differs |= to[i] ^ first;
    breaks |= to[i] ^ (first + i * bytes);
  }
  access.isUniform = differs == 0;
  access.isContiguous = breaks == 0 && exec == allLanes;
  if (access.isUniform || access.isContiguous) {
    access.lowest = first;
    access.highest = access.isUniform ? first : first + 31 * bytes;
    return;
  }
  uint64_t low = first;
  uint64_t high = first;
  TW_LANES
  for (unsigned i = 0; i < lanesPerWarp; ++i) {
    low = to[i] < low ? to[i] : low;
    high = to[i] > high ? to[i] : high;
  }
  access.lowest = low;
  access.highest = high;
}

bool locate(Warp &warp, const Inst &inst, Access &access) {
  addresses(warp, inst, access);
  switch (inst.space) {
  case Space::Global:
  case Space::Const:
    return locateGlobal(warp, inst, access);
  case Space::Shared:
    return locateShared(warp, inst, access);
  case Space::Local:
    return locateLocal(warp, inst, access);
  case Space::Param:
    return locateParameter(warp, inst, access);
  case Space::Generic:
    return locateGeneric(warp, inst, access);
  }
  return false;
}

template <typename T, typename D, unsigned V>
void load(Warp &warp, const Inst &inst) {
  Access access;
  access.bytes = sizeof(T) * V;
  access.kind = AccessKind::Load;
  if (!locate(warp, inst, access)) {
    return;
  }
  const uint32_t *wide = warp.launch->code->wide.data() + inst.wide;
  D *d[V];
  for (unsigned k = 0; k < V; ++k) {
    d[k] = warp.at<D>(wide[k]);
  }
  const uint8_t *first = access.at<const uint8_t>(0);
  if (access.isContiguous) {
    for (unsigned k = 0; k < V; ++k) {
      TW_LANES
      for (unsigned i = 0; i < lanesPerWarp; ++i) {
        d[k][i] = D(peek<T>(first + (i * V + k) * sizeof(T)));
      }
    }
    return;
  }
  if (access.isUniform) {
    for (unsigned k = 0; k < V; ++k) {
      D value = D(peek<T>(first + k * sizeof(T)));
      D *to = d[k];
      uint32_t exec = warp.exec;
      TW_LANES
      for (unsigned i = 0; i < lanesPerWarp; ++i) {
        to[i] = (exec >> i & 1) ? value : to[i];
      }
    }
    return;
  }
  for (uint32_t rest = warp.exec; rest != 0; rest &= rest - 1) {
    unsigned lane = unsigned(__builtin_ctz(rest));
    const uint8_t *from = access.at<const uint8_t>(lane);
    for (unsigned k = 0; k < V; ++k) {
      d[k][lane] = D(peek<T>(from + k * sizeof(T)));
    }
  }
}

template <typename T, typename S, unsigned V>
void store(Warp &warp, const Inst &inst) {
  Access access;
  access.bytes = sizeof(T) * V;
  access.kind = AccessKind::Store;
  if (!locate(warp, inst, access)) {
    return;
  }
  const uint32_t *wide = warp.launch->code->wide.data() + inst.wide;
  const S *s[V];
  for (unsigned k = 0; k < V; ++k) {
    s[k] = warp.at<S>(wide[k]);
  }
  if (access.isContiguous) {
    uint8_t *first = access.at<uint8_t>(0);
    for (unsigned k = 0; k < V; ++k) {
      TW_LANES
      for (unsigned i = 0; i < lanesPerWarp; ++i) {
        poke<T>(first + (i * V + k) * sizeof(T), T(s[k][i]));
      }
    }
    return;
  }
  for (uint32_t rest = warp.exec; rest != 0; rest &= rest - 1) {
    unsigned lane = unsigned(__builtin_ctz(rest));
    uint8_t *to = access.at<uint8_t>(lane);
    for (unsigned k = 0; k < V; ++k) {
      poke<T>(to + k * sizeof(T), T(s[k][lane]));
    }
  }
}

template <typename T, typename D> Handler loadOf(unsigned vector) {
  if (sizeof(D) < sizeof(T)) {
    return nullptr;
  }
  return vector == 1   ? load<T, D, 1>
         : vector == 2 ? load<T, D, 2>
                       : load<T, D, 4>;
}

template <typename T> Handler loadInto(unsigned bytes, unsigned vector) {
  constexpr bool isSigned = std::is_signed<T>::value;
  switch (bytes) {
  case 2:
    return loadOf<T, std::conditional_t<isSigned, int16_t, uint16_t>>(vector);
  case 4:
    return loadOf<T, std::conditional_t<isSigned, int32_t, uint32_t>>(vector);
  case 8:
    return loadOf<T, std::conditional_t<isSigned, int64_t, uint64_t>>(vector);
  default:
    return nullptr;
  }
}

template <typename T, typename S> Handler storeOf(unsigned vector) {
  if (sizeof(S) < sizeof(T)) {
    return nullptr;
  }
  return vector == 1   ? store<T, S, 1>
         : vector == 2 ? store<T, S, 2>
                       : store<T, S, 4>;
}

template <typename T> Handler storeFrom(unsigned bytes, unsigned vector) {
  switch (bytes) {
  case 2:
    return storeOf<T, uint16_t>(vector);
  case 4:
    return storeOf<T, uint32_t>(vector);
  case 8:
    return storeOf<T, uint64_t>(vector);
  default:
    return nullptr;
  }
}

} // namespace

Handler tilewright::sim::TW_SIM_LEVEL::loadHandler(Type type, unsigned bytes,
                                                   unsigned vector) {
  bool isSigned = ptx::isSigned(type);
  switch (ptx::bytesOf(type)) {
  case 1:
    return isSigned ? loadInto<int8_t>(bytes, vector)
                    : loadInto<uint8_t>(bytes, vector);
  case 2:
    return isSigned ? loadInto<int16_t>(bytes, vector)
                    : loadInto<uint16_t>(bytes, vector);
  case 4:
    return isSigned ? loadInto<int32_t>(bytes, vector)
                    : loadInto<uint32_t>(bytes, vector);
  case 8:
    return loadInto<uint64_t>(bytes, vector);
  default:
    return nullptr;
  }
}

Handler tilewright::sim::TW_SIM_LEVEL::storeHandler(Type type, unsigned bytes,
                                                    unsigned vector) {
  switch (ptx::bytesOf(type)) {
  case 1:
    return storeFrom<uint8_t>(bytes, vector);
  case 2:
    return storeFrom<uint16_t>(bytes, vector);
  case 4:
    return storeFrom<uint32_t>(bytes, vector);
  case 8:
    return storeFrom<uint64_t>(bytes, vector);
  default:
    return nullptr;
  }
}
