//===- Session.cpp - the GPU that is checked ------------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "tools/gpu-check/Session.h"

#include "tools/tilewright/data/DeviceTarget.h"

namespace tilewright::gpucheck {

static Result<std::shared_ptr<const Gpu>> openGpu(const OpenOptions &options,
                                                  int device) {
  if (options.device == DeviceKind::Cuda) {
    Result<const Driver *> driver = Driver::openNvidia();
    return driver ? Gpu::open(**driver, device) : driver.status();
  }
  std::optional<GpuArchitecture> architecture =
      GpuArchitecture::parse(options.architecture);
  if (options.device != DeviceKind::Simulator || !architecture) {
    return Status(ErrorCode::OptionInvalid,
                  "expected a GPU: cuda, cuda:ARCHITECTURE or "
                  "sim:ARCHITECTURE");
  }
  Result<const Driver *> driver = Driver::openSimulator("");
  return driver ? Gpu::openSimulated(**driver, *architecture) : driver.status();
}

Result<Session> Session::open(const std::string &target, int device) {
  Result<OpenOptions> options = openOptionsFor(target);
  if (!options) {
    return options.status();
  }
  Session session;
  session.options = std::move(*options);
  session.options.threads = 1;
  session.context.threads = 1;
  session.context.device = device;
  Result<std::shared_ptr<const Gpu>> gpu = openGpu(session.options, device);
  if (!gpu) {
    return gpu.status();
  }
  session.gpu = std::move(*gpu);
  return session;
}

Result<nlohmann::json> Session::describe() const {
  const Driver &driver = gpu->driver;
  int version = 0;
  size_t memory = 0;
  TW_RETURN_IF_ERROR(driver.check(driver.driverGetVersion(&version),
                                  "asking for the driver's version"));
  TW_RETURN_IF_ERROR(driver.check(driver.deviceTotalMem(&memory, gpu->device),
                                  "asking for the GPU's memory"));
  return nlohmann::json{{"name", gpu->name},
                        {"architecture", gpu->architecture.name()},
                        {"driver", std::to_string(version / 1000) + "." +
                                       std::to_string(version % 1000 / 10)},
                        {"memory_bytes", memory},
                        {"simulated", isSimulated()}};
}

DeviceBuffer::~DeviceBuffer() {
  if (memory && gpu->makeCurrent().isOk()) {
    gpu->driver.memFree(memory);
  }
}

Result<DeviceBuffer> DeviceBuffer::create(const Gpu &gpu, size_t bytes) {
  TW_RETURN_IF_ERROR(gpu.makeCurrent());
  DeviceBuffer buffer;
  TW_RETURN_IF_ERROR(
      gpu.driver.check(gpu.driver.memAlloc(&buffer.memory, bytes),
                       "allocating " + std::to_string(bytes) + " bytes"));
  buffer.gpu = &gpu;
  return buffer;
}

Stopwatch::~Stopwatch() {
  if (!gpu || !gpu->makeCurrent().isOk()) {
    return;
  }
  for (CUevent event : {begin, end}) {
    if (event) {
      gpu->driver.eventDestroy(event);
    }
  }
  if (queue) {
    gpu->driver.streamDestroy(queue);
  }
}

Status Stopwatch::open(const Gpu &opened) {
  gpu = &opened;
  const Driver &driver = gpu->driver;
  TW_RETURN_IF_ERROR(gpu->makeCurrent());
  TW_RETURN_IF_ERROR(driver.check(
      driver.streamCreate(&queue, CU_STREAM_NON_BLOCKING), "a stream"));
  for (CUevent *event : {&begin, &end}) {
    TW_RETURN_IF_ERROR(
        driver.check(driver.eventCreate(event, CU_EVENT_DEFAULT), "an event"));
  }
  return Status::ok();
}

Status Stopwatch::record(CUevent event) {
  return gpu->driver.check(gpu->driver.eventRecord(event, queue),
                           "recording an event");
}

Result<double> Stopwatch::elapsed() {
  const Driver &driver = gpu->driver;
  float milliseconds = 0;
  TW_RETURN_IF_ERROR(
      driver.check(driver.eventSynchronize(end), "waiting for an event"));
  TW_RETURN_IF_ERROR(driver.check(
      driver.eventElapsedTime(&milliseconds, begin, end), "timing"));
  return static_cast<double>(milliseconds);
}

} // namespace tilewright::gpucheck
