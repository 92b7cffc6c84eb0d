//===- MmaTile.cpp - tiles of the matrix units ----------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "codegen/families/MmaTile.h"
#include "codegen/families/KernelFrame.h"

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

namespace {

/// What the model knows of a contraction; unknown extents are guessed.
struct Problem {
  double batches, rows, columns, depth;
  int64_t elementBytes;
  double rate;           ///< multiply-adds per multiprocessor and clock
  int64_t moreRegisters; ///< of a thread, beside the tile's
};

} // namespace

static double guessed(const MatrixProduct &contraction,
                      ArrayRef<unsigned> coordinates) {
  // What is dynamic is mostly a batch or a length.
  constexpr double usual = 256;
  double product = 1;
  for (unsigned coordinate : coordinates) {
    std::optional<int64_t> extent =
        contraction.extentOf(coordinate).getConstant();
    product *= extent ? static_cast<double>(*extent) : usual;
  }
  return std::max(product, 1.0);
}

static double ceilDiv(double x, double y) { return std::ceil(x / y); }

/// Blocks of a tile that a multiprocessor holds at once.
static int64_t blocksAtOnce(const MmaTile &tile, const Problem &problem,
                            const GpuSpec &gpu) {
  int64_t shared = tile.sharedBytes(problem.elementBytes);
  int64_t registers = tile.registers() + problem.moreRegisters;
  if (shared > gpu.sharedBytesPerBlock ||
      registers > GpuSpec::mostRegistersPerThread) {
    return 0;
  }
  // What the hardware keeps for itself of each block.
  constexpr int64_t reservedBytes = 1024;
  return std::min(
      {gpu.sharedBytesPerMultiprocessor / (shared + reservedBytes),
       gpu.registersPerMultiprocessor / (tile.registers() * tile.threads()),
       gpu.threadsPerMultiprocessor / tile.threads(),
       static_cast<int64_t>(gpu.blocksPerMultiprocessor)});
}

/// Clocks that a launch takes: the matrix units of a multiprocessor and the
/// GPU's memory work at the same time.
static double clocksOf(const MmaTile &tile, const Problem &problem,
                       const GpuSpec &gpu) {
  int64_t resident = blocksAtOnce(tile, problem, gpu);
  double blocks = problem.batches * ceilDiv(problem.rows, tile.rows) *
                  ceilDiv(problem.columns, tile.columns);
  double steps = ceilDiv(problem.depth, tile.depth);
  double waves = ceilDiv(blocks, double(gpu.multiprocessors));
  double products = double(tile.rows * tile.columns * tile.depth);
  // Each unit of 16x8 needs a row fragment and half a pair of columns from
  // shared memory, 128 bytes of which come per clock.
  double fragmentBytes = double(tile.rows * tile.warpsAlongColumns +
                                tile.columns * tile.warpsAlongRows) *
                         tile.depth * problem.elementBytes;
  constexpr double sharedBytesPerClock = 128;
  // Of each block so many steps are on their way from memory at once.
  constexpr double latency = 800;
  double together = std::min(double(resident), waves);
  double arrival = latency / (double(tile.stages - 1) * together);
  // With few warps, what one of them waits for is not hidden by others.
  constexpr double warpsToHide = 8;
  double warps = together * double(tile.threads()) / GpuSpec::warpSize;
  double exposed = std::max(1.0, std::sqrt(warpsToHide / warps));
  double step = std::max({products / problem.rate * exposed,
                          fragmentBytes / sharedBytesPerClock, arrival});
  // A block begins by waiting for memory, and ends by writing its sums.
  constexpr double clocksPerSum = 0.25;
  double sums = clocksPerSum * double(tile.rows * tile.columns);
  double compute =
      waves * (steps * step + sums) + ceilDiv(waves, together) * latency;
  double bytes = blocks * steps * tile.stageBytes(problem.elementBytes);
  // Tiles of neighbouring blocks come from the second cache, which is about
  // three times as fast as memory.
  constexpr double cacheOverMemory = 3;
  double bytesPerClock = cacheOverMemory * double(gpu.memoryGBPerSecond) *
                         1000 / double(gpu.clockMHz);
  return std::max(compute, bytes / bytesPerClock);
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
  return {guessed(contraction, contraction.batches),
          guessed(contraction, contraction.rows),
          guessed(contraction, contraction.columns),
          guessed(contraction, contraction.depth),
          storageBytes(contraction.a.element),
          double(mmaRate(gpu, contraction.a.element)),
          isConverted ? conversionRegisters : 0};
}

static std::optional<std::pair<MmaTile, double>>
bestTile(const Problem &problem, const GpuSpec &gpu,
         llvm::function_ref<bool(const MmaTile &)> mayUse) {
  std::optional<std::pair<MmaTile, double>> best;
  for (const MmaTile &tile : mmaTiles(problem.elementBytes)) {
    if (blocksAtOnce(tile, problem, gpu) == 0 || !mayUse(tile)) {
      continue;
    }
    double clocks = clocksOf(tile, problem, gpu);
    if (!best || clocks < best->second) {
      best = {tile, clocks};
    }
  }
  return best;
}

std::optional<MmaTile>
chooseMmaTile(const MatrixProduct &contraction, const GpuSpec &gpu,
              llvm::function_ref<bool(const MmaTile &)> mayUse) {
  auto best = bestTile(problemOf(contraction, gpu), gpu, mayUse);
  return best ? std::optional(best->first) : std::nullopt;
}

std::optional<DepthParts> chooseDepthParts(const MatrixProduct &contraction,
                                           const GpuSpec &gpu) {
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
  Problem problem = problemOf(contraction, gpu);
  auto anyTile = [](const MmaTile &) { return true; };
  auto whole = bestTile(problem, gpu, anyTile);
  if (!coordinate || !whole) {
    return std::nullopt;
  }
  double least = whole->second;
  std::optional<DepthParts> best;
  int64_t chunk = MmaTile::unitBytes / problem.elementBytes;
  constexpr int64_t mostParts = 32;
  for (int64_t count = 2; count <= mostParts; ++count) {
    if (extent % (count * chunk) != 0) {
      continue;
    }
    Problem divided = problem;
    divided.batches *= double(count);
    divided.depth /= double(count);
    auto tile = bestTile(divided, gpu, anyTile);
    // The sums of the parts are written and read, by a launch of its own.
    constexpr double launchMicroseconds = 3, sumBytes = 4;
    double bytes = 2 * double(count) * problem.batches * problem.rows *
                   problem.columns * sumBytes;
    double clocksPerMicrosecond = double(gpu.clockMHz);
    double bytesPerMicrosecond = double(gpu.memoryGBPerSecond) * 1000;
    double clocks =
        tile->second + clocksPerMicrosecond *
                           (launchMicroseconds + bytes / bytesPerMicrosecond);
    if (clocks < least) {
      least = clocks;
      best = {*coordinate, count};
    }
  }
  return best;
}

} // namespace tilewright::families
