//===- Report.h - what every subcommand prints ------------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "tilewright/Module.h"
#include "tilewright/Status.h"
#include "tilewright/Tensor.h"

#include <nlohmann/json.hpp>

namespace tilewright {

/// The exit codes of every tool.
enum ExitCode : int {
  Success = 0,
  CheckFailed = 1,
  UserError = 2,
  Unsupported = 3,
  InternalError = 4
};

ExitCode exitCodeOf(const Status &status);

/// Prints an error on standard error. \returns the exit code.
int report(const Status &error);

/// \returns "1.5 MB", "320 bytes".
std::string formatBytes(int64_t bytes);

/// \returns "3.12 s", "0.85 ms".
std::string formatMilliseconds(double milliseconds);

/// \returns "f32[batch, 3]".
std::string formatType(const Parameter &parameter);
std::string formatType(const TensorView &tensor);

/// \returns `count` of something: "1 kernel", "2 kernels".
std::string formatCount(int64_t count, const std::string &noun);

/// \returns a module's summary or decisions as JSON; null when it is damaged.
nlohmann::json parseJson(const std::string &text);

/// \returns JSON text; bytes that are no UTF-8 are replaced.
std::string dumpJson(const nlohmann::json &json);

} // namespace tilewright
