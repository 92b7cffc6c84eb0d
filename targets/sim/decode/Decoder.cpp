//===- Decoder.cpp - statements, scopes and calls -----------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "targets/sim/decode/Decoder.h"

#include <algorithm>

using namespace tilewright;
using namespace tilewright::sim;
using ptx::Operand;
using ptx::Statement;

/// More than any kernel has; text that asks for more is damaged.
static constexpr uint64_t maxSharedBytes = uint64_t(1) << 24;
static constexpr uint64_t maxLocalBytes = uint64_t(1) << 19;
static constexpr size_t maxInstructions = 1000000;
static constexpr size_t maxRegisters = 4000000;

static uint64_t alignTo(uint64_t value, uint64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

Result<Kernel> Decoder::run(const ptx::Function &function) {
  Kernel kernel;
  kernel.name = std::string(function.name);
  kernel.maxThreads = function.maxThreads ? function.maxThreads : 1024;
  Statement head;
  head.line = function.line;
  current = &head;
  scopes.emplace_back();
  TW_RETURN_IF_ERROR(declareKernelParameters(function, kernel));
  callStack.push_back(&function);
  TW_RETURN_IF_ERROR(decodeBody(function));
  current = &head;
  inst = nullptr;
  // Control that reaches the end leaves the kernel.
  Draft end = makeDraft(exec::exitLanes, InstructionClass::Control);
  end.flow = Draft::Exit;
  guard = noOperand;
  emit(std::move(end));
  for (const Draft &draft : code.drafts) {
    for (uint32_t label : draft.targets) {
      if (code.labels[label] >= code.drafts.size()) {
        return error("a label is missing");
      }
    }
  }
  auto result = std::make_shared<Code>();
  result->text = text;
  result->kernelName = kernel.name;
  for (const ptx::SourceFile &file : symbols.module->files) {
    if (file.number < 65536) {
      if (file.number >= result->files.size()) {
        result->files.resize(file.number + 1);
      }
      result->files[file.number] = std::string(file.name);
    }
  }
  sharedBytes = alignTo(sharedBytes, 16);
  for (uint32_t reg : dynamicShared) {
    code.registers[reg].bits = sharedBytes;
  }
  result->staticSharedBytes = uint32_t(sharedBytes);
  result->localBytes = uint32_t(alignTo(localBytes, 16));
  for (const VirtualRegister &reg : code.registers) {
    if (reg.kind == VirtualRegister::Ordinary) {
      kernel.registers += reg.bytes == 8 ? 2 : 1;
    }
  }
  assemble(code, *result);
  kernel.staticSharedBytes = result->staticSharedBytes;
  kernel.localBytes = result->localBytes;
  kernel.code = std::move(result);
  return kernel;
}

Status Decoder::declareKernelParameters(const ptx::Function &function,
                                        Kernel &kernel) {
  uint64_t offset = 0;
  for (const ptx::Variable &parameter : function.parameters) {
    if (parameter.isRegister) {
      return error("an entry point has a parameter in a register");
    }
    offset = alignTo(offset, parameter.alignment);
    Symbol symbol;
    symbol.kind = Symbol::Variable;
    symbol.space = Space::Param;
    symbol.offset = offset;
    symbol.bytes = parameter.bytes();
    symbol.isKernelParameter = true;
    scopes.back().names[parameter.name] = symbol;
    kernel.parameters.push_back({std::string(parameter.name), uint32_t(offset),
                                 uint32_t(symbol.bytes), parameter.alignment});
    offset += symbol.bytes;
    if (offset > 32768) {
      return error("the parameters take more than 32 KiB");
    }
  }
  kernel.parameterBytes = uint32_t(offset);
  return Status::ok();
}

/// Labels are known in their whole scope, so they are declared when it begins.
Status Decoder::declareLabels(const std::vector<Statement> &body,
                              size_t begin) {
  unsigned depth = 0;
  for (size_t i = begin; i < body.size(); ++i) {
    const Statement &statement = body[i];
    if (statement.kind == Statement::ScopeBegin) {
      ++depth;
    } else if (statement.kind == Statement::ScopeEnd) {
      if (depth-- == 0) {
        break;
      }
    } else if (depth == 0 && (statement.kind == Statement::Label ||
                              statement.kind == Statement::BranchTargets)) {
      Symbol symbol;
      if (statement.kind == Statement::Label) {
        symbol.kind = Symbol::Label;
        symbol.index = newLabel();
      } else {
        symbol.kind = Symbol::Targets;
        symbol.index = uint32_t(targetLists.size());
        targetLists.push_back(statement.targets);
      }
      if (!scopes.back().names.emplace(statement.label, symbol).second) {
        current = &statement;
        return error("the name '" + std::string(statement.label) +
                     "' is declared twice");
      }
    }
  }
  return Status::ok();
}

Status Decoder::decodeBody(const ptx::Function &function) {
  TW_RETURN_IF_ERROR(declareLabels(function.body, 0));
  for (size_t i = 0; i < function.body.size(); ++i) {
    const Statement &statement = function.body[i];
    current = &statement;
    inst = nullptr;
    if (code.drafts.size() > maxInstructions ||
        code.registers.size() > maxRegisters) {
      return error("the kernel is too large");
    }
    if (statement.kind == Statement::ScopeBegin) {
      scopes.emplace_back();
      TW_RETURN_IF_ERROR(declareLabels(function.body, i + 1));
    } else if (statement.kind == Statement::ScopeEnd) {
      scopes.pop_back();
    } else {
      TW_RETURN_IF_ERROR(decodeStatement(statement));
    }
  }
  return Status::ok();
}

Status Decoder::decodeStatement(const Statement &statement) {
  switch (statement.kind) {
  case Statement::Declaration:
    for (const ptx::Variable &variable : statement.variables) {
      TW_RETURN_IF_ERROR(declare(variable));
    }
    return Status::ok();
  case Statement::Label:
    placeLabel(find(statement.label)->index);
    return Status::ok();
  case Statement::Location:
    sourceFile = statement.sourceFile;
    sourceLine = statement.sourceLine;
    return Status::ok();
  case Statement::Instr:
    return decodeInstruction(statement);
  default:
    return Status::ok();
  }
}

Status Decoder::decodeInstruction(const Statement &statement) {
  inst = &statement.instruction;
  modifiers = inst->modifiers;
  guard = noOperand;
  if (!inst->guard.empty()) {
    if (!findRegister(inst->guard, guard) || widthOf(guard) != 0) {
      return error("there is no predicate '" + std::string(inst->guard) + "'");
    }
  }
  if (inst->opcode == "call") {
    return decodeCall();
  }
  auto found = methods().find(inst->opcode);
  if (found == methods().end()) {
    return unsupported("the simulator does not have the instruction '" +
                       std::string(inst->opcode) + "'");
  }
  return (this->*found->second)();
}

uint64_t Decoder::placeShared(const ptx::Variable &variable) {
  if (variable.isExtern) {
    return 0;
  }
  auto [entry, isNew] = sharedOffsets.try_emplace(&variable, 0);
  if (isNew) {
    sharedBytes = alignTo(sharedBytes, variable.alignment);
    entry->second = sharedBytes;
    sharedBytes += variable.bytes();
  }
  return entry->second;
}

Status Decoder::declare(const ptx::Variable &variable) {
  Symbol symbol;
  if (variable.isRegister) {
    if (variable.vector != 1 || variable.isArray) {
      return unsupported("the simulator does not have vector registers");
    }
    unsigned bytes = ptx::bytesOf(variable.type);
    if (bytes > 8) {
      return unsupported("the simulator does not have 128-bit registers");
    }
    symbol.kind = variable.count ? Symbol::Bank : Symbol::Register;
    symbol.count = variable.count;
    symbol.index = uint32_t(code.registers.size());
    unsigned stored = variable.type == Type::Pred ? 0 : bytes == 1 ? 2 : bytes;
    for (uint32_t i = 0; i < std::max(variable.count, 1u); ++i) {
      newRegister(stored);
    }
  } else {
    symbol.kind = Symbol::Variable;
    symbol.space = variable.space;
    symbol.bytes = variable.bytes();
    if (variable.space == Space::Shared) {
      symbol.offset = placeShared(variable);
      symbol.bytes =
          variable.isExtern ? 0 : std::max<uint64_t>(1, symbol.bytes);
    } else {
      // Local variables, and those that carry arguments of calls.
      localBytes = alignTo(localBytes, variable.alignment);
      symbol.space = Space::Local;
      symbol.offset = localBytes;
      localBytes += symbol.bytes;
    }
    if (sharedBytes > maxSharedBytes || localBytes > maxLocalBytes) {
      return error("the kernel's variables are too large");
    }
  }
  if (!scopes.back().names.emplace(variable.name, symbol).second) {
    return error("the name '" + std::string(variable.name) +
                 "' is declared twice");
  }
  return Status::ok();
}

/// A formal parameter becomes another name for the caller's variable; one in
/// a register, for the caller's register.
Status Decoder::bindArgument(const ptx::Variable &formal, const Operand &actual,
                             Scope &scope) {
  if (formal.isRegister) {
    uint32_t reg;
    unsigned bytes = ptx::bytesOf(formal.type);
    TW_RETURN_IF_ERROR(formal.type == Type::Pred
                           ? sourcePredicate(actual, reg)
                           : sourceBytes(actual, bytes, reg));
    Symbol symbol;
    symbol.kind = Symbol::Register;
    symbol.index = reg;
    scope.names[formal.name] = symbol;
    return Status::ok();
  }
  const Symbol *symbol =
      actual.kind == Operand::Name ? find(actual.name) : nullptr;
  if (!symbol || symbol->kind != Symbol::Variable ||
      symbol->space != Space::Local || symbol->bytes < formal.bytes()) {
    return error("an argument must be a .param variable of the caller with " +
                 std::to_string(formal.bytes()) + " bytes");
  }
  scope.names[formal.name] = *symbol;
  return Status::ok();
}

Status Decoder::decodeCall() {
  takeModifier("uni");
  TW_RETURN_IF_ERROR(finishModifiers());
  std::vector<Operand> results;
  std::vector<Operand> arguments;
  size_t at = 0;
  const std::vector<Operand> &operands = inst->operands;
  if (at < operands.size() && operands[at].kind == Operand::List) {
    results = operands[at++].elements;
  }
  if (at == operands.size() || operands[at].kind != Operand::Name) {
    return error("expected the name of a function");
  }
  std::string_view name = operands[at++].name;
  if (at < operands.size() && operands[at].kind == Operand::List) {
    arguments = operands[at++].elements;
  }
  auto found = symbols.functions.find(name);
  if (found == symbols.functions.end() || at != operands.size()) {
    return unsupported("the simulator has calls of functions in the module "
                       "only, and '" +
                       std::string(name) + "' is none");
  }
  const ptx::Function &callee = *found->second;
  if (std::find(callStack.begin(), callStack.end(), &callee) !=
          callStack.end() ||
      callStack.size() > 64) {
    return unsupported("the simulator does not have recursive calls");
  }
  if (callee.results.size() != results.size() ||
      callee.parameters.size() != arguments.size()) {
    return error("'" + std::string(name) +
                 "' has another number of parameters");
  }
  Scope inner;
  for (size_t i = 0; i < results.size(); ++i) {
    TW_RETURN_IF_ERROR(bindArgument(callee.results[i], results[i], inner));
  }
  for (size_t i = 0; i < arguments.size(); ++i) {
    TW_RETURN_IF_ERROR(bindArgument(callee.parameters[i], arguments[i], inner));
  }
  // A guarded call jumps around the copy of the function.
  uint32_t end = newLabel();
  if (guard != noOperand) {
    Draft skip = makeDraft(exec::branchGuarded, InstructionClass::Control);
    skip.flow = Draft::Branch;
    skip.targets = {end};
    skip.inst.guard = guard;
    skip.inst.guardNegated = !inst->guardNegated;
    emit(std::move(skip));
    guard = noOperand;
  }
  const Statement *call = current;
  size_t outerScope = functionScope;
  uint32_t outerReturn = returnLabel;
  size_t depth = scopes.size();
  functionScope = depth;
  scopes.push_back(std::move(inner));
  returnLabel = end;
  callStack.push_back(&callee);
  TW_RETURN_IF_ERROR(decodeBody(callee));
  callStack.pop_back();
  scopes.resize(depth);
  returnLabel = outerReturn;
  functionScope = outerScope;
  current = call;
  inst = &call->instruction;
  placeLabel(end);
  return Status::ok();
}
