//===- DeviceMemory.h - the memory of a simulated GPU -----------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// Device addresses are numbers that no host pointer can have, so that a mix-up
// faults at once. Every allocation is a buffer with a label; inside one, parts
// can be given lives of their own (the values in an arena), and then only live
// parts may be accessed. Each byte has a shadow that says whether it was ever
// written.
//
// All functions may be called from several threads, also while kernels run.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "tilewright/Status.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <shared_mutex>
#include <string>
#include <string_view>

namespace tilewright::sim {

/// A device address as kernels see it.
using DeviceAddress = uint64_t;

/// A stretch of memory that may be accessed, or one that used to be.
struct BufferRange {
  DeviceAddress begin = 0;
  DeviceAddress end = 0;
  std::string label;
  bool live = false;
  /// Not live, but it was: freed, or its life has ended.
  bool wasLive = false;
};

class DeviceMemory {
public:
  /// \param capacity bytes that may be allocated at one time, what the driver
  /// reports as the device's memory.
  static Result<std::unique_ptr<DeviceMemory>>
  create(uint64_t capacity = uint64_t(16) << 30);
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory &) = delete;
  DeviceMemory &operator=(const DeviceMemory &) = delete;

  /// \returns the address of `bytes` new bytes, aligned to 256 and
  /// uninitialised; OutOfMemory when the capacity is exhausted. Zero bytes
  /// give an address that nothing may access.
  Result<DeviceAddress> allocate(uint64_t bytes, std::string label);
  /// Frees an allocation; an address that none begins at is an error. Its
  /// addresses are not given out again before all others have been.
  Status free(DeviceAddress address);

  /// Marks [address, address + bytes), inside one allocation, as a live buffer
  /// of its own with undefined contents. From the first call on, accesses to
  /// other parts of that allocation are out of bounds. Overlap with a live
  /// buffer is an error.
  Status beginLife(DeviceAddress address, uint64_t bytes, std::string label);
  /// Ends the life of the buffer that begins at `address`; later accesses are
  /// a use after free until another life covers them.
  Status endLife(DeviceAddress address);

  /// Copies from the host; the bytes count as initialised. The range must lie
  /// in one allocation (lives are not checked: copies are the executor's).
  Status write(DeviceAddress to, const void *from, uint64_t bytes);
  /// Copies to the host. \param checkInitialized makes reading a byte that was
  /// never written an error.
  Status read(void *to, DeviceAddress from, uint64_t bytes,
              bool checkInitialized = false) const;
  /// Copies within the device, with its shadow; ranges may overlap.
  Status copy(DeviceAddress to, DeviceAddress from, uint64_t bytes);
  /// Fills with a pattern of 1, 2 or 4 bytes, `count` times.
  Status fill(DeviceAddress to, uint32_t pattern, unsigned patternBytes,
              uint64_t count);

  uint64_t capacity() const { return capacityBytes; }
  uint64_t usedBytes() const;
  /// \returns the allocation that holds `address`: begin and end, or zeros.
  BufferRange allocationOf(DeviceAddress address) const;

  /// \returns the live range around `address` that an access may touch, or a
  /// range that is not live, whose label names the nearest buffer.
  BufferRange lookup(DeviceAddress address) const;
  /// Changes whenever a range begins or ends to be accessible.
  uint64_t generation() const {
    return changes.load(std::memory_order_acquire);
  }

  /// The smallest device address.
  static constexpr DeviceAddress base = uint64_t(0xB0) << 40;
  /// \returns the reach of device addresses, in bytes from `base`.
  uint64_t reach() const { return reachBytes; }
  /// Host storage behind `base`; any offset below reach() may be touched.
  uint8_t *host() const { return bytes; }
  /// One shadow byte per byte behind host(): 1 = initialised.
  uint8_t *shadow() const { return shadowBytes; }
  /// One word per four bytes, for the detection of races between blocks.
  std::atomic<uint64_t> *raceCells() const { return cells; }
  /// \returns a number for a launch that differs from those in raceCells().
  uint32_t beginRaceEpoch();

private:
  struct Life {
    uint64_t bytes = 0;
    std::string label;
    bool live = true;
  };
  struct Allocation {
    uint64_t bytes = 0;
    std::string label;
    bool divided = false;
    std::map<DeviceAddress, Life> lives;
  };

  DeviceMemory() = default;
  const Allocation *holding(DeviceAddress address, uint64_t bytes,
                            DeviceAddress *begin = nullptr) const;
  Status outside(const char *what, DeviceAddress address, uint64_t bytes) const;
  std::string describeFreed(DeviceAddress address) const;

  mutable std::shared_mutex mutex;
  std::map<DeviceAddress, Allocation> allocations;
  /// The latest freed allocations, for messages.
  std::map<DeviceAddress, Allocation> freed;
  uint64_t capacityBytes = 0;
  uint64_t used = 0;
  uint64_t reachBytes = 0;
  uint64_t next = 0;
  uint8_t *bytes = nullptr;
  uint8_t *shadowBytes = nullptr;
  std::atomic<uint64_t> *cells = nullptr;
  std::atomic<uint64_t> changes{1};
  std::atomic<uint32_t> raceEpoch{0};
};

} // namespace tilewright::sim
