//===- DecodeInteger.cpp - bits and integers ----------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "targets/sim/decode/Decoder.h"

using namespace tilewright;
using namespace tilewright::sim;
using ptx::Operand;

/// mul24 and mad24.
Status Decoder::decodeMul24() {
  if (!takeModifier("lo")) {
    return unsupportedForm();
  }
  return inst->opcode == "mul24" ? sameTypes(Alu::Mul24Lo, 2)
                                 : sameTypes(Alu::Mad24Lo, 3);
}

Status Decoder::decodeSad() { return sameTypes(Alu::Sad, 3); }

/// and, or, xor, not, cnot.
Status Decoder::decodeLogic() {
  std::string_view name = inst->opcode;
  Alu op = name == "and"   ? Alu::And
           : name == "or"  ? Alu::Or
           : name == "xor" ? Alu::Xor
           : name == "not" ? Alu::Not
                           : Alu::Cnot;
  unsigned sources = op == Alu::Not || op == Alu::Cnot ? 1 : 2;
  if (!peekModifier("pred")) {
    return sameTypes(op, sources);
  }
  takeModifier("pred");
  TW_RETURN_IF_ERROR(finishModifiers());
  TW_RETURN_IF_ERROR(expectOperands(sources + 1));
  uint32_t d;
  uint32_t a;
  uint32_t b = noOperand;
  TW_RETURN_IF_ERROR(destinationPredicate(inst->operands[0], d));
  TW_RETURN_IF_ERROR(sourcePredicate(inst->operands[1], a));
  if (sources == 2) {
    TW_RETURN_IF_ERROR(sourcePredicate(inst->operands[2], b));
  }
  return emitOp(predicateHandler(op), InstructionClass::Predicate, d, a, b);
}

/// shl, shr: the amount has 32 bits.
Status Decoder::decodeShift() {
  Type type;
  TW_RETURN_IF_ERROR(requireType(type));
  TW_RETURN_IF_ERROR(finishModifiers());
  TW_RETURN_IF_ERROR(expectOperands(3));
  uint32_t d;
  uint32_t a;
  uint32_t b;
  TW_RETURN_IF_ERROR(destination(inst->operands[0], ptx::bytesOf(type), d));
  TW_RETURN_IF_ERROR(source(inst->operands[1], type, a));
  TW_RETURN_IF_ERROR(source(inst->operands[2], Type::U32, b));
  return emitAlu(inst->opcode == "shl" ? Alu::Shl : Alu::Shr, type, d, a, b);
}

/// popc, clz (32-bit results) and brev.
Status Decoder::decodeCount() {
  Type type;
  TW_RETURN_IF_ERROR(requireType(type));
  TW_RETURN_IF_ERROR(finishModifiers());
  TW_RETURN_IF_ERROR(expectOperands(2));
  bool isBrev = inst->opcode == "brev";
  uint32_t d;
  uint32_t a;
  TW_RETURN_IF_ERROR(
      destination(inst->operands[0], isBrev ? ptx::bytesOf(type) : 4, d));
  TW_RETURN_IF_ERROR(source(inst->operands[1], type, a));
  return emitAlu(isBrev                   ? Alu::Brev
                 : inst->opcode == "popc" ? Alu::Popc
                                          : Alu::Clz,
                 type, d, a);
}

Status Decoder::decodeBfind() {
  bool shift = takeModifier("shiftamt");
  Type type;
  TW_RETURN_IF_ERROR(requireType(type));
  TW_RETURN_IF_ERROR(finishModifiers());
  TW_RETURN_IF_ERROR(expectOperands(2));
  uint32_t d;
  uint32_t a;
  TW_RETURN_IF_ERROR(destination(inst->operands[0], 4, d));
  TW_RETURN_IF_ERROR(source(inst->operands[1], type, a));
  return emitAlu(shift ? Alu::BfindShift : Alu::Bfind, type, d, a);
}

Status Decoder::decodeBfe() {
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
  TW_RETURN_IF_ERROR(source(inst->operands[2], Type::U32, b));
  TW_RETURN_IF_ERROR(source(inst->operands[3], Type::U32, c));
  return emitAlu(Alu::Bfe, type, d, a, b, c);
}

/// bfi has five operands: the length goes to `wide`.
Status Decoder::decodeBfi() {
  Type type;
  TW_RETURN_IF_ERROR(requireType(type));
  TW_RETURN_IF_ERROR(finishModifiers());
  TW_RETURN_IF_ERROR(expectOperands(5));
  Handler handler = handlers().alu(Alu::Bfi, type);
  if (!handler) {
    return unsupportedForm();
  }
  Draft draft = makeDraft(handler, InstructionClass::Integer);
  uint32_t length;
  TW_RETURN_IF_ERROR(
      destination(inst->operands[0], ptx::bytesOf(type), draft.inst.d));
  TW_RETURN_IF_ERROR(source(inst->operands[1], type, draft.inst.a));
  TW_RETURN_IF_ERROR(source(inst->operands[2], type, draft.inst.b));
  TW_RETURN_IF_ERROR(source(inst->operands[3], Type::U32, draft.inst.c));
  TW_RETURN_IF_ERROR(source(inst->operands[4], Type::U32, length));
  draft.registers = 15;
  draft.wide = {length};
  emit(std::move(draft));
  return Status::ok();
}

Status Decoder::decodeBmsk() {
  bool wrap = takeModifier("wrap");
  if (!wrap && !takeModifier("clamp")) {
    return error("expected .clamp or .wrap");
  }
  return sameTypes(wrap ? Alu::BmskWrap : Alu::Bmsk, 2);
}

Status Decoder::decodeLop3() {
  Type type;
  TW_RETURN_IF_ERROR(requireType(type));
  TW_RETURN_IF_ERROR(finishModifiers());
  TW_RETURN_IF_ERROR(expectOperands(5));
  uint32_t d;
  uint32_t sources[3];
  TW_RETURN_IF_ERROR(destination(inst->operands[0], 4, d));
  for (unsigned i = 0; i < 3; ++i) {
    TW_RETURN_IF_ERROR(source(inst->operands[i + 1], Type::B32, sources[i]));
  }
  const Operand &table = inst->operands[4];
  if (table.kind != Operand::Integer || table.value > 255) {
    return error("the table must be a constant of 8 bits");
  }
  return emitAlu(Alu::Lop3, type, d, sources[0], sources[1], sources[2],
                 unsigned(table.value));
}

Status Decoder::decodePrmt() {
  PrmtForm form = takeModifier("f4e")    ? PrmtForm::F4e
                  : takeModifier("b4e")  ? PrmtForm::B4e
                  : takeModifier("rc8")  ? PrmtForm::Rc8
                  : takeModifier("ecl")  ? PrmtForm::Ecl
                  : takeModifier("ecr")  ? PrmtForm::Ecr
                  : takeModifier("rc16") ? PrmtForm::Rc16
                                         : PrmtForm::Index;
  Type type;
  TW_RETURN_IF_ERROR(requireType(type));
  TW_RETURN_IF_ERROR(finishModifiers());
  TW_RETURN_IF_ERROR(expectOperands(4));
  uint32_t d;
  uint32_t sources[3];
  TW_RETURN_IF_ERROR(destination(inst->operands[0], 4, d));
  for (unsigned i = 0; i < 3; ++i) {
    TW_RETURN_IF_ERROR(source(inst->operands[i + 1], Type::B32, sources[i]));
  }
  return emitAlu(Alu::Prmt, type, d, sources[0], sources[1], sources[2],
                 unsigned(form));
}

Status Decoder::decodeShf() {
  bool left = takeModifier("l");
  bool right = takeModifier("r");
  bool wrap = takeModifier("wrap");
  bool clamp = takeModifier("clamp");
  if (left == right || wrap == clamp) {
    return error("expected a direction and .wrap or .clamp");
  }
  return sameTypes(left ? (wrap ? Alu::ShfLeftWrap : Alu::ShfLeft)
                        : (wrap ? Alu::ShfRightWrap : Alu::ShfRight),
                   3);
}

/// dp4a.atype.btype, dp2a.{lo,hi}.atype.btype.
Status Decoder::decodeDp() {
  bool isDp2a = inst->opcode == "dp2a";
  bool hi = isDp2a && takeModifier("hi");
  bool lo = isDp2a && takeModifier("lo");
  Type a = takeType();
  Type b = takeType();
  TW_RETURN_IF_ERROR(finishModifiers());
  TW_RETURN_IF_ERROR(expectOperands(4));
  if ((a != Type::U32 && a != Type::S32) ||
      (b != Type::U32 && b != Type::S32) || isDp2a != (hi || lo)) {
    return error("expected two types .u32 or .s32");
  }
  uint32_t d;
  uint32_t sources[3];
  TW_RETURN_IF_ERROR(destination(inst->operands[0], 4, d));
  for (unsigned i = 0; i < 3; ++i) {
    TW_RETURN_IF_ERROR(source(inst->operands[i + 1], Type::U32, sources[i]));
  }
  return emitAlu(isDp2a ? (hi ? Alu::Dp2aHi : Alu::Dp2aLo) : Alu::Dp4a,
                 Type::B32, d, sources[0], sources[1], sources[2],
                 unsigned(a == Type::S32) | unsigned(b == Type::S32) << 1);
}

Status Decoder::decodeFns() { return sameTypes(Alu::Fns, 3); }
