//===- Streams.h - commands on streams --------------------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "runtime/format/module_generated.h"

#include <vector>

namespace tilewright::plan {

/// What streams are chosen by.
struct StreamOptions {
  unsigned streams = 4; ///< at most so many for a function
  /// What an event between two streams costs, and what a second stream has to
  /// gain to be taken, in microseconds.
  double eventMicroseconds = 2;
};

/// When a command is estimated to run, in microseconds since its function
/// began.
struct CommandSpan {
  double begin = 0, end = 0;
};

/// Spreads the commands of a function over streams and adds the events that
/// keep their dependences, as few as that takes: what follows from the order of
/// a stream or from other events gets none. `microseconds` estimates each
/// command.
///
/// Where memory is used again is kept right, too: the life of an arena buffer
/// begins at a command before all of its uses, and it ends, and an owned value
/// is released, at a command from which on everything comes after all of them.
/// \returns the estimated schedule.
std::vector<CommandSpan> assignStreams(const format::PlanT &plan,
                                       format::FunctionT &function,
                                       const std::vector<double> &microseconds,
                                       const StreamOptions &options = {});

} // namespace tilewright::plan
