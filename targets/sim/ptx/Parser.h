//===- Parser.h - the grammar of PTX ---------------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// One recursive-descent parser, in two files: declarations and functions in
// Parser.cpp, statements and operands in ParseStatements.cpp.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "targets/sim/ptx/Lexer.h"
#include "targets/sim/ptx/Syntax.h"

#include <string>

namespace tilewright::sim::ptx {

class Parser {
public:
  Parser(std::string_view text, std::vector<Token> tokens)
      : text(text), tokens(std::move(tokens)) {}

  Result<Module> run();

private:
  const Token &peek(size_t ahead = 0) const {
    return tokens[at + ahead < tokens.size() ? at + ahead : tokens.size() - 1];
  }
  const Token &take() {
    const Token &token = peek();
    at += at + 1 < tokens.size();
    return token;
  }
  bool isPunctuation(char c, size_t ahead = 0) const {
    return peek(ahead).kind == TokenKind::Punctuation &&
           peek(ahead).text[0] == c;
  }
  bool takePunctuation(char c) {
    bool is = isPunctuation(c);
    at += is;
    return is;
  }
  bool takeDot(std::string_view word) {
    bool is = peek().kind == TokenKind::Dot && peek().text == word;
    at += is;
    return is;
  }
  Status expect(char c);
  Status expectName(std::string_view &name);
  Status expectInteger(uint64_t &value);
  Status unexpected(const std::string &wanted) const;
  Status error(const std::string &what) const;
  Status unsupported(const std::string &what) const;

  // Parser.cpp
  Status parseTopLevel();
  Status parseTarget();
  Status parseFile();
  Status skipSection();
  Status skipToSemicolon();
  Status parseFunction(bool isEntry);
  Status parseFunctionHead(Function &function);
  Status parseParameters(std::vector<Variable> &list);
  Status parseVariableHead(Variable &variable);
  Status parseVariableName(Variable &variable);
  Status parseInitial(Variable &variable);
  Status parseInitialElement(Variable &variable, unsigned depth);

  // ParseStatements.cpp
  Status parseBody(Function &function);
  Status parseStatement(Function &function);
  Status parseDeclaration(Function &function);
  Status parseLocation(Function &function);
  Status parseBranchTargets(Function &function, std::string_view label);
  Status parseInstruction(Function &function);
  Status parseOperand(Operand &operand);
  Status parseSimple(Operand &operand);
  Status parseElements(Operand &operand, char close);
  Status parseAddress(Operand &operand);

  std::string_view text;
  std::vector<Token> tokens;
  size_t at = 0;
  Module module;
};

} // namespace tilewright::sim::ptx
