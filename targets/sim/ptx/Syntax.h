//===- Syntax.h - PTX as it is written -------------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// The tree that the parser makes: functions are lists of statements in the
// order of the text, with scopes, declarations, labels and instructions.
// Nothing here knows what an instruction means. Names point into the text.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "tilewright/Status.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace tilewright::sim::ptx {

/// State spaces of variables and accesses.
enum class Space : uint8_t {
  Generic,
  Global,
  Const,
  Shared,
  Local,
  Param,
};

/// Fundamental types, by kind and width.
enum class Type : uint8_t {
  U8,
  U16,
  U32,
  U64,
  S8,
  S16,
  S32,
  S64,
  B8,
  B16,
  B32,
  B64,
  B128,
  F16,
  F16x2,
  Bf16,
  Bf16x2,
  Tf32,
  F32,
  F64,
  E4m3,
  E5m2,
  E4m3x2,
  E5m2x2,
  Pred,
  None,
};

/// \returns the type that `word` names, or Type::None.
Type typeNamed(std::string_view word);
/// \returns the type's size in bytes; 0 for a predicate.
unsigned bytesOf(Type type);
bool isSigned(Type type);
bool isFloat(Type type);
/// Whether the type is .u, .s or .b.
bool isInteger(Type type);

struct Operand {
  enum Kind : uint8_t {
    /// A register, variable, label, function or `_`, plus `value`.
    Name,
    Integer,
    Float32,
    Float64,
    /// [name + value], [value].
    Address,
    /// {a, b, …}
    Vector,
    /// a|b
    Pair,
    /// (a, b, …), of calls.
    List,
  };
  Kind kind = Name;
  /// `!` before a predicate, `-` before a register in video instructions.
  bool negated = false;
  std::string_view name;
  /// Bits of a constant, or the offset.
  uint64_t value = 0;
  std::vector<Operand> elements;
};

struct Variable {
  Space space = Space::Generic;
  bool isRegister = false;
  bool isExtern = false;
  Type type = Type::None;
  unsigned vector = 1;
  unsigned alignment = 0;
  std::string_view name;
  /// name<count>: count registers name0, name1, …; 0 without it.
  uint32_t count = 0;
  /// Product of the dimensions; 0 for `[]`; 1 for a scalar.
  uint64_t elements = 1;
  bool isArray = false;
  /// Initial values, flat: constants (bits of an element) or addresses.
  struct Initial {
    bool isAddress = false;
    uint64_t bits = 0;
    std::string_view symbol;
    int64_t addend = 0;
  };
  std::vector<Initial> initial;
  uint32_t line = 0;

  uint64_t bytes() const { return elements * vector * bytesOf(type); }
};

struct Instruction {
  std::string_view opcode;
  std::vector<std::string_view> modifiers;
  std::vector<Operand> operands;
  /// Name of the guarding predicate, or empty.
  std::string_view guard;
  bool guardNegated = false;
  /// As written, without guard and operands.
  std::string_view text;
};

struct Statement {
  enum Kind : uint8_t {
    Declaration,
    Label,
    Instr,
    ScopeBegin,
    ScopeEnd,
    BranchTargets,
    Location,
  };
  Kind kind = Instr;
  uint32_t line = 0;
  std::string_view label;
  Instruction instruction;
  std::vector<Variable> variables;
  std::vector<std::string_view> targets;
  uint32_t sourceFile = 0;
  uint32_t sourceLine = 0;
};

struct Function {
  std::string_view name;
  bool isEntry = false;
  bool hasBody = false;
  std::vector<Variable> results;
  std::vector<Variable> parameters;
  std::vector<Statement> body;
  uint32_t maxThreads = 0;
  uint32_t line = 0;
};

struct SourceFile {
  uint32_t number = 0;
  std::string_view name;
};

struct Module {
  uint32_t architecture = 0;
  bool architectureSpecific = false;
  std::vector<Variable> variables;
  std::vector<Function> functions;
  std::vector<SourceFile> files;
};

/// Parses a module. Errors are ModuleDamaged for text that breaks PTX's
/// grammar, UnsupportedInstruction for directives that are not known here.
Result<Module> parseModule(std::string_view text);

} // namespace tilewright::sim::ptx
