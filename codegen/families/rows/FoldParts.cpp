//===- FoldParts.cpp - parts of a long reduction --------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "codegen/families/rows/FoldParts.h"
#include "codegen/families/emit/KernelFrame.h"
#include "ir/TensorTypes.h"

using namespace mlir;
using namespace tilewright::tw;

namespace tilewright::families {

/// Whether folds of parts can be folded: what lies between has the
/// accumulator's type.
static bool isPlainFold(const FusedRegion &region) {
  if (region.form != Form::Reduce || region.getReduces().size() != 1) {
    return false;
  }
  ReduceOp reduce = region.getReduce();
  Type element = elementTypeOf(reduce.getType());
  return !reduce.isArg() && element.getIntOrFloatBitWidth() >= 32;
}

/// The product of constant sizes.
static std::optional<int64_t> countOf(ArrayRef<DimExpr> sizes) {
  int64_t count = 1;
  for (DimExpr size : sizes) {
    std::optional<int64_t> constant = size.getConstant();
    if (!constant || *constant < 1) {
      return std::nullopt;
    }
    count *= *constant;
  }
  return count;
}

std::optional<DepthParts> chooseFoldParts(const FusedRegion &region,
                                          const GpuSpec &gpu) {
  if (!isPlainFold(region)) {
    return std::nullopt;
  }
  ReduceOp reduce = region.getReduce();
  SmallVector<DimExpr> extents = reduce.getExtents().getDims();
  std::optional<int64_t> results = countOf(region.parallel);
  std::optional<int64_t> length = countOf(extents);
  if (!results || !length || extents.empty() ||
      *results >= gpu.multiprocessors) {
    return std::nullopt;
  }
  int64_t stepBytes = 0;
  reduce.walk([&](LoadOp load) {
    stepBytes += storageBytes(elementTypeOf(load.getSource().getType()));
  });
  // A multiprocessor that is alone gets more than its share of what memory
  // gives, but not much.
  constexpr double sharesAlone = 4, launchMicroseconds = 3, least = 0.9;
  double bytesPerMicrosecond =
      double(gpu.memoryGBPerSecond) * 1000 / gpu.multiprocessors;
  auto microseconds = [&](double blocks) {
    double shares = std::min(sharesAlone, gpu.multiprocessors / blocks);
    return double(*results * *length * stepBytes) / blocks /
           (bytesPerMicrosecond * shares);
  };
  // Parts of the last coordinate are whole vectors of a warp.
  constexpr int64_t run = 4 * GpuSpec::warpSize;
  DepthParts best = {0, 1};
  for (auto [number, size] : llvm::enumerate(extents)) {
    int64_t extent = *size.getConstant();
    int64_t unit = number + 1 == extents.size() ? run : 1;
    int64_t most =
        std::min(extent / unit, int64_t(gpu.multiprocessors) * 2 / *results);
    for (int64_t parts = most; parts > best.count; --parts) {
      if (extent % (parts * unit) == 0) {
        best = {reduce.getParallelRank() + unsigned(number), parts};
      }
    }
  }
  double divided =
      microseconds(double(*results * best.count)) + launchMicroseconds;
  bool isWorthIt =
      best.count > 1 && divided <= least * microseconds(double(*results));
  return isWorthIt ? std::optional(best) : std::nullopt;
}

} // namespace tilewright::families
