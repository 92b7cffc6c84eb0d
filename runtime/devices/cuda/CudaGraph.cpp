//===- CudaGraph.cpp - recorded runs --------------------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "runtime/devices/cuda/CudaDevice.h"

using namespace tilewright;

namespace {
/// A CUDA graph that can be launched, and what its copies read.
class CudaGraph final : public RecordedRun {
public:
  CudaGraph(std::shared_ptr<const Gpu> gpu, std::unique_ptr<Staging> staging)
      : gpu(std::move(gpu)), staging(std::move(staging)) {}
  ~CudaGraph() override {
    if (executable && gpu->makeCurrent().isOk()) {
      gpu->driver.graphExecDestroy(executable);
    }
  }

  CUgraphExec executable = nullptr;

private:
  std::shared_ptr<const Gpu> gpu;
  std::unique_ptr<Staging> staging;
};
} // namespace

Status CudaDevice::beginRecording() {
  recordedStaging = std::make_unique<Staging>(gpu);
  CUresult result = driver.streamBeginCapture(streams->main(),
                                              CU_STREAM_CAPTURE_MODE_RELAXED);
  if (result != CUDA_SUCCESS) {
    recordedStaging.reset();
  }
  return driver.check(result, "recording a CUDA graph");
}

Result<std::unique_ptr<RecordedRun>> CudaDevice::endRecording() {
  auto run = std::make_unique<CudaGraph>(gpu, std::move(recordedStaging));
  CUgraph graph = nullptr;
  TW_RETURN_IF_ERROR(
      driver.check(driver.streamEndCapture(streams->main(), &graph),
                   "recording a CUDA graph"));
  CUresult result = driver.graphInstantiate(&run->executable, graph, 0);
  driver.graphDestroy(graph);
  TW_RETURN_IF_ERROR(driver.check(result, "making a CUDA graph"));
  return std::unique_ptr<RecordedRun>(std::move(run));
}

Status CudaDevice::replay(RecordedRun &run) {
  return driver.check(
      driver.graphLaunch(static_cast<CudaGraph &>(run).executable,
                         streams->main()),
      "launching a CUDA graph");
}
