//===- Workers.h - jobs in processes that may crash -------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// A test must outlive what it tests. Jobs run in forked processes, one after
// the other in each; one that crashes or hangs costs its process and nothing
// else.
//
//===----------------------------------------------------------------------===//

#pragma once

#include <chrono>
#include <functional>
#include <string>

namespace tilewright::conformance {

/// How a job ended.
struct JobResult {
  bool finished = false; ///< else it crashed or ran out of time
  std::string text;      ///< what it returned, or how it ended
};

struct WorkerOptions {
  unsigned workers = 2;
  std::chrono::seconds timeout{30}; ///< of one job
};

/// Runs job(0) … job(count - 1) in forked processes. This process must have no
/// threads. Calls `done` here with each result, in the order in which they
/// arrive. \returns false when processes cannot be started.
bool runJobs(size_t count, const WorkerOptions &options,
             const std::function<std::string(size_t)> &job,
             const std::function<void(size_t, const JobResult &)> &done);

} // namespace tilewright::conformance
