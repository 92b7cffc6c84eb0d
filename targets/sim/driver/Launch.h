//===- Launch.h - one launch, from its parameters to its counters -*- C++ -*-=//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "targets/sim/Execute.h"
#include "targets/sim/driver/Context.h"

#include <vector>

namespace tilewright::sim {

/// A launch that streams may do, once or often.
struct Launch {
  std::shared_ptr<const Instance> instance;
  const Kernel *kernel = nullptr;
  LaunchShape shape;
  std::vector<unsigned char> parameters;
  std::string label; ///< of labelLaunch()

  /// Runs the kernel and notes what it did; a finding fails the context.
  void run(Context &context) const;
};

/// What the next launch of the calling thread is called in findings.
extern thread_local std::string launchLabel;

/// \returns the driver's code for a finding of that kind.
CUresult resultOf(FaultKind kind);

} // namespace tilewright::sim
