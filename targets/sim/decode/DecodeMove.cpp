//===- DecodeMove.cpp - moves, comparisons and conversions ---------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "targets/sim/decode/Decoder.h"

using namespace tilewright;
using namespace tilewright::sim;
using ptx::Operand;

/// Constants of the generic address space; see Machine.h.
static constexpr uint64_t sharedWindowBase = uint64_t(0xC0) << 40;

/// Between a register and a vector of its parts.
Status Decoder::movParts(const Operand &to, const Operand &from,
                         unsigned bytes) {
  bool packs = from.kind == Operand::Vector;
  const std::vector<Operand> &parts = packs ? from.elements : to.elements;
  if ((packs && to.kind == Operand::Vector) ||
      (parts.size() != 2 && parts.size() != 4) || bytes % parts.size() != 0 ||
      bytes / parts.size() < 2) {
    return unsupportedForm();
  }
  unsigned partBytes = bytes / unsigned(parts.size());
  Draft draft =
      makeDraft(packs ? packHandler(unsigned(parts.size()), partBytes)
                      : unpackHandler(unsigned(parts.size()), partBytes),
                InstructionClass::Move);
  for (const Operand &part : parts) {
    uint32_t reg;
    TW_RETURN_IF_ERROR(packs ? sourceBytes(part, partBytes, reg)
                             : destination(part, partBytes, reg));
    draft.wide.push_back(reg);
  }
  if (packs) {
    TW_RETURN_IF_ERROR(destination(to, bytes, draft.inst.d));
    draft.registers = 1;
  } else {
    TW_RETURN_IF_ERROR(sourceBytes(from, bytes, draft.inst.a));
    draft.registers = 2;
    draft.wideWrites = uint32_t(parts.size());
  }
  emit(std::move(draft));
  return Status::ok();
}

Status Decoder::decodeMov() {
  Type type;
  TW_RETURN_IF_ERROR(requireType(type));
  TW_RETURN_IF_ERROR(finishModifiers());
  TW_RETURN_IF_ERROR(expectOperands(2));
  const Operand &to = inst->operands[0];
  const Operand &from = inst->operands[1];
  unsigned bytes = ptx::bytesOf(type);
  uint32_t d;
  uint32_t a;
  if (to.kind == Operand::Vector || from.kind == Operand::Vector) {
    return movParts(to, from, bytes);
  }
  if (type == Type::Pred) {
    TW_RETURN_IF_ERROR(destinationPredicate(to, d));
    TW_RETURN_IF_ERROR(sourcePredicate(from, a));
    return emitOp(predicateHandler(Alu::Mov), InstructionClass::Move, d, a);
  }
  TW_RETURN_IF_ERROR(destination(to, bytes, d));
  if (from.kind == Operand::Name && !from.negated) {
    std::string_view name = from.name;
    if (name == "%clock" || name == "%clock_hi" || name == "%clock64" ||
        name == "%globaltimer") {
      return emitOp(exec::readClock, InstructionClass::Move, d, noOperand,
                    noOperand, noOperand, name == "%clock_hi" ? 0 : bytes);
    }
    uint32_t reg;
    if (!findRegister(name, reg) && !findSpecial(name, reg) &&
        name != "WARP_SZ") {
      // The address of a variable, in its own space.
      Draft access;
      const Symbol *symbol = find(name);
      bool isShared = symbols.shared.count(name) != 0;
      access.inst.space = symbol && symbol->kind == Symbol::Variable
                              ? symbol->space
                          : isShared ? Space::Shared
                                     : Space::Global;
      Operand place = from;
      place.kind = Operand::Address;
      TW_RETURN_IF_ERROR(address(place, access));
      uint64_t offset = uint64_t(access.inst.imm);
      if (access.registers == 0) {
        return emitAlu(Alu::Mov, type, d, constant(bytes, offset));
      }
      uint32_t base = access.inst.a;
      if (widthOf(base) != bytes) {
        if (bytes != 8) {
          return error("an address needs a 64-bit register");
        }
        uint32_t wide = newRegister(8);
        TW_RETURN_IF_ERROR(emitOp(handlers().convert({Type::U64, Type::U32}),
                                  InstructionClass::Move, wide, base));
        base = wide;
      }
      return emitAlu(Alu::Add, bytes == 8 ? Type::U64 : Type::U32, d, base,
                     constant(bytes, offset));
    }
  }
  TW_RETURN_IF_ERROR(source(from, type, a));
  return emitAlu(Alu::Mov, type, d, a);
}

Status Decoder::decodeSelp() {
  Type type;
  TW_RETURN_IF_ERROR(requireType(type));
  TW_RETURN_IF_ERROR(finishModifiers());
  TW_RETURN_IF_ERROR(expectOperands(4));
  uint32_t d;
  uint32_t a;
  uint32_t b;
  uint32_t c;
  TW_RETURN_IF_ERROR(destination(inst->operands[0], ptx::bytesOf(type), d));
  TW_RETURN_IF_ERROR(source(inst->operands[1], type, a));
  TW_RETURN_IF_ERROR(source(inst->operands[2], type, b));
  TW_RETURN_IF_ERROR(sourcePredicate(inst->operands[3], c));
  return emitAlu(Alu::Selp, type, d, a, b, c);
}

/// slct: d = c >= 0 ? a : b.
Status Decoder::decodeSlct() {
  bool ftz = takeModifier("ftz");
  Type type;
  Type condition;
  TW_RETURN_IF_ERROR(requireType(type));
  TW_RETURN_IF_ERROR(requireType(condition));
  TW_RETURN_IF_ERROR(finishModifiers());
  TW_RETURN_IF_ERROR(expectOperands(4));
  uint32_t d;
  uint32_t a;
  uint32_t b;
  uint32_t c;
  TW_RETURN_IF_ERROR(destination(inst->operands[0], ptx::bytesOf(type), d));
  TW_RETURN_IF_ERROR(source(inst->operands[1], type, a));
  TW_RETURN_IF_ERROR(source(inst->operands[2], type, b));
  TW_RETURN_IF_ERROR(source(inst->operands[3], condition, c));
  uint32_t p = newRegister(0);
  TW_RETURN_IF_ERROR(
      comparison(Compare::Ge, condition, ftz, BoolOp::None, p, noOperand, c,
                 constant(ptx::bytesOf(condition), 0), noOperand));
  return emitAlu(Alu::Selp, type, d, a, b, p);
}

Status Decoder::takeCompare(Compare &compare, Type type) {
  static const struct {
    const char *word;
    Compare compare;
    bool isUnsigned;
  } words[] = {
      {"eq", Compare::Eq, false},   {"ne", Compare::Ne, false},
      {"lt", Compare::Lt, false},   {"le", Compare::Le, false},
      {"gt", Compare::Gt, false},   {"ge", Compare::Ge, false},
      {"lo", Compare::Lt, true},    {"ls", Compare::Le, true},
      {"hi", Compare::Gt, true},    {"hs", Compare::Ge, true},
      {"equ", Compare::Equ, false}, {"neu", Compare::Neu, false},
      {"ltu", Compare::Ltu, false}, {"leu", Compare::Leu, false},
      {"gtu", Compare::Gtu, false}, {"geu", Compare::Geu, false},
      {"num", Compare::Num, false}, {"nan", Compare::Nan, false},
  };
  for (const auto &entry : words) {
    if (takeModifier(entry.word)) {
      compare = entry.compare;
      bool forFloat = compare >= Compare::Equ;
      if ((forFloat && !ptx::isFloat(type)) ||
          (entry.isUnsigned && (ptx::isFloat(type) || ptx::isSigned(type)))) {
        return error("the comparison does not go with the type");
      }
      return Status::ok();
    }
  }
  return error("a comparison is missing");
}

/// Emits p = (a compare b) combined with c, q = the complement's.
Status Decoder::comparison(Compare compare, Type type, bool ftz, BoolOp combine,
                           uint32_t p, uint32_t q, uint32_t a, uint32_t b,
                           uint32_t c) {
  if (ftz) {
    uint32_t *sources[] = {&a, &b};
    for (uint32_t *reg : sources) {
      uint32_t flushed = newRegister(ptx::bytesOf(type));
      TW_RETURN_IF_ERROR(emitAlu(Alu::Flush, type, flushed, *reg));
      *reg = flushed;
    }
  }
  Handler handler = handlers().compare(compare, type);
  if (!handler) {
    return unsupportedForm();
  }
  Draft draft = makeDraft(handler, InstructionClass::Predicate);
  draft.inst.d = p;
  draft.inst.a = a;
  draft.inst.b = b;
  draft.inst.c = c;
  draft.inst.mode = uint16_t(combine);
  draft.registers = uint8_t(7 | (c != noOperand) << 3);
  if (q != noOperand) {
    draft.wide = {q};
    draft.wideWrites = 1;
  }
  emit(std::move(draft));
  return Status::ok();
}

Status Decoder::decodeSetp() {
  bool ftz = takeModifier("ftz");
  BoolOp combine = takeModifier("and")   ? BoolOp::And
                   : takeModifier("or")  ? BoolOp::Or
                   : takeModifier("xor") ? BoolOp::Xor
                                         : BoolOp::None;
  Type type;
  TW_RETURN_IF_ERROR(requireType(type));
  Compare compare;
  TW_RETURN_IF_ERROR(takeCompare(compare, type));
  TW_RETURN_IF_ERROR(finishModifiers());
  TW_RETURN_IF_ERROR(expectOperands(combine == BoolOp::None ? 3 : 4));
  uint32_t p;
  uint32_t q = noOperand;
  uint32_t a;
  uint32_t b;
  uint32_t c = noOperand;
  const Operand &to = inst->operands[0];
  bool isPair = to.kind == Operand::Pair;
  TW_RETURN_IF_ERROR(destinationPredicate(isPair ? to.elements[0] : to, p));
  if (isPair) {
    TW_RETURN_IF_ERROR(destinationPredicate(to.elements[1], q));
  } else if (type == Type::F16x2 || type == Type::Bf16x2) {
    return error("expected two predicates");
  }
  TW_RETURN_IF_ERROR(source(inst->operands[1], type, a));
  TW_RETURN_IF_ERROR(source(inst->operands[2], type, b));
  if (combine != BoolOp::None) {
    TW_RETURN_IF_ERROR(sourcePredicate(inst->operands[3], c));
  }
  return comparison(compare, type, ftz, combine, p, q, a, b, c);
}

/// set: like setp, but the result is all ones or 1.0, or 0.
Status Decoder::decodeSet() {
  bool ftz = takeModifier("ftz");
  BoolOp combine = takeModifier("and")   ? BoolOp::And
                   : takeModifier("or")  ? BoolOp::Or
                   : takeModifier("xor") ? BoolOp::Xor
                                         : BoolOp::None;
  Type to;
  Type type;
  TW_RETURN_IF_ERROR(requireType(to));
  TW_RETURN_IF_ERROR(requireType(type));
  Compare compare;
  TW_RETURN_IF_ERROR(takeCompare(compare, type));
  TW_RETURN_IF_ERROR(finishModifiers());
  TW_RETURN_IF_ERROR(expectOperands(combine == BoolOp::None ? 3 : 4));
  uint32_t d;
  uint32_t a;
  uint32_t b;
  uint32_t c = noOperand;
  unsigned bytes = ptx::bytesOf(to);
  TW_RETURN_IF_ERROR(destination(inst->operands[0], bytes, d));
  TW_RETURN_IF_ERROR(source(inst->operands[1], type, a));
  TW_RETURN_IF_ERROR(source(inst->operands[2], type, b));
  if (combine != BoolOp::None) {
    TW_RETURN_IF_ERROR(sourcePredicate(inst->operands[3], c));
  }
  bool isPair = type == Type::F16x2 || type == Type::Bf16x2;
  uint32_t p = newRegister(0);
  uint32_t q = isPair ? newRegister(0) : noOperand;
  TW_RETURN_IF_ERROR(comparison(compare, type, ftz, combine, p, q, a, b, c));
  uint64_t one = to == Type::F32      ? 0x3F800000
                 : to == Type::F16    ? 0x3C00
                 : to == Type::Bf16   ? 0x3F80
                 : to == Type::F16x2  ? 0x3C003C00
                 : to == Type::Bf16x2 ? 0x3F803F80
                                      : ~uint64_t(0);
  if (to == Type::F64 || bytes == 8) {
    return unsupportedForm();
  }
  if (!isPair) {
    return emitAlu(Alu::Selp, to, d, constant(bytes, one), constant(bytes, 0),
                   p);
  }
  if (bytes != 4) {
    return unsupportedForm();
  }
  uint32_t low = newRegister(4);
  uint32_t high = newRegister(4);
  uint32_t zero = constant(4, 0);
  TW_RETURN_IF_ERROR(
      emitAlu(Alu::Selp, Type::B32, low, constant(4, one & 0xFFFF), zero, p));
  TW_RETURN_IF_ERROR(emitAlu(Alu::Selp, Type::B32, high,
                             constant(4, one & 0xFFFF0000u), zero, q));
  return emitAlu(Alu::Or, Type::B32, d, low, high);
}

/// testp: properties of a number, by comparisons of its absolute value.
Status Decoder::decodeTestp() {
  bool finite = takeModifier("finite");
  bool infinite = !finite && takeModifier("infinite");
  bool number = !finite && !infinite && takeModifier("number");
  bool nan = !finite && !infinite && !number && takeModifier("notanumber");
  Type type;
  TW_RETURN_IF_ERROR(requireType(type));
  TW_RETURN_IF_ERROR(finishModifiers());
  TW_RETURN_IF_ERROR(expectOperands(2));
  if ((type != Type::F32 && type != Type::F64) ||
      !(finite || infinite || number || nan)) {
    return unsupportedForm();
  }
  uint32_t p;
  uint32_t a;
  unsigned bytes = ptx::bytesOf(type);
  TW_RETURN_IF_ERROR(destinationPredicate(inst->operands[0], p));
  TW_RETURN_IF_ERROR(source(inst->operands[1], type, a));
  if (number || nan) {
    return comparison(number ? Compare::Num : Compare::Nan, type, false,
                      BoolOp::None, p, noOperand, a, a, noOperand);
  }
  uint32_t magnitude = newRegister(bytes);
  TW_RETURN_IF_ERROR(emitAlu(Alu::Abs, type, magnitude, a));
  uint32_t infinity =
      constant(bytes, bytes == 4 ? 0x7F800000u : uint64_t(0x7FF) << 52);
  return comparison(finite ? Compare::Lt : Compare::Eq, type, false,
                    BoolOp::None, p, noOperand, magnitude, infinity, noOperand);
}

/// Converts an address between a state space and the generic space.
Status Decoder::decodeCvta() {
  bool toSpace = takeModifier("to");
  Space space = Space::Generic;
  if (!takeSpace(space)) {
    return error("expected a state space");
  }
  Type type;
  TW_RETURN_IF_ERROR(requireType(type));
  TW_RETURN_IF_ERROR(finishModifiers());
  TW_RETURN_IF_ERROR(expectOperands(2));
  if (type != Type::U64) {
    return unsupportedForm();
  }
  uint32_t d;
  uint32_t a;
  TW_RETURN_IF_ERROR(destination(inst->operands[0], 8, d));
  const Operand &from = inst->operands[1];
  uint32_t reg;
  if (from.kind == Operand::Name && !findRegister(from.name, reg)) {
    // cvta.space d, variable
    a = newRegister(8);
    Draft access;
    access.inst.space = space;
    Operand place = from;
    place.kind = Operand::Address;
    TW_RETURN_IF_ERROR(address(place, access));
    if (access.registers == 0) {
      a = constant(8, uint64_t(access.inst.imm));
    } else if (widthOf(access.inst.a) == 8) {
      TW_RETURN_IF_ERROR(emitAlu(Alu::Add, Type::U64, a, access.inst.a,
                                 constant(8, uint64_t(access.inst.imm))));
    } else {
      TW_RETURN_IF_ERROR(emitOp(handlers().convert({Type::U64, Type::U32}),
                                InstructionClass::Move, a, access.inst.a));
    }
  } else {
    TW_RETURN_IF_ERROR(source(from, Type::U64, a));
  }
  uint64_t window = space == Space::Shared ? sharedWindowBase
                    : space == Space::Local
                        ? sharedWindowBase + (uint64_t(1) << 40)
                        : 0;
  if (space == Space::Param) {
    return unsupportedForm();
  }
  return window == 0 ? emitAlu(Alu::Mov, Type::U64, d, a)
                     : emitAlu(toSpace ? Alu::Sub : Alu::Add, Type::U64, d, a,
                               constant(8, window));
}
