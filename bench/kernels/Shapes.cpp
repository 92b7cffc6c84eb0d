//===- Shapes.cpp - the shapes that kernels are measured on ---------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "bench/kernels/Shapes.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

namespace tilewright::bench {

int64_t Shape::number(const std::string &key, int64_t otherwise) const {
  auto found = values.find(key);
  return found == values.end() ? otherwise
                               : std::strtoll(found->second.c_str(), nullptr,
                                              /*base=*/10);
}

std::vector<int64_t> Shape::numbers(const std::string &key) const {
  std::vector<int64_t> list;
  std::istringstream stream(text(key, ""));
  for (std::string item; std::getline(stream, item, ',');) {
    list.push_back(std::strtoll(item.c_str(), nullptr, /*base=*/10));
  }
  return list;
}

std::string Shape::text(const std::string &key,
                        const std::string &otherwise) const {
  auto found = values.find(key);
  return found == values.end() ? otherwise : found->second;
}

static Result<Shape> parseLine(const std::string &line,
                               const std::string &where) {
  Shape shape;
  std::istringstream words(line);
  words >> shape.name;
  for (std::string word; words >> word;) {
    size_t equals = word.find('=');
    if (equals == 0 || equals == std::string::npos) {
      return Status(ErrorCode::OptionInvalid,
                    where + ": '" + word + "' is not KEY=VALUE");
    }
    shape.values[word.substr(0, equals)] = word.substr(equals + 1);
  }
  return shape;
}

Result<std::vector<Shape>> readShapes(const std::string &path) {
  std::ifstream file(path);
  if (!file) {
    return Status(ErrorCode::InputUnreadable,
                  "cannot read the shapes '" + path + "'");
  }
  std::vector<Shape> shapes;
  std::set<std::string> names;
  size_t number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    line = line.substr(0, line.find('#'));
    if (line.find_first_not_of(" \t\r") == std::string::npos) {
      continue;
    }
    std::string where = path + ":" + std::to_string(number);
    Result<Shape> shape = parseLine(line, where);
    if (!shape) {
      return shape.status();
    }
    if (!names.insert(shape->name).second) {
      return Status(ErrorCode::OptionInvalid,
                    where + ": a second shape is called '" + shape->name + "'");
    }
    shape->family = std::filesystem::path(path).stem().string();
    shapes.push_back(std::move(*shape));
  }
  return shapes;
}

} // namespace tilewright::bench
