//===- AttentionTile.cpp - tiles of attention on GPUs ---------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "codegen/families/attention/AttentionTile.h"
#include "codegen/families/attention/FragmentProducts.h"
#include "codegen/families/attention/HeadGroup.h"
#include "codegen/families/attention/VisibleKeys.h"

using namespace mlir;
using namespace tilewright::tw;

namespace tilewright::families {

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

DictionaryAttr AttentionTile::toAttribute(MLIRContext *context,
                                          StringRef tactic) const {
  Builder b(context);
  auto number = [&](StringRef entry, int64_t value) {
    return b.getNamedAttr(entry, b.getI64IntegerAttr(value));
  };
  return b.getDictionaryAttr(
      {b.getNamedAttr("name", b.getStringAttr(tactic)),
       b.getNamedAttr("tile", b.getDenseI64ArrayAttr({rows(), keys()})),
       b.getNamedAttr("warps", b.getDenseI64ArrayAttr({rowWarps, keyWarps})),
       number("stages", stages), number("threads", threads()),
       number("team", threads())});
}

AttentionTile AttentionTile::fromAttribute(DictionaryAttr attribute) {
  AttentionTile tile;
  if (auto stages = attribute.getAs<IntegerAttr>("stages")) {
    tile.stages = stages.getInt();
  }
  if (auto warps = attribute.getAs<DenseI64ArrayAttr>("warps")) {
    tile.rowWarps = warps[0];
    tile.keyWarps = warps[1];
  }
  if (auto sizes = attribute.getAs<DenseI64ArrayAttr>("tile")) {
    tile.rowUnits = sizes[0] / (tile.rowWarps * MmaTile::unitRows);
    tile.warpKeys = sizes[1] / tile.keyWarps;
  }
  return tile;
}

//===----------------------------------------------------------------------===//
// The problem
//===----------------------------------------------------------------------===//

int64_t AttentionProblem::depthElements() const {
  int64_t unit = MmaTile::unitBytes / storageBytes(element);
  return static_cast<int64_t>(llvm::alignTo(depth, unit));
}

/// Two units of columns are loaded at once.
int64_t AttentionProblem::valueElements() const {
  return static_cast<int64_t>(llvm::alignTo(values, 2 * MmaTile::unitColumns));
}

static double guessed(DimExpr extent) {
  // What is dynamic is mostly a batch or a length.
  constexpr double usual = 256;
  std::optional<int64_t> constant = extent.getConstant();
  return constant ? std::max(static_cast<double>(*constant), 1.0) : usual;
}

/// The widest load behind a factor.
static int64_t loadedBytes(Operation *primitive, Value factor) {
  int64_t bytes = 0;
  SmallVector<Value> work = {factor};
  while (!work.empty()) {
    Operation *op = work.pop_back_val().getDefiningOp();
    if (auto load = dyn_cast_or_null<LoadOp>(op)) {
      bytes = std::max(bytes,
                       storageBytes(elementTypeOf(load.getSource().getType())));
    } else if (op) {
      llvm::append_range(work, op->getOperands());
    }
  }
  return bytes;
}

/// Where only run time knows the line, the last query sees the last key, and a
/// window is half as long as the keys.
static KeyLine lineOf(const KeyBound &bound, const AttentionProblem &problem) {
  auto slope = double(bound.slope);
  double guess = bound.isUpper ? problem.keys - 1 : problem.keys / 2;
  return {bound.isUpper, slope,
          bound.offset ? double(*bound.offset)
                       : guess - slope * (problem.queries - 1),
          double(bound.partSlope)};
}

std::optional<AttentionProblem> attentionProblem(const AttentionForm &form,
                                                 Type element,
                                                 bool usesMatrixUnits) {
  ReduceOp scores = form.scores, values = form.values, max = form.max;
  std::optional<int64_t> depth =
      scores.getExtents().getDims().front().getConstant();
  std::optional<int64_t> size =
      dimsOf(values.getType())[form.valueAxis].getConstant();
  if (!depth || !size || *depth == 0 || *size == 0) {
    return std::nullopt;
  }
  AttentionProblem problem;
  problem.depth = *depth;
  problem.values = *size;
  problem.element = element;
  problem.usesMatrixUnits = usesMatrixUnits;
  problem.keys = guessed(max.getExtents().getDims().front());
  for (auto [axis, extent] : llvm::enumerate(
           ArrayRef(max.getDomain()).take_front(max.getParallelRank()))) {
    // The leading axis is a batch, which counts as one where it is unknown.
    bool isBatch = axis == 0 && !extent.getConstant();
    double count = isBatch ? 1 : guessed(extent);
    (form.queryAxis == axis ? problem.queries : problem.heads) *= count;
  }
  HeadGroup group = headGroupOf(form);
  problem.group = double(group.size);
  problem.heads /= problem.group;
  problem.operandBytes[0] = loadedBytes(scores, form.queryFactor);
  problem.operandBytes[1] = loadedBytes(scores, form.keyFactor);
  problem.operandBytes[2] = loadedBytes(values, form.valueFactor);
  if (form.isPart()) {
    problem.parts = guessed(max.getDomain().front());
    if (!max.getExtents().getDims().front().getConstant()) {
      problem.keys = std::ceil(double(usualCache) / problem.parts);
    }
  }
  problem.rowBytes = form.isPart() ? 2 * sizeof(float) : 0;
  VisibleKeys visible = visibleKeys(form, group.axis);
  problem.mayRevisit = visible.settledAbove.has_value();
  for (const KeyBound &bound : visible.bounds) {
    problem.lines.push_back(lineOf(bound, problem));
  }
  Value result = form.epilogue.empty()
                     ? values.getResult()
                     : MapOp(form.epilogue.back()).getResult(0);
  problem.resultBytes = storageBytes(elementTypeOf(result.getType()));
  return problem;
}

//===----------------------------------------------------------------------===//
// The model
//===----------------------------------------------------------------------===//

/// Bytes of a line in shared memory.
static int64_t lineBytes(const AttentionProblem &problem, int64_t elements) {
  SharedLines lines;
  lines.element = problem.element;
  lines.elements = elements;
  lines.lines = 1;
  return lines.stageBytes();
}

int64_t attentionSumBytes(const AttentionTile &tile,
                          const AttentionProblem &problem) {
  constexpr int64_t sumBytes = 4;
  return tile.rows() * (problem.valueElements() + MmaTile::sumPadding) *
         sumBytes;
}

int64_t attentionLineBytes(const AttentionTile &tile,
                           const AttentionProblem &problem) {
  int64_t depth = lineBytes(problem, problem.depthElements()),
          values = lineBytes(problem, problem.valueElements());
  return tile.rows() * depth + tile.stages * tile.keys() * (depth + values);
}

int64_t attentionSharedBytes(const AttentionTile &tile,
                             const AttentionProblem &problem) {
  // The greatest score and the sum of a row.
  constexpr int64_t numberBytes = 4;
  int64_t numbers = tile.keyWarps * tile.rows() * numberBytes;
  return std::max(attentionLineBytes(tile, problem) +
                      (problem.mayRevisit ? numbers : 0),
                  attentionSumBytes(tile, problem) + 2 * numbers);
}

AttentionSteps attentionSteps(const AttentionTile &tile,
                              const AttentionProblem &problem) {
  auto rows = double(tile.rows()), size = double(tile.keys());
  double blocks = std::ceil(problem.rows() / rows);
  AttentionSteps result;
  if (problem.lines.empty()) {
    result.average = result.most = std::ceil(problem.keys / size);
    result.keys = problem.keys;
    return result;
  }
  // Of many blocks, some stand for all.
  constexpr double mostBlocks = 1024;
  double stride = std::max(1.0, blocks * problem.parts / mostBlocks), count = 0;
  for (double number = 0; number < blocks * problem.parts;
       number += stride, ++count) {
    double part = std::floor(number / blocks);
    double firstRow = std::floor(number - part * blocks) * rows,
           lastRow = std::min(firstRow + rows, problem.rows()) - 1;
    double first = std::floor(firstRow / problem.group),
           last = std::floor(lastRow / problem.group);
    double begin = 0, end = problem.keys;
    for (const KeyLine &line : problem.lines) {
      bool usesLast = line.isUpper == (line.slope >= 0);
      double at = line.offset + line.partSlope * part +
                  line.slope * (usesLast ? last : first);
      (line.isUpper ? end : begin) =
          line.isUpper ? std::min(end, at + 1) : std::max(begin, at);
    }
    begin = std::floor(begin / size);
    double steps = std::max(std::ceil(end / size) - begin, 0.0);
    result.average += steps;
    result.most = std::max(result.most, steps);
    result.keys += std::max(
        std::min((begin + steps) * size, problem.keys) - begin * size, 0.0);
  }
  result.average /= count;
  result.keys /= count;
  return result;
}

double attentionTraffic(const AttentionTile &tile,
                        const AttentionProblem &problem) {
  double blocks = std::ceil(problem.rows() / double(tile.rows()));
  double ofQuery =
      double(problem.depth * problem.operandBytes[0] +
             problem.values * problem.resultBytes + problem.rowBytes);
  double ofKey = double(problem.depth * problem.operandBytes[1] +
                        problem.values * problem.operandBytes[2]);
  double keys = attentionSteps(tile, problem).keys;
  return problem.heads * (problem.rows() * ofQuery + blocks * keys * ofKey);
}

/// Registers of a thread: scores, sums, fragments and addresses.
static int64_t registersOf(const AttentionTile &tile,
                           const AttentionProblem &problem) {
  auto sums = [&](int64_t columns) {
    return tile.rowUnits * columns / MmaTile::unitColumns *
           FragmentSums::unitElements;
  };
  constexpr int64_t others = 72, ofRowUnit = 16;
  return sums(tile.warpKeys) + sums(problem.valueElements()) +
         ofRowUnit * tile.rowUnits + others;
}

/// Blocks of a tile that a multiprocessor holds at once.
static int64_t blocksAtOnce(const AttentionTile &tile,
                            const AttentionProblem &problem,
                            const GpuSpec &gpu) {
  int64_t shared = attentionSharedBytes(tile, problem);
  int64_t registers = registersOf(tile, problem);
  // What the hardware keeps for itself of each block.
  constexpr int64_t reservedBytes = 1024;
  if (shared > gpu.sharedBytesPerBlock ||
      registers > GpuSpec::mostRegistersPerThread) {
    return 0;
  }
  return std::min(
      {gpu.sharedBytesPerMultiprocessor / (shared + reservedBytes),
       gpu.registersPerMultiprocessor / (registers * tile.threads()),
       gpu.threadsPerMultiprocessor / tile.threads(),
       static_cast<int64_t>(gpu.blocksPerMultiprocessor)});
}

/// Clocks that a launch takes: the arithmetic of a multiprocessor and the GPU's
/// memory work at the same time.
static double clocksOf(const AttentionTile &tile,
                       const AttentionProblem &problem, const GpuSpec &gpu) {
  auto resident = double(blocksAtOnce(tile, problem, gpu));
  double blocks =
      problem.heads * std::ceil(problem.rows() / double(tile.rows()));
  double waves = std::ceil(blocks / double(gpu.multiprocessors));
  AttentionSteps walked = attentionSteps(tile, problem);
  double steps = waves > 1 ? walked.average : walked.most;
  double together = std::min(resident, waves);
  auto elements = double(problem.depthElements() + problem.valueElements());
  double rate = problem.usesMatrixUnits ? mmaSyncRate(gpu, problem.element)
                                        : gpu.floatOps;
  double products = double(tile.rows() * tile.keys()) * elements / rate;
  // Every warp reads the keys and values of a step from shared memory: as
  // fragments at full speed, as scalars for multiply-adds at half of it.
  constexpr double sharedBytesPerClock = 128;
  double reads = double(tile.rowWarps * tile.keys()) * elements *
                 double(storageBytes(problem.element)) / sharedBytesPerClock *
                 (problem.usesMatrixUnits ? 1 : 8);
  // The exponential and some twenty instructions on each score.
  constexpr double clocksPerScore = 0.25;
  double softmax = clocksPerScore * double(tile.rows() * tile.keys());
  // With few warps, what one of them waits for is not hidden by others.
  constexpr double warpsToHide = 8;
  double exposed =
      std::max(1.0, std::sqrt(warpsToHide / (together * double(tile.warps()))));
  // Of each block so many steps are on their way from memory at once.
  constexpr double latency = 800;
  double arrival = latency / (double(tile.stages - 1) * together);
  // The barrier, the greatest score of a row and what it scales.
  constexpr double clocksPerStep = 60;
  double step = std::max(
      {(products + softmax + clocksPerStep) * exposed, reads, arrival});
  // A block begins by waiting for memory, and ends by writing its sums.
  constexpr double clocksPerSum = 0.25;
  double sums = clocksPerSum * double(tile.keyWarps * tile.rows()) *
                double(problem.values);
  double compute =
      waves * (steps * step + sums) + std::ceil(waves / together) * latency;
  // Keys and values of neighbouring blocks come from the second cache, which is
  // about three times as fast as memory.
  constexpr double cacheOverMemory = 3;
  double bytesPerClock = cacheOverMemory * double(gpu.memoryGBPerSecond) *
                         1000 / double(gpu.clockMHz);
  return std::max(compute, attentionTraffic(tile, problem) / bytesPerClock);
}

std::optional<double> attentionClocks(const AttentionProblem &problem,
                                      const GpuSpec &gpu) {
  auto tile = chooseAttentionTile(problem, gpu,
                                  [](const AttentionTile &) { return true; });
  return tile ? std::optional(clocksOf(*tile, problem, gpu)) : std::nullopt;
}

std::optional<AttentionTile>
chooseAttentionTile(const AttentionProblem &problem, const GpuSpec &gpu,
                    llvm::function_ref<bool(const AttentionTile &)> mayUse) {
  std::vector<AttentionTile> tiles;
  // All that is done with a warp's keys is unrolled: code for more of them
  // takes a compiler longer than it saves.
  bool isShort = problem.usesMatrixUnits && storageBytes(problem.element) == 2;
  int64_t mostKeys = isShort ? 64 : 32;
  constexpr int64_t warps[][2] = {{1, 1}, {2, 1}, {4, 1}, {8, 1},
                                  {1, 2}, {1, 4}, {2, 2}};
  for (auto [rowWarps, keyWarps] : warps) {
    for (int64_t rowUnits : {1, 2}) {
      for (int64_t keys = 16; keys <= mostKeys; keys *= 2) {
        for (int64_t stages : {2, 3}) {
          tiles.push_back({rowWarps, keyWarps, rowUnits, keys, stages});
        }
      }
    }
  }
  std::optional<AttentionTile> best;
  double least = 0;
  for (const AttentionTile &tile : tiles) {
    if (blocksAtOnce(tile, problem, gpu) == 0 || !mayUse(tile)) {
      continue;
    }
    double clocks = clocksOf(tile, problem, gpu);
    if (!best || clocks < least) {
      best = tile;
      least = clocks;
    }
  }
  return best;
}

} // namespace tilewright::families
