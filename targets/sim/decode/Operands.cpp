//===- Operands.cpp - registers, constants and addresses ----------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "targets/sim/decode/Decoder.h"

#include <cstring>

using namespace tilewright;
using namespace tilewright::sim;
using ptx::Operand;

Status Decoder::error(const std::string &what) const {
  return {ErrorCode::ModuleDamaged,
          "PTX line " + std::to_string(current ? current->line : 0) + ": " +
              (inst ? "'" + std::string(inst->text) + "': " : "") + what};
}

Status Decoder::unsupported(const std::string &what) const {
  return {ErrorCode::UnsupportedInstruction,
          "PTX line " + std::to_string(current ? current->line : 0) + ": " +
              (inst ? "'" + std::string(inst->text) + "': " : "") + what};
}

Status Decoder::unsupportedForm() const {
  return unsupported("the simulator does not have this form of '" +
                     std::string(inst->opcode) + "'");
}

const Decoder::Symbol *Decoder::find(std::string_view name) const {
  for (size_t i = scopes.size(); i-- > functionScope;) {
    auto found = scopes[i].names.find(name);
    if (found != scopes[i].names.end()) {
      return &found->second;
    }
  }
  return nullptr;
}

bool Decoder::findRegister(std::string_view name, uint32_t &reg) const {
  if (const Symbol *symbol = find(name)) {
    reg = symbol->index;
    return symbol->kind == Symbol::Register;
  }
  size_t digits = name.size();
  while (digits > 0 && name[digits - 1] >= '0' && name[digits - 1] <= '9') {
    --digits;
  }
  if (digits == name.size() || name.size() - digits > 7 ||
      (name[digits] == '0' && name.size() - digits > 1)) {
    return false;
  }
  const Symbol *bank = find(name.substr(0, digits));
  if (!bank || bank->kind != Symbol::Bank) {
    return false;
  }
  uint32_t number = 0;
  for (char c : name.substr(digits)) {
    number = number * 10 + uint32_t(c - '0');
  }
  reg = bank->index + number;
  return number < bank->count;
}

uint32_t Decoder::newRegister(unsigned bytes) {
  VirtualRegister reg;
  reg.bytes = uint8_t(bytes);
  code.registers.push_back(reg);
  return uint32_t(code.registers.size() - 1);
}

uint32_t Decoder::constant(unsigned bytes, uint64_t bits, uint32_t variable) {
  if (bytes != 0 && bytes < 8) {
    bits &= (uint64_t(1) << (8 * bytes)) - 1;
  }
  std::vector<uint32_t> &candidates = constants[bits];
  for (uint32_t candidate : candidates) {
    const VirtualRegister &reg = code.registers[candidate];
    if (reg.bytes == bytes && reg.variable == variable) {
      return candidate;
    }
  }
  VirtualRegister reg;
  reg.bytes = uint8_t(bytes);
  reg.kind = VirtualRegister::Constant;
  reg.bits = bits;
  reg.variable = variable;
  code.registers.push_back(reg);
  candidates.push_back(uint32_t(code.registers.size() - 1));
  return candidates.back();
}

uint32_t Decoder::specialRegister(Special special) {
  auto [entry, isNew] = specials.try_emplace(unsigned(special), noOperand);
  if (isNew) {
    VirtualRegister reg;
    reg.kind = VirtualRegister::SpecialRegister;
    reg.special = special;
    code.registers.push_back(reg);
    entry->second = uint32_t(code.registers.size() - 1);
  }
  return entry->second;
}

bool Decoder::findSpecial(std::string_view name, uint32_t &reg) {
  static const std::unordered_map<std::string_view, Special> names = {
      {"%tid.x", Special::TidX},
      {"%tid.y", Special::TidY},
      {"%tid.z", Special::TidZ},
      {"%ntid.x", Special::NtidX},
      {"%ntid.y", Special::NtidY},
      {"%ntid.z", Special::NtidZ},
      {"%ctaid.x", Special::CtaidX},
      {"%ctaid.y", Special::CtaidY},
      {"%ctaid.z", Special::CtaidZ},
      {"%nctaid.x", Special::NctaidX},
      {"%nctaid.y", Special::NctaidY},
      {"%nctaid.z", Special::NctaidZ},
      {"%laneid", Special::LaneId},
      {"%warpid", Special::WarpId},
      {"%nwarpid", Special::NwarpId},
      {"%lanemask_eq", Special::LanemaskEq},
      {"%lanemask_le", Special::LanemaskLe},
      {"%lanemask_lt", Special::LanemaskLt},
      {"%lanemask_ge", Special::LanemaskGe},
      {"%lanemask_gt", Special::LanemaskGt},
      {"%smid", Special::SmId},
      {"%nsmid", Special::NsmId},
      {"%gridid", Special::GridId},
      {"%dynamic_smem_size", Special::DynamicShared},
      {"%total_smem_size", Special::TotalShared},
  };
  auto found = names.find(name);
  if (found == names.end()) {
    return false;
  }
  reg = specialRegister(found->second);
  return true;
}

uint32_t Decoder::newLabel() {
  code.labels.push_back(noOperand);
  return uint32_t(code.labels.size() - 1);
}

void Decoder::placeLabel(uint32_t label) {
  code.labels[label] = uint32_t(code.drafts.size());
}

/// \returns the bits that a constant has as a value of `type`.
static uint64_t bitsOf(const Operand &operand, ptx::Type type) {
  if (operand.kind == Operand::Float32 && type == ptx::Type::F64) {
    uint32_t bits = uint32_t(operand.value);
    float narrow;
    std::memcpy(&narrow, &bits, sizeof(bits));
    double wide = narrow;
    uint64_t result;
    std::memcpy(&result, &wide, sizeof(wide));
    return result;
  }
  if (operand.kind == Operand::Float64 && type == ptx::Type::F32) {
    double wide;
    std::memcpy(&wide, &operand.value, sizeof(wide));
    float narrow = float(wide);
    uint32_t bits;
    std::memcpy(&bits, &narrow, sizeof(bits));
    return bits;
  }
  return operand.value;
}

Status Decoder::source(const Operand &operand, Type type, uint32_t &reg) {
  if (type == Type::Pred) {
    return sourcePredicate(operand, reg);
  }
  unsigned bytes = ptx::bytesOf(type);
  switch (operand.kind) {
  case Operand::Integer:
  case Operand::Float32:
  case Operand::Float64:
    reg = constant(bytes, bitsOf(operand, type));
    return Status::ok();
  default:
    return sourceBytes(operand, bytes, reg);
  }
}

Status Decoder::sourceBytes(const Operand &operand, unsigned bytes,
                            uint32_t &reg) {
  if (operand.kind == Operand::Integer || operand.kind == Operand::Float32 ||
      operand.kind == Operand::Float64) {
    reg = constant(bytes, operand.value);
    return Status::ok();
  }
  if (operand.kind != Operand::Name || operand.negated || operand.value != 0) {
    return error("expected a register or a constant");
  }
  if (operand.name == "WARP_SZ") {
    reg = constant(bytes, lanesPerWarp);
    return Status::ok();
  }
  if (!findRegister(operand.name, reg) && !findSpecial(operand.name, reg)) {
    return error("there is no register '" + std::string(operand.name) + "'");
  }
  unsigned found = widthOf(reg);
  if (found != (bytes == 1 ? 2 : bytes)) {
    return error("'" + std::string(operand.name) + "' has " +
                 std::to_string(found * 8) + " bits, not " +
                 std::to_string(bytes * 8));
  }
  return Status::ok();
}

Status Decoder::sourcePredicate(const Operand &operand, uint32_t &reg) {
  if (operand.kind == Operand::Integer) {
    reg = constant(0, operand.value != 0 ? ~uint32_t(0) : 0);
    return Status::ok();
  }
  if (operand.kind != Operand::Name || operand.value != 0 ||
      !findRegister(operand.name, reg) || widthOf(reg) != 0) {
    return error("expected a predicate");
  }
  if (operand.negated) {
    uint32_t inverse = newRegister(0);
    TW_RETURN_IF_ERROR(emitOp(predicateHandler(Alu::Not),
                              InstructionClass::Predicate, inverse, reg));
    reg = inverse;
  }
  return Status::ok();
}

Status Decoder::destination(const Operand &operand, unsigned bytes,
                            uint32_t &reg) {
  if (operand.kind == Operand::Name && operand.name == "_") {
    reg = newRegister(bytes);
    return Status::ok();
  }
  if (operand.kind != Operand::Name || operand.negated || operand.value != 0 ||
      !findRegister(operand.name, reg)) {
    return error("expected a register as destination");
  }
  if (widthOf(reg) != (bytes == 1 ? 2 : bytes)) {
    return error("'" + std::string(operand.name) + "' has " +
                 std::to_string(widthOf(reg) * 8) + " bits, not " +
                 std::to_string(bytes * 8));
  }
  return Status::ok();
}

Status Decoder::destinationPredicate(const Operand &operand, uint32_t &reg) {
  if (operand.kind == Operand::Name && operand.name == "_") {
    reg = newRegister(0);
    return Status::ok();
  }
  if (operand.kind != Operand::Name || operand.negated ||
      !findRegister(operand.name, reg) || widthOf(reg) != 0) {
    return error("expected a predicate as destination");
  }
  return Status::ok();
}

Status Decoder::anyRegister(const Operand &operand, uint32_t &reg) {
  if (operand.kind != Operand::Name || operand.negated || operand.value != 0 ||
      (!findRegister(operand.name, reg) && !findSpecial(operand.name, reg)) ||
      widthOf(reg) == 0) {
    return error("expected a register");
  }
  return Status::ok();
}

Status Decoder::address(const Operand &operand, Draft &draft) {
  if (operand.kind != Operand::Address) {
    return error("expected an address in brackets");
  }
  draft.inst.imm = int64_t(operand.value);
  if (operand.name.empty()) {
    return Status::ok();
  }
  uint32_t reg;
  if (findRegister(operand.name, reg)) {
    bool windowed =
        draft.inst.space == Space::Shared || draft.inst.space == Space::Local;
    if (widthOf(reg) != 8 && !(widthOf(reg) == 4 && windowed)) {
      return error("an address must be in a 64-bit register");
    }
    draft.inst.a = reg;
    draft.inst.narrowAddress = widthOf(reg) == 4;
    draft.registers |= 2;
    return Status::ok();
  }
  const Symbol *symbol = find(operand.name);
  Symbol global;
  if (!symbol) {
    auto found = symbols.variables.find(operand.name);
    auto shared = symbols.shared.find(operand.name);
    if (found != symbols.variables.end()) {
      global.kind = Symbol::Variable;
      global.space = Space::Global;
      global.index = found->second;
      symbol = &global;
    } else if (shared != symbols.shared.end()) {
      global.kind = Symbol::Variable;
      global.space = Space::Shared;
      global.offset = placeShared(*shared->second);
      global.bytes = shared->second->isExtern ? 0 : 1;
      symbol = &global;
    }
  }
  if (!symbol || symbol->kind != Symbol::Variable) {
    return error("there is no variable '" + std::string(operand.name) + "'");
  }
  Space space = symbol->space;
  bool matches = space == draft.inst.space ||
                 (space == Space::Global && draft.inst.space == Space::Const) ||
                 (space == Space::Global && draft.inst.space == Space::Generic);
  if (!matches) {
    return error("'" + std::string(operand.name) +
                 "' lies in another state space");
  }
  if (space == Space::Global) {
    draft.inst.a = constant(8, 0, symbol->index);
    draft.registers |= 2;
  } else if (space == Space::Shared && symbol->bytes == 0) {
    draft.inst.a = newRegister(4);
    code.registers[draft.inst.a].kind = VirtualRegister::Constant;
    dynamicShared.push_back(draft.inst.a);
    draft.inst.narrowAddress = true;
    draft.registers |= 2;
  } else {
    draft.inst.imm += int64_t(symbol->offset);
  }
  return Status::ok();
}

Status Decoder::expectOperands(size_t count) const {
  return expectOperands(count, count);
}

Status Decoder::expectOperands(size_t least, size_t most) const {
  size_t found = inst->operands.size();
  if (found >= least && found <= most) {
    return Status::ok();
  }
  return error("found " + std::to_string(found) + " operands, expected " +
               std::to_string(least) +
               (most != least ? " to " + std::to_string(most) : ""));
}

bool Decoder::takeModifier(std::string_view word) {
  for (size_t i = 0; i < modifiers.size(); ++i) {
    if (modifiers[i] == word) {
      modifiers.erase(modifiers.begin() + ptrdiff_t(i));
      return true;
    }
  }
  return false;
}

bool Decoder::peekModifier(std::string_view word) const {
  for (std::string_view modifier : modifiers) {
    if (modifier == word) {
      return true;
    }
  }
  return false;
}

Decoder::Type Decoder::takeType() {
  for (size_t i = 0; i < modifiers.size(); ++i) {
    Type type = ptx::typeNamed(modifiers[i]);
    if (type != Type::None) {
      modifiers.erase(modifiers.begin() + ptrdiff_t(i));
      return type;
    }
  }
  return Type::None;
}

Status Decoder::requireType(Type &type) {
  type = takeType();
  return type == Type::None ? error("a type is missing") : Status::ok();
}

bool Decoder::takeRounding(Rounding &rounding) {
  if (takeModifier("rn")) {
    rounding = Rounding::Nearest;
  } else if (takeModifier("rz")) {
    rounding = Rounding::Zero;
  } else if (takeModifier("rm")) {
    rounding = Rounding::Down;
  } else if (takeModifier("rp")) {
    rounding = Rounding::Up;
  } else {
    return false;
  }
  return true;
}

/// Hints about caches change no result.
void Decoder::takeCacheHints() {
  for (size_t i = 0; i < modifiers.size();) {
    std::string_view word = modifiers[i];
    bool isHint = word == "ca" || word == "cg" || word == "cs" ||
                  word == "lu" || word == "cv" || word == "wb" ||
                  word == "wt" || word == "L1::evict_normal" ||
                  word == "L1::evict_unchanged" || word == "L1::evict_first" ||
                  word == "L1::evict_last" || word == "L1::no_allocate" ||
                  word == "L2::evict_last" || word == "L2::evict_normal" ||
                  word == "L2::evict_first" || word == "L2::64B" ||
                  word == "L2::128B" || word == "L2::256B";
    if (isHint) {
      modifiers.erase(modifiers.begin() + ptrdiff_t(i));
    } else {
      ++i;
    }
  }
}

/// The simulator's memory is coherent for all threads of all scopes.
void Decoder::takeScopes() {
  takeModifier("cta") || takeModifier("gpu") || takeModifier("sys") ||
      takeModifier("cluster");
}

Status Decoder::finishModifiers() const {
  if (modifiers.empty()) {
    return Status::ok();
  }
  return unsupported("the simulator does not have the modifier '." +
                     std::string(modifiers.front()) + "' of '" +
                     std::string(inst->opcode) + "'");
}

Draft Decoder::makeDraft(Handler handler, InstructionClass cls) {
  Draft draft;
  draft.inst.run = handler;
  draft.inst.cls = cls;
  return draft;
}

void Decoder::emit(Draft draft) {
  if (guard != noOperand && draft.flow != Draft::Branch) {
    draft.inst.guard = guard;
    draft.inst.guardNegated = inst->guardNegated;
  }
  draft.line.ptxLine = current->line;
  draft.line.sourceFile = sourceFile;
  draft.line.sourceLine = sourceLine;
  draft.line.text = inst ? inst->text : std::string_view();
  code.drafts.push_back(std::move(draft));
}

Status Decoder::emitOp(Handler handler, InstructionClass cls, uint32_t d,
                       uint32_t a, uint32_t b, uint32_t c, unsigned mode) {
  if (!handler) {
    return unsupportedForm();
  }
  Draft draft = makeDraft(handler, cls);
  draft.inst.d = d;
  draft.inst.a = a;
  draft.inst.b = b;
  draft.inst.c = c;
  draft.inst.mode = uint16_t(mode);
  draft.registers = uint8_t((d != noOperand) | (a != noOperand) << 1 |
                            (b != noOperand) << 2 | (c != noOperand) << 3);
  emit(std::move(draft));
  return Status::ok();
}

InstructionClass Decoder::classOf(Type type) const {
  switch (type) {
  case Type::F16:
  case Type::F16x2:
  case Type::Bf16:
  case Type::Bf16x2:
    return InstructionClass::Half;
  case Type::F32:
  case Type::Tf32:
    return InstructionClass::Float32;
  case Type::F64:
    return InstructionClass::Float64;
  case Type::Pred:
    return InstructionClass::Predicate;
  default:
    return InstructionClass::Integer;
  }
}

Status Decoder::emitAlu(Alu op, Type type, uint32_t d, uint32_t a, uint32_t b,
                        uint32_t c, unsigned mode) {
  InstructionClass cls = op == Alu::Mov || op == Alu::Selp
                             ? InstructionClass::Move
                             : classOf(type);
  return emitOp(handlers().alu(op, type), cls, d, a, b, c, mode);
}
