//===- CudaDevice.cpp - kernels on a GPU ----------------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "runtime/devices/cuda/CudaDevice.h"

#include <algorithm>
#include <cstring>

using namespace tilewright;

// The most blocks that one dimension of a grid has.
static constexpr int64_t mostBlocks = INT32_MAX;
// Kernels load and store so many bytes at once: docs/design/module-file.md.
static constexpr int64_t bufferAlignment = 16;

static CUdeviceptr address(const void *pointer) {
  return reinterpret_cast<CUdeviceptr>(pointer);
}

CudaDevice::CudaDevice(std::shared_ptr<const Gpu> gpu,
                       std::shared_ptr<const DeviceImage> image)
    : Device(/*isHost=*/false, gpu->driver.simulator != nullptr), gpu(gpu),
      image(std::move(image)), driver(gpu->driver), timing(gpu), staging(gpu) {}

Result<std::unique_ptr<Device>>
CudaDevice::create(std::shared_ptr<const Gpu> gpu,
                   std::shared_ptr<const DeviceImage> image,
                   const LoadedVariant &variant) {
  std::unique_ptr<CudaDevice> device(
      new CudaDevice(std::move(gpu), std::move(image)));
  TW_RETURN_IF_ERROR(device->prepare(variant));
  return std::unique_ptr<Device>(std::move(device));
}

Status CudaDevice::prepare(const LoadedVariant &variant) {
  plan = &variant.plan();
  Result<std::unique_ptr<Streams>> created = Streams::create(gpu, *plan);
  if (!created) {
    return created.status();
  }
  streams = std::move(*created);
  workspaces.resize(streams->count());
  inputs.resize(plan->functions[0]->parameters.size());
  constantList = image->constants();
  noteLaunches(*plan);
  openLibrary();
  int64_t bytes = static_cast<int64_t>(launches.size() * sizeof(int32_t));
  Result<Block> block = allocate(bytes);
  if (!block) {
    return block.status();
  }
  statuses = std::move(*block);
  return Status::ok();
}

/// Numbers the launches of all functions.
void CudaDevice::noteLaunches(const format::PlanT &plan) {
  for (const auto &function : plan.functions) {
    for (const auto &command : function->commands) {
      const format::LaunchT *launch = command->body.AsLaunch();
      if (!launch) {
        continue;
      }
      LaunchPlace place{static_cast<uint32_t>(launches.size()), ""};
      for (uint32_t node : command->nodes) {
        place.label +=
            (place.label.empty() ? "'" : ", '") + plan.nodes[node] + "'";
      }
      places.emplace(launch, std::move(place));
      launches.push_back(command.get());
    }
  }
}

CudaDevice::~CudaDevice() {
  if (!gpu->makeCurrent().isOk()) {
    return;
  }
  if (streams) {
    streams->synchronize();
  }
  statuses = Block();
  inputs.clear();
  workspaces.clear();
  freeReleased();
}

Status CudaDevice::checkBuffers(const std::vector<void *> &buffers,
                                const LaunchPlace &place) {
  for (size_t i = 0; i < buffers.size(); ++i) {
    if (address(buffers[i]) % bufferAlignment != 0) {
      return Status(ErrorCode::Internal,
                    "a kernel" +
                        (place.label.empty() ? "" : " of " + place.label) +
                        " would get buffer " + std::to_string(i) +
                        ", which does not begin at a multiple of " +
                        std::to_string(bufferAlignment) + " bytes");
    }
  }
  return Status::ok();
}

Result<KernelReport> CudaDevice::launch(const LaunchRequest &request) {
  if (request.tasks > mostBlocks) {
    return Status(ErrorCode::DataInvalid, "a kernel would be launched with " +
                                              std::to_string(request.tasks) +
                                              " blocks, more than a grid has");
  }
  const LaunchPlace &place = places.find(&request.launch)->second;
  TW_RETURN_IF_ERROR(checkBuffers(request.buffers, place));
  Result<bool> isDone = launchProduct(request);
  TW_RETURN_IF_ERROR(isDone.status());
  if (*isDone) {
    return KernelReport();
  }
  Block *workspace = nullptr;
  TW_RETURN_IF_ERROR(growWorkspace(request.workspace, workspace));
  parameters.clear();
  for (void *buffer : request.buffers) {
    parameters.push_back(address(buffer));
  }
  for (int64_t size : request.sizes) {
    parameters.push_back(static_cast<uint64_t>(size));
  }
  parameters.push_back(static_cast<uint64_t>(request.tasks));
  parameters.push_back(workspace ? address(workspace->data()) : 0);
  parameters.push_back(address(statuses.data()) +
                       place.number * sizeof(int32_t));
  parameterPointers.clear();
  for (uint64_t &parameter : parameters) {
    parameterPointers.push_back(&parameter);
  }
  if (driver.simulator) {
    driver.simulator->labelLaunch(place.label.c_str());
  }
  CUresult result = driver.launchKernel(
      image->kernel(request.launch.kernel),
      static_cast<unsigned>(request.tasks), 1, 1, request.launch.threads, 1, 1,
      request.launch.shared, streams->current(), parameterPointers.data(),
      nullptr);
  if (result != CUDA_SUCCESS) {
    return driver.failure(result,
                          "launching a kernel" + (place.label.empty()
                                                      ? std::string()
                                                      : " of " + place.label));
  }
  return KernelReport();
}

Status CudaDevice::copy(void *to, const void *from, int64_t bytes) {
  return driver.check(driver.memcpyDtoDAsync(address(to), address(from),
                                             static_cast<size_t>(bytes),
                                             streams->current()),
                      "copying a value");
}

Status CudaDevice::beginRun() {
  TW_RETURN_IF_ERROR(gpu->makeCurrent());
  streams->restart();
  followStream();
  TW_RETURN_IF_ERROR(timing.start(streams->main()));
  if (launches.empty()) {
    return Status::ok();
  }
  return driver.check(driver.memsetD8Async(address(statuses.data()), 0,
                                           launches.size() * sizeof(int32_t),
                                           streams->main()),
                      "clearing the kernels' status words");
}

Result<KernelReport> CudaDevice::endRun() {
  codes.assign(launches.size(), 0);
  TW_RETURN_IF_ERROR(getOutput(codes.data(), statuses.data(),
                               static_cast<int64_t>(codes.size()) *
                                   static_cast<int64_t>(sizeof(int32_t))));
  TW_RETURN_IF_ERROR(driver.check(driver.streamSynchronize(streams->main()),
                                  "running the model"));
  for (const Transfer &output : outputs) {
    std::memcpy(output.to, output.from, static_cast<size_t>(output.bytes));
  }
  outputs.clear();
  staging.reset();
  freeReleased();
  KernelReport report;
  for (size_t i = 0; i < codes.size() && !report.command; ++i) {
    if (codes[i] != 0) {
      report.command = launches[i];
      report.status = codes[i];
    }
  }
  return report;
}

void CudaDevice::abandonRun() {
  if (recordedStaging) {
    CUgraph graph = nullptr;
    if (driver.streamEndCapture(streams->main(), &graph) == CUDA_SUCCESS &&
        graph) {
      driver.graphDestroy(graph);
    }
    recordedStaging.reset();
  }
  streams->synchronize();
  streams->restart();
  followStream();
  outputs.clear();
  written.clear();
  staging.reset();
  freeReleased();
}

Status CudaDevice::enterFunction(uint32_t function) {
  return streams->enter(function);
}

Status CudaDevice::leaveFunction(uint32_t function) {
  TW_RETURN_IF_ERROR(streams->leave(function));
  followStream();
  return Status::ok();
}

Status CudaDevice::beginCommand(uint32_t function,
                                const format::CommandT &command) {
  TW_RETURN_IF_ERROR(streams->begin(function, command));
  followStream();
  return timing.begin(streams->current());
}

Status CudaDevice::endCommand(uint32_t function,
                              const format::CommandT &command) {
  TW_RETURN_IF_ERROR(timing.end(streams->current()));
  return streams->end(function, command);
}

void CudaDevice::beginLife(const void *data, int64_t bytes,
                           std::string_view label) {
  if (bytes > 0) {
    driver.simulator->beginLife(address(data), static_cast<size_t>(bytes),
                                std::string(label).c_str(), streams->current());
  }
}

void CudaDevice::endLife(const void *data) {
  driver.simulator->endLife(address(data), streams->current());
}
