//===- StreamSchedule.h - streams over time ---------------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// What `inspect --streams` shows of a plan for a GPU: which command is on which
// stream, what it waits for, and when it would run if every command took as
// long as the compiler has estimated.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "runtime/format/module_generated.h"

#include <string>
#include <vector>

namespace tilewright {

/// One command of a function.
struct ScheduledCommand {
  std::string name;  ///< of the kernel, or the kind of command
  std::string nodes; ///< the ONNX nodes, by commas
  uint32_t stream = 0;
  std::vector<uint32_t> waitsFor; ///< numbers of commands
  double begin = 0, end = 0;      ///< microseconds since the function began
};

/// \returns the commands of `function`, a function of a verified plan.
std::vector<ScheduledCommand> scheduleOf(const format::PlanT &plan,
                                         const format::FunctionT &function);

/// \returns a table of the commands of every function.
std::string streamTable(const format::PlanT &plan);

/// \returns the main function as SVG: a row for each stream, a box for each
/// command, a line for each event.
std::string streamPicture(const format::PlanT &plan);

} // namespace tilewright
