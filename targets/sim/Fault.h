//===- Fault.h - what a check found -----------------------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace tilewright::sim {

/// What a kernel did wrong.
enum class FaultKind : uint8_t {
  None,
  OutOfBounds,
  UseAfterFree,
  Misaligned,
  Uninitialized,
  SharedRace,
  GlobalRace,
  DivergentBarrier,
  BarrierDeadlock,
  DivergentWarp,
  AsyncCopyPending,
  Trap,
  InstructionLimit,
};

/// \returns the kind in words, for example "out of bounds".
const char *nameOf(FaultKind kind);

/// One finding; a launch ends with its first.
struct Fault {
  FaultKind kind = FaultKind::None;
  std::string kernel;
  /// The instruction and its line in the PTX text.
  std::string instruction;
  uint32_t ptxLine = 0;
  /// From .loc; zero and empty without it.
  uint32_t sourceLine = 0;
  std::string sourceFile;
  std::array<uint32_t, 3> block{};
  std::array<uint32_t, 3> thread{};
  /// Address and bytes of the access, with the space it is in.
  uint64_t address = 0;
  uint32_t bytes = 0;
  std::string space;
  /// The buffer it lies in, or the nearest one.
  std::string buffer;
  /// What else there is to say.
  std::string detail;

  /// \returns all of it in one line.
  std::string toString() const;
};

} // namespace tilewright::sim
