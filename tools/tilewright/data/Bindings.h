//===- Bindings.h - NAME=VALUE on the command line --------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// ONNX names may hold any character, '=' included: NAME=@FILE is split at the
// first "=@", other bindings at their last '='.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "tilewright/Status.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace tilewright {

/// What an input is filled with.
struct InputBinding {
  enum class Source { File, Zeros, Ones, Random };
  std::string name;
  Source source = Source::Random;
  std::string file; ///< of Source::File
};

/// A tensor in a file.
struct FileBinding {
  std::string name;
  std::string file;
};

/// Shapes by input name; a size of -1 stays as the model has it.
using Shapes = std::map<std::string, std::vector<int64_t>>;

/// Reads NAME=@FILE, NAME=zeros, NAME=ones or NAME=random. Errors:
/// OptionInvalid (also an input given twice), InputUnreadable.
Result<std::vector<InputBinding>>
parseInputs(const std::vector<std::string> &texts);

/// Reads NAME=@FILE. Errors: OptionInvalid, InputUnreadable.
Result<std::vector<FileBinding>>
parseFiles(const std::string &option, const std::vector<std::string> &texts);

/// Reads NAME=1x3x224x224; `?` or -1 leaves a size open, and nothing after the
/// '=' is the shape of a scalar. Errors: OptionInvalid.
Result<Shapes> parseShapes(const std::vector<std::string> &texts);

} // namespace tilewright
