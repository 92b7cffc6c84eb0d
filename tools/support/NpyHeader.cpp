//===- NpyHeader.cpp - the beginning of a .npy file -------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "tools/support/NpyHeader.h"

#include <charconv>
#include <optional>

namespace tilewright {
namespace {

/// A reader of the few Python literals that NumPy writes. The first thing that
/// does not fit sets `error`, after which nothing matters any more.
class LiteralReader {
public:
  explicit LiteralReader(std::string_view text) : rest(text) {}

  std::string error;

  bool accept(char wanted) {
    skipSpace();
    if (rest.empty() || rest.front() != wanted) {
      return false;
    }
    rest.remove_prefix(1);
    return true;
  }

  void expect(char wanted) {
    if (!accept(wanted)) {
      fail(std::string("'") + wanted + "' is missing");
    }
  }

  std::string readString() {
    skipSpace();
    char quote = rest.empty() ? '\0' : rest.front();
    size_t end = rest.find(quote, 1);
    if ((quote != '\'' && quote != '"') || end == rest.npos) {
      fail("a string is missing (arrays of records are not supported)");
      return {};
    }
    std::string text(rest.substr(1, end - 1));
    rest.remove_prefix(end + 1);
    return text;
  }

  bool readBool() {
    skipSpace();
    for (std::string_view word : {"True", "False"}) {
      if (rest.substr(0, word.size()) == word) {
        rest.remove_prefix(word.size());
        return word == "True";
      }
    }
    fail("True or False is missing");
    return false;
  }

  std::vector<int64_t> readTuple() {
    std::vector<int64_t> numbers;
    expect('(');
    while (error.empty() && !accept(')')) {
      skipSpace();
      int64_t number = 0;
      auto [end, code] =
          std::from_chars(rest.data(), rest.data() + rest.size(), number);
      if (code != std::errc() || number < 0) {
        fail("the shape is not a tuple of sizes");
        break;
      }
      rest.remove_prefix(end - rest.data());
      accept('L'); // Python 2
      numbers.push_back(number);
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
    return numbers;
  }

  void fail(const std::string &why) {
    if (error.empty()) {
      error = why;
    }
    rest = {};
  }

private:
  void skipSpace() {
    while (!rest.empty() && (rest.front() == ' ' || rest.front() == '\n')) {
      rest.remove_prefix(1);
    }
  }

  std::string_view rest;
};

} // namespace

std::variant<NpyHeader, std::string> parseNpyHeader(std::string_view text) {
  LiteralReader reader(text);
  std::optional<std::string> descriptor;
  std::optional<bool> fortranOrder;
  std::optional<std::vector<int64_t>> shape;
  reader.expect('{');
  while (reader.error.empty() && !reader.accept('}')) {
    std::string key = reader.readString();
    reader.expect(':');
    if (key == "descr") {
      descriptor = reader.readString();
    } else if (key == "fortran_order") {
      fortranOrder = reader.readBool();
    } else if (key == "shape") {
      shape = reader.readTuple();
    } else {
      reader.fail("there is an unknown key '" + key + "'");
    }
    if (!reader.accept(',')) {
      reader.expect('}');
      break;
    }
  }
  if (!reader.error.empty()) {
    return reader.error;
  }
  if (!descriptor || !fortranOrder || !shape) {
    return std::string("a key of 'descr', 'fortran_order' and 'shape' is "
                       "missing");
  }
  return NpyHeader{*descriptor, *fortranOrder, *shape};
}

} // namespace tilewright
