//===- CudaDevice.h - kernels on a GPU --------------------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// One context's use of a GPU, or of the simulator of one. Everything is put on
// streams; only what the processor must know before it can go on is waited
// for: sizes, conditions and operands of builtins, and the end of a run.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "runtime/devices/cuda/CublasLt.h"
#include "runtime/devices/cuda/DeviceImage.h"
#include "runtime/devices/cuda/Staging.h"
#include "runtime/devices/cuda/Streams.h"
#include "runtime/devices/cuda/Timing.h"
#include "runtime/exec/Device.h"

#include <optional>
#include <unordered_map>

namespace tilewright {

class CudaDevice final : public Device, private MemoryOwner {
public:
  /// The variant outlives the device. Errors: DeviceMemory, DeviceFault,
  /// OutOfMemory.
  static Result<std::unique_ptr<Device>>
  create(std::shared_ptr<const Gpu> gpu,
         std::shared_ptr<const DeviceImage> image,
         const LoadedVariant &variant);
  ~CudaDevice() override;

  Result<Block> allocate(int64_t bytes) override;
  uint64_t releases() const override { return releaseCount; }
  Result<KernelReport> launch(const LaunchRequest &request) override;
  Status copy(void *to, const void *from, int64_t bytes) override;
  Status beginRun() override;
  Result<KernelReport> endRun() override;
  void abandonRun() override;
  Result<void *> setInput(size_t index, const void *data,
                          int64_t bytes) override;
  Status getOutput(void *to, const void *from, int64_t bytes) override;
  Status readOnHost(TensorView &view) override;
  Status writeOnHost(TensorView &view) override;
  Status endHostAccess() override;
  Status enterFunction(uint32_t function) override;
  Status leaveFunction(uint32_t function) override;
  Status beginCommand(uint32_t function,
                      const format::CommandT &command) override;
  Status endCommand(uint32_t function,
                    const format::CommandT &command) override;
  void beginLife(const void *data, int64_t bytes,
                 std::string_view label) override;
  void endLife(const void *data) override;
  bool canRecord() const override { return true; }
  Status beginRecording() override;
  Result<std::unique_ptr<RecordedRun>> endRecording() override;
  Status replay(RecordedRun &run) override;
  void setTiming(bool on) override { timing.isOn = on; }
  Result<std::vector<CommandTime>> times() override { return timing.times(); }
  uint64_t compiledKernels() const override { return image->compiledKernels(); }
  uint64_t libraryCalls() const override { return productCount; }
  std::string libraryRefusal() const override { return refusal; }

private:
  /// A launch command of the plan.
  struct LaunchPlace {
    uint32_t number;   // in the plan's order; of its status word
    std::string label; // its nodes, for the simulator's findings
  };
  /// Bytes that the processor has written or will read.
  struct Transfer {
    void *to;
    const void *from;
    int64_t bytes;
  };

  /// What the library says of a product of some sizes: nothing, or how.
  struct PreparedProduct {
    ProductShape shape;
    std::optional<LibraryProduct> product;
  };

  CudaDevice(std::shared_ptr<const Gpu> gpu,
             std::shared_ptr<const DeviceImage> image);
  Status prepare(const LoadedVariant &variant);
  void noteLaunches(const format::PlanT &plan);
  static Status checkBuffers(const std::vector<void *> &buffers,
                             const LaunchPlace &place);
  void openLibrary();
  ProductShape productShape(const LaunchRequest &request) const;
  const LibraryProduct *preparedProduct(const LaunchRequest &request);
  /// \returns whether the library does the launch.
  Result<bool> launchProduct(const LaunchRequest &request);
  void release(void *memory, int64_t bytes) override;
  void freeReleased();
  CUresult allocateOnce(CUdeviceptr &memory, size_t bytes);
  Status growWorkspace(int64_t bytes, Block *&workspace);
  Status toDevice(void *to, const void *from, int64_t bytes);
  Status toHost(void *to, const void *from, int64_t bytes);
  Staging &currentStaging() {
    return recordedStaging ? *recordedStaging : staging;
  }
  void followStream() { currentStream = streams->currentNumber(); }

  std::shared_ptr<const Gpu> gpu;
  std::shared_ptr<const DeviceImage> image;
  const Driver &driver;
  std::unique_ptr<Streams> streams;
  Timing timing;
  Staging staging;
  /// Of the run that is being recorded: its copies are repeated with it.
  std::unique_ptr<Staging> recordedStaging;

  std::unordered_map<const format::LaunchT *, LaunchPlace> places;
  std::vector<const format::CommandT *> launches; // by number
  Block statuses;                                 // a word per launch
  std::vector<int32_t> codes;                     // what they held
  std::vector<Block> inputs;
  std::vector<Block> workspaces;     // one per stream
  std::vector<CUdeviceptr> released; // freed when nothing is under way
  uint64_t releaseCount = 0;
  std::vector<Transfer> written; // by the processor, to be copied to the GPU
  std::vector<Transfer> outputs; // to be copied when the run has ended

  const format::PlanT *plan = nullptr;
  std::unique_ptr<CublasLt> library; // null: no use for it, or not there
  std::string refusal;
  uint64_t productCount = 0;
  std::unordered_map<const format::LaunchT *, std::vector<PreparedProduct>>
      prepared;

  std::vector<uint64_t> parameters; // of a launch
  std::vector<void *> parameterPointers;
};

} // namespace tilewright
