//===- DecodeConvert.cpp - cvt ------------------------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// Registers may be wider than the types of a cvt; integer conversions before
// and behind then take or fill the rest.
//
//===----------------------------------------------------------------------===//

#include "targets/sim/decode/Decoder.h"

using namespace tilewright;
using namespace tilewright::sim;
using ptx::Operand;

static bool isPacked(ptx::Type type) {
  return type == ptx::Type::F16x2 || type == ptx::Type::Bf16x2 ||
         type == ptx::Type::E4m3x2 || type == ptx::Type::E5m2x2;
}

static ptx::Type integerOf(unsigned bytes, bool isSigned) {
  using ptx::Type;
  switch (bytes) {
  case 1:
    return isSigned ? Type::S8 : Type::U8;
  case 2:
    return isSigned ? Type::S16 : Type::U16;
  case 4:
    return isSigned ? Type::S32 : Type::U32;
  default:
    return isSigned ? Type::S64 : Type::U64;
  }
}

/// Bytes that a value of the type takes in a register of its own.
static unsigned storedBytes(ptx::Type type) {
  unsigned bytes = ptx::bytesOf(type);
  return bytes == 1 ? 2 : bytes;
}

Status Decoder::decodeCvt() {
  ConvertKey key;
  static const struct {
    const char *word;
    Rounding rounding;
  } integral[] = {{"rni", Rounding::Nearest},
                  {"rzi", Rounding::Zero},
                  {"rmi", Rounding::Down},
                  {"rpi", Rounding::Up}};
  for (const auto &entry : integral) {
    if (takeModifier(entry.word)) {
      key.rounding = entry.rounding;
      key.integral = true;
    }
  }
  key.tiesAway = takeModifier("rna");
  takeRounding(key.rounding);
  bool ftz = takeModifier("ftz");
  key.saturate = takeModifier("sat");
  key.saturateFinite = takeModifier("satfinite");
  key.relu = takeModifier("relu");
  TW_RETURN_IF_ERROR(requireType(key.to));
  TW_RETURN_IF_ERROR(requireType(key.from));
  if (key.to == Type::Tf32 || isPacked(key.to) || isPacked(key.from)) {
    return decodeCvtPack(key.to, key.from, key);
  }
  TW_RETURN_IF_ERROR(finishModifiers());
  TW_RETURN_IF_ERROR(expectOperands(2));
  bool intToInt = ptx::isInteger(key.to) && ptx::isInteger(key.from);
  Handler handler = handlers().convert(key);
  if (!handler) {
    handler = slowConvertHandler(key);
  }
  if (!handler) {
    return unsupportedForm();
  }
  const Operand &from = inst->operands[1];
  uint32_t a;
  unsigned fromStored = storedBytes(key.from);
  if (from.kind != Operand::Name) {
    TW_RETURN_IF_ERROR(source(from, key.from, a));
  } else {
    TW_RETURN_IF_ERROR(anyRegister(from, a));
    if (widthOf(a) < fromStored) {
      return error("the source register is too narrow");
    }
    if (widthOf(a) > fromStored) {
      uint32_t narrow = newRegister(fromStored);
      ConvertKey truncate;
      truncate.to = integerOf(fromStored, false);
      truncate.from = integerOf(widthOf(a), false);
      TW_RETURN_IF_ERROR(emitOp(handlers().convert(truncate),
                                InstructionClass::Convert, narrow, a));
      a = narrow;
    }
  }
  uint32_t d;
  unsigned toStored = storedBytes(key.to);
  TW_RETURN_IF_ERROR(anyRegister(inst->operands[0], d));
  if (widthOf(d) < toStored) {
    return error("the destination register is too narrow");
  }
  uint32_t result = widthOf(d) == toStored ? d : newRegister(toStored);
  if (ftz && key.from == Type::F32) {
    uint32_t flushed = newRegister(4);
    TW_RETURN_IF_ERROR(emitAlu(Alu::Flush, Type::F32, flushed, a));
    a = flushed;
  }
  TW_RETURN_IF_ERROR(emitOp(
      handler, intToInt ? InstructionClass::Move : InstructionClass::Convert,
      result, a, noOperand, noOperand, slowConvertMode(key)));
  if (ftz && key.to == Type::F32) {
    TW_RETURN_IF_ERROR(emitAlu(Alu::Flush, Type::F32, result, result));
  }
  if (result == d) {
    return Status::ok();
  }
  ConvertKey widen;
  widen.to = integerOf(widthOf(d), false);
  widen.from = integerOf(toStored, ptx::isSigned(key.to));
  return emitOp(handlers().convert(widen), InstructionClass::Convert, d,
                result);
}

/// Forms that pack two values, or unpack them, and tf32.
Status Decoder::decodeCvtPack(Type to, Type from, ConvertKey key) {
  TW_RETURN_IF_ERROR(finishModifiers());
  bool two = isPacked(to) && from == Type::F32;
  TW_RETURN_IF_ERROR(expectOperands(two ? 3 : 2));
  Handler handler = slowConvertHandler(key);
  uint32_t d;
  uint32_t a;
  uint32_t b = noOperand;
  TW_RETURN_IF_ERROR(destination(inst->operands[0], ptx::bytesOf(to), d));
  TW_RETURN_IF_ERROR(source(inst->operands[1], from, a));
  if (two) {
    TW_RETURN_IF_ERROR(source(inst->operands[2], from, b));
  }
  return emitOp(handler, InstructionClass::Convert, d, a, b, noOperand,
                slowConvertMode(key));
}
