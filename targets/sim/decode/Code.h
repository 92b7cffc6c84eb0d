//===- Code.h - decoded kernels --------------------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// What execution reads: an array of instructions of one size, each with the
// function that executes it for a warp. Operands are byte offsets into the
// warp's frame, where a 32-bit register holds its 32 lanes side by side;
// constants and special registers have places in the frame, too, so that
// every operand looks the same. A predicate is a mask of lanes.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "targets/sim/Counters.h"
#include "targets/sim/ptx/Syntax.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tilewright::sim {

struct Warp;
struct Inst;
using Handler = void (*)(Warp &, const Inst &);

constexpr uint32_t noOperand = ~uint32_t(0);
constexpr unsigned lanesPerWarp = 32;

struct Inst {
  Handler run = nullptr;
  /// Behind a guard: what executes under it.
  Handler inner = nullptr;
  /// Offsets in the frame. Branches: d = target, a = where its lanes meet.
  uint32_t d = noOperand;
  uint32_t a = noOperand;
  uint32_t b = noOperand;
  uint32_t c = noOperand;
  /// Offset of an address, or what the handler says.
  int64_t imm = 0;
  uint32_t guard = noOperand;
  /// Index in Code::wide of operands beyond four.
  uint32_t wide = 0;
  /// Handler's own: rounding, comparison, truth table, ….
  uint16_t mode = 0;
  uint8_t wideCount = 0;
  bool guardNegated = false;
  /// Of memory accesses: bytes per element, elements per lane.
  uint8_t size = 0;
  uint8_t vector = 1;
  ptx::Space space = ptx::Space::Generic;
  InstructionClass cls = InstructionClass::Integer;
  /// The address is in a 32-bit register.
  bool narrowAddress = false;
};
static_assert(sizeof(Inst) == 64, "one cache line per instruction");

/// Special registers that have a place in the frame.
enum class Special : uint8_t {
  TidX,
  TidY,
  TidZ,
  NtidX,
  NtidY,
  NtidZ,
  CtaidX,
  CtaidY,
  CtaidZ,
  NctaidX,
  NctaidY,
  NctaidZ,
  LaneId,
  WarpId,
  NwarpId,
  LanemaskEq,
  LanemaskLe,
  LanemaskLt,
  LanemaskGe,
  LanemaskGt,
  SmId,
  NsmId,
  GridId,
  DynamicShared,
  TotalShared,
};

/// Where a constant's value comes from.
struct FrameConstant {
  uint32_t offset = 0;
  /// 2, 4 or 8 bytes per lane; 0 for a predicate.
  uint8_t bytes = 4;
  /// The address of a module variable is added, if not noOperand.
  uint32_t variable = noOperand;
  uint64_t bits = 0;
};

struct FrameSpecial {
  uint32_t offset = 0;
  Special special = Special::TidX;
};

/// Where an instruction stands.
struct CodeLine {
  uint32_t ptxLine = 0;
  uint32_t sourceFile = 0;
  uint32_t sourceLine = 0;
  std::string_view text;
};

struct Code {
  std::vector<Inst> instructions;
  std::vector<uint32_t> wide;
  /// One per instruction.
  std::vector<CodeLine> lines;
  std::vector<FrameConstant> constants;
  std::vector<FrameSpecial> specials;
  uint32_t frameBytes = 0;
  /// Instructions by class in each basic block.
  struct BlockMix {
    std::array<uint32_t, numInstructionClasses> classes{};
    uint32_t total = 0;
  };
  std::vector<BlockMix> blocks;
  uint32_t staticSharedBytes = 0;
  uint32_t sharedAlignment = 16;
  uint32_t localBytes = 0;
  bool usesBarriers = false;
  std::vector<std::string> files;
  std::string kernelName;
  /// Keeps the text alive that `lines` point into.
  std::shared_ptr<const std::string> text;
};

} // namespace tilewright::sim
