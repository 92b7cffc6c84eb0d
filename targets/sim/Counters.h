//===- Counters.h - what a launch did ---------------------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace tilewright::sim {

/// Classes of instructions, by the unit of a GPU that executes them.
enum class InstructionClass : uint8_t {
  Integer,
  Float32,
  Float64,
  Half,
  Special,
  Convert,
  Move,
  Predicate,
  Control,
  Global,
  Shared,
  Local,
  Parameter,
  Atomic,
  Warp,
  Barrier,
  AsyncCopy,
  Matrix,
};
constexpr size_t numInstructionClasses = 18;

/// \returns the class's name in tables, for example "global".
const char *nameOf(InstructionClass cls);

/// Element types of matrix instructions' factors.
enum class MatrixType : uint8_t { Tf32, F16, Bf16, Int8, Fp8 };
constexpr size_t numMatrixTypes = 5;

/// Sums over all blocks of a launch (or of several, by +=).
struct Counters {
  /// Lane-instructions: a warp's instruction counts its active lanes.
  std::array<uint64_t, numInstructionClasses> laneInstructions{};
  /// Instructions issued by warps.
  uint64_t warpInstructions = 0;

  /// Global memory, loads and stores apart. A request is one instruction of
  /// one warp; sectors have 32 bytes, transactions 128, and each is counted
  /// once per request that touches it. Bytes are those that lanes asked for.
  struct Traffic {
    uint64_t requests = 0;
    uint64_t sectors = 0;
    uint64_t transactions = 0;
    uint64_t bytes = 0;
  };
  Traffic globalLoads;
  Traffic globalStores;
  uint64_t atomicRequests = 0;

  /// Shared memory: accesses of one warp, and the additional passes that bank
  /// conflicts cost (32 banks of 4 bytes; 8-byte accesses go by half warps,
  /// 16-byte accesses by quarter warps).
  uint64_t sharedRequests = 0;
  uint64_t sharedConflicts = 0;

  /// Multiply-adds of matrix instructions by type of their factors.
  std::array<uint64_t, numMatrixTypes> matrixMultiplyAdds{};

  uint64_t blocks = 0;
  uint64_t barriers = 0;

  uint64_t totalLaneInstructions() const;
  Counters &operator+=(const Counters &other);
};

} // namespace tilewright::sim
