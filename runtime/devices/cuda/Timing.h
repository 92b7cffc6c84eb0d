//===- Timing.h - when commands run on a GPU --------------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "runtime/devices/cuda/Gpu.h"
#include "runtime/exec/Device.h"

#include <memory>
#include <vector>

namespace tilewright {

/// Times the commands of a run with a pair of events each. Commands may hold
/// other commands.
class Timing {
public:
  explicit Timing(std::shared_ptr<const Gpu> gpu) : gpu(std::move(gpu)) {}
  ~Timing();
  Timing(const Timing &) = delete;
  Timing &operator=(const Timing &) = delete;

  bool isOn = false;

  /// Begins a run on its main stream.
  Status start(CUstream stream);
  Status begin(CUstream stream);
  Status end(CUstream stream);
  /// After the run has ended.
  Result<std::vector<CommandTime>> times();

private:
  struct Span {
    CUevent begin;
    CUevent end;
  };
  Result<CUevent> record(CUstream stream);
  Result<uint64_t> sinceStart(CUevent event);

  std::shared_ptr<const Gpu> gpu;
  std::vector<CUevent> events; // used again in each run
  size_t used = 0;
  CUevent first = nullptr;
  std::vector<CUevent> open; // begins of the commands under way
  std::vector<Span> spans;   // in the order of their ends
};

} // namespace tilewright
