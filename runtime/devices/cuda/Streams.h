//===- Streams.h - a plan's streams and events on a GPU ---------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// Stream 0 of a function is the stream that its caller's command is on; main's
// is the run's. Its other streams begin after everything that has been put on
// stream 0 before the call, and what follows the call waits for all of them.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "runtime/LoadedModule.h"
#include "runtime/devices/cuda/Gpu.h"

#include <memory>
#include <vector>

namespace tilewright {

class Streams {
public:
  /// Creates the streams and events of all functions.
  static Result<std::unique_ptr<Streams>> create(std::shared_ptr<const Gpu> gpu,
                                                 const format::PlanT &plan);
  ~Streams();
  Streams(const Streams &) = delete;
  Streams &operator=(const Streams &) = delete;

  CUstream main() const { return all[0]; }
  CUstream current() const { return all[number]; }
  /// The current stream's number; 0 is the main one.
  uint32_t currentNumber() const { return number; }
  size_t count() const { return all.size(); }

  /// Back to the main stream, outside of all functions.
  void restart();
  Status enter(uint32_t function);
  Status leave(uint32_t function);
  /// Chooses the command's stream and waits for its events.
  Status begin(uint32_t function, const format::CommandT &command);
  /// Records the command's event.
  Status end(uint32_t function, const format::CommandT &command);

  /// Waits for all streams, whatever has happened on them.
  CUresult synchronize();

private:
  struct FunctionStreams {
    std::vector<uint32_t> others; // numbers of its streams 1, 2, …
    std::vector<CUevent> events;
    CUevent entered = nullptr;
    std::vector<CUevent> left; // one per other stream
    uint32_t base = 0;         // number of its stream 0 in this call
  };

  explicit Streams(std::shared_ptr<const Gpu> gpu) : gpu(std::move(gpu)) {}
  Status addStream(uint32_t &number);
  Status addEvent(CUevent &event);
  Status addFunction(const format::FunctionT &function);
  Status waitFor(CUevent event, uint32_t stream);
  Status record(CUevent event, uint32_t stream);

  std::shared_ptr<const Gpu> gpu;
  std::vector<CUstream> all;
  std::vector<CUevent> allEvents;
  std::vector<FunctionStreams> functions;
  uint32_t number = 0;
};

} // namespace tilewright
