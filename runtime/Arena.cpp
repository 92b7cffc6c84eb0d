//===- Arena.cpp - placing buffers in one block of memory -----------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "runtime/Arena.h"

#include "runtime/Memory.h"

#include <algorithm>
#include <numeric>

using namespace tilewright;

namespace {
struct Placed {
  int64_t begin;
  int64_t end;
  uint32_t first;
  uint32_t last;
};
} // namespace

/// \returns the offset of the smallest gap between the blocks alive during
/// `buffer`, or the end of the last of them. `placed` is sorted by `begin`.
static int64_t findOffset(const std::vector<Placed> &placed, int64_t bytes,
                          const ArenaBuffer &buffer) {
  int64_t best = -1;
  int64_t bestGap = INT64_MAX;
  int64_t end = 0; // of the blocks seen so far that live at the same time
  for (const Placed &block : placed) {
    if (block.last < buffer.first || buffer.last < block.first) {
      continue;
    }
    int64_t gap = block.begin - end;
    if (gap >= bytes && gap < bestGap) {
      best = end;
      bestGap = gap;
    }
    end = std::max(end, block.end);
  }
  return best >= 0 ? best : end;
}

Result<ArenaLayout>
tilewright::planArena(const std::vector<ArenaBuffer> &buffers) {
  ArenaLayout layout;
  layout.offsets.assign(buffers.size(), 0);

  int64_t total = 0;
  for (const ArenaBuffer &buffer : buffers) {
    if (buffer.bytes < 0) {
      return Status(ErrorCode::Internal, "an arena buffer has a negative size");
    }
    int64_t aligned = alignUp(buffer.bytes);
    if (aligned < 0 || __builtin_add_overflow(total, aligned, &total)) {
      return Status(ErrorCode::OutOfMemory,
                    "the intermediate values do not fit into memory");
    }
  }

  std::vector<size_t> order(buffers.size());
  std::iota(order.begin(), order.end(), size_t(0));
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return buffers[a].bytes != buffers[b].bytes
               ? buffers[a].bytes > buffers[b].bytes
               : a < b;
  });

  std::vector<Placed> placed;
  placed.reserve(buffers.size());
  for (size_t index : order) {
    const ArenaBuffer &buffer = buffers[index];
    int64_t bytes = alignUp(buffer.bytes);
    if (bytes == 0) {
      continue;
    }
    int64_t offset = findOffset(placed, bytes, buffer);
    layout.offsets[index] = offset;
    layout.bytes = std::max(layout.bytes, offset + bytes);
    Placed entry{offset, offset + bytes, buffer.first, buffer.last};
    auto where = std::upper_bound(
        placed.begin(), placed.end(), entry,
        [](const Placed &a, const Placed &b) { return a.begin < b.begin; });
    placed.insert(where, entry);
  }
  return layout;
}
