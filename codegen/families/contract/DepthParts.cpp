//===- DepthParts.cpp - parts of a product's depth ------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "codegen/families/contract/DepthParts.h"

namespace tilewright::families {

std::optional<DepthParts> chooseDepthParts(
    const MatrixProduct &contraction, const ProductSize &size, int64_t chunk,
    const GpuSpec &gpu,
    llvm::function_ref<std::optional<double>(const ProductSize &)> clocks) {
  // The longest coordinate: what is left of it should still be whole chunks.
  std::optional<unsigned> coordinate;
  int64_t extent = 0;
  for (unsigned candidate : contraction.depth) {
    std::optional<int64_t> constant =
        contraction.extentOf(candidate).getConstant();
    if (constant && *constant > extent) {
      coordinate = candidate;
      extent = *constant;
    }
  }
  std::optional<double> least = clocks(size);
  if (!coordinate || !least) {
    return std::nullopt;
  }
  // The model is not exact enough for a launch that gains less than a tenth.
  least = *least * 0.9;
  std::optional<DepthParts> best;
  constexpr int64_t mostParts = 32;
  for (int64_t count = 2; count <= mostParts; ++count) {
    if (extent % (count * chunk) != 0) {
      continue;
    }
    ProductSize divided = size;
    divided.batches *= double(count);
    divided.depth /= double(count);
    std::optional<double> ofParts = clocks(divided);
    if (!ofParts) {
      continue;
    }
    // The sums of the parts are written and read, by a launch of its own.
    constexpr double launchMicroseconds = 3, sumBytes = 4;
    double bytes =
        2 * double(count) * size.batches * size.rows * size.columns * sumBytes;
    double clocksPerMicrosecond = double(gpu.clockMHz);
    double bytesPerMicrosecond = double(gpu.memoryGBPerSecond) * 1000;
    double total =
        *ofParts + clocksPerMicrosecond *
                       (launchMicroseconds + bytes / bytesPerMicrosecond);
    if (total < *least) {
      least = total;
      best = {*coordinate, count};
    }
  }
  return best;
}

} // namespace tilewright::families
