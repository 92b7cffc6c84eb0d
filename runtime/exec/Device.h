//===- Device.h - where a plan's values lie and its kernels run -*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// The executor interprets a plan: sizes, the arena, control flow. A Device is
// what differs between the processor and a GPU: memory, copies and launches.
// Work on a GPU is put on streams and done later; its errors come with it.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "runtime/LoadedModule.h"
#include "runtime/Memory.h"
#include "tilewright/Tensor.h"

#include <string>
#include <string_view>
#include <vector>

namespace tilewright {

/// A launch whose operands and sizes are known. The lists live for the call.
struct LaunchRequest {
  const format::LaunchT &launch;
  const format::CommandT &command;
  const std::vector<void *> &buffers; ///< of the device: inputs, then outputs
  const std::vector<int64_t> &sizes;
  const std::vector<int64_t>
      &productSizes;     ///< of launch.product, if it has one
  int64_t tasks = 0;     ///< at least 1
  int64_t workspace = 0; ///< bytes, a multiple of 64
};

/// What a kernel has put into its status word; 0: all is well.
struct KernelReport {
  const format::CommandT *command = nullptr;
  int32_t status = 0;
};

/// When a command began and ended on the device, in nanoseconds since the run
/// began there.
struct CommandTime {
  uint64_t begin = 0;
  uint64_t end = 0;
};

/// A device's work of a whole run, to be repeated.
class RecordedRun {
public:
  virtual ~RecordedRun() = default;
};

class Device {
public:
  virtual ~Device() = default;
  Device(const Device &) = delete;
  Device &operator=(const Device &) = delete;

  /// Whether the processor reads and writes the device's memory as its own,
  /// and whether work is done when the call that asks for it returns.
  const bool isHost;

  /// Whether the device wants to know beginLife() and endLife().
  const bool tracksLives;

  /// The module's constants, in the device's memory.
  const std::vector<LoadedConstant> &constants() const { return constantList; }

  /// The stream that commands are put on now; memory that one stream has let
  /// go of may still be in use when seen from another. 0 on the processor.
  uint32_t stream() const { return currentStream; }

  /// \returns at least `bytes` bytes, never an empty block.
  /// Errors: OutOfMemory, DeviceMemory.
  virtual Result<Block> allocate(int64_t bytes) = 0;

  /// How often memory went back to where it came from: what was recorded
  /// before may name memory that is gone.
  virtual uint64_t releases() const { return 0; }

  /// How many kernels the device's driver had to compile.
  virtual uint64_t compiledKernels() const { return 0; }

  /// Launches that a library did in place of their kernels, or that were
  /// recorded to be done by it, since the device was opened.
  virtual uint64_t libraryCalls() const { return 0; }

  /// Why products that the plan leaves to a library are left to kernels; empty:
  /// they are not.
  virtual std::string libraryRefusal() const { return ""; }

  /// Runs a kernel. \returns what it reports, if that is known already.
  /// Errors: DataInvalid (more blocks than a grid has), OutOfMemory and
  /// DeviceMemory (workspace), DeviceFault.
  virtual Result<KernelReport> launch(const LaunchRequest &request) = 0;

  /// Copies within the device's memory; the two may overlap.
  virtual Status copy(void *to, const void *from, int64_t bytes) = 0;

  //===--------------------------------------------------------------------===//
  // What a device needs whose memory is not the processor's (!isHost).
  //===--------------------------------------------------------------------===//

  /// Begins a run. Nothing is under way.
  virtual Status beginRun() { return Status::ok(); }

  /// Waits for everything. \returns what the first kernel in the plan's order
  /// has reported that did report something. Error: DeviceFault.
  virtual Result<KernelReport> endRun() { return KernelReport(); }

  /// Waits for what a failed run has put on streams, and forgets it.
  virtual void abandonRun() {}

  /// \returns the device's memory of input `index`, which gets these bytes.
  virtual Result<void *> setInput(size_t index, const void *data,
                                  int64_t bytes) {
    return const_cast<void *>(data);
  }

  /// Copies to the processor's memory, which has the bytes after endRun().
  virtual Status getOutput(void *to, const void *from, int64_t bytes) {
    return Status::ok();
  }

  /// Points the view at a copy on the processor, which waits for the value.
  /// Valid until endHostAccess().
  virtual Status readOnHost(TensorView &view) { return Status::ok(); }

  /// Points the view at memory of the processor whose bytes the value gets at
  /// endHostAccess().
  virtual Status writeOnHost(TensorView &view) { return Status::ok(); }
  virtual Status endHostAccess() { return Status::ok(); }

  /// Around the commands of a function, and around each command of it.
  virtual Status enterFunction(uint32_t function) { return Status::ok(); }
  virtual Status leaveFunction(uint32_t function) { return Status::ok(); }
  virtual Status beginCommand(uint32_t function,
                              const format::CommandT &command) {
    return Status::ok();
  }
  virtual Status endCommand(uint32_t function,
                            const format::CommandT &command) {
    return Status::ok();
  }

  /// In the order of the current stream: from now on these bytes are one
  /// value, with undefined contents; what overlapped them has ended.
  virtual void beginLife(const void *data, int64_t bytes,
                         std::string_view label) {}
  virtual void endLife(const void *data) {}

  /// Whether a run can be recorded: commands between the two calls are noted
  /// and not done.
  virtual bool canRecord() const { return false; }
  virtual Status beginRecording() { return Status::ok(); }
  virtual Result<std::unique_ptr<RecordedRun>> endRecording() {
    return std::unique_ptr<RecordedRun>();
  }
  /// Does what was recorded; between beginRun() and endRun().
  virtual Status replay(RecordedRun &run) { return Status::ok(); }

  /// Whether each command of this run is to be timed.
  virtual void setTiming(bool on) {}
  /// \returns the times of the run's commands in the order of their ends.
  virtual Result<std::vector<CommandTime>> times() {
    return std::vector<CommandTime>();
  }

protected:
  Device(bool isHost, bool tracksLives)
      : isHost(isHost), tracksLives(tracksLives) {}

  std::vector<LoadedConstant> constantList;
  uint32_t currentStream = 0;
};

} // namespace tilewright
