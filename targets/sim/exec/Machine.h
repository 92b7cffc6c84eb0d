//===- Machine.h - the state of a running kernel ---------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// A launch is run by workers (host threads); each takes one block at a time
// and runs the block's warps in turn until they wait at a barrier or end.
// Everything that handlers touch is plain data: some of them are compiled
// several times, for different host instruction sets.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "targets/sim/Execute.h"
#include "targets/sim/decode/Code.h"

#include <atomic>
#include <cstdint>

namespace tilewright::sim {

struct Launch;
struct Block;
struct Worker;
struct AsyncCopies;

/// Windows of the generic address space that are not device memory.
constexpr uint64_t sharedWindow = uint64_t(0xC0) << 40;
constexpr uint64_t localWindow = uint64_t(0xC1) << 40;
constexpr uint64_t windowBytes = uint64_t(1) << 32;

/// Lanes of a warp that wait for another path to end.
struct PathEntry {
  const Inst *next;
  const Inst *join;
  uint32_t mask;
};

enum class WarpState : uint8_t { Ready, AtBarrier, Done };

struct Warp {
  uint8_t *frame = nullptr;
  const Inst *next = nullptr;
  /// Lanes that the current instruction executes for.
  uint32_t exec = 0;
  /// Lanes on the current path.
  uint32_t active = 0;
  /// Lanes that have not exited, and those that the block has.
  uint32_t live = 0;
  uint32_t all = 0;
  bool running = false;
  WarpState state = WarpState::Ready;
  /// Where the current path meets the others; null at the outermost level.
  const Inst *join = nullptr;
  PathEntry *stack = nullptr;
  uint32_t stackDepth = 0;
  uint32_t stackCapacity = 0;
  uint32_t index = 0;
  /// Barrier that the warp waits at, and the instruction that waits.
  uint32_t barrier = 0;
  const Inst *waiting = nullptr;
  /// Warp barriers since the last barrier of the block: orders memory
  /// accesses of the warp's own lanes.
  bool synchronized = false;
  /// Carry flags of add.cc and its kin.
  uint32_t carry = 0;
  uint8_t *local = nullptr;
  uint8_t *localShadow = nullptr;
  AsyncCopies *copies = nullptr;
  Block *block = nullptr;
  Worker *worker = nullptr;
  Launch *launch = nullptr;

  template <typename T> T *at(uint32_t offset) const {
    return reinterpret_cast<T *>(frame + offset);
  }
  uint32_t &predicate(uint32_t offset) const { return *at<uint32_t>(offset); }
};

/// One of the 16 barriers of a block.
struct BarrierState {
  uint32_t arrived = 0;
  uint32_t expected = 0;
  /// Of bar.red: lanes whose predicate holds, and how many took part.
  uint32_t trueCount = 0;
  uint32_t takingPart = 0;
};

struct Block {
  uint32_t id[3] = {};
  uint64_t linear = 0;
  uint32_t threads = 0;
  uint32_t warps = 0;
  uint8_t *shared = nullptr;
  /// Per byte: see SharedState.
  uint8_t *sharedShadow = nullptr;
  /// Per byte: last writer and reader since the barrier.
  uint32_t *sharedCells = nullptr;
  uint32_t sharedCellCount = 0;
  uint32_t sharedBytes = 0;
  uint32_t sharedEpoch = 0;
  BarrierState barriers[16];
  uint32_t liveThreads = 0;
  /// For races between blocks: some fence came before.
  bool hasFenced = false;
};

/// Bits of Block::sharedShadow and Warp::localShadow.
enum SharedState : uint8_t { initializedBit = 1, pendingBit = 2 };

/// The last range that an instruction's addresses fell into.
struct RangeCache {
  uint64_t begin = 1;
  uint64_t end = 0;
  uint64_t generation = 0;
};

struct Worker {
  Launch *launch = nullptr;
  Counters counters;
  /// One per instruction.
  RangeCache *ranges = nullptr;
  /// Lane- and warp-executions per basic block.
  uint64_t *blockLanes = nullptr;
  uint64_t *blockWarps = nullptr;
  /// Lanes that a guard kept from an instruction, by class.
  uint64_t guardedOff[numInstructionClasses] = {};
  /// Instructions that the block may still execute.
  int64_t budget = 0;
  uint64_t clock = 0;
};

struct Launch {
  const Code *code = nullptr;
  const Kernel *kernel = nullptr;
  const Instance *instance = nullptr;
  DeviceMemory *memory = nullptr;
  LaunchShape shape;
  const uint8_t *parameters = nullptr;
  uint32_t parameterBytes = 0;
  bool checks = false;
  bool raceChecks = false;
  bool countMemory = false;
  bool jitter = false;
  uint64_t jitterSeed = 0;
  int64_t budgetPerBlock = 0;
  /// Host address of device address 0, and the limits of device addresses.
  uint8_t *host = nullptr;
  uint8_t *shadow = nullptr;
  std::atomic<uint64_t> *raceCells = nullptr;
  uint64_t base = 0;
  uint64_t reach = 0;
  uint32_t raceEpoch = 0;
  /// Per block: order numbers of its latest release and acquire.
  std::atomic<uint64_t> *releases = nullptr;
  std::atomic<uint64_t> *acquires = nullptr;
  std::atomic<uint64_t> order{1};
  std::atomic<bool> stop{false};
};

/// Ends the launch with a finding, unless another one came first. `lane` is
/// the thread it names.
void raise(Warp &warp, const Inst &inst, FaultKind kind, unsigned lane,
           uint64_t address = 0, uint32_t bytes = 0,
           const char *space = nullptr, const char *detail = nullptr);

} // namespace tilewright::sim
