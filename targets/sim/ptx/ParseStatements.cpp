//===- ParseStatements.cpp - bodies of PTX functions --------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "targets/sim/ptx/Parser.h"

using namespace tilewright;
using namespace tilewright::sim::ptx;

/// Scopes within scopes; compilers nest two or three.
static constexpr unsigned maxDepth = 64;

Status Parser::parseBody(Function &function) {
  TW_RETURN_IF_ERROR(expect('{'));
  unsigned depth = 1;
  while (depth != 0) {
    if (peek().kind == TokenKind::End) {
      return unexpected("'}' at the end of the function");
    }
    if (isPunctuation('{') || isPunctuation('}')) {
      bool open = isPunctuation('{');
      Statement statement;
      statement.kind = open ? Statement::ScopeBegin : Statement::ScopeEnd;
      statement.line = take().line;
      depth += open ? 1 : -1;
      if (depth > maxDepth) {
        return error("more than " + std::to_string(maxDepth) +
                     " scopes within each other");
      }
      if (depth != 0) {
        function.body.push_back(std::move(statement));
      }
      continue;
    }
    TW_RETURN_IF_ERROR(parseStatement(function));
  }
  return Status::ok();
}

Status Parser::parseStatement(Function &function) {
  if (peek().kind == TokenKind::Name && isPunctuation(':', 1)) {
    std::string_view label = take().text;
    take();
    if (takeDot("branchtargets")) {
      return parseBranchTargets(function, label);
    }
    Statement statement;
    statement.kind = Statement::Label;
    statement.line = peek().line;
    statement.label = label;
    function.body.push_back(std::move(statement));
    return Status::ok();
  }
  if (takeDot("pragma")) {
    return skipToSemicolon();
  }
  if (takeDot("loc")) {
    return parseLocation(function);
  }
  if (peek().kind == TokenKind::Dot) {
    return parseDeclaration(function);
  }
  if (takePunctuation(';')) {
    return Status::ok();
  }
  return parseInstruction(function);
}

Status Parser::parseDeclaration(Function &function) {
  Statement statement;
  statement.kind = Statement::Declaration;
  statement.line = peek().line;
  Variable head;
  head.line = peek().line;
  if (takeDot("reg")) {
    head.isRegister = true;
  } else if (takeDot("local")) {
    head.space = Space::Local;
  } else if (takeDot("shared")) {
    head.space = Space::Shared;
  } else if (takeDot("param")) {
    head.space = Space::Param;
  } else {
    return unsupported("the simulator does not have the directive '." +
                       std::string(peek().text) + "' in functions");
  }
  TW_RETURN_IF_ERROR(parseVariableHead(head));
  do {
    Variable variable = head;
    TW_RETURN_IF_ERROR(parseVariableName(variable));
    statement.variables.push_back(std::move(variable));
  } while (takePunctuation(','));
  TW_RETURN_IF_ERROR(expect(';'));
  function.body.push_back(std::move(statement));
  return Status::ok();
}

/// .loc file line column [, function_name label, inlined_at file line column]
Status Parser::parseLocation(Function &function) {
  Statement statement;
  statement.kind = Statement::Location;
  statement.line = peek().line;
  uint64_t file;
  uint64_t line;
  uint64_t column;
  TW_RETURN_IF_ERROR(expectInteger(file));
  TW_RETURN_IF_ERROR(expectInteger(line));
  TW_RETURN_IF_ERROR(expectInteger(column));
  while (takePunctuation(',')) {
    std::string_view word;
    TW_RETURN_IF_ERROR(expectName(word));
    if (word == "function_name") {
      TW_RETURN_IF_ERROR(expectName(word));
      if (takePunctuation('+')) {
        TW_RETURN_IF_ERROR(expectInteger(column));
      }
    } else if (word == "inlined_at") {
      TW_RETURN_IF_ERROR(expectInteger(column));
      TW_RETURN_IF_ERROR(expectInteger(column));
      TW_RETURN_IF_ERROR(expectInteger(column));
    } else {
      return error("'" + std::string(word) + "' is no part of .loc");
    }
  }
  statement.sourceFile = uint32_t(file);
  statement.sourceLine = uint32_t(line);
  function.body.push_back(std::move(statement));
  return Status::ok();
}

Status Parser::parseBranchTargets(Function &function, std::string_view label) {
  Statement statement;
  statement.kind = Statement::BranchTargets;
  statement.line = peek().line;
  statement.label = label;
  do {
    std::string_view target;
    TW_RETURN_IF_ERROR(expectName(target));
    statement.targets.push_back(target);
  } while (takePunctuation(','));
  TW_RETURN_IF_ERROR(expect(';'));
  function.body.push_back(std::move(statement));
  return Status::ok();
}

Status Parser::parseInstruction(Function &function) {
  Statement statement;
  statement.line = peek().line;
  Instruction &instruction = statement.instruction;
  if (takePunctuation('@')) {
    instruction.guardNegated = takePunctuation('!');
    TW_RETURN_IF_ERROR(expectName(instruction.guard));
  }
  if (peek().kind != TokenKind::Name) {
    return unexpected("an instruction");
  }
  instruction.opcode = take().text;
  std::string_view last = instruction.opcode;
  while (peek().kind == TokenKind::Dot) {
    last = take().text;
    instruction.modifiers.push_back(last);
  }
  instruction.text = std::string_view(
      instruction.opcode.data(),
      size_t(last.data() + last.size() - instruction.opcode.data()));
  if (!isPunctuation(';')) {
    do {
      Operand operand;
      TW_RETURN_IF_ERROR(parseOperand(operand));
      instruction.operands.push_back(std::move(operand));
    } while (takePunctuation(','));
  }
  TW_RETURN_IF_ERROR(expect(';'));
  function.body.push_back(std::move(statement));
  return Status::ok();
}

Status Parser::parseOperand(Operand &operand) {
  if (isPunctuation('{')) {
    operand.kind = Operand::Vector;
    return parseElements(operand, '}');
  }
  if (isPunctuation('(')) {
    operand.kind = Operand::List;
    return parseElements(operand, ')');
  }
  if (isPunctuation('[')) {
    return parseAddress(operand);
  }
  TW_RETURN_IF_ERROR(parseSimple(operand));
  if (takePunctuation('|')) {
    Operand second;
    TW_RETURN_IF_ERROR(parseSimple(second));
    Operand pair;
    pair.kind = Operand::Pair;
    pair.elements = {operand, second};
    operand = std::move(pair);
  }
  return Status::ok();
}

Status Parser::parseElements(Operand &operand, char close) {
  take();
  if (takePunctuation(close)) {
    return Status::ok();
  }
  do {
    Operand element;
    TW_RETURN_IF_ERROR(parseSimple(element));
    operand.elements.push_back(std::move(element));
  } while (takePunctuation(','));
  return expect(close);
}

/// A name (with an offset, or negated), or a constant.
Status Parser::parseSimple(Operand &operand) {
  operand.negated = takePunctuation('!');
  bool minus = !operand.negated && takePunctuation('-');
  const Token &token = peek();
  switch (token.kind) {
  case TokenKind::Name:
    if (minus) {
      return unexpected("a number");
    }
    operand.kind = Operand::Name;
    operand.name = take().text;
    if (isPunctuation('+') || isPunctuation('-')) {
      bool subtract = take().text[0] == '-';
      TW_RETURN_IF_ERROR(expectInteger(operand.value));
      operand.value = subtract ? 0 - operand.value : operand.value;
    }
    return Status::ok();
  case TokenKind::Integer:
    operand.kind = Operand::Integer;
    operand.value = minus ? 0 - take().bits : take().bits;
    return Status::ok();
  case TokenKind::Float32:
    operand.kind = Operand::Float32;
    operand.value = take().bits ^ (minus ? 0x80000000u : 0);
    return Status::ok();
  case TokenKind::Float64:
    operand.kind = Operand::Float64;
    operand.value = take().bits ^ (minus ? uint64_t(1) << 63 : 0);
    return Status::ok();
  default:
    return unexpected("an operand");
  }
}

Status Parser::parseAddress(Operand &operand) {
  take();
  operand.kind = Operand::Address;
  if (peek().kind == TokenKind::Name) {
    operand.name = take().text;
    if (takePunctuation(']')) {
      return Status::ok();
    }
    if (!isPunctuation('+') && !isPunctuation('-')) {
      return unexpected("']'");
    }
  }
  bool minus = false;
  while (isPunctuation('+') || isPunctuation('-')) {
    minus ^= take().text[0] == '-';
  }
  uint64_t value;
  TW_RETURN_IF_ERROR(expectInteger(value));
  operand.value = minus ? 0 - value : value;
  return expect(']');
}
