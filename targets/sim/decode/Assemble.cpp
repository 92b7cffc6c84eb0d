//===- Assemble.cpp - from drafts to code -------------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "targets/sim/decode/Draft.h"
#include "targets/sim/exec/Handlers.h"

using namespace tilewright::sim;

/// Replaces register numbers by offsets in the frame.
static void placeOperands(Draft &draft, const std::vector<uint32_t> &offsets,
                          Code &code) {
  Inst &inst = draft.inst;
  uint32_t *fields[4] = {&inst.d, &inst.a, &inst.b, &inst.c};
  for (unsigned i = 0; i < 4; ++i) {
    if (draft.registers >> i & 1) {
      *fields[i] = offsets[*fields[i]];
    }
  }
  if (inst.guard != noOperand) {
    inst.guard = offsets[inst.guard];
  }
  if (draft.flow == Draft::Branch) {
    return;
  }
  inst.wide = uint32_t(code.wide.size());
  inst.wideCount = uint8_t(draft.wide.size());
  for (uint32_t reg : draft.wide) {
    code.wide.push_back(offsets[reg]);
  }
  if (inst.guard != noOperand) {
    inst.inner = inst.run;
    inst.run = exec::guarded;
  }
}

static void listFixedRegisters(const DraftCode &draft,
                               const std::vector<uint32_t> &offsets,
                               Code &code) {
  for (uint32_t reg = 0; reg < offsets.size(); ++reg) {
    const VirtualRegister &info = draft.registers[reg];
    if (info.kind == VirtualRegister::Constant) {
      code.constants.push_back(
          {offsets[reg], info.bytes, info.variable, info.bits});
    } else if (info.kind == VirtualRegister::SpecialRegister) {
      code.specials.push_back({offsets[reg], info.special});
    }
  }
}

void tilewright::sim::assemble(DraftCode &draft, Code &code) {
  std::vector<BasicBlock> blocks = findBlocks(draft);
  std::vector<uint32_t> offsets = allocateFrame(draft, blocks, code.frameBytes);
  listFixedRegisters(draft, offsets, code);
  // Each block begins with an instruction that counts it and ends paths.
  auto entryOf = [&](uint32_t block) {
    return block == noOperand ? noOperand : blocks[block].begin + block;
  };
  std::vector<uint32_t> blockAt(draft.drafts.size(), 0);
  for (uint32_t i = 0; i < blocks.size(); ++i) {
    blockAt[blocks[i].begin] = i;
  }
  code.blocks.resize(blocks.size());
  for (uint32_t i = 0; i < blocks.size(); ++i) {
    Inst enter;
    enter.run = exec::enterBlock;
    enter.imm = i;
    enter.cls = InstructionClass::Control;
    enter.a = blocks[i].end - blocks[i].begin;
    code.instructions.push_back(enter);
    code.lines.push_back(draft.drafts[blocks[i].begin].line);
    for (uint32_t at = blocks[i].begin; at < blocks[i].end; ++at) {
      Draft &one = draft.drafts[at];
      if (one.flow == Draft::Branch) {
        one.inst.d = entryOf(blockAt[draft.labels[one.targets.front()]]);
        one.inst.a = entryOf(blocks[i].postDominator);
        one.inst.wide = uint32_t(code.wide.size());
        one.inst.imm = int64_t(one.targets.size());
        for (uint32_t label : one.targets) {
          code.wide.push_back(entryOf(blockAt[draft.labels[label]]));
        }
        // d and a are indices of instructions, not registers.
        one.registers &= uint8_t(~3u);
      }
      placeOperands(one, offsets, code);
      ++code.blocks[i].classes[size_t(one.inst.cls)];
      ++code.blocks[i].total;
      code.usesBarriers |= one.inst.cls == InstructionClass::Barrier;
      code.instructions.push_back(one.inst);
      code.lines.push_back(one.line);
    }
  }
}
