//===- Shapes.h - the shapes that kernels are measured on -------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "tilewright/Status.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace tilewright::bench {

/// One line of a shape file: `NAME KEY=VALUE …`.
struct Shape {
  std::string family; // the file's name without its suffix
  std::string name;
  std::map<std::string, std::string> values;

  /// \returns the number under `key`, or `otherwise` where it is left out.
  int64_t number(const std::string &key, int64_t otherwise) const;
  /// \returns the numbers under `key`, which are separated by commas.
  std::vector<int64_t> numbers(const std::string &key) const;
  std::string text(const std::string &key, const std::string &otherwise) const;
};

/// Reads a shape file. Empty lines and what follows a # do not count. Errors:
/// InputUnreadable, OptionInvalid with the line.
Result<std::vector<Shape>> readShapes(const std::string &path);

} // namespace tilewright::bench
