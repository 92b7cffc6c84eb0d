//===- MmaTile.cpp - tiles of the matrix units ----------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "codegen/families/contract/MmaTile.h"
#include "codegen/families/emit/KernelFrame.h"

using namespace mlir;
using namespace tilewright::tw;

namespace tilewright::families {

int64_t MmaTile::sharedBytes(int64_t elementBytes) const {
  constexpr int64_t sumBytes = 4;
  return std::max(stages * stageBytes(elementBytes),
                  rows * (columns + sumPadding) * sumBytes);
}

int64_t MmaTile::registers() const {
  int64_t threadsOfWarp = GpuSpec::warpSize;
  int64_t sums = warpRows() * warpColumns() / threadsOfWarp;
  // 4 registers for 16 rows, 2 for 8 columns; addresses, counters.
  int64_t fragments =
      warpRows() / unitRows * 4 + warpColumns() / unitColumns * 2;
  constexpr int64_t others = 48;
  return sums + fragments + others;
}

DictionaryAttr MmaTile::toAttribute(MLIRContext *context,
                                    StringRef tactic) const {
  Builder b(context);
  auto number = [&](int64_t value) -> Attribute {
    return b.getI64IntegerAttr(value);
  };
  return b.getDictionaryAttr(
      {b.getNamedAttr("name", b.getStringAttr(tactic)),
       b.getNamedAttr("tile", b.getDenseI64ArrayAttr({rows, columns, depth})),
       b.getNamedAttr("warps", b.getDenseI64ArrayAttr(
                                   {warpsAlongRows, warpsAlongColumns})),
       b.getNamedAttr("stages", number(stages)),
       b.getNamedAttr("threads", number(threads())),
       b.getNamedAttr("team", number(threads()))});
}

MmaTile MmaTile::fromAttribute(DictionaryAttr attribute) {
  MmaTile tile;
  if (auto sizes = attribute.getAs<DenseI64ArrayAttr>("tile")) {
    tile.rows = sizes[0];
    tile.columns = sizes[1];
    tile.depth = sizes[2];
  }
  if (auto warps = attribute.getAs<DenseI64ArrayAttr>("warps")) {
    tile.warpsAlongRows = warps[0];
    tile.warpsAlongColumns = warps[1];
  }
  if (auto stages = attribute.getAs<IntegerAttr>("stages")) {
    tile.stages = stages.getInt();
  }
  return tile;
}

int64_t mmaRate(const GpuSpec &gpu, Type element) {
  return element.isF16() || element.isBF16() ? gpu.mmaF16
         : element.isF32()                   ? gpu.mmaTf32
         : element.isInteger(8)              ? gpu.mmaS8
                                             : gpu.mmaF8;
}

double mmaSyncRate(const GpuSpec &gpu, Type element) {
  return double(mmaRate(gpu, element)) * gpu.mmaSyncPercent / 100;
}

/// What the model knows of a contraction.
struct Problem {
  ProductSize size;
  int64_t elementBytes;
  int64_t moreRegisters; ///< of a thread, beside the tile's
};

static TileCost costOf(const MmaTile &tile, const Problem &problem) {
  // Each unit of 16x8 needs a row fragment and half a pair of columns from
  // shared memory.
  double fragmentBytes = double(tile.rows * tile.warpsAlongColumns +
                                tile.columns * tile.warpsAlongRows) *
                         double(tile.depth * problem.elementBytes);
  return {tile.rows,
          tile.columns,
          tile.depth,
          tile.stages,
          tile.threads(),
          tile.registers() + problem.moreRegisters,
          tile.sharedBytes(problem.elementBytes),
          tile.stageBytes(problem.elementBytes),
          fragmentBytes};
}

std::vector<MmaTile> mmaTiles(int64_t elementBytes) {
  // Rows, columns, and how many warps share each.
  constexpr int64_t shapes[][4] = {
      {128, 256, 2, 4}, {256, 128, 4, 2}, {128, 128, 2, 4}, {128, 128, 2, 2},
      {128, 64, 2, 2},  {64, 128, 2, 2},  {64, 64, 2, 2},   {64, 32, 2, 2},
      {32, 64, 2, 2},   {32, 32, 2, 2},   {16, 128, 1, 4},  {16, 64, 1, 4}};
  constexpr int64_t depthBytes[] = {128, 64}, stages[] = {4, 3, 2};
  std::vector<MmaTile> tiles;
  for (const auto &shape : shapes) {
    for (int64_t bytes : depthBytes) {
      for (int64_t count : stages) {
        tiles.push_back({shape[0], shape[1], bytes / elementBytes, shape[2],
                         shape[3], count});
      }
    }
  }
  return tiles;
}

static Problem problemOf(const MatrixProduct &contraction, const GpuSpec &gpu) {
  // ptxas makes f16 of 8-bit floats from compute capability 9.0 on.
  constexpr int64_t conversionRegisters = 64;
  constexpr int hopper = 90;
  bool isConverted =
      gpu.computeCapability >= hopper &&
      isa<Float8E4M3FNType, Float8E5M2Type>(contraction.a.element);
  return {ProductSize::of(contraction, mmaSyncRate(gpu, contraction.a.element)),
          storageBytes(contraction.a.element),
          isConverted ? conversionRegisters : 0};
}

static std::optional<std::pair<MmaTile, double>>
bestTile(const Problem &problem, const GpuSpec &gpu,
         llvm::function_ref<bool(const MmaTile &)> mayUse) {
  std::optional<std::pair<MmaTile, double>> best;
  for (const MmaTile &tile : mmaTiles(problem.elementBytes)) {
    TileCost cost = costOf(tile, problem);
    if (cost.blocksAtOnce(gpu) == 0 || !mayUse(tile)) {
      continue;
    }
    double clocks = cost.clocksOf(problem.size, gpu);
    if (!best || clocks < best->second) {
      best = {tile, clocks};
    }
  }
  return best;
}

static bool anyTile(const MmaTile &) { return true; }

std::optional<double> mmaClocks(const MatrixProduct &contraction,
                                const GpuSpec &gpu, double rate) {
  Problem problem = problemOf(contraction, gpu);
  problem.size.rate = rate;
  auto best = bestTile(problem, gpu, anyTile);
  return best ? std::optional(best->second) : std::nullopt;
}

std::optional<MmaTile>
chooseMmaTile(const MatrixProduct &contraction, const GpuSpec &gpu,
              llvm::function_ref<bool(const MmaTile &)> mayUse) {
  auto best = bestTile(problemOf(contraction, gpu), gpu, mayUse);
  return best ? std::optional(best->first) : std::nullopt;
}

std::optional<DepthParts> chooseMmaParts(const MatrixProduct &contraction,
                                         const GpuSpec &gpu) {
  Problem problem = problemOf(contraction, gpu);
  auto clocks = [&](const ProductSize &size) -> std::optional<double> {
    Problem divided = problem;
    divided.size = size;
    auto best = bestTile(divided, gpu, anyTile);
    return best ? std::optional(best->second) : std::nullopt;
  };
  return chooseDepthParts(contraction, problem.size,
                          MmaTile::unitBytes / problem.elementBytes, gpu,
                          clocks);
}

} // namespace tilewright::families
