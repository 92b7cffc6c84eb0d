//===- Parser.cpp - modules, variables and functions of PTX ---------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "targets/sim/ptx/Parser.h"

using namespace tilewright;
using namespace tilewright::sim::ptx;

/// More registers, elements or bytes than any real module has are refused, so
/// that a damaged text cannot ask for all memory.
static constexpr uint64_t maxElements = uint64_t(1) << 30;

Status Parser::error(const std::string &what) const {
  return {ErrorCode::ModuleDamaged,
          "PTX line " + std::to_string(peek().line) + ": " + what};
}

Status Parser::unsupported(const std::string &what) const {
  return {ErrorCode::UnsupportedInstruction,
          "PTX line " + std::to_string(peek().line) + ": " + what};
}

Status Parser::unexpected(const std::string &wanted) const {
  if (peek().kind == TokenKind::End) {
    return error("expected " + wanted + ", the text ends");
  }
  std::string found(peek().text.substr(0, 60));
  return error("expected " + wanted + ", found '" +
               (peek().kind == TokenKind::Dot ? "." : "") + found + "'");
}

Status Parser::expect(char c) {
  return takePunctuation(c) ? Status::ok()
                            : unexpected(std::string("'") + c + "'");
}

Status Parser::expectName(std::string_view &name) {
  if (peek().kind != TokenKind::Name) {
    return unexpected("a name");
  }
  name = take().text;
  return Status::ok();
}

Status Parser::expectInteger(uint64_t &value) {
  if (peek().kind != TokenKind::Integer) {
    return unexpected("a number");
  }
  value = take().bits;
  return Status::ok();
}

Result<Module> Parser::run() {
  if (!takeDot("version")) {
    return unexpected("the directive .version");
  }
  ++at; // "9.0" is one number.
  while (peek().kind != TokenKind::End) {
    TW_RETURN_IF_ERROR(parseTopLevel());
  }
  return std::move(module);
}

Status Parser::parseTopLevel() {
  if (takeDot("target")) {
    return parseTarget();
  }
  if (takeDot("address_size")) {
    uint64_t size;
    TW_RETURN_IF_ERROR(expectInteger(size));
    return size == 64 ? Status::ok()
                      : unsupported("the simulator has 64-bit addresses only");
  }
  if (takeDot("file")) {
    return parseFile();
  }
  if (takeDot("section")) {
    return skipSection();
  }
  if (takeDot("pragma")) {
    return skipToSemicolon();
  }
  bool isExtern = false;
  while (true) {
    if (takeDot("extern")) {
      isExtern = true;
    } else if (!takeDot("visible") && !takeDot("weak") && !takeDot("common")) {
      break;
    }
  }
  if (takeDot("entry")) {
    return parseFunction(true);
  }
  if (takeDot("func")) {
    return parseFunction(false);
  }
  Variable variable;
  variable.line = peek().line;
  variable.isExtern = isExtern;
  if (takeDot("global")) {
    variable.space = Space::Global;
  } else if (takeDot("const")) {
    variable.space = Space::Const;
  } else if (takeDot("shared")) {
    variable.space = Space::Shared;
  } else if (peek().kind == TokenKind::Dot) {
    return unsupported("the simulator does not have the directive '." +
                       std::string(peek().text) + "'");
  } else {
    return unexpected("a directive");
  }
  TW_RETURN_IF_ERROR(parseVariableHead(variable));
  TW_RETURN_IF_ERROR(parseVariableName(variable));
  if (takePunctuation('=')) {
    TW_RETURN_IF_ERROR(parseInitial(variable));
  }
  TW_RETURN_IF_ERROR(expect(';'));
  module.variables.push_back(std::move(variable));
  return Status::ok();
}

Status Parser::parseTarget() {
  std::string_view name;
  TW_RETURN_IF_ERROR(expectName(name));
  if (name.substr(0, 3) != "sm_" || name.size() < 5 || name.size() > 8) {
    return error("'" + std::string(name) + "' is no target sm_NN");
  }
  for (char c : name.substr(3)) {
    if (c >= '0' && c <= '9') {
      module.architecture = module.architecture * 10 + unsigned(c - '0');
    } else {
      module.architectureSpecific = true;
    }
  }
  while (takePunctuation(',')) {
    TW_RETURN_IF_ERROR(expectName(name));
    if (name != "debug") {
      return unsupported("the simulator does not have the target option '" +
                         std::string(name) + "'");
    }
  }
  return Status::ok();
}

Status Parser::parseFile() {
  SourceFile file;
  uint64_t number;
  TW_RETURN_IF_ERROR(expectInteger(number));
  file.number = uint32_t(number);
  if (peek().kind != TokenKind::String) {
    return unexpected("the name of a file");
  }
  file.name = take().text;
  while (takePunctuation(',')) {
    TW_RETURN_IF_ERROR(expectInteger(number));
  }
  module.files.push_back(file);
  return Status::ok();
}

Status Parser::skipSection() {
  while (!isPunctuation('{')) {
    if (peek().kind != TokenKind::Dot && peek().kind != TokenKind::Name) {
      return unexpected("'{' behind .section");
    }
    take();
  }
  unsigned depth = 0;
  do {
    if (peek().kind == TokenKind::End) {
      return unexpected("'}' at the end of the section");
    }
    depth += isPunctuation('{');
    depth -= isPunctuation('}');
    take();
  } while (depth != 0);
  return Status::ok();
}

Status Parser::skipToSemicolon() {
  while (!isPunctuation(';')) {
    if (peek().kind == TokenKind::End) {
      return unexpected("';'");
    }
    take();
  }
  return expect(';');
}

Status Parser::parseFunction(bool isEntry) {
  Function function;
  function.isEntry = isEntry;
  function.line = peek().line;
  TW_RETURN_IF_ERROR(parseFunctionHead(function));
  if (isPunctuation('{')) {
    function.hasBody = true;
    TW_RETURN_IF_ERROR(parseBody(function));
  } else {
    TW_RETURN_IF_ERROR(expect(';'));
  }
  module.functions.push_back(std::move(function));
  return Status::ok();
}

Status Parser::parseFunctionHead(Function &function) {
  if (!function.isEntry && isPunctuation('(')) {
    TW_RETURN_IF_ERROR(parseParameters(function.results));
  }
  TW_RETURN_IF_ERROR(expectName(function.name));
  if (isPunctuation('(')) {
    TW_RETURN_IF_ERROR(parseParameters(function.parameters));
  }
  while (peek().kind == TokenKind::Dot) {
    uint64_t value;
    bool limitsThreads = peek().text == "maxntid" || peek().text == "reqntid";
    if (limitsThreads || peek().text == "minnctapersm" ||
        peek().text == "maxnctapersm" || peek().text == "maxnreg") {
      take();
      uint64_t product = 1;
      do {
        TW_RETURN_IF_ERROR(expectInteger(value));
        product *= value < 65536 ? value : 65536;
      } while (takePunctuation(','));
      if (limitsThreads) {
        function.maxThreads = uint32_t(product < 65536 ? product : 65536);
      }
    } else if (takeDot("pragma")) {
      TW_RETURN_IF_ERROR(skipToSemicolon());
    } else if (!takeDot("noreturn")) {
      return unsupported("the simulator does not have the directive '." +
                         std::string(peek().text) + "' of functions");
    }
  }
  return Status::ok();
}

Status Parser::parseParameters(std::vector<Variable> &list) {
  TW_RETURN_IF_ERROR(expect('('));
  if (takePunctuation(')')) {
    return Status::ok();
  }
  do {
    Variable parameter;
    parameter.line = peek().line;
    if (takeDot("reg")) {
      parameter.isRegister = true;
    } else if (takeDot("param")) {
      parameter.space = Space::Param;
    } else {
      return unexpected(".param or .reg");
    }
    TW_RETURN_IF_ERROR(parseVariableHead(parameter));
    TW_RETURN_IF_ERROR(parseVariableName(parameter));
    list.push_back(std::move(parameter));
  } while (takePunctuation(','));
  return expect(')');
}

/// Alignment, vector and type, in the orders that compilers write them.
Status Parser::parseVariableHead(Variable &variable) {
  while (peek().kind == TokenKind::Dot) {
    uint64_t value;
    if (takeDot("align")) {
      TW_RETURN_IF_ERROR(expectInteger(value));
      if (value == 0 || value > 4096 || (value & (value - 1)) != 0) {
        return error("an alignment must be a power of two up to 4096");
      }
      // Behind .ptr it describes what a parameter points to.
      variable.alignment = unsigned(value);
    } else if (takeDot("ptr")) {
      while (takeDot("global") || takeDot("shared") || takeDot("const") ||
             takeDot("local")) {
      }
      if (takeDot("align")) {
        TW_RETURN_IF_ERROR(expectInteger(value));
      }
    } else if (takeDot("v2")) {
      variable.vector = 2;
    } else if (takeDot("v4")) {
      variable.vector = 4;
    } else {
      Type type = typeNamed(peek().text);
      if (type == Type::None) {
        return unsupported("the simulator does not have '." +
                           std::string(peek().text) + "' in declarations");
      }
      variable.type = type;
      take();
    }
  }
  if (variable.type == Type::None) {
    return unexpected("a type");
  }
  return Status::ok();
}

Status Parser::parseVariableName(Variable &variable) {
  TW_RETURN_IF_ERROR(expectName(variable.name));
  if (variable.isRegister && takePunctuation('<')) {
    uint64_t count;
    TW_RETURN_IF_ERROR(expectInteger(count));
    if (count > 1000000) {
      return error("more than a million registers");
    }
    variable.count = uint32_t(count);
    return expect('>');
  }
  while (takePunctuation('[')) {
    uint64_t extent = 0;
    if (!isPunctuation(']')) {
      TW_RETURN_IF_ERROR(expectInteger(extent));
      if (extent > maxElements) {
        return error("an array of more than 2^30 elements");
      }
    }
    variable.elements *= extent;
    variable.isArray = true;
    if (variable.elements > maxElements) {
      return error("an array of more than 2^30 elements");
    }
    TW_RETURN_IF_ERROR(expect(']'));
  }
  if (variable.alignment == 0) {
    unsigned natural = bytesOf(variable.type) * variable.vector;
    variable.alignment = natural == 0 ? 1 : natural;
  }
  return Status::ok();
}

Status Parser::parseInitial(Variable &variable) {
  if (isPunctuation('{')) {
    return parseInitialElement(variable, 0);
  }
  return parseInitialElement(variable, 1);
}

/// A constant, an address (`name`, `name+4`, `generic(name)+4`), or a list.
Status Parser::parseInitialElement(Variable &variable, unsigned depth) {
  if (takePunctuation('{')) {
    if (depth > 8) {
      return error("an initialiser of more than 8 dimensions");
    }
    do {
      TW_RETURN_IF_ERROR(parseInitialElement(variable, depth + 1));
    } while (takePunctuation(','));
    return expect('}');
  }
  Variable::Initial initial;
  bool negative = takePunctuation('-');
  const Token &token = take();
  switch (token.kind) {
  case TokenKind::Integer:
    initial.bits = negative ? 0 - token.bits : token.bits;
    break;
  case TokenKind::Float32:
  case TokenKind::Float64:
    initial.bits = token.bits;
    break;
  case TokenKind::Name: {
    initial.isAddress = true;
    initial.symbol = token.text;
    if (token.text == "generic" && takePunctuation('(')) {
      TW_RETURN_IF_ERROR(expectName(initial.symbol));
      TW_RETURN_IF_ERROR(expect(')'));
    }
    if (isPunctuation('+') || isPunctuation('-')) {
      bool minus = take().text[0] == '-';
      uint64_t value;
      TW_RETURN_IF_ERROR(expectInteger(value));
      initial.addend = int64_t(minus ? 0 - value : value);
    }
    break;
  }
  default:
    --at;
    return unexpected("a constant or an address");
  }
  variable.initial.push_back(initial);
  return Status::ok();
}

Result<Module> tilewright::sim::ptx::parseModule(std::string_view text) {
  Result<std::vector<Token>> tokens = tokenize(text);
  if (!tokens) {
    return tokens.status();
  }
  return Parser(text, std::move(*tokens)).run();
}
