//===- DecodeControl.cpp - branches, barriers and warps -----------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "targets/sim/decode/Decoder.h"

using namespace tilewright;
using namespace tilewright::sim;
using ptx::Operand;

Status Decoder::decodeBra() {
  takeModifier("uni");
  TW_RETURN_IF_ERROR(finishModifiers());
  TW_RETURN_IF_ERROR(expectOperands(1));
  const Operand &target = inst->operands[0];
  const Symbol *symbol =
      target.kind == Operand::Name ? find(target.name) : nullptr;
  if (!symbol || symbol->kind != Symbol::Label) {
    return error("there is no label '" + std::string(target.name) + "'");
  }
  Draft draft =
      makeDraft(guard == noOperand ? exec::branch : exec::branchGuarded,
                InstructionClass::Control);
  draft.flow = Draft::Branch;
  draft.targets = {symbol->index};
  draft.inst.guard = guard;
  draft.inst.guardNegated = inst->guardNegated;
  emit(std::move(draft));
  return Status::ok();
}

/// brx.idx index, list. A guarded one jumps around it.
Status Decoder::decodeBrx() {
  bool isIndexed = takeModifier("idx");
  takeModifier("uni");
  TW_RETURN_IF_ERROR(finishModifiers());
  TW_RETURN_IF_ERROR(expectOperands(2));
  const Operand &list = inst->operands[1];
  const Symbol *targets =
      list.kind == Operand::Name ? find(list.name) : nullptr;
  if (!isIndexed || !targets || targets->kind != Symbol::Targets) {
    return error("expected the name of a list of branch targets");
  }
  uint32_t skipped = noOperand;
  if (guard != noOperand) {
    skipped = newLabel();
    Draft skip = makeDraft(exec::branchGuarded, InstructionClass::Control);
    skip.flow = Draft::Branch;
    skip.targets = {skipped};
    skip.inst.guard = guard;
    skip.inst.guardNegated = !inst->guardNegated;
    emit(std::move(skip));
    guard = noOperand;
  }
  Draft draft = makeDraft(exec::branchIndexed, InstructionClass::Control);
  draft.flow = Draft::Branch;
  TW_RETURN_IF_ERROR(source(inst->operands[0], Type::U32, draft.inst.b));
  draft.registers = 4;
  for (std::string_view name : targetLists[targets->index]) {
    const Symbol *symbol = find(name);
    if (!symbol || symbol->kind != Symbol::Label) {
      return error("there is no label '" + std::string(name) + "'");
    }
    draft.targets.push_back(symbol->index);
  }
  emit(std::move(draft));
  if (skipped != noOperand) {
    placeLabel(skipped);
  }
  return Status::ok();
}

Status Decoder::decodeRet() {
  takeModifier("uni");
  if (returnLabel == noOperand) {
    return decodeExit();
  }
  TW_RETURN_IF_ERROR(finishModifiers());
  TW_RETURN_IF_ERROR(expectOperands(0));
  Draft draft =
      makeDraft(guard == noOperand ? exec::branch : exec::branchGuarded,
                InstructionClass::Control);
  draft.flow = Draft::Branch;
  draft.targets = {returnLabel};
  draft.inst.guard = guard;
  draft.inst.guardNegated = inst->guardNegated;
  emit(std::move(draft));
  return Status::ok();
}

Status Decoder::decodeExit() {
  TW_RETURN_IF_ERROR(finishModifiers());
  TW_RETURN_IF_ERROR(expectOperands(0));
  Draft draft = makeDraft(exec::exitLanes, InstructionClass::Control);
  draft.flow = Draft::Exit;
  emit(std::move(draft));
  return Status::ok();
}

Status Decoder::decodeTrap() {
  TW_RETURN_IF_ERROR(finishModifiers());
  return emitOp(exec::trap, InstructionClass::Control, noOperand);
}

/// nanosleep: no result depends on it.
Status Decoder::decodeNothing() {
  return emitOp(exec::nothing, InstructionClass::Control, noOperand);
}

/// bar and barrier; bar.warp.sync.
Status Decoder::decodeBarrier() {
  if (inst->opcode == "bar" && takeModifier("warp")) {
    bool isSync = takeModifier("sync");
    TW_RETURN_IF_ERROR(finishModifiers());
    TW_RETURN_IF_ERROR(expectOperands(1));
    uint32_t mask;
    TW_RETURN_IF_ERROR(source(inst->operands[0], Type::B32, mask));
    return isSync ? emitOp(exec::warpSync, InstructionClass::Warp, noOperand,
                           noOperand, mask)
                  : unsupportedForm();
  }
  takeModifier("cta");
  takeModifier("aligned");
  bool sync = takeModifier("sync");
  bool arrive = takeModifier("arrive");
  bool red = takeModifier("red");
  unsigned mode = takeModifier("popc")  ? 0
                  : takeModifier("and") ? 1
                  : takeModifier("or")  ? 2
                                        : 3;
  Type type = takeType();
  TW_RETURN_IF_ERROR(finishModifiers());
  if (sync + arrive + red != 1 || red != (mode != 3)) {
    return unsupportedForm();
  }
  size_t at = 0;
  Draft draft = makeDraft(sync     ? exec::barrierSync
                          : arrive ? exec::barrierArrive
                                   : exec::barrierReduce,
                          InstructionClass::Barrier);
  if (red) {
    TW_RETURN_IF_ERROR(expectOperands(3, 4));
    bool isPopc = mode == 0;
    if (type != (isPopc ? Type::U32 : Type::Pred)) {
      return unsupportedForm();
    }
    TW_RETURN_IF_ERROR(
        isPopc ? destination(inst->operands[0], 4, draft.inst.d)
               : destinationPredicate(inst->operands[0], draft.inst.d));
    TW_RETURN_IF_ERROR(sourcePredicate(inst->operands.back(), draft.inst.c));
    draft.registers |= 9;
    draft.inst.mode = uint16_t(mode);
    at = 1;
  } else {
    TW_RETURN_IF_ERROR(expectOperands(arrive ? 2 : 1, 2));
  }
  TW_RETURN_IF_ERROR(source(inst->operands[at], Type::U32, draft.inst.a));
  draft.registers |= 2;
  if (inst->operands.size() - at - (red ? 1 : 0) == 2) {
    TW_RETURN_IF_ERROR(source(inst->operands[at + 1], Type::U32, draft.inst.b));
    draft.registers |= 4;
  }
  emit(std::move(draft));
  return Status::ok();
}

/// membar and fence: the simulator's memory needs none, but they order
/// accesses of different blocks.
Status Decoder::decodeFence() {
  bool known = takeModifier("cta") || takeModifier("gl") ||
               takeModifier("gpu") || takeModifier("sys") ||
               takeModifier("cluster");
  takeModifier("sc");
  takeModifier("acq_rel");
  TW_RETURN_IF_ERROR(finishModifiers());
  TW_RETURN_IF_ERROR(expectOperands(0));
  return known ? emitOp(exec::fence, InstructionClass::Barrier, noOperand)
               : error("a scope is missing");
}

Status Decoder::decodeShfl() {
  bool isSync = takeModifier("sync");
  ShuffleMode mode = takeModifier("up")     ? ShuffleMode::Up
                     : takeModifier("down") ? ShuffleMode::Down
                     : takeModifier("bfly") ? ShuffleMode::Bfly
                                            : ShuffleMode::Idx;
  takeModifier("idx");
  Type type = takeType();
  TW_RETURN_IF_ERROR(finishModifiers());
  TW_RETURN_IF_ERROR(expectOperands(5));
  if (!isSync || ptx::bytesOf(type) != 4) {
    return unsupportedForm();
  }
  Draft draft = makeDraft(exec::shuffle, InstructionClass::Warp);
  const Operand &to = inst->operands[0];
  bool isPair = to.kind == Operand::Pair;
  uint32_t mask;
  uint32_t inRange;
  TW_RETURN_IF_ERROR(
      destination(isPair ? to.elements[0] : to, 4, draft.inst.d));
  TW_RETURN_IF_ERROR(source(inst->operands[1], Type::B32, draft.inst.a));
  TW_RETURN_IF_ERROR(source(inst->operands[2], Type::B32, draft.inst.b));
  TW_RETURN_IF_ERROR(source(inst->operands[3], Type::B32, draft.inst.c));
  TW_RETURN_IF_ERROR(source(inst->operands[4], Type::B32, mask));
  if (isPair) {
    TW_RETURN_IF_ERROR(destinationPredicate(to.elements[1], inRange));
  } else {
    inRange = newRegister(0);
  }
  draft.registers = 15;
  draft.inst.mode = uint16_t(mode);
  draft.wide = {inRange, mask};
  draft.wideWrites = 1;
  emit(std::move(draft));
  return Status::ok();
}

Status Decoder::decodeVote() {
  bool isSync = takeModifier("sync");
  VoteMode mode = takeModifier("all")   ? VoteMode::All
                  : takeModifier("any") ? VoteMode::Any
                  : takeModifier("uni") ? VoteMode::Uni
                                        : VoteMode::Ballot;
  bool isBallot = takeModifier("ballot");
  Type type = takeType();
  TW_RETURN_IF_ERROR(finishModifiers());
  TW_RETURN_IF_ERROR(expectOperands(3));
  if (!isSync || isBallot != (mode == VoteMode::Ballot) ||
      type != (isBallot ? Type::B32 : Type::Pred)) {
    return unsupportedForm();
  }
  uint32_t d;
  uint32_t a;
  uint32_t mask;
  TW_RETURN_IF_ERROR(isBallot ? destination(inst->operands[0], 4, d)
                              : destinationPredicate(inst->operands[0], d));
  TW_RETURN_IF_ERROR(sourcePredicate(inst->operands[1], a));
  TW_RETURN_IF_ERROR(source(inst->operands[2], Type::B32, mask));
  return emitOp(exec::vote, InstructionClass::Warp, d, a, mask, noOperand,
                unsigned(mode));
}

Status Decoder::decodeMatch() {
  bool isAll = takeModifier("all");
  bool isAny = takeModifier("any");
  bool isSync = takeModifier("sync");
  Type type = takeType();
  TW_RETURN_IF_ERROR(finishModifiers());
  TW_RETURN_IF_ERROR(expectOperands(3));
  if (!isSync || isAll == isAny || (type != Type::B32 && type != Type::B64)) {
    return unsupportedForm();
  }
  Draft draft = makeDraft(isAll ? exec::matchAll : exec::matchAny,
                          InstructionClass::Warp);
  const Operand &to = inst->operands[0];
  bool isPair = to.kind == Operand::Pair;
  TW_RETURN_IF_ERROR(
      destination(isPair ? to.elements[0] : to, 4, draft.inst.d));
  TW_RETURN_IF_ERROR(source(inst->operands[1], type, draft.inst.a));
  TW_RETURN_IF_ERROR(source(inst->operands[2], Type::B32, draft.inst.b));
  draft.registers = 7;
  draft.inst.size = uint8_t(ptx::bytesOf(type));
  if (isAll) {
    uint32_t equal;
    if (isPair) {
      TW_RETURN_IF_ERROR(destinationPredicate(to.elements[1], equal));
    } else {
      equal = newRegister(0);
    }
    draft.wide = {equal};
    draft.wideWrites = 1;
  }
  emit(std::move(draft));
  return Status::ok();
}

Status Decoder::decodeActivemask() {
  Type type = takeType();
  TW_RETURN_IF_ERROR(finishModifiers());
  TW_RETURN_IF_ERROR(expectOperands(1));
  uint32_t d;
  TW_RETURN_IF_ERROR(destination(inst->operands[0], 4, d));
  return type == Type::B32 ? emitOp(exec::activeMask, InstructionClass::Warp, d)
                           : unsupportedForm();
}

Status Decoder::decodeRedux() {
  bool isSync = takeModifier("sync");
  static const struct {
    const char *word;
    AtomicOp op;
  } words[] = {{"add", AtomicOp::Add}, {"min", AtomicOp::Min},
               {"max", AtomicOp::Max}, {"and", AtomicOp::And},
               {"or", AtomicOp::Or},   {"xor", AtomicOp::Xor}};
  const AtomicOp *op = nullptr;
  for (const auto &entry : words) {
    if (!op && takeModifier(entry.word)) {
      op = &entry.op;
    }
  }
  Type type = takeType();
  TW_RETURN_IF_ERROR(finishModifiers());
  TW_RETURN_IF_ERROR(expectOperands(3));
  if (!isSync || !op || !ptx::isInteger(type) || ptx::bytesOf(type) != 4) {
    return unsupportedForm();
  }
  uint32_t d;
  uint32_t a;
  uint32_t mask;
  TW_RETURN_IF_ERROR(destination(inst->operands[0], 4, d));
  TW_RETURN_IF_ERROR(source(inst->operands[1], type, a));
  TW_RETURN_IF_ERROR(source(inst->operands[2], Type::B32, mask));
  return emitOp(ptx::isSigned(type) ? exec::reduxSigned : exec::reduxUnsigned,
                InstructionClass::Warp, d, a, mask, noOperand, unsigned(*op));
}

Status Decoder::decodeElect() {
  bool isSync = takeModifier("sync");
  TW_RETURN_IF_ERROR(finishModifiers());
  TW_RETURN_IF_ERROR(expectOperands(2));
  const Operand &to = inst->operands[0];
  if (!isSync || to.kind != Operand::Pair) {
    return unsupportedForm();
  }
  Draft draft = makeDraft(exec::electLane, InstructionClass::Warp);
  uint32_t p;
  TW_RETURN_IF_ERROR(destination(to.elements[0], 4, draft.inst.d));
  TW_RETURN_IF_ERROR(destinationPredicate(to.elements[1], p));
  TW_RETURN_IF_ERROR(source(inst->operands[1], Type::B32, draft.inst.b));
  draft.registers = 5;
  draft.wide = {p};
  draft.wideWrites = 1;
  emit(std::move(draft));
  return Status::ok();
}
