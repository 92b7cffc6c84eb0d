//===- TileCost.cpp - how long tiles of a product take --------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "codegen/families/contract/TileCost.h"
#include <cmath>

using namespace tilewright::tw;

namespace tilewright::families {

static double guessed(const MatrixProduct &product,
                      llvm::ArrayRef<unsigned> coordinates) {
  // What is dynamic is mostly a batch or a length.
  constexpr double usual = 256;
  double count = 1;
  for (unsigned coordinate : coordinates) {
    std::optional<int64_t> extent = product.extentOf(coordinate).getConstant();
    count *= extent ? static_cast<double>(*extent) : usual;
  }
  return std::max(count, 1.0);
}

ProductSize ProductSize::of(const MatrixProduct &product, double rate) {
  return {guessed(product, product.batches), guessed(product, product.rows),
          guessed(product, product.columns), guessed(product, product.depth),
          rate};
}

static double ceilDiv(double x, double y) { return std::ceil(x / y); }

int64_t TileCost::blocksAtOnce(const GpuSpec &gpu) const {
  if (sharedBytes > gpu.sharedBytesPerBlock ||
      registers > GpuSpec::mostRegistersPerThread) {
    return 0;
  }
  // What the hardware keeps for itself of each block.
  constexpr int64_t reservedBytes = 1024;
  return std::min<int64_t>(
      {gpu.sharedBytesPerMultiprocessor / (sharedBytes + reservedBytes),
       gpu.registersPerMultiprocessor / (registers * threads),
       gpu.threadsPerMultiprocessor / threads, gpu.blocksPerMultiprocessor});
}

double TileCost::clocksOf(const ProductSize &size, const GpuSpec &gpu) const {
  int64_t resident = blocksAtOnce(gpu);
  double blocks = size.batches * ceilDiv(size.rows, double(rows)) *
                  ceilDiv(size.columns, double(columns));
  double steps = ceilDiv(size.depth, double(depth));
  double waves = ceilDiv(blocks, double(gpu.multiprocessors));
  double products = double(rows * columns * depth);
  constexpr double sharedBytesPerClock = 128;
  // Of each block so many steps are on their way from memory at once.
  constexpr double latency = 800;
  double together = std::min(double(resident), waves);
  double arrival = latency / (double(stages - 1) * together);
  // With few warps, what one of them waits for is not hidden by others.
  constexpr double warpsToHide = 8;
  double warps = together * double(threads) / GpuSpec::warpSize;
  double exposed = std::max(1.0, std::sqrt(warpsToHide / warps));
  double step = std::max({products / size.rate * exposed,
                          readBytes / sharedBytesPerClock, arrival});
  // A block begins by waiting for memory, and ends by writing its sums.
  constexpr double clocksPerSum = 0.25;
  double sums = clocksPerSum * double(rows * columns);
  double compute =
      waves * (steps * step + sums) + ceilDiv(waves, together) * latency;
  double bytes = blocks * steps * double(stageBytes);
  // Tiles of neighbouring blocks come from the second cache, which is about
  // three times as fast as memory.
  constexpr double cacheOverMemory = 3;
  double bytesPerClock = cacheOverMemory * double(gpu.memoryGBPerSecond) *
                         1000 / double(gpu.clockMHz);
  return std::max(compute, bytes / bytesPerClock);
}

} // namespace tilewright::families
