//===- Harness.h - running kernels in tests --------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "codegen/cuda/test/TestPtx.h"
#include "targets/sim/DeviceMemory.h"
#include "targets/sim/Execute.h"
#include "targets/sim/Program.h"

#include <cstring>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <vector>

namespace tilewright::sim::test {

/// A device with one module.
class Device {
public:
  Device();
  /// Loads PTX; a failure is one of the test.
  bool load(const std::string &ptx);

  /// Allocates and fills a buffer.
  template <typename T>
  uint64_t put(const std::vector<T> &values, const std::string &label = "x") {
    uint64_t address = make(values.size() * sizeof(T), label);
    EXPECT_TRUE(
        memory->write(address, values.data(), values.size() * sizeof(T)));
    return address;
  }
  uint64_t make(uint64_t bytes, const std::string &label = "y");
  template <typename T> std::vector<T> get(uint64_t address, size_t count) {
    std::vector<T> values(count);
    EXPECT_TRUE(memory->read(values.data(), address, count * sizeof(T)));
    return values;
  }

  /// Runs a kernel whose parameters are 8-byte values (addresses, 64-bit
  /// integers) or smaller ones padded as PTX lays them out.
  Status run(const std::string &kernel, uint32_t grid, uint32_t block,
             const std::vector<uint64_t> &parameters, uint32_t shared = 0);

  std::unique_ptr<DeviceMemory> memory;
  std::shared_ptr<const Instance> instance;
  ExecuteOptions options;
  Counters counters;
  Fault fault;
};

/// Loads CUDA C++ into a device or skips the test.
#define TW_LOAD_CUDA(device, source, architecture)                             \
  do {                                                                         \
    std::string missing = tilewright::test::missingNvrtc();                    \
    if (!missing.empty()) {                                                    \
      GTEST_SKIP() << missing;                                                 \
    }                                                                          \
    ASSERT_TRUE((device).load(                                                 \
        tilewright::test::compilePtx(source, "sm_" architecture)));            \
  } while (false)

template <typename To, typename From> To bits(From from) {
  static_assert(sizeof(To) == sizeof(From), "");
  To to;
  std::memcpy(&to, &from, sizeof(to));
  return to;
}

/// "ok", or the message.
inline std::string text(const Status &status) {
  return status.isOk() ? "ok" : status.message();
}

} // namespace tilewright::sim::test
