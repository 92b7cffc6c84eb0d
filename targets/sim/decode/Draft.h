//===- Draft.h - instructions before registers have places *- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// While a kernel is decoded, the operands of an Inst are numbers of virtual
// registers and branches name labels. ControlFlow.cpp finds the basic blocks,
// Allocate.cpp gives registers places in the frame, Assemble.cpp puts both
// into a Code.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "targets/sim/decode/Code.h"

#include <cstdint>
#include <vector>

namespace tilewright::sim {

struct VirtualRegister {
  /// 2, 4 or 8 bytes per lane; 0 for a predicate.
  uint8_t bytes = 4;
  enum Kind : uint8_t { Ordinary, Constant, SpecialRegister } kind = Ordinary;
  Special special = Special::TidX;
  uint64_t bits = 0;
  /// A module variable whose address is added, or noOperand.
  uint32_t variable = noOperand;
};

struct Draft {
  Inst inst;
  /// Which of d, a, b, c hold registers: bits 0 to 3.
  uint8_t registers = 0;
  /// Whether d is written (otherwise it is read).
  bool writesD = true;
  /// Whether d is read as well, because some bits of it stay.
  bool readsD = false;
  std::vector<uint32_t> wide;
  /// How many of `wide` are written; they come first.
  uint32_t wideWrites = 0;
  /// Of branches: labels; the last one is also where an unguarded one goes.
  std::vector<uint32_t> targets;
  enum Flow : uint8_t { Next, Branch, Exit } flow = Next;
  CodeLine line;
};

/// One kernel with everything that it calls, in one list.
struct DraftCode {
  std::vector<VirtualRegister> registers;
  std::vector<Draft> drafts;
  /// Per label: the index of the draft that it stands before.
  std::vector<uint32_t> labels;
};

/// A basic block: drafts [begin, end).
struct BasicBlock {
  uint32_t begin = 0;
  uint32_t end = 0;
  std::vector<uint32_t> successors;
  /// The block where all its paths meet, or noOperand for the end.
  uint32_t postDominator = noOperand;
};

/// \returns the basic blocks in the order of the text, with their immediate
/// post-dominators.
std::vector<BasicBlock> findBlocks(const DraftCode &draft);

/// Gives each register a place in the frame: constants and special registers
/// one of their own, others one that they share with registers that are never
/// live at the same time. \returns the offsets; sets `frameBytes`.
std::vector<uint32_t> allocateFrame(const DraftCode &draft,
                                    const std::vector<BasicBlock> &blocks,
                                    uint32_t &frameBytes);

/// Puts instructions, blocks and places together.
void assemble(DraftCode &draft, Code &code);

} // namespace tilewright::sim
