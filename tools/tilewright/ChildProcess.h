//===- ChildProcess.h - another program's output ----------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "tilewright/Status.h"

#include <string>
#include <vector>

namespace tilewright {

struct ChildResult {
  int exitCode = 0;
  std::string output; ///< what it printed; its errors go where ours go
};

/// Runs a program to its end. Errors: Internal (it cannot be started, or ended
/// by a signal).
Result<ChildResult> runProgram(const std::string &program,
                               const std::vector<std::string> &arguments);

/// \returns the path of a program that is installed beside this one.
std::string siblingProgram(const std::string &name);

} // namespace tilewright
