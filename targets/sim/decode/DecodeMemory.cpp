//===- DecodeMemory.cpp - loads, stores and atomics ---------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "targets/sim/decode/Decoder.h"

using namespace tilewright;
using namespace tilewright::sim;
using ptx::Operand;

bool Decoder::takeSpace(Space &space) {
  static const struct {
    const char *word;
    Space space;
  } words[] = {
      {"global", Space::Global},      {"const", Space::Const},
      {"shared", Space::Shared},      {"shared::cta", Space::Shared},
      {"local", Space::Local},        {"param", Space::Param},
      {"param::entry", Space::Param}, {"param::func", Space::Param},
  };
  for (const auto &entry : words) {
    if (takeModifier(entry.word)) {
      space = entry.space;
      return true;
    }
  }
  return false;
}

static InstructionClass classOfSpace(ptx::Space space) {
  switch (space) {
  case ptx::Space::Shared:
    return InstructionClass::Shared;
  case ptx::Space::Local:
    return InstructionClass::Local;
  case ptx::Space::Param:
  case ptx::Space::Const:
    return InstructionClass::Parameter;
  default:
    return InstructionClass::Global;
  }
}

/// Bits of Inst::mode of memory accesses.
static constexpr unsigned synchronizingBit = 1;
static constexpr unsigned acquireBit = 2;
static constexpr unsigned releaseBit = 4;

/// Takes the memory order; \returns the bits that say so.
static unsigned orderBits(bool isVolatile, bool relaxed, bool acquire,
                          bool release) {
  return (isVolatile || relaxed || acquire || release ? synchronizingBit : 0) |
         (acquire ? acquireBit : 0) | (release ? releaseBit : 0);
}

Status Decoder::decodeLd() {
  bool isVolatile = takeModifier("volatile");
  bool relaxed = takeModifier("relaxed");
  bool acquire = takeModifier("acquire");
  takeModifier("weak");
  takeModifier("nc");
  takeScopes();
  takeCacheHints();
  Space space = Space::Generic;
  takeSpace(space);
  unsigned vector = takeModifier("v2") ? 2 : takeModifier("v4") ? 4 : 1;
  Type type;
  TW_RETURN_IF_ERROR(requireType(type));
  TW_RETURN_IF_ERROR(finishModifiers());
  TW_RETURN_IF_ERROR(expectOperands(2));
  Draft draft = makeDraft(nullptr, classOfSpace(space));
  draft.inst.space = space;
  const Operand &from = inst->operands[1];
  // Parameters of calls are variables in local memory.
  const Symbol *symbol = from.name.empty() ? nullptr : find(from.name);
  if (space == Space::Param && symbol && symbol->kind == Symbol::Variable &&
      !symbol->isKernelParameter) {
    draft.inst.space = Space::Local;
    draft.inst.cls = InstructionClass::Parameter;
  }
  TW_RETURN_IF_ERROR(address(from, draft));
  const Operand &to = inst->operands[0];
  std::vector<Operand> parts{to};
  if (vector > 1) {
    if (to.kind != Operand::Vector || to.elements.size() != vector) {
      return error("expected a vector of registers");
    }
    parts = to.elements;
  }
  unsigned bytes = 0;
  for (const Operand &part : parts) {
    uint32_t reg;
    if (part.kind == Operand::Name && part.name == "_") {
      reg = noOperand;
    } else {
      TW_RETURN_IF_ERROR(anyRegister(part, reg));
      if (bytes != 0 && widthOf(reg) != bytes) {
        return unsupportedForm();
      }
      bytes = widthOf(reg);
    }
    draft.wide.push_back(reg);
  }
  if (bytes == 0) {
    bytes = ptx::bytesOf(type) == 1 ? 2 : ptx::bytesOf(type);
  }
  for (uint32_t &reg : draft.wide) {
    reg = reg == noOperand ? newRegister(bytes) : reg;
  }
  draft.wideWrites = vector;
  draft.inst.size = uint8_t(ptx::bytesOf(type));
  draft.inst.vector = uint8_t(vector);
  draft.inst.mode = uint16_t(orderBits(isVolatile, relaxed, acquire, false));
  draft.inst.run = handlers().load(type, bytes, vector);
  if (!draft.inst.run || unsigned(draft.inst.size) * vector > 16) {
    return unsupportedForm();
  }
  emit(std::move(draft));
  return Status::ok();
}

Status Decoder::decodeSt() {
  bool isVolatile = takeModifier("volatile");
  bool relaxed = takeModifier("relaxed");
  bool release = takeModifier("release");
  takeModifier("weak");
  takeScopes();
  takeCacheHints();
  Space space = Space::Generic;
  takeSpace(space);
  unsigned vector = takeModifier("v2") ? 2 : takeModifier("v4") ? 4 : 1;
  Type type;
  TW_RETURN_IF_ERROR(requireType(type));
  TW_RETURN_IF_ERROR(finishModifiers());
  TW_RETURN_IF_ERROR(expectOperands(2));
  Draft draft = makeDraft(nullptr, classOfSpace(space));
  draft.inst.space = space;
  const Operand &to = inst->operands[0];
  if (space == Space::Param) {
    draft.inst.space = Space::Local;
  } else if (space == Space::Const) {
    return error("constant memory cannot be written");
  }
  TW_RETURN_IF_ERROR(address(to, draft));
  const Operand &from = inst->operands[1];
  std::vector<Operand> parts{from};
  if (vector > 1) {
    if (from.kind != Operand::Vector || from.elements.size() != vector) {
      return error("expected a vector of registers");
    }
    parts = from.elements;
  }
  unsigned bytes = 0;
  for (const Operand &part : parts) {
    uint32_t reg;
    if (part.kind == Operand::Name) {
      TW_RETURN_IF_ERROR(anyRegister(part, reg));
      if (bytes != 0 && widthOf(reg) != bytes) {
        return unsupportedForm();
      }
      bytes = widthOf(reg);
    }
  }
  if (bytes == 0) {
    bytes = ptx::bytesOf(type) == 1 ? 2 : ptx::bytesOf(type);
  }
  for (const Operand &part : parts) {
    uint32_t reg;
    if (part.kind == Operand::Name) {
      TW_RETURN_IF_ERROR(anyRegister(part, reg));
    } else {
      TW_RETURN_IF_ERROR(source(part, type, reg));
      reg = constant(bytes, code.registers[reg].bits);
    }
    draft.wide.push_back(reg);
  }
  draft.inst.size = uint8_t(ptx::bytesOf(type));
  draft.inst.vector = uint8_t(vector);
  draft.inst.mode = uint16_t(orderBits(isVolatile, relaxed, false, release));
  draft.inst.run = handlers().store(type, bytes, vector);
  if (!draft.inst.run || unsigned(draft.inst.size) * vector > 16) {
    return unsupportedForm();
  }
  emit(std::move(draft));
  return Status::ok();
}

/// atom and red.
Status Decoder::decodeAtom() {
  bool isRed = inst->opcode == "red";
  takeModifier("relaxed");
  bool acquire = takeModifier("acquire");
  bool release = takeModifier("release");
  if (takeModifier("acq_rel")) {
    acquire = release = true;
  }
  takeScopes();
  takeCacheHints();
  takeModifier("noftz");
  Space space = Space::Generic;
  takeSpace(space);
  static const struct {
    const char *word;
    AtomicOp op;
  } words[] = {{"add", AtomicOp::Add},   {"min", AtomicOp::Min},
               {"max", AtomicOp::Max},   {"and", AtomicOp::And},
               {"or", AtomicOp::Or},     {"xor", AtomicOp::Xor},
               {"exch", AtomicOp::Exch}, {"cas", AtomicOp::Cas},
               {"inc", AtomicOp::Inc},   {"dec", AtomicOp::Dec}};
  const AtomicOp *op = nullptr;
  for (const auto &entry : words) {
    if (!op && takeModifier(entry.word)) {
      op = &entry.op;
    }
  }
  Type type;
  TW_RETURN_IF_ERROR(requireType(type));
  TW_RETURN_IF_ERROR(finishModifiers());
  if (!op) {
    return error("an operation is missing");
  }
  bool isCas = *op == AtomicOp::Cas;
  size_t first = isRed ? 0 : 1;
  TW_RETURN_IF_ERROR(expectOperands(first + (isCas ? 3 : 2)));
  Draft draft = makeDraft(atomicHandler(*op, type), InstructionClass::Atomic);
  if (!draft.inst.run || (isRed && (isCas || *op == AtomicOp::Exch))) {
    return unsupportedForm();
  }
  draft.inst.space = space;
  if (space != Space::Generic && space != Space::Global &&
      space != Space::Shared) {
    return error("atomics are for global and shared memory");
  }
  TW_RETURN_IF_ERROR(address(inst->operands[first], draft));
  TW_RETURN_IF_ERROR(source(inst->operands[first + 1], type, draft.inst.b));
  draft.registers |= 4;
  if (isCas) {
    TW_RETURN_IF_ERROR(source(inst->operands[first + 2], type, draft.inst.c));
    draft.registers |= 8;
  }
  if (!isRed) {
    TW_RETURN_IF_ERROR(
        destination(inst->operands[0], ptx::bytesOf(type), draft.inst.d));
    draft.registers |= 1;
  }
  draft.inst.size = uint8_t(ptx::bytesOf(type));
  draft.inst.mode = uint16_t(orderBits(false, true, acquire, release));
  emit(std::move(draft));
  return Status::ok();
}

Status Decoder::decodeIsspacep() {
  Space space = Space::Generic;
  if (!takeSpace(space)) {
    return error("expected a state space");
  }
  TW_RETURN_IF_ERROR(finishModifiers());
  TW_RETURN_IF_ERROR(expectOperands(2));
  uint32_t p;
  uint32_t a;
  TW_RETURN_IF_ERROR(destinationPredicate(inst->operands[0], p));
  TW_RETURN_IF_ERROR(source(inst->operands[1], Type::U64, a));
  return emitOp(exec::isInSpace, InstructionClass::Predicate, p, a, noOperand,
                noOperand, unsigned(space));
}

/// prefetch, prefetchu, discard, applypriority: no result depends on them.
Status Decoder::decodePrefetch() {
  return emitOp(exec::nothing, InstructionClass::Global, noOperand);
}

/// cp.async.
Status Decoder::decodeCp() {
  if (!takeModifier("async")) {
    return unsupportedForm();
  }
  if (takeModifier("commit_group")) {
    TW_RETURN_IF_ERROR(finishModifiers());
    TW_RETURN_IF_ERROR(expectOperands(0));
    return emitOp(exec::copyCommit, InstructionClass::AsyncCopy, noOperand);
  }
  bool waitAll = takeModifier("wait_all");
  if (waitAll || takeModifier("wait_group")) {
    TW_RETURN_IF_ERROR(finishModifiers());
    TW_RETURN_IF_ERROR(expectOperands(waitAll ? 0 : 1));
    Draft draft = makeDraft(exec::copyWait, InstructionClass::AsyncCopy);
    draft.inst.imm = -1;
    if (!waitAll) {
      const Operand &count = inst->operands[0];
      if (count.kind != Operand::Integer || count.value > 1000000) {
        return error("the number of groups must be a constant");
      }
      draft.inst.imm = int64_t(count.value);
    }
    emit(std::move(draft));
    return Status::ok();
  }
  bool ca = takeModifier("ca");
  bool cg = takeModifier("cg");
  takeCacheHints();
  bool spaces = (takeModifier("shared") || takeModifier("shared::cta")) &&
                takeModifier("global");
  TW_RETURN_IF_ERROR(finishModifiers());
  TW_RETURN_IF_ERROR(expectOperands(3, 4));
  const Operand &size = inst->operands[2];
  bool sizeFits =
      size.kind == Operand::Integer &&
      (size.value == 16 || (ca && (size.value == 4 || size.value == 8)));
  if (ca == cg || !spaces || !sizeFits) {
    return unsupportedForm();
  }
  Draft draft = makeDraft(exec::copyAsync, InstructionClass::AsyncCopy);
  Draft to;
  to.inst.space = Space::Shared;
  TW_RETURN_IF_ERROR(address(inst->operands[0], to));
  Draft from;
  from.inst.space = Space::Global;
  TW_RETURN_IF_ERROR(address(inst->operands[1], from));
  if (from.inst.a == noOperand) {
    return error("an address must be in a register");
  }
  draft.inst.a = to.inst.a;
  draft.inst.narrowAddress = to.inst.narrowAddress;
  draft.inst.imm = to.inst.imm;
  draft.inst.b = from.inst.a;
  draft.registers = uint8_t(4 | (to.inst.a != noOperand) << 1);
  draft.inst.space = Space::Shared;
  draft.inst.size = uint8_t(size.value);
  // The offset of the global address is an operand of its own.
  draft.wide = {constant(8, uint64_t(from.inst.imm))};
  if (inst->operands.size() == 4) {
    TW_RETURN_IF_ERROR(source(inst->operands[3], Type::U32, draft.inst.c));
    draft.registers |= 8;
  }
  emit(std::move(draft));
  return Status::ok();
}

/// ldmatrix and stmatrix of 8x8 matrices of 16-bit elements.
Status Decoder::decodeLdmatrix() {
  bool isLoad = inst->opcode == "ldmatrix";
  bool form =
      takeModifier("sync") && takeModifier("aligned") && takeModifier("m8n8");
  unsigned count = takeModifier("x1")   ? 1
                   : takeModifier("x2") ? 2
                   : takeModifier("x4") ? 4
                                        : 0;
  bool transposed = takeModifier("trans");
  bool shared = takeModifier("shared") || takeModifier("shared::cta");
  Type type = takeType();
  TW_RETURN_IF_ERROR(finishModifiers());
  TW_RETURN_IF_ERROR(expectOperands(2));
  if (!form || count == 0 || !shared || type != Type::B16) {
    return unsupportedForm();
  }
  const Operand &list = inst->operands[isLoad ? 0 : 1];
  if (list.kind != Operand::Vector || list.elements.size() != count) {
    return error("expected a vector of " + std::to_string(count) +
                 " registers");
  }
  Draft draft = makeDraft(isLoad ? exec::loadMatrix : exec::storeMatrix,
                          InstructionClass::Shared);
  draft.inst.space = Space::Shared;
  TW_RETURN_IF_ERROR(address(inst->operands[isLoad ? 1 : 0], draft));
  for (const Operand &element : list.elements) {
    uint32_t reg;
    TW_RETURN_IF_ERROR(isLoad ? destination(element, 4, reg)
                              : sourceBytes(element, 4, reg));
    draft.wide.push_back(reg);
  }
  draft.wideWrites = isLoad ? count : 0;
  draft.inst.vector = uint8_t(count);
  draft.inst.size = 16;
  draft.inst.mode = transposed;
  emit(std::move(draft));
  return Status::ok();
}
