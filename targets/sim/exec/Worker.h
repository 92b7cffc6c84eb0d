//===- Worker.h - one host thread of a launch ------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "targets/sim/exec/AsyncCopy.h"
#include "targets/sim/exec/Machine.h"

#include <cstdlib>
#include <memory>
#include <vector>

namespace tilewright::sim {

/// The storage of one block and its warps, used for one block after another.
class BlockRunner {
public:
  explicit BlockRunner(Launch &launch);

  /// Runs the block of that number to its end or the launch's.
  void run(uint64_t linear);
  /// Adds what the blocks did.
  void addTo(Counters &counters) const;

private:
  struct Free {
    void operator()(void *place) const { std::free(place); }
  };
  using Bytes = std::unique_ptr<uint8_t, Free>;
  /// \returns `bytes` bytes, zero, on a cache line.
  static Bytes allocate(uint64_t bytes);

  void fillConstants(const Warp &warp) const;
  void fillThreadRegisters(const Warp &warp) const;
  void fillBlockRegisters(const Warp &warp) const;
  void prepare(uint64_t linear);
  void runWarps();

  Launch &launch;
  const Code &code;
  Worker worker;
  Block block;
  std::vector<Warp> warps;
  std::vector<AsyncCopies> copies;
  std::vector<PathEntry> stacks;
  std::vector<RangeCache> ranges;
  std::vector<uint64_t> blockLanes;
  std::vector<uint64_t> blockWarps;
  uint64_t frameStride = 0;
  uint64_t localStride = 0;
  Bytes frames;
  Bytes local;
  Bytes localShadow;
  Bytes shared;
  Bytes sharedShadow;
  Bytes sharedCells;
};

} // namespace tilewright::sim
