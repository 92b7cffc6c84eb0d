//===- DecodeMatrix.cpp - mma, and the table of instructions
//---------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "targets/sim/decode/Decoder.h"

using namespace tilewright;
using namespace tilewright::sim;
using ptx::Operand;

/// mma.sync.aligned.m16n8kK.row.col.D.A.B.C: the operands' registers go to
/// `wide` in the order d, a, b, c.
Status Decoder::decodeMma() {
  bool form = takeModifier("sync") && takeModifier("aligned");
  unsigned k = takeModifier("m16n8k4")    ? 4
               : takeModifier("m16n8k8")  ? 8
               : takeModifier("m16n8k16") ? 16
               : takeModifier("m16n8k32") ? 32
                                          : 0;
  form = takeModifier("row") && takeModifier("col") && form;
  bool satfinite = takeModifier("satfinite");
  Type types[4];
  for (Type &type : types) {
    TW_RETURN_IF_ERROR(requireType(type));
  }
  TW_RETURN_IF_ERROR(finishModifiers());
  TW_RETURN_IF_ERROR(expectOperands(4));
  Type a = types[1];
  Type b = types[2];
  Handler handler = form && k != 0 && types[0] == types[3] &&
                            (!satfinite || types[0] == Type::S32)
                        ? handlers().mma(k, a, b, types[0])
                        : nullptr;
  if (!handler) {
    return unsupportedForm();
  }
  Draft draft = makeDraft(handler, InstructionClass::Matrix);
  unsigned elementBytes = ptx::bytesOf(a);
  unsigned accumulators = types[0] == Type::F16 ? 2 : 4;
  unsigned counts[4] = {accumulators, 16 * k * elementBytes / 128,
                        8 * k * elementBytes / 128, accumulators};
  for (unsigned i = 0; i < 4; ++i) {
    const Operand &operand = inst->operands[i];
    std::vector<Operand> parts{operand};
    if (operand.kind == Operand::Vector) {
      parts = operand.elements;
    }
    if (parts.size() != counts[i]) {
      return error("expected " + std::to_string(counts[i]) +
                   " registers in operand " + std::to_string(i + 1));
    }
    for (const Operand &part : parts) {
      uint32_t reg;
      TW_RETURN_IF_ERROR(i == 0 ? destination(part, 4, reg)
                                : sourceBytes(part, 4, reg));
      draft.wide.push_back(reg);
    }
  }
  draft.wideWrites = counts[0];
  draft.inst.mode = satfinite;
  emit(std::move(draft));
  return Status::ok();
}

const std::unordered_map<std::string_view, Decoder::Method> &
Decoder::methods() {
  static const std::unordered_map<std::string_view, Method> table = {
      {"abs", &Decoder::decodeAbsNeg},
      {"activemask", &Decoder::decodeActivemask},
      {"add", &Decoder::decodeAddSub},
      {"addc", &Decoder::decodeAddSub},
      {"and", &Decoder::decodeLogic},
      {"applypriority", &Decoder::decodePrefetch},
      {"atom", &Decoder::decodeAtom},
      {"bar", &Decoder::decodeBarrier},
      {"barrier", &Decoder::decodeBarrier},
      {"bfe", &Decoder::decodeBfe},
      {"bfi", &Decoder::decodeBfi},
      {"bfind", &Decoder::decodeBfind},
      {"bmsk", &Decoder::decodeBmsk},
      {"bra", &Decoder::decodeBra},
      {"brev", &Decoder::decodeCount},
      {"brx", &Decoder::decodeBrx},
      {"clz", &Decoder::decodeCount},
      {"cnot", &Decoder::decodeLogic},
      {"copysign", &Decoder::decodeCopySign},
      {"cos", &Decoder::decodeFunction},
      {"cp", &Decoder::decodeCp},
      {"cvt", &Decoder::decodeCvt},
      {"cvta", &Decoder::decodeCvta},
      {"discard", &Decoder::decodePrefetch},
      {"div", &Decoder::decodeDiv},
      {"dp2a", &Decoder::decodeDp},
      {"dp4a", &Decoder::decodeDp},
      {"elect", &Decoder::decodeElect},
      {"ex2", &Decoder::decodeFunction},
      {"exit", &Decoder::decodeExit},
      {"fence", &Decoder::decodeFence},
      {"fma", &Decoder::decodeFma},
      {"fns", &Decoder::decodeFns},
      {"isspacep", &Decoder::decodeIsspacep},
      {"ld", &Decoder::decodeLd},
      {"ldmatrix", &Decoder::decodeLdmatrix},
      {"ldu", &Decoder::decodeLd},
      {"lg2", &Decoder::decodeFunction},
      {"lop3", &Decoder::decodeLop3},
      {"mad", &Decoder::decodeMad},
      {"mad24", &Decoder::decodeMul24},
      {"madc", &Decoder::decodeMad},
      {"match", &Decoder::decodeMatch},
      {"max", &Decoder::decodeMinMax},
      {"membar", &Decoder::decodeFence},
      {"min", &Decoder::decodeMinMax},
      {"mma", &Decoder::decodeMma},
      {"mov", &Decoder::decodeMov},
      {"mul", &Decoder::decodeMul},
      {"mul24", &Decoder::decodeMul24},
      {"nanosleep", &Decoder::decodeNothing},
      {"neg", &Decoder::decodeAbsNeg},
      {"not", &Decoder::decodeLogic},
      {"or", &Decoder::decodeLogic},
      {"popc", &Decoder::decodeCount},
      {"prefetch", &Decoder::decodePrefetch},
      {"prefetchu", &Decoder::decodePrefetch},
      {"prmt", &Decoder::decodePrmt},
      {"rcp", &Decoder::decodeFunction},
      {"red", &Decoder::decodeAtom},
      {"redux", &Decoder::decodeRedux},
      {"rem", &Decoder::decodeRem},
      {"ret", &Decoder::decodeRet},
      {"rsqrt", &Decoder::decodeFunction},
      {"sad", &Decoder::decodeSad},
      {"selp", &Decoder::decodeSelp},
      {"set", &Decoder::decodeSet},
      {"setp", &Decoder::decodeSetp},
      {"shf", &Decoder::decodeShf},
      {"shfl", &Decoder::decodeShfl},
      {"shl", &Decoder::decodeShift},
      {"shr", &Decoder::decodeShift},
      {"sin", &Decoder::decodeFunction},
      {"slct", &Decoder::decodeSlct},
      {"sqrt", &Decoder::decodeFunction},
      {"st", &Decoder::decodeSt},
      {"stmatrix", &Decoder::decodeLdmatrix},
      {"sub", &Decoder::decodeAddSub},
      {"subc", &Decoder::decodeAddSub},
      {"tanh", &Decoder::decodeFunction},
      {"testp", &Decoder::decodeTestp},
      {"trap", &Decoder::decodeTrap},
      {"vote", &Decoder::decodeVote},
      {"xor", &Decoder::decodeLogic},
  };
  return table;
}
