//===- Bindings.cpp - NAME=VALUE on the command line ----------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "tools/tilewright/data/Bindings.h"

#include <cerrno>
#include <charconv>
#include <cstring>
#include <fcntl.h>
#include <optional>
#include <set>
#include <unistd.h>

namespace tilewright {

static Status invalid(const std::string &option, const std::string &text,
                      const std::string &expected) {
  return Status(ErrorCode::OptionInvalid,
                option + " '" + text + "': expected " + expected);
}

/// Whether a file can be read, before anything expensive happens.
static Status checkReadable(const std::string &path) {
  int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) {
    return Status(ErrorCode::InputUnreadable,
                  "cannot read '" + path + "': " + std::strerror(errno));
  }
  close(descriptor);
  return Status::ok();
}

/// \returns NAME and FILE of NAME=@FILE.
static std::optional<FileBinding> splitFile(const std::string &text) {
  size_t at = text.find("=@");
  if (at == std::string::npos || at == 0 || at + 2 == text.size()) {
    return std::nullopt;
  }
  return FileBinding{text.substr(0, at), text.substr(at + 2)};
}

static Status givenTwice(const std::string &option, const std::string &name) {
  return Status(ErrorCode::OptionInvalid,
                option + ": '" + name + "' is given twice");
}

Result<std::vector<InputBinding>>
parseInputs(const std::vector<std::string> &texts) {
  static const std::pair<const char *, InputBinding::Source> sources[] = {
      {"zeros", InputBinding::Source::Zeros},
      {"ones", InputBinding::Source::Ones},
      {"random", InputBinding::Source::Random}};
  std::vector<InputBinding> bindings;
  std::set<std::string> names;
  for (const std::string &text : texts) {
    InputBinding binding;
    size_t equals = text.rfind('=');
    if (std::optional<FileBinding> file = splitFile(text)) {
      binding = {file->name, InputBinding::Source::File, file->file};
      TW_RETURN_IF_ERROR(checkReadable(file->file));
    } else if (equals != std::string::npos && equals > 0) {
      for (auto [word, source] : sources) {
        if (text.compare(equals + 1, std::string::npos, word) == 0) {
          binding = {text.substr(0, equals), source, ""};
        }
      }
    }
    if (binding.name.empty()) {
      return invalid("--input", text,
                     "NAME=@FILE.npy, NAME=zeros, NAME=ones or NAME=random");
    }
    if (!names.insert(binding.name).second) {
      return givenTwice("--input", binding.name);
    }
    bindings.push_back(std::move(binding));
  }
  return bindings;
}

Result<std::vector<FileBinding>>
parseFiles(const std::string &option, const std::vector<std::string> &texts) {
  std::vector<FileBinding> bindings;
  std::set<std::string> names;
  for (const std::string &text : texts) {
    std::optional<FileBinding> binding = splitFile(text);
    if (!binding) {
      return invalid(option, text, "NAME=@FILE.npy");
    }
    if (!names.insert(binding->name).second) {
      return givenTwice(option, binding->name);
    }
    TW_RETURN_IF_ERROR(checkReadable(binding->file));
    bindings.push_back(std::move(*binding));
  }
  return bindings;
}

/// \returns the sizes of "1x3x?", or nothing when the text is something else.
static std::optional<std::vector<int64_t>> parseSizes(const std::string &text) {
  std::vector<int64_t> sizes;
  const char *next = text.data(), *end = next + text.size();
  while (next != end) {
    int64_t size = -1;
    if (*next == '?') {
      ++next;
    } else {
      auto [rest, error] = std::from_chars(next, end, size);
      if (error != std::errc() || size < -1) {
        return std::nullopt;
      }
      next = rest;
    }
    sizes.push_back(size);
    if (next == end) {
      break;
    }
    if (*next != 'x' || next + 1 == end) {
      return std::nullopt;
    }
    ++next;
  }
  return sizes;
}

Result<Shapes> parseShapes(const std::vector<std::string> &texts) {
  Shapes shapes;
  for (const std::string &text : texts) {
    size_t equals = text.rfind('=');
    std::optional<std::vector<int64_t>> sizes;
    if (equals != std::string::npos && equals > 0) {
      sizes = parseSizes(text.substr(equals + 1));
    }
    if (!sizes) {
      return invalid("--shape", text,
                     "NAME=SIZExSIZEx…, such as x=1x3x224x224");
    }
    std::string name = text.substr(0, equals);
    if (!shapes.emplace(name, std::move(*sizes)).second) {
      return givenTwice("--shape", name);
    }
  }
  return shapes;
}

} // namespace tilewright
