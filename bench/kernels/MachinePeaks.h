//===- MachinePeaks.h - what the machine can do at most ---------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "targets/TargetSpec.h"
#include "tilewright/Tensor.h"

#include <cstddef>

namespace tilewright::bench {

/// Measures peaks on a number of threads at the same time. Each call measures
/// anew: on a shared machine a peak is worth something only beside what it is
/// compared with.
class MachinePeaks {
public:
  /// `streamBytes` is the size of each array that is streamed through; it
  /// should not fit into the caches. Errors: OutOfMemory.
  static Result<MachinePeaks> create(unsigned threads, const TargetSpec &target,
                                     size_t streamBytes);

  /// \returns f32 operations per second of multiply-adds in registers, with the
  /// instructions of the target.
  double flops() const;

  /// Chooses the fastest of several loops for bytes(): with ordinary or
  /// non-temporal stores, at one place of the arrays or at several.
  void chooseLoop(unsigned streams, bool writes);

  /// \returns bytes per second of a loop that reads `streams` (1 or 2) arrays
  /// and, with `writes`, writes one.
  double bytes(unsigned streams, bool writes);

private:
  MachinePeaks(unsigned threads, const TargetSpec &target)
      : threads(threads), target(&target) {}

  double pass(unsigned streams, bool writes, size_t way);

  unsigned threads;
  const TargetSpec *target;
  Tensor first, second, result;
  size_t fastest = 0;
};

} // namespace tilewright::bench
