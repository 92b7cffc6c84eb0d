//===- KernelTimes.h - what each kernel of a run takes ----------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "tilewright/Context.h"

#include <nlohmann/json.hpp>

namespace tilewright {

/// Runs `runs` times with a listener. \returns [{kernel, nodes, launches, ms}],
/// longest first: the sum over the kernel's launches in a run, each at its best
/// of all runs. A builtin or copy counts as a kernel of its name or kind. On a
/// GPU the times are those of events around each command.
Result<nlohmann::json> timeKernels(Context &context,
                                   const std::vector<TensorView> &inputs,
                                   unsigned runs);

/// Sums over the launches of one run on the simulator, and the same by kernel.
class KernelCounts {
public:
  /// Has the simulator write a trace with memory counters, unless the
  /// environment names one. Call it before the first context is created.
  /// Error: OutputUnwritable.
  Status begin();

  /// \returns {total: {launches, lane_instructions, load_bytes, store_bytes,
  /// shared_conflicts}, kernels: [{kernel, nodes, and the same}]} of all
  /// launches since begin(), those with the most instructions first. Bytes are
  /// those of the 32-byte sectors that were touched.
  Result<nlohmann::json> end();

  ~KernelCounts();

private:
  std::string file;
  int64_t start = 0; // where the lines of this process begin
  bool isOwn = false;
};

} // namespace tilewright
