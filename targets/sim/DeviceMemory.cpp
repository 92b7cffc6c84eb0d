//===- DeviceMemory.cpp - the memory of a simulated GPU -----------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// One reservation of host address space holds all device memory; the host
// gives pages to it when they are touched. Addresses grow until the end of
// the reservation and then start again, so that a freed buffer's addresses
// stay unused for long; between buffers lie gaps. The shadow and the words
// for races between blocks are reservations of their own.
//
//===----------------------------------------------------------------------===//

#include "targets/sim/DeviceMemory.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <sys/mman.h>

using namespace tilewright;
using namespace tilewright::sim;

static constexpr uint64_t gapBytes = 4096;
static constexpr uint64_t pageBytes = 4096;
static constexpr uint64_t smallestReach = uint64_t(1) << 30;
static constexpr size_t freedForMessages = 256;

static void *reserve(uint64_t bytes) {
  void *place = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return place == MAP_FAILED ? nullptr : place;
}

static std::string hex(uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof(text), "0x%llx", (unsigned long long)value);
  return text;
}

Result<std::unique_ptr<DeviceMemory>> DeviceMemory::create(uint64_t capacity) {
  std::unique_ptr<DeviceMemory> memory(new DeviceMemory());
  memory->capacityBytes = capacity;
  // Room for everything twice, or as much as the host lets us have.
  uint64_t reach = smallestReach;
  while (reach < capacity && reach < uint64_t(1) << 40) {
    reach *= 2;
  }
  for (reach *= 2; reach >= smallestReach; reach /= 2) {
    memory->bytes = static_cast<uint8_t *>(reserve(reach));
    memory->shadowBytes = static_cast<uint8_t *>(reserve(reach));
    memory->cells = static_cast<std::atomic<uint64_t> *>(reserve(2 * reach));
    memory->reachBytes = reach;
    if (memory->bytes && memory->shadowBytes && memory->cells) {
      memory->next = gapBytes;
      return memory;
    }
    DeviceMemory partial;
    std::swap(partial.bytes, memory->bytes);
    std::swap(partial.shadowBytes, memory->shadowBytes);
    std::swap(partial.cells, memory->cells);
    partial.reachBytes = reach;
  }
  return Status(ErrorCode::OutOfMemory,
                "the simulator cannot reserve " +
                    std::to_string(smallestReach) +
                    " bytes of address space for its device's memory");
}

DeviceMemory::~DeviceMemory() {
  if (bytes) {
    munmap(bytes, reachBytes);
  }
  if (shadowBytes) {
    munmap(shadowBytes, reachBytes);
  }
  if (cells) {
    munmap(static_cast<void *>(cells), 2 * reachBytes);
  }
}

Result<DeviceAddress> DeviceMemory::allocate(uint64_t size, std::string label) {
  std::unique_lock lock(mutex);
  if (size > capacityBytes || used > capacityBytes - size ||
      size > reachBytes / 2) {
    return Status(ErrorCode::OutOfMemory,
                  "the device has " + std::to_string(capacityBytes - used) +
                      " of " + std::to_string(capacityBytes) +
                      " bytes left; '" + label + "' needs " +
                      std::to_string(size));
  }
  // Whole pages, so that freeing can give them back; then a gap.
  uint64_t taken = (size + pageBytes - 1) / pageBytes * pageBytes + gapBytes;
  uint64_t start = next;
  bool wrapped = false;
  while (true) {
    if (start + taken > reachBytes) {
      if (wrapped) {
        return Status(ErrorCode::OutOfMemory,
                      "the device's addresses are too fragmented for '" +
                          label + "'");
      }
      wrapped = true;
      start = gapBytes;
    }
    // The first allocation that ends behind `start`.
    auto after = allocations.upper_bound(base + start);
    if (after != allocations.begin()) {
      auto before = std::prev(after);
      uint64_t end = before->first - base + before->second.bytes;
      if (end + gapBytes > start) {
        start = (end + pageBytes - 1) / pageBytes * pageBytes + gapBytes;
        continue;
      }
    }
    if (after != allocations.end() && after->first < base + start + taken) {
      start = after->first - base;
      continue;
    }
    break;
  }
  next = start + taken;
  used += size;
  Allocation allocation;
  allocation.bytes = size;
  allocation.label = std::move(label);
  allocations.emplace(base + start, std::move(allocation));
  auto overlap = freed.lower_bound(base + start);
  while (overlap != freed.end() && overlap->first < base + next) {
    overlap = freed.erase(overlap);
  }
  ++changes;
  return base + start;
}

Status DeviceMemory::free(DeviceAddress address) {
  std::unique_lock lock(mutex);
  auto found = allocations.find(address);
  if (found == allocations.end()) {
    return {ErrorCode::OptionInvalid, "no buffer of the device begins at " +
                                          hex(address) +
                                          describeFreed(address)};
  }
  uint64_t size = found->second.bytes;
  uint64_t pages = (size + pageBytes - 1) / pageBytes * pageBytes;
  if (pages != 0) {
    uint64_t offset = address - base;
    madvise(bytes + offset, pages, MADV_DONTNEED);
    madvise(shadowBytes + offset, pages, MADV_DONTNEED);
    madvise(reinterpret_cast<uint8_t *>(cells) + 2 * offset, 2 * pages,
            MADV_DONTNEED);
  }
  used -= size;
  if (freed.size() >= freedForMessages) {
    freed.erase(freed.begin());
  }
  freed[address] = std::move(found->second);
  allocations.erase(found);
  ++changes;
  return Status::ok();
}

const DeviceMemory::Allocation *
DeviceMemory::holding(DeviceAddress address, uint64_t size,
                      DeviceAddress *begin) const {
  auto after = allocations.upper_bound(address);
  if (after == allocations.begin()) {
    return nullptr;
  }
  auto found = std::prev(after);
  uint64_t offset = address - found->first;
  if (offset > found->second.bytes || size > found->second.bytes - offset) {
    return nullptr;
  }
  if (begin) {
    *begin = found->first;
  }
  return &found->second;
}

std::string DeviceMemory::describeFreed(DeviceAddress address) const {
  auto after = freed.upper_bound(address);
  if (after != freed.begin()) {
    auto found = std::prev(after);
    if (address - found->first < found->second.bytes) {
      return "; '" + found->second.label + "' was there and has been freed";
    }
  }
  return "";
}

Status DeviceMemory::outside(const char *what, DeviceAddress address,
                             uint64_t size) const {
  return {ErrorCode::OptionInvalid,
          std::string(what) + " of " + std::to_string(size) + " bytes at " +
              hex(address) + " does not lie in a buffer of the device" +
              describeFreed(address)};
}

Status DeviceMemory::beginLife(DeviceAddress address, uint64_t size,
                               std::string label) {
  std::unique_lock lock(mutex);
  DeviceAddress begin = 0;
  if (!holding(address, size, &begin)) {
    return outside("the life of a buffer", address, size);
  }
  Allocation &allocation = allocations[begin];
  allocation.divided = true;
  // Dead buffers make room; a live one must not be there.
  auto at = allocation.lives.lower_bound(address);
  if (at != allocation.lives.begin()) {
    auto before = std::prev(at);
    if (before->first + before->second.bytes > address) {
      at = before;
    }
  }
  while (at != allocation.lives.end() && at->first < address + size) {
    if (at->second.live) {
      return {ErrorCode::OptionInvalid,
              "the buffer '" + label + "' at " + hex(address) + " overlaps '" +
                  at->second.label + "', which lives"};
    }
    at = allocation.lives.erase(at);
  }
  std::memset(shadowBytes + (address - base), 0, size);
  allocation.lives[address] = Life{size, std::move(label), true};
  ++changes;
  return Status::ok();
}

Status DeviceMemory::endLife(DeviceAddress address) {
  std::unique_lock lock(mutex);
  DeviceAddress begin = 0;
  if (holding(address, 0, &begin)) {
    Allocation &allocation = allocations[begin];
    auto found = allocation.lives.find(address);
    if (found != allocation.lives.end() && found->second.live) {
      found->second.live = false;
      ++changes;
      return Status::ok();
    }
  }
  return {ErrorCode::OptionInvalid, "no live buffer begins at " + hex(address)};
}

BufferRange DeviceMemory::lookup(DeviceAddress address) const {
  std::shared_lock lock(mutex);
  BufferRange range;
  range.begin = address;
  range.end = address;
  auto after = allocations.upper_bound(address);
  if (after != allocations.begin()) {
    auto found = std::prev(after);
    const Allocation &allocation = found->second;
    uint64_t offset = address - found->first;
    if (offset < allocation.bytes && !allocation.divided) {
      return {found->first, found->first + allocation.bytes, allocation.label,
              true, false};
    }
    if (offset < allocation.bytes) {
      auto life = allocation.lives.upper_bound(address);
      if (life == allocation.lives.begin()) {
        range.label = "'" + allocation.label + "', between its buffers";
        return range;
      }
      --life;
      bool inside = address - life->first < life->second.bytes;
      if (inside && life->second.live) {
        return {life->first, life->first + life->second.bytes,
                life->second.label, true, false};
      }
      range.wasLive = inside;
      range.label =
          inside ? "'" + life->second.label + "', whose life has ended"
                 : std::to_string(address - life->first - life->second.bytes) +
                       " bytes behind the end of '" + life->second.label +
                       "' (" + std::to_string(life->second.bytes) + " bytes)";
      return range;
    }
    auto old = freed.upper_bound(address);
    if (old != freed.begin()) {
      --old;
      if (address - old->first < old->second.bytes) {
        range.wasLive = true;
        range.label = "'" + old->second.label + "', which has been freed";
        return range;
      }
    }
    range.label = std::to_string(offset - allocation.bytes) +
                  " bytes behind the end of '" + allocation.label + "' (" +
                  std::to_string(allocation.bytes) + " bytes)";
    return range;
  }
  std::string text = describeFreed(address);
  range.wasLive = !text.empty();
  range.label = text.empty() ? "no buffer" : text.substr(2);
  return range;
}

BufferRange DeviceMemory::allocationOf(DeviceAddress address) const {
  std::shared_lock lock(mutex);
  DeviceAddress begin = 0;
  const Allocation *allocation = holding(address, 0, &begin);
  if (!allocation) {
    return {};
  }
  return {begin, begin + allocation->bytes, allocation->label, true, false};
}

Status DeviceMemory::write(DeviceAddress to, const void *from, uint64_t size) {
  std::shared_lock lock(mutex);
  if (size == 0) {
    return Status::ok();
  }
  if (!holding(to, size)) {
    return outside("a write", to, size);
  }
  std::memcpy(bytes + (to - base), from, size);
  std::memset(shadowBytes + (to - base), 1, size);
  return Status::ok();
}

Status DeviceMemory::read(void *to, DeviceAddress from, uint64_t size,
                          bool checkInitialized) const {
  std::shared_lock lock(mutex);
  if (size == 0) {
    return Status::ok();
  }
  if (!holding(from, size)) {
    return outside("a read", from, size);
  }
  if (checkInitialized) {
    const void *hole = std::memchr(shadowBytes + (from - base), 0, size);
    if (hole) {
      uint64_t at = uint64_t(static_cast<const uint8_t *>(hole) -
                             (shadowBytes + (from - base)));
      return {ErrorCode::DeviceFault,
              "a read of " + std::to_string(size) + " bytes at " + hex(from) +
                  " finds byte " + std::to_string(at) + " of it never written"};
    }
  }
  std::memcpy(to, bytes + (from - base), size);
  return Status::ok();
}

Status DeviceMemory::copy(DeviceAddress to, DeviceAddress from, uint64_t size) {
  std::shared_lock lock(mutex);
  if (size == 0) {
    return Status::ok();
  }
  if (!holding(from, size)) {
    return outside("a read", from, size);
  }
  if (!holding(to, size)) {
    return outside("a write", to, size);
  }
  std::memmove(bytes + (to - base), bytes + (from - base), size);
  std::memmove(shadowBytes + (to - base), shadowBytes + (from - base), size);
  return Status::ok();
}

Status DeviceMemory::fill(DeviceAddress to, uint32_t pattern,
                          unsigned patternBytes, uint64_t count) {
  std::shared_lock lock(mutex);
  if (patternBytes != 1 && patternBytes != 2 && patternBytes != 4) {
    return {ErrorCode::OptionInvalid, "a pattern has 1, 2 or 4 bytes"};
  }
  if (count == 0) {
    return Status::ok();
  }
  if (count > reachBytes || !holding(to, count * patternBytes)) {
    return outside("a fill", to, count * patternBytes);
  }
  uint8_t *place = bytes + (to - base);
  if (patternBytes == 1) {
    std::memset(place, int(pattern & 0xFF), count);
  } else {
    for (uint64_t i = 0; i < count; ++i) {
      std::memcpy(place + i * patternBytes, &pattern, patternBytes);
    }
  }
  std::memset(shadowBytes + (to - base), 1, count * patternBytes);
  return Status::ok();
}

uint64_t DeviceMemory::usedBytes() const {
  std::shared_lock lock(mutex);
  return used;
}

uint32_t DeviceMemory::beginRaceEpoch() {
  std::unique_lock lock(mutex);
  uint32_t epoch = raceEpoch.load() + 1;
  if (epoch >= 1u << 16) {
    madvise(static_cast<void *>(cells), 2 * reachBytes, MADV_DONTNEED);
    epoch = 1;
  }
  raceEpoch.store(epoch);
  return epoch;
}
