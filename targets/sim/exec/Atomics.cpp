//===- Atomics.cpp - atomic operations ----------------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// Lanes go in ascending order. Blocks run on several host threads, so each
// update is a compare-and-swap of the host.
//
//===----------------------------------------------------------------------===//

#include "targets/sim/exec/Access.h"
#include "targets/sim/exec/Handlers.h"
#include "targets/sim/exec/lanes/Numbers.h"

using namespace tilewright::sim;
using namespace tilewright::sim::common;
using ptx::Type;

namespace {

template <AtomicOp Op, typename T> T combine(T old, T value) {
  switch (Op) {
  case AtomicOp::Add:
    if constexpr (std::is_integral<T>::value) {
      return T(std::make_unsigned_t<T>(old) + std::make_unsigned_t<T>(value));
    } else {
      return old + value;
    }
  case AtomicOp::Min:
    return value < old ? value : old;
  case AtomicOp::Max:
    return old < value ? value : old;
  case AtomicOp::Exch:
    return value;
  default:
    break;
  }
  if constexpr (std::is_integral<T>::value) {
    switch (Op) {
    case AtomicOp::And:
      return T(old & value);
    case AtomicOp::Or:
      return T(old | value);
    case AtomicOp::Xor:
      return T(old ^ value);
    case AtomicOp::Inc:
      return old >= value ? T(0) : T(old + 1);
    case AtomicOp::Dec:
      return old == 0 || old > value ? value : T(old - 1);
    default:
      break;
    }
  }
  return value;
}

template <AtomicOp Op> float combineFloat(float old, float value) {
  return canonical(combine<Op, float>(old, value));
}

/// Two 16-bit numbers, updated together.
template <typename T, AtomicOp Op> struct Packed {
  static uint32_t apply(uint32_t old, uint32_t value) {
    uint32_t low = half(old & 0xFFFF, value & 0xFFFF);
    return low | uint32_t(half(old >> 16, value >> 16)) << 16;
  }
  static uint16_t half(uint32_t old, uint32_t value) {
    float sum = toFloat(T{uint16_t(old)}) + toFloat(T{uint16_t(value)});
    return fromFloat<T>(sum).bits;
  }
};

bool locate(Warp &warp, const Inst &inst, Access &access) {
  access.bytes = inst.size;
  access.kind = AccessKind::Atomic;
  readAddresses(warp, inst, access);
  switch (inst.space) {
  case ptx::Space::Global:
    return locateGlobal(warp, inst, access);
  case ptx::Space::Shared:
    return locateShared(warp, inst, access);
  default:
    return locateGeneric(warp, inst, access);
  }
}

/// Replaces the value at each lane's address by update(old, lane).
template <typename T, typename Update>
void run(Warp &warp, const Inst &inst, Update update) {
  Access access;
  if (!locate(warp, inst, access)) {
    return;
  }
  T *d = inst.d == noOperand ? nullptr : warp.at<T>(inst.d);
  for (uint32_t rest = warp.exec; rest != 0; rest &= rest - 1) {
    unsigned lane = unsigned(__builtin_ctz(rest));
    T *place = access.at<T>(lane);
    if (reinterpret_cast<uintptr_t>(place) % sizeof(T) != 0) {
      raise(warp, inst, FaultKind::Misaligned, lane, access.address[lane],
            access.bytes, "atomic");
      return;
    }
    T old = __atomic_load_n(place, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(place, &old, update(old, lane), true,
                                        __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
    }
    if (d) {
      d[lane] = old;
    }
  }
}

template <AtomicOp Op, typename T> void integer(Warp &warp, const Inst &inst) {
  // The destination may be the operand's place.
  const T *b = warp.at<T>(inst.b);
  T values[lanesPerWarp];
  __builtin_memcpy(values, b, sizeof(values));
  run<T>(warp, inst, [&](T old, unsigned lane) {
    return combine<Op, T>(old, values[lane]);
  });
}

template <typename T> void compareAndSwap(Warp &warp, const Inst &inst) {
  T expected[lanesPerWarp];
  T values[lanesPerWarp];
  __builtin_memcpy(expected, warp.at<T>(inst.b), sizeof(expected));
  __builtin_memcpy(values, warp.at<T>(inst.c), sizeof(values));
  run<T>(warp, inst, [&](T old, unsigned lane) {
    return old == expected[lane] ? values[lane] : old;
  });
}

void addF32(Warp &warp, const Inst &inst) {
  float values[lanesPerWarp];
  __builtin_memcpy(values, warp.at<float>(inst.b), sizeof(values));
  run<uint32_t>(warp, inst, [&](uint32_t old, unsigned lane) {
    return bitCast<uint32_t>(
        combineFloat<AtomicOp::Add>(bitCast<float>(old), values[lane]));
  });
}

void addF64(Warp &warp, const Inst &inst) {
  double values[lanesPerWarp];
  __builtin_memcpy(values, warp.at<double>(inst.b), sizeof(values));
  run<uint64_t>(warp, inst, [&](uint64_t old, unsigned lane) {
    return bitCast<uint64_t>(bitCast<double>(old) + values[lane]);
  });
}

template <typename T> void addPacked(Warp &warp, const Inst &inst) {
  uint32_t values[lanesPerWarp];
  __builtin_memcpy(values, warp.at<uint32_t>(inst.b), sizeof(values));
  run<uint32_t>(warp, inst, [&](uint32_t old, unsigned lane) {
    return Packed<T, AtomicOp::Add>::apply(old, values[lane]);
  });
}

template <typename T> void addNarrow(Warp &warp, const Inst &inst) {
  uint16_t values[lanesPerWarp];
  __builtin_memcpy(values, warp.at<uint16_t>(inst.b), sizeof(values));
  run<uint16_t>(warp, inst, [&](uint16_t old, unsigned lane) {
    return Packed<T, AtomicOp::Add>::half(old, values[lane]);
  });
}

template <typename T> Handler numbers(AtomicOp op) {
  switch (op) {
  case AtomicOp::Add:
    return integer<AtomicOp::Add, T>;
  case AtomicOp::Min:
    return integer<AtomicOp::Min, T>;
  case AtomicOp::Max:
    return integer<AtomicOp::Max, T>;
  default:
    return nullptr;
  }
}

template <typename T> Handler bits(AtomicOp op) {
  switch (op) {
  case AtomicOp::And:
    return integer<AtomicOp::And, T>;
  case AtomicOp::Or:
    return integer<AtomicOp::Or, T>;
  case AtomicOp::Xor:
    return integer<AtomicOp::Xor, T>;
  case AtomicOp::Exch:
    return integer<AtomicOp::Exch, T>;
  case AtomicOp::Cas:
    return compareAndSwap<T>;
  default:
    return nullptr;
  }
}

} // namespace

Handler tilewright::sim::atomicHandler(AtomicOp op, Type type) {
  switch (type) {
  case Type::U32:
    return op == AtomicOp::Inc   ? integer<AtomicOp::Inc, uint32_t>
           : op == AtomicOp::Dec ? integer<AtomicOp::Dec, uint32_t>
                                 : numbers<uint32_t>(op);
  case Type::S32:
    return numbers<int32_t>(op);
  case Type::U64:
    return numbers<uint64_t>(op);
  case Type::S64:
    return numbers<int64_t>(op);
  case Type::B16:
    return op == AtomicOp::Cas ? compareAndSwap<uint16_t> : nullptr;
  case Type::B32:
    return bits<uint32_t>(op);
  case Type::B64:
    return bits<uint64_t>(op);
  default:
    break;
  }
  if (op != AtomicOp::Add) {
    return nullptr;
  }
  switch (type) {
  case Type::F32:
    return addF32;
  case Type::F64:
    return addF64;
  case Type::F16:
    return addNarrow<Half>;
  case Type::Bf16:
    return addNarrow<Bfloat>;
  case Type::F16x2:
    return addPacked<Half>;
  case Type::Bf16x2:
    return addPacked<Bfloat>;
  default:
    return nullptr;
  }
}
