//===- CompileArguments.h - options of all that compile ---------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "tools/driver/Compiler.h"

#include <CLI/CLI.hpp>

namespace tilewright {

/// --target --shape --precision --strict --reference --override-kernel, as
/// given.
struct CompileArguments {
  std::string target = "cpu";
  std::vector<std::string> shapes;
  std::vector<std::string> kernels;
  std::string precision = "f32";
  std::string library = "auto";
  bool strict = false;
  bool reference = false;

  void addTo(CLI::App &app);

  /// Errors: OptionInvalid, UnsupportedOption.
  Result<CompileOptions> resolve() const;
};

/// \returns the level or GPU that --target asks for, or null for "cpu": the
/// best level of the machine. Errors: OptionInvalid.
Result<const TargetSpec *> parseTarget(const std::string &text);

} // namespace tilewright
