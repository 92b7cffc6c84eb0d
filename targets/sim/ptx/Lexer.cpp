//===- Lexer.cpp - words of PTX text ------------------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "targets/sim/ptx/Lexer.h"

#include <cstdlib>
#include <cstring>

using namespace tilewright;
using namespace tilewright::sim::ptx;

static bool isNameStart(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         c == '$' || c == '%';
}
static bool isDigit(char c) { return c >= '0' && c <= '9'; }
static bool isWord(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         c == '$' || isDigit(c);
}
static int hexDigit(char c) {
  if (isDigit(c)) {
    return c - '0';
  }
  if (c >= 'a' && c <= 'f') {
    return c - 'a' + 10;
  }
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

namespace {
class Lexer {
public:
  explicit Lexer(std::string_view text) : text(text) {}

  Result<std::vector<Token>> run() {
    while (true) {
      TW_RETURN_IF_ERROR(skipBlanks());
      if (at >= text.size()) {
        tokens.push_back({TokenKind::End, {}, 0, line});
        return std::move(tokens);
      }
      TW_RETURN_IF_ERROR(lexOne());
    }
  }

private:
  Status error(const std::string &what) const {
    return {ErrorCode::ModuleDamaged,
            "PTX line " + std::to_string(line) + ": " + what};
  }
  char peek(size_t ahead = 0) const {
    return at + ahead < text.size() ? text[at + ahead] : '\0';
  }
  void push(TokenKind kind, size_t begin, uint64_t bits = 0) {
    tokens.push_back({kind, text.substr(begin, at - begin), bits, line});
  }

  Status skipBlanks() {
    while (at < text.size()) {
      char c = text[at];
      if (c == '\n') {
        ++line;
        ++at;
      } else if (c == ' ' || c == '\t' || c == '\r') {
        ++at;
      } else if (c == '/' && peek(1) == '/') {
        while (at < text.size() && text[at] != '\n') {
          ++at;
        }
      } else if (c == '/' && peek(1) == '*') {
        size_t end = text.find("*/", at + 2);
        if (end == std::string_view::npos) {
          return error("a comment has no end");
        }
        for (; at < end + 2; ++at) {
          line += text[at] == '\n';
        }
      } else {
        break;
      }
    }
    return Status::ok();
  }

  Status lexOne() {
    size_t begin = at;
    char c = text[at];
    if (isNameStart(c)) {
      ++at;
      // Names of special registers have a dot inside: %tid.x.
      while (isWord(peek()) || (c == '%' && peek() == '.' && isWord(peek(1)))) {
        ++at;
      }
      push(TokenKind::Name, begin);
      return Status::ok();
    }
    if (c == '.' && isWord(peek(1))) {
      ++at;
      while (isWord(peek()) ||
             (peek() == ':' && peek(1) == ':' && isWord(peek(2)))) {
        at += peek() == ':' ? 2 : 1;
      }
      push(TokenKind::Dot, begin + 1);
      return Status::ok();
    }
    if (isDigit(c)) {
      return lexNumber();
    }
    if (c == '"') {
      size_t end = text.find_first_of("\"\n", at + 1);
      if (end == std::string_view::npos || text[end] == '\n') {
        return error("a string has no end");
      }
      at = end + 1;
      tokens.push_back({TokenKind::String,
                        text.substr(begin + 1, end - begin - 1), 0, line});
      return Status::ok();
    }
    if (std::strchr("{}()[]<>,;:@!|=+-*", c) && c != '\0') {
      ++at;
      push(TokenKind::Punctuation, begin);
      return Status::ok();
    }
    return error("the byte " + std::to_string(unsigned(uint8_t(c))) +
                 " is no part of PTX");
  }

  Status lexHexFloat(unsigned digits, TokenKind kind) {
    size_t begin = at;
    at += 2;
    uint64_t bits = 0;
    unsigned found = 0;
    for (int digit; found < digits && (digit = hexDigit(peek())) >= 0; ++at) {
      bits = bits << 4 | unsigned(digit);
      ++found;
    }
    if (found != digits || isWord(peek())) {
      return error("a floating-point constant needs " + std::to_string(digits) +
                   " hexadecimal digits");
    }
    push(kind, begin, bits);
    return Status::ok();
  }

  Status lexNumber() {
    size_t begin = at;
    if (peek() == '0' && (peek(1) == 'f' || peek(1) == 'F')) {
      return lexHexFloat(8, TokenKind::Float32);
    }
    if (peek() == '0' && (peek(1) == 'd' || peek(1) == 'D')) {
      return lexHexFloat(16, TokenKind::Float64);
    }
    unsigned radix = 10;
    if (peek() == '0' && (peek(1) == 'x' || peek(1) == 'X')) {
      radix = 16;
      at += 2;
    } else if (peek() == '0' && (peek(1) == 'b' || peek(1) == 'B')) {
      radix = 2;
      at += 2;
    } else if (peek() == '0' && isDigit(peek(1))) {
      radix = 8;
      at += 1;
    }
    uint64_t value = 0;
    size_t digits = at;
    for (int digit; (digit = hexDigit(peek())) >= 0 && unsigned(digit) < radix;
         ++at) {
      value = value * radix + unsigned(digit);
    }
    if (at == digits && radix != 8) {
      return error("a number has no digits");
    }
    if (radix == 10 && (peek() == '.' || peek() == 'e' || peek() == 'E')) {
      return lexDecimal(begin);
    }
    if (peek() == 'U') {
      ++at;
    }
    if (isWord(peek())) {
      return error("a number is followed by letters");
    }
    push(TokenKind::Integer, begin, value);
    return Status::ok();
  }

  Status lexDecimal(size_t begin) {
    at = begin;
    while (isDigit(peek()) || peek() == '.' || peek() == 'e' || peek() == 'E' ||
           ((peek() == '-' || peek() == '+') &&
            (text[at - 1] == 'e' || text[at - 1] == 'E'))) {
      ++at;
    }
    std::string copy(text.substr(begin, at - begin));
    char *end = nullptr;
    double value = std::strtod(copy.c_str(), &end);
    if (*end != '\0' || isWord(peek())) {
      return error("'" + copy + "' is no number");
    }
    uint64_t bits;
    std::memcpy(&bits, &value, sizeof(bits));
    push(TokenKind::Float64, begin, bits);
    return Status::ok();
  }

  std::string_view text;
  size_t at = 0;
  uint32_t line = 1;
  std::vector<Token> tokens;
};
} // namespace

Result<std::vector<Token>>
tilewright::sim::ptx::tokenize(std::string_view text) {
  return Lexer(text).run();
}
