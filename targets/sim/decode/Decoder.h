//===- Decoder.h - from syntax to executable code --------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// Decodes one kernel. Calls are inlined: PTX functions do not recurse, and a
// `ret` becomes a branch to the end of the copy, which the rest of the
// simulator need not know about. Each opcode has a member function that takes
// the modifiers it knows; what is left over is an error, never ignored.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "targets/sim/Program.h"
#include "targets/sim/decode/Draft.h"
#include "targets/sim/exec/Handlers.h"

#include <string>
#include <unordered_map>

namespace tilewright::sim {

/// Module-level names, the same for all kernels.
struct ModuleSymbols {
  const ptx::Module *module = nullptr;
  /// Index in Program::variables() by name.
  std::unordered_map<std::string_view, uint32_t> variables;
  std::unordered_map<std::string_view, const ptx::Function *> functions;
  std::unordered_map<std::string_view, const ptx::Variable *> shared;
};

class Decoder {
public:
  Decoder(const ModuleSymbols &symbols, std::shared_ptr<const std::string> text)
      : symbols(symbols), text(std::move(text)) {}

  Result<Kernel> run(const ptx::Function &function);

private:
  using Type = ptx::Type;
  using Space = ptx::Space;
  using Operand = ptx::Operand;

  struct Symbol {
    enum Kind : uint8_t { Register, Bank, Variable, Label, Targets, Constant };
    Kind kind = Register;
    Space space = Space::Generic;
    /// Register, first register of a bank, label, index of a target list,
    /// index of a module variable.
    uint32_t index = 0;
    uint32_t count = 0;
    /// Offset of a variable in its space.
    uint64_t offset = 0;
    uint64_t bytes = 0;
    bool isKernelParameter = false;
  };
  struct Scope {
    std::unordered_map<std::string_view, Symbol> names;
  };

  // Decoder.cpp: statements.
  Status decodeBody(const ptx::Function &function);
  Status declareLabels(const std::vector<ptx::Statement> &body, size_t begin);
  Status decodeStatement(const ptx::Statement &statement);
  Status decodeInstruction(const ptx::Statement &statement);
  Status declare(const ptx::Variable &variable);
  Status declareKernelParameters(const ptx::Function &function, Kernel &kernel);
  uint64_t placeShared(const ptx::Variable &variable);
  Status decodeCall();
  Status bindArgument(const ptx::Variable &formal, const Operand &actual,
                      Scope &scope);

  // Operands.cpp
  Status error(const std::string &what) const;
  Status unsupported(const std::string &what) const;
  Status unsupportedForm() const;
  const Symbol *find(std::string_view name) const;
  /// Finds a register by name, also one of a bank.
  bool findRegister(std::string_view name, uint32_t &reg) const;
  uint32_t newRegister(unsigned bytes);
  uint32_t constant(unsigned bytes, uint64_t bits,
                    uint32_t variable = noOperand);
  uint32_t specialRegister(Special special);
  bool findSpecial(std::string_view name, uint32_t &reg);
  uint32_t newLabel();
  void placeLabel(uint32_t label);
  /// A register or constant of `bytes` to read; `type` says what constants
  /// look like.
  Status source(const Operand &operand, Type type, uint32_t &reg);
  Status sourceBytes(const Operand &operand, unsigned bytes, uint32_t &reg);
  Status sourcePredicate(const Operand &operand, uint32_t &reg);
  Status destination(const Operand &operand, unsigned bytes, uint32_t &reg);
  Status destinationPredicate(const Operand &operand, uint32_t &reg);
  /// A register of any width, for ld, st and cvt.
  Status anyRegister(const Operand &operand, uint32_t &reg);
  /// Fills a, imm and space of an access from [name + offset].
  Status address(const Operand &operand, Draft &draft);
  Status expectOperands(size_t count) const;
  Status expectOperands(size_t least, size_t most) const;
  unsigned widthOf(uint32_t reg) const { return code.registers[reg].bytes; }

  // Modifiers: those of the current instruction that were not taken yet.
  bool takeModifier(std::string_view word);
  bool peekModifier(std::string_view word) const;
  /// Takes the first modifier that names a type.
  Type takeType();
  Status requireType(Type &type);
  bool takeRounding(Rounding &rounding);
  void takeCacheHints();
  void takeScopes();
  Status finishModifiers() const;

  // Emitting drafts.
  Draft makeDraft(Handler handler, InstructionClass cls);
  void emit(Draft draft);
  Status emitOp(Handler handler, InstructionClass cls, uint32_t d,
                uint32_t a = noOperand, uint32_t b = noOperand,
                uint32_t c = noOperand, unsigned mode = 0);
  Status emitAlu(Alu op, Type type, uint32_t d, uint32_t a,
                 uint32_t b = noOperand, uint32_t c = noOperand,
                 unsigned mode = 0);
  InstructionClass classOf(Type type) const;

  // DecodeArithmetic.cpp, DecodeInteger.cpp, …
  using Method = Status (Decoder::*)();
  static const std::unordered_map<std::string_view, Method> &methods();
  Status sameTypes(Alu op, unsigned sources);
  Status decodeAddSub();
  Status decodeMul();
  Status decodeMad();
  Status decodeFma();
  Status decodeDiv();
  Status decodeRem();
  Status decodeMinMax();
  Status decodeAbsNeg();
  Status decodeFunction();
  Status decodeCopySign();
  Status floatOp(Alu op, Type type, Rounding rounding, bool ftz, bool sat,
                 bool relu, uint32_t d, uint32_t a, uint32_t b = noOperand,
                 uint32_t c = noOperand);
  Status decodeMul24();
  Status decodeSad();
  Status decodeLogic();
  Status decodeShift();
  Status decodeCount();
  Status decodeBfind();
  Status decodeBfe();
  Status decodeBfi();
  Status decodeBmsk();
  Status decodeLop3();
  Status decodePrmt();
  Status decodeShf();
  Status decodeDp();
  Status decodeFns();
  Status decodeCarry(Alu op, Type type, bool writes, bool reads);

  // DecodeMove.cpp
  Status decodeMov();
  Status decodeSelp();
  Status decodeSlct();
  Status decodeSetp();
  Status decodeSet();
  Status decodeTestp();
  Status decodeCvt();
  Status decodeCvtPack(Type to, Type from, ConvertKey key);
  Status takeCompare(Compare &compare, Type type);
  Status comparison(Compare compare, Type type, bool ftz, BoolOp combine,
                    uint32_t p, uint32_t q, uint32_t a, uint32_t b, uint32_t c);
  Status movParts(const Operand &to, const Operand &from, unsigned bytes);

  // DecodeMemory.cpp
  bool takeSpace(Space &space);
  Status decodeLd();
  Status decodeSt();
  Status decodeAtom();
  Status decodeCvta();
  Status decodeIsspacep();
  Status decodePrefetch();
  Status decodeCp();
  Status decodeLdmatrix();

  // DecodeControl.cpp
  Status decodeBra();
  Status decodeBrx();
  Status decodeRet();
  Status decodeExit();
  Status decodeTrap();
  Status decodeNothing();
  Status decodeBarrier();
  Status decodeFence();
  Status decodeShfl();
  Status decodeVote();
  Status decodeMatch();
  Status decodeActivemask();
  Status decodeRedux();
  Status decodeElect();

  // DecodeMatrix.cpp
  Status decodeMma();

  const ModuleSymbols &symbols;
  std::shared_ptr<const std::string> text;
  DraftCode code;
  std::vector<Scope> scopes;
  /// First scope of the function copy that is being decoded.
  size_t functionScope = 0;
  std::vector<std::vector<std::string_view>> targetLists;
  std::vector<size_t> targetScopes;
  /// Where `ret` goes, in an inlined function.
  uint32_t returnLabel = noOperand;
  std::vector<const ptx::Function *> callStack;
  std::unordered_map<const ptx::Variable *, uint64_t> sharedOffsets;
  std::unordered_map<uint64_t, std::vector<uint32_t>> constants;
  std::unordered_map<unsigned, uint32_t> specials;
  std::vector<uint32_t> dynamicShared;
  uint64_t sharedBytes = 0;
  uint64_t localBytes = 0;
  uint32_t sourceFile = 0;
  uint32_t sourceLine = 0;

  // The instruction that is being decoded.
  const ptx::Statement *current = nullptr;
  const ptx::Instruction *inst = nullptr;
  std::vector<std::string_view> modifiers;
  uint32_t guard = noOperand;
};

} // namespace tilewright::sim
