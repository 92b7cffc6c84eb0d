//===- Subcommands.h - the commands of `tilewright` -------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include <CLI/CLI.hpp>
#include <functional>

namespace tilewright {

/// Does what a parsed command line asks for. \returns the exit code.
using Action = std::function<int()>;

/// Each adds a subcommand to the program, and gives what it does.
Action addCompile(CLI::App &program);
Action addRun(CLI::App &program);
Action addBench(CLI::App &program);
Action addInspect(CLI::App &program);
Action addExplain(CLI::App &program);

} // namespace tilewright
