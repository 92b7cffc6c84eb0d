//===- Executor.h - interpreting a plan -------------------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// One executor runs one plan, one run at a time. It relies on PlanVerifier for
// every index; what it checks itself are sizes: shapes against expressions,
// and the bytes of every operand against the memory that it has.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "runtime/Arena.h"
#include "runtime/LoadedModule.h"
#include "runtime/Memory.h"
#include "runtime/ThreadPool.h"
#include "runtime/exec/BlockPool.h"
#include "runtime/exec/Device.h"
#include "tilewright/Context.h"
#include "tilewright/Tensor.h"

#include <functional>
#include <unordered_map>
#include <vector>

namespace tilewright {

class Executor {
public:
  /// `variant` is one of the module's. All four outlive the executor.
  Executor(const LoadedModule &module, const LoadedVariant &variant,
           Device &device, ThreadPool &pool);

  /// Runs the plan's main function. Inputs in the order of its parameters.
  Result<std::vector<Tensor>> run(const std::vector<TensorView> &inputs);

  ContextStatistics statistics() const;

  std::function<void(const CommandEvent &)> listener;

private:
  friend class PlanBuiltinCall;

  /// Where a value lies now, for those that have a place of their own.
  struct Slot {
    Block block;          // of an Owned value that is alive
    char *data = nullptr; // of a Parameter
    int64_t capacity = 0;
  };

  /// An arena layout and the buffer sizes that it is for.
  struct CachedLayout {
    std::vector<int64_t> bytes;
    ArenaLayout layout;
  };

  struct FunctionState {
    std::vector<ArenaBuffer> buffers; // with the sizes of this run
    std::vector<CachedLayout> layouts;
    size_t layout = 0; // index of the one in use
    Block arena;
    std::vector<Block> guarded;  // in place of the arena: one per buffer
    std::vector<uint32_t> owned; // Owned values that it does not return
    std::vector<std::string_view> labels; // of the buffers, where lives count
  };

  struct Scan {
    Block block;
    int64_t used = 0;
    std::vector<int64_t> shape; // of one iteration's value
  };

  struct LoopState {
    int64_t trips = 0; // at most
    int64_t iteration = 0;
    uint8_t condition = 0;
    std::vector<Block> carried;
    std::vector<Scan> scans;
    /// Iterations and conditions in a device's memory, so many at once.
    Block counters;
    int64_t counted = 1;
  };

  /// A value in a device's memory that outlasts the run that made it.
  struct Place {
    void *data = nullptr;
    DType dtype = DType::F32;
    std::vector<int64_t> shape;
  };

  /// What is known of runs with inputs of these shapes.
  struct Recording {
    std::vector<int64_t> shapes;
    std::unique_ptr<RecordedRun> run;
    uint64_t releases = 0; // of the device when it was recorded
    bool isKnown = false;  // a run has told how many commands there are
    uint64_t commands = 0;
    uint64_t launches = 0;
    std::vector<Place> results;
  };

  // Executor.cpp
  Status setInputs(const std::vector<TensorView> &inputs);
  Status runOnHost(const std::vector<TensorView> &inputs,
                   std::vector<Tensor> &outputs);
  void reset();
  Status runFunction(uint32_t index);
  Status enter(uint32_t index);
  Status checkParameters(uint32_t index);
  Status prepareArena(uint32_t index);
  Status prepareGuarded(FunctionState &state);
  char *bufferData(const FunctionState &state, size_t buffer) const;
  Status execute(uint32_t function, uint32_t position);
  Status perform(const format::CommandT &command);
  void bind(const std::vector<format::Bind> &binds);
  void evaluate(const std::vector<uint32_t> &expressions);
  void releaseOwned(uint32_t value);
  void report(const format::CommandT &command, uint64_t begin, uint64_t end);

  // DeviceRun.cpp
  Status runOnDevice(const std::vector<TensorView> &inputs,
                     std::vector<Tensor> &outputs);
  Status runCommands(const std::vector<TensorView> &inputs,
                     std::vector<Place> &results);
  bool isFixed(const format::FunctionT &function) const;
  Recording &findRecording(const std::vector<TensorView> &inputs);
  Status record(Recording &recording);
  Status replay(Recording &recording, std::vector<Place> &results);
  Status takeResults(std::vector<Place> &results);
  Status reportTimes();
  void labelBuffers();
  void findWriters();
  void beginLives(uint32_t function, uint32_t position);
  void endLives(uint32_t function, uint32_t position);

  // Values.cpp
  int64_t *shapeOf(uint32_t value) {
    return shapes.data() + shapeOffsets[value];
  }
  ShapeRef actualShape(uint32_t value);
  Status computeShape(uint32_t value);
  /// The block that holds an Owned value or an Alias of one.
  Block &blockOf(uint32_t value) { return slots[verified.root[value]].block; }
  Status resolve(uint32_t value, TensorView &view);
  Status define(uint32_t value, TensorView &view);
  Status readOnHost(uint32_t value, TensorView &view);
  Status readFlag(uint32_t value, bool &flag);
  Status checkShape(uint32_t value);
  std::string describe(uint32_t value) const;
  std::string describe(const format::CommandT &command) const;

  // Commands.cpp
  Status kernelError(const KernelReport &report) const;
  Status launch(const format::LaunchT &launch, const format::CommandT &command);
  Status builtin(const format::BuiltinT &builtin,
                 const format::CommandT &command);
  Status copy(const format::CopyT &copy);
  Status readSizes(const format::ReadSizesT &read,
                   const format::CommandT &command);
  Status writeSizes(const format::WriteSizesT &write);

  // ControlFlow.cpp
  Status branch(const format::IfT &branch);
  Status loop(const format::LoopT &loop, const format::CommandT &command);
  static bool hasOpenEnd(const format::LoopT &loop);
  bool knowsTrips(const format::LoopT &loop) const;
  Status readTrips(const format::LoopT &loop, int64_t &trips);
  Status startLoop(const format::LoopT &loop, LoopState &state, bool &goOn);
  void placeCounters(const format::LoopT &loop, void *iteration,
                     void *condition);
  Status setCounters(const format::LoopT &loop, LoopState &state);
  Status iterate(const format::LoopT &loop, LoopState &state, bool &goOn);
  Status append(Scan &scan, uint32_t result, int64_t expected);
  Status finishCarried(const format::LoopT &loop, LoopState &state, size_t i);
  Status finishScan(const format::LoopT &loop, LoopState &state, size_t i);
  void forgetBody(uint32_t function);
  void setParameter(uint32_t value, void *data, int64_t capacity,
                    ShapeRef shape);

  const LoadedModule &module;
  const format::PlanT &plan;
  const VerifiedPlan &verified;
  Device &device;
  ThreadPool &pool;
  BlockPool blocks;

  std::vector<int64_t> symbols;
  std::vector<int64_t> expressions;
  std::vector<size_t> shapeOffsets; // per value, into shapes
  std::vector<int64_t> shapes;
  std::vector<Slot> slots; // per value
  std::vector<FunctionState> functions;
  std::unordered_map<const format::LoopT *, LoopState> loops;
  std::unordered_map<const format::BuiltinT *, uint64_t> occurrences;
  /// What writes a value that holds nothing but sizes.
  std::unordered_map<uint32_t, const format::WriteSizesT *> writers;

  // Memory of launches, kept from one to the next.
  std::vector<void *> buffers;
  std::vector<int64_t> sizes;
  std::vector<int64_t> productSizes;

  // On a device other than the processor.
  bool isRecordable = false; // Every command can be part of a recorded run.
  std::vector<Recording> recordings;
  std::vector<const format::CommandT *> timed; // in the order of their ends

  uint64_t started = 0; // nanoseconds
  uint64_t commandCount = 0;
  uint64_t launchCount = 0;
  uint64_t replayCount = 0;
};

} // namespace tilewright
