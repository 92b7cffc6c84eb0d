//===- Lexer.h - words of PTX text -----------------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// PTX is ASCII text: names (with %, $ and _), words that begin with a dot,
// numbers, strings and punctuation. Any other byte is an error of the text.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "tilewright/Status.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace tilewright::sim::ptx {

enum class TokenKind : uint8_t {
  Name,
  /// A word behind a dot, without the dot: directives, types and modifiers.
  Dot,
  Integer,
  /// 0fXXXXXXXX, bits in `bits`.
  Float32,
  /// 0dXXXXXXXXXXXXXXXX or a decimal fraction, bits in `bits`.
  Float64,
  String,
  Punctuation,
  End,
};

struct Token {
  TokenKind kind = TokenKind::End;
  std::string_view text;
  uint64_t bits = 0;
  uint32_t line = 0;
};

/// Splits `text` into tokens; the last one is End. The tokens point into it.
Result<std::vector<Token>> tokenize(std::string_view text);

} // namespace tilewright::sim::ptx
