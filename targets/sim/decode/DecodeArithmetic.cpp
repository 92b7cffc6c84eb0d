//===- DecodeArithmetic.cpp - sums, products and functions ---------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// `.ftz`, `.sat` and `.relu` become operations of their own around the
// arithmetic: they are rare, and so every operation exists once.
//
//===----------------------------------------------------------------------===//

#include "targets/sim/decode/Decoder.h"

using namespace tilewright;
using namespace tilewright::sim;
using ptx::Operand;

static bool isHalf(ptx::Type type) {
  return type == ptx::Type::F16 || type == ptx::Type::F16x2 ||
         type == ptx::Type::Bf16 || type == ptx::Type::Bf16x2;
}

/// d = op(sources) with all of one type.
Status Decoder::sameTypes(Alu op, unsigned sources) {
  Type type;
  TW_RETURN_IF_ERROR(requireType(type));
  TW_RETURN_IF_ERROR(finishModifiers());
  TW_RETURN_IF_ERROR(expectOperands(sources + 1));
  uint32_t regs[3] = {noOperand, noOperand, noOperand};
  uint32_t d;
  TW_RETURN_IF_ERROR(destination(inst->operands[0], ptx::bytesOf(type), d));
  for (unsigned i = 0; i < sources; ++i) {
    TW_RETURN_IF_ERROR(source(inst->operands[i + 1], type, regs[i]));
  }
  return emitAlu(op, type, d, regs[0], regs[1], regs[2]);
}

Status Decoder::floatOp(Alu op, Type type, Rounding rounding, bool ftz,
                        bool sat, bool relu, uint32_t d, uint32_t a, uint32_t b,
                        uint32_t c) {
  uint32_t sources[3] = {a, b, c};
  if (ftz) {
    for (uint32_t &reg : sources) {
      if (reg != noOperand) {
        uint32_t flushed = newRegister(ptx::bytesOf(type));
        TW_RETURN_IF_ERROR(emitAlu(Alu::Flush, type, flushed, reg));
        reg = flushed;
      }
    }
  }
  Handler handler = nullptr;
  InstructionClass cls = classOf(type);
  if (op >= Alu::Ex2 && op <= Alu::DivApprox) {
    handler = approxHandler(op, type, ftz);
    cls = InstructionClass::Special;
  } else if (rounding != Rounding::Nearest) {
    handler = roundedHandler(op, type);
  } else {
    handler = handlers().alu(op, type);
  }
  TW_RETURN_IF_ERROR(emitOp(handler, cls, d, sources[0], sources[1], sources[2],
                            unsigned(rounding)));
  if (ftz) {
    TW_RETURN_IF_ERROR(emitAlu(Alu::Flush, type, d, d));
  }
  if (sat) {
    TW_RETURN_IF_ERROR(emitAlu(Alu::Saturate, type, d, d));
  }
  if (relu) {
    TW_RETURN_IF_ERROR(emitAlu(Alu::Relu, type, d, d));
  }
  return Status::ok();
}

Status Decoder::decodeCarry(Alu op, Type type, bool writes, bool reads) {
  unsigned sources = op == Alu::MadLoCarry || op == Alu::MadHiCarry ? 3 : 2;
  TW_RETURN_IF_ERROR(finishModifiers());
  TW_RETURN_IF_ERROR(expectOperands(sources + 1));
  uint32_t regs[3] = {noOperand, noOperand, noOperand};
  uint32_t d;
  TW_RETURN_IF_ERROR(destination(inst->operands[0], ptx::bytesOf(type), d));
  for (unsigned i = 0; i < sources; ++i) {
    TW_RETURN_IF_ERROR(source(inst->operands[i + 1], type, regs[i]));
  }
  return emitAlu(op, type, d, regs[0], regs[1], regs[2],
                 unsigned(reads) | unsigned(writes) << 1);
}

Status Decoder::decodeAddSub() {
  bool isAdd = inst->opcode.substr(0, 3) == "add";
  bool withCarry = inst->opcode.size() == 4; // addc, subc
  Rounding rounding = Rounding::Nearest;
  takeRounding(rounding);
  bool ftz = takeModifier("ftz");
  bool sat = takeModifier("sat");
  bool cc = takeModifier("cc");
  Type type;
  TW_RETURN_IF_ERROR(requireType(type));
  if (cc || withCarry) {
    return decodeCarry(isAdd ? Alu::AddCarry : Alu::SubCarry, type, cc,
                       withCarry);
  }
  TW_RETURN_IF_ERROR(finishModifiers());
  TW_RETURN_IF_ERROR(expectOperands(3));
  uint32_t d;
  uint32_t a;
  uint32_t b;
  TW_RETURN_IF_ERROR(destination(inst->operands[0], ptx::bytesOf(type), d));
  TW_RETURN_IF_ERROR(source(inst->operands[1], type, a));
  TW_RETURN_IF_ERROR(source(inst->operands[2], type, b));
  if (ptx::isFloat(type)) {
    return floatOp(isAdd ? Alu::Add : Alu::Sub, type, rounding, ftz, sat, false,
                   d, a, b);
  }
  if (sat) {
    return emitAlu(isAdd ? Alu::AddSat : Alu::SubSat, type, d, a, b);
  }
  return emitAlu(isAdd ? Alu::Add : Alu::Sub, type, d, a, b);
}

Status Decoder::decodeMul() {
  Rounding rounding = Rounding::Nearest;
  takeRounding(rounding);
  bool ftz = takeModifier("ftz");
  bool sat = takeModifier("sat");
  bool wide = takeModifier("wide");
  bool lo = takeModifier("lo");
  bool hi = takeModifier("hi");
  Type type;
  TW_RETURN_IF_ERROR(requireType(type));
  TW_RETURN_IF_ERROR(finishModifiers());
  TW_RETURN_IF_ERROR(expectOperands(3));
  bool isFloat = ptx::isFloat(type);
  if (isFloat ? wide || lo || hi : wide + lo + hi != 1 || sat || ftz) {
    return error("expected one of .lo, .hi and .wide with integers");
  }
  uint32_t d;
  uint32_t a;
  uint32_t b;
  TW_RETURN_IF_ERROR(
      destination(inst->operands[0], ptx::bytesOf(type) * (wide ? 2 : 1), d));
  TW_RETURN_IF_ERROR(source(inst->operands[1], type, a));
  TW_RETURN_IF_ERROR(source(inst->operands[2], type, b));
  if (isFloat) {
    return floatOp(Alu::Mul, type, rounding, ftz, sat, false, d, a, b);
  }
  return emitAlu(wide ? Alu::MulWide
                 : lo ? Alu::MulLo
                      : Alu::MulHi,
                 type, d, a, b);
}

Status Decoder::decodeMad() {
  bool wide = takeModifier("wide");
  bool lo = takeModifier("lo");
  bool hi = takeModifier("hi");
  bool cc = takeModifier("cc");
  bool withCarry = inst->opcode == "madc";
  if (!wide && !lo && !hi) {
    return withCarry ? unsupportedForm() : decodeFma();
  }
  Type type;
  TW_RETURN_IF_ERROR(requireType(type));
  if (cc || withCarry) {
    return wide ? unsupportedForm()
                : decodeCarry(lo ? Alu::MadLoCarry : Alu::MadHiCarry, type, cc,
                              withCarry);
  }
  TW_RETURN_IF_ERROR(finishModifiers());
  TW_RETURN_IF_ERROR(expectOperands(4));
  unsigned bytes = ptx::bytesOf(type);
  uint32_t d;
  uint32_t a;
  uint32_t b;
  uint32_t c;
  TW_RETURN_IF_ERROR(destination(inst->operands[0], bytes * (wide ? 2 : 1), d));
  TW_RETURN_IF_ERROR(source(inst->operands[1], type, a));
  TW_RETURN_IF_ERROR(source(inst->operands[2], type, b));
  TW_RETURN_IF_ERROR(sourceBytes(inst->operands[3], bytes * (wide ? 2 : 1), c));
  return emitAlu(wide ? Alu::MadWide
                 : lo ? Alu::MadLo
                      : Alu::MadHi,
                 type, d, a, b, c);
}

Status Decoder::decodeFma() {
  Rounding rounding = Rounding::Nearest;
  bool hasRounding = takeRounding(rounding);
  bool ftz = takeModifier("ftz");
  bool sat = takeModifier("sat");
  bool relu = takeModifier("relu");
  Type type;
  TW_RETURN_IF_ERROR(requireType(type));
  TW_RETURN_IF_ERROR(finishModifiers());
  TW_RETURN_IF_ERROR(expectOperands(4));
  if (!ptx::isFloat(type) || !hasRounding) {
    return error("expected a rounding and a floating-point type");
  }
  uint32_t d;
  uint32_t sources[3];
  TW_RETURN_IF_ERROR(destination(inst->operands[0], ptx::bytesOf(type), d));
  for (unsigned i = 0; i < 3; ++i) {
    TW_RETURN_IF_ERROR(source(inst->operands[i + 1], type, sources[i]));
  }
  return floatOp(Alu::Fma, type, rounding, ftz, sat, relu, d, sources[0],
                 sources[1], sources[2]);
}

Status Decoder::decodeDiv() {
  Rounding rounding = Rounding::Nearest;
  bool hasRounding = takeRounding(rounding);
  bool approx = takeModifier("approx") || takeModifier("full");
  bool ftz = takeModifier("ftz");
  Type type;
  TW_RETURN_IF_ERROR(requireType(type));
  if (!ptx::isFloat(type)) {
    modifiers.push_back(inst->modifiers.back());
    return hasRounding || approx || ftz ? unsupportedForm()
                                        : sameTypes(Alu::Div, 2);
  }
  TW_RETURN_IF_ERROR(finishModifiers());
  TW_RETURN_IF_ERROR(expectOperands(3));
  if (hasRounding == approx) {
    return error("expected .approx, .full or a rounding");
  }
  uint32_t d;
  uint32_t a;
  uint32_t b;
  TW_RETURN_IF_ERROR(destination(inst->operands[0], ptx::bytesOf(type), d));
  TW_RETURN_IF_ERROR(source(inst->operands[1], type, a));
  TW_RETURN_IF_ERROR(source(inst->operands[2], type, b));
  return floatOp(approx ? Alu::DivApprox : Alu::DivFloat, type, rounding, ftz,
                 false, false, d, a, b);
}

Status Decoder::decodeRem() { return sameTypes(Alu::Rem, 2); }

Status Decoder::decodeMinMax() {
  bool isMin = inst->opcode == "min";
  bool ftz = takeModifier("ftz");
  bool nan = takeModifier("NaN");
  Type type;
  TW_RETURN_IF_ERROR(requireType(type));
  TW_RETURN_IF_ERROR(finishModifiers());
  TW_RETURN_IF_ERROR(expectOperands(3));
  uint32_t d;
  uint32_t a;
  uint32_t b;
  TW_RETURN_IF_ERROR(destination(inst->operands[0], ptx::bytesOf(type), d));
  TW_RETURN_IF_ERROR(source(inst->operands[1], type, a));
  TW_RETURN_IF_ERROR(source(inst->operands[2], type, b));
  if (!ptx::isFloat(type)) {
    return nan || ftz ? unsupportedForm()
                      : emitAlu(isMin ? Alu::Min : Alu::Max, type, d, a, b);
  }
  Alu op =
      isMin ? (nan ? Alu::MinNan : Alu::Min) : (nan ? Alu::MaxNan : Alu::Max);
  return floatOp(op, type, Rounding::Nearest, ftz, false, false, d, a, b);
}

Status Decoder::decodeAbsNeg() {
  bool ftz = takeModifier("ftz");
  Type type;
  TW_RETURN_IF_ERROR(requireType(type));
  TW_RETURN_IF_ERROR(finishModifiers());
  TW_RETURN_IF_ERROR(expectOperands(2));
  uint32_t d;
  uint32_t a;
  TW_RETURN_IF_ERROR(destination(inst->operands[0], ptx::bytesOf(type), d));
  TW_RETURN_IF_ERROR(source(inst->operands[1], type, a));
  Alu op = inst->opcode == "abs" ? Alu::Abs : Alu::Neg;
  return floatOp(op, type, Rounding::Nearest, ftz, false, false, d, a);
}

/// rcp, sqrt, rsqrt, sin, cos, lg2, ex2, tanh.
Status Decoder::decodeFunction() {
  Rounding rounding = Rounding::Nearest;
  bool hasRounding = takeRounding(rounding);
  bool approx = takeModifier("approx");
  bool ftz = takeModifier("ftz");
  Type type;
  TW_RETURN_IF_ERROR(requireType(type));
  TW_RETURN_IF_ERROR(finishModifiers());
  TW_RETURN_IF_ERROR(expectOperands(2));
  if (hasRounding == approx) {
    return error("expected .approx or a rounding");
  }
  std::string_view name = inst->opcode;
  Alu op = Alu::Mov;
  if (approx) {
    op = name == "rcp"     ? Alu::RcpApprox
         : name == "sqrt"  ? Alu::SqrtApprox
         : name == "rsqrt" ? Alu::RsqrtApprox
         : name == "sin"   ? Alu::Sin
         : name == "cos"   ? Alu::Cos
         : name == "lg2"   ? Alu::Lg2
         : name == "ex2"   ? Alu::Ex2
                           : Alu::Tanh;
  } else if (name == "rcp" || name == "sqrt") {
    op = name == "rcp" ? Alu::Rcp : Alu::Sqrt;
  } else {
    return unsupportedForm();
  }
  uint32_t d;
  uint32_t a;
  TW_RETURN_IF_ERROR(destination(inst->operands[0], ptx::bytesOf(type), d));
  TW_RETURN_IF_ERROR(source(inst->operands[1], type, a));
  return floatOp(op, type, rounding, ftz, false, false, d, a);
}

Status Decoder::decodeCopySign() {
  Type type;
  TW_RETURN_IF_ERROR(requireType(type));
  TW_RETURN_IF_ERROR(finishModifiers());
  TW_RETURN_IF_ERROR(expectOperands(3));
  uint32_t d;
  uint32_t sign;
  uint32_t value;
  TW_RETURN_IF_ERROR(destination(inst->operands[0], ptx::bytesOf(type), d));
  TW_RETURN_IF_ERROR(source(inst->operands[1], type, sign));
  TW_RETURN_IF_ERROR(source(inst->operands[2], type, value));
  return isHalf(type) ? unsupportedForm()
                      : emitAlu(Alu::CopySign, type, d, sign, value);
}
