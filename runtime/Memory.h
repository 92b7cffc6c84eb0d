//===- Memory.h - aligned memory --------------------------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "tilewright/Status.h"

#include <cstdint>
#include <utility>

namespace tilewright {

/// Every tensor begins at a multiple of this.
constexpr int64_t memoryAlignment = 64;

/// \returns `bytes` rounded up to a multiple of 64, or -1 when that overflows.
inline int64_t alignUp(int64_t bytes) {
  if (bytes < 0 || bytes > INT64_MAX - (memoryAlignment - 1)) {
    return -1;
  }
  return (bytes + memoryAlignment - 1) & ~(memoryAlignment - 1);
}

/// Frees the memory of a Block that gave it away.
void freeMemory(void *memory);

/// Where blocks of a device's memory go back to.
class MemoryOwner {
public:
  virtual void release(void *memory, int64_t bytes) = 0;

protected:
  ~MemoryOwner() = default;
};

/// Memory aligned to 64 bytes, of the processor or of a device. The address of
/// a device's memory is the device's.
class Block {
public:
  Block() = default;
  /// Takes over a device's memory; `owner` outlives the block.
  Block(void *memory, int64_t bytes, MemoryOwner &owner)
      : memory(static_cast<char *>(memory)), size(bytes), owner(&owner) {}
  Block(Block &&other) noexcept
      : memory(std::exchange(other.memory, nullptr)),
        size(std::exchange(other.size, 0)),
        owner(std::exchange(other.owner, nullptr)) {}
  Block &operator=(Block &&other) noexcept {
    std::swap(memory, other.memory);
    std::swap(size, other.size);
    std::swap(owner, other.owner);
    return *this;
  }
  ~Block() {
    if (owner) {
      owner->release(memory, size);
    } else {
      freeMemory(memory);
    }
  }

  /// \returns at least `bytes` bytes of the processor's memory, not
  /// initialised; never an empty block.
  /// A guarded block (GuardedMemory.h) has exactly `bytes` and is aligned to
  /// what divides them.
  /// Error: OutOfMemory, also when the machine has less memory left than that.
  static Result<Block> allocate(int64_t bytes);

  char *data() const { return memory; }
  int64_t capacity() const { return size; }
  explicit operator bool() const { return memory != nullptr; }

  /// Gives the processor's memory away; freeMemory frees it.
  void *release() {
    size = 0;
    return std::exchange(memory, nullptr);
  }

private:
  char *memory = nullptr;
  int64_t size = 0;
  MemoryOwner *owner = nullptr;
};

/// \returns the memory that this process may still take, in bytes: what the
/// machine and the process's control groups leave.
int64_t availableMemory();

} // namespace tilewright
