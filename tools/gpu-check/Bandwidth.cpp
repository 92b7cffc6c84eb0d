//===- Bandwidth.cpp - how fast memory is copied --------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "tools/gpu-check/Bandwidth.h"

#include <algorithm>

namespace tilewright::gpucheck {

static constexpr int copies = 8;

namespace {
/// Page-locked memory of the processor.
struct HostBuffer {
  explicit HostBuffer(const Driver &driver) : driver(driver) {}
  ~HostBuffer() {
    if (data) {
      driver.memFreeHost(data);
    }
  }
  const Driver &driver;
  void *data = nullptr;
};
} // namespace

Result<nlohmann::json> measureCopy(const Session &session,
                                   const nlohmann::json &entry) {
  const Driver &driver = session.gpu->driver;
  std::string kind = entry.value("copy", "");
  auto bytes = entry.value("bytes", size_t(0));
  bool isOnDevice = kind == "device to device";
  if (bytes == 0 ||
      (!isOnDevice && kind != "host to device" && kind != "device to host")) {
    return Status(ErrorCode::OptionInvalid, "there is no copy '" + kind + "'");
  }
  Result<DeviceBuffer> to = DeviceBuffer::create(*session.gpu, bytes);
  Result<DeviceBuffer> from =
      DeviceBuffer::create(*session.gpu, isOnDevice ? bytes : 1);
  if (!to || !from) {
    return to ? from.status() : to.status();
  }
  HostBuffer host(driver);
  if (!isOnDevice) {
    TW_RETURN_IF_ERROR(
        driver.check(driver.memAllocHost(&host.data, bytes), "locking pages"));
    std::fill_n(static_cast<char *>(host.data), bytes, 1);
  }
  Stopwatch stopwatch;
  TW_RETURN_IF_ERROR(stopwatch.open(*session.gpu));
  CUstream stream = stopwatch.stream();
  TW_RETURN_IF_ERROR(
      driver.check(driver.memsetD8Async(to->address(), 0, bytes, stream),
                   "clearing memory"));
  if (isOnDevice) {
    TW_RETURN_IF_ERROR(
        driver.check(driver.memsetD8Async(from->address(), 1, bytes, stream),
                     "clearing memory"));
  }
  auto copy = [&] {
    CUresult result =
        isOnDevice ? driver.memcpyDtoDAsync(to->address(), from->address(),
                                            bytes, stream)
        : kind == "host to device"
            ? driver.memcpyHtoDAsync(to->address(), host.data, bytes, stream)
            : driver.memcpyDtoHAsync(host.data, to->address(), bytes, stream);
    return driver.check(result, "copying " + kind);
  };
  double best = 0;
  for (int i = 0; i < copies; ++i) {
    Result<double> milliseconds = stopwatch.time(copy);
    if (!milliseconds) {
      return milliseconds.status();
    }
    best = i == 0 ? *milliseconds : std::min(best, *milliseconds);
  }
  double moved = static_cast<double>(bytes) * (isOnDevice ? 2 : 1);
  return nlohmann::json{{"ms", best},
                        {"gb_per_s", best > 0 ? moved / best / 1e6 : 0}};
}

} // namespace tilewright::gpucheck
