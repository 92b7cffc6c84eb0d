//===- AttentionTiles.cpp - attention in tiles of a block -----------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
//   copy the queries; for each tile of keys that one of them may see:
//     wait for its keys and values, of all threads
//     start the copies of step + stages - 1, in the place of the step before
//     scores = queries · keys, finished by the region's maps
//     the greatest score of a row so far scales its sums by exp(old − new)
//     sums += exp(score − max) · values
//
// A row's scores are those of four threads side by side, who find the greatest
// by shuffles. The sums then go through shared memory, so that neighbours in
// memory belong to neighbouring threads.
//
//===----------------------------------------------------------------------===//

#include "codegen/families/attention/AttentionTilesEmitter.h"
#include "codegen/families/nest/TaskLoop.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include <limits>

using namespace mlir;
using namespace tilewright::tw;

namespace tilewright::families {

//===----------------------------------------------------------------------===//
// Types and launch
//===----------------------------------------------------------------------===//

/// The 16-bit scalar that a factor extends to f32; null if it is none.
static Value shortScalar(Value factor) {
  auto extension = factor.getDefiningOp<arith::ExtFOp>();
  Type type = extension ? extension.getIn().getType() : Type();
  return type && (type.isF16() || type.isBF16()) ? extension.getIn() : Value();
}

Type attentionElement(const AttentionForm &form) {
  MapOp weights = form.weights;
  Type element = elementTypeOf(weights.getType(0));
  for (Value factor : {form.queryFactor, form.keyFactor, form.valueFactor}) {
    Value scalar = shortScalar(factor);
    if (!scalar || element != scalar.getType()) {
      return Float32Type::get(factor.getContext());
    }
  }
  return element;
}

Launch attentionTilesLaunch(const FusedRegion &region,
                            const AttentionTile &tile,
                            const AttentionProblem &problem) {
  AttentionForm form = attentionOf(region);
  MLIRContext *context = region.op.getContext();
  Launch launch;
  launch.sizes = sizesOf(region.op);
  launch.tasks =
      productOf(context, tileExtents(form, region.parallel, tile.rows()));
  launch.workspaceBytes = DimExpr::constant(context, 0);
  launch.threads = tile.threads();
  launch.shared = attentionSharedBytes(tile, problem);
  return launch;
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

Value TilesEmitter::registers(int64_t count, StringRef name) {
  return b.named(name, b.create<memref::AllocaOp>(
                           MemRefType::get({count}, b.getF32Type())));
}

/// Whether later queries see more keys: their blocks begin first.
bool TilesEmitter::isLastLongest() {
  return llvm::any_of(kernel.visible.bounds, [](const KeyBound &bound) {
    return bound.isUpper && bound.slope > 0;
  });
}

/// Which queries this block has, and which of them this warp. Blocks side by
/// side share keys.
void TilesEmitter::findPlace() {
  thread = b.create<gpu::ThreadIdOp>(gpu::Dimension::x);
  Value rest = b.create<gpu::BlockIdOp>(gpu::Dimension::x);
  warp.lane = b.named("lane", math.mod(thread, GpuSpec::warpSize));
  Value number = b.named("warp", math.over(thread, GpuSpec::warpSize));
  warp.firstRow = math.times(math.over(number, tile.keyWarps),
                             tile.rowUnits * MmaTile::unitRows);
  name("firstRow", warp.firstRow);
  keyWarp = math.mod(number, tile.keyWarps);
  name("keyWarp", keyWarp);
  warp.firstKey = math.times(keyWarp, tile.warpKeys);
  name("firstKey", warp.firstKey);
  ArrayRef<DimExpr> extents = frame.getRegion().parallel;
  kernel.outer.assign(extents.size(), Lanes::index(0));
  auto take = [&](Value count) {
    Value own = math.mod(rest, count);
    rest = math.over(rest, count);
    return own;
  };
  rowCount = frame.sizeValue(rowsOfGroup(form, extents));
  Value tiles = math.parts(rowCount, tile.rows()), own = take(tiles);
  if (isLastLongest()) {
    own = math.minus(math.plus(tiles, -1), own);
  }
  blockRow = math.times(own, tile.rows());
  name("blockRow", blockRow);
  for (unsigned axis = extents.size(); axis-- > 0;) {
    if (axis == form.queryAxis || extents[axis].isConstant(1)) {
      continue;
    }
    if (axis == group.axis) {
      int64_t groups = *extents[axis].getConstant() / group.size;
      firstHead = math.times(take(b.constantIndex(groups)), group.size);
      name("firstHead", firstHead);
      kernel.outer[axis] = Lanes::index(firstHead, group.size);
    } else {
      kernel.outer[axis] = Lanes::index(take(frame.sizeValue(extents[axis])));
    }
  }
}

void TilesEmitter::takeMemory() {
  Type element = storageType(problem.element);
  int64_t offset = 0;
  auto lines = [&](StringRef text, int64_t count, int64_t elements,
                   int64_t stages) {
    SharedLines result{element, count, elements, Value()};
    result.memory =
        b.named(text, frame.sharedView(element, offset,
                                       stages * result.stageElements()));
    offset += stages * result.stageBytes();
    return result;
  };
  warp.queries = lines("queries", tile.rows(), problem.depthElements(), 1);
  warp.keys = lines("keys", tile.keys(), problem.depthElements(), tile.stages);
  warp.values =
      lines("values", tile.keys(), problem.valueElements(), tile.stages);
  if (problem.mayRevisit) {
    greatestMemory =
        b.named("greatest", frame.sharedView(b.getF32Type(),
                                             attentionLineBytes(tile, problem),
                                             tile.keyWarps * tile.rows()));
  }
  sumMemory = b.named("results",
                      frame.sharedView(b.getF32Type(), 0,
                                       tile.rows() * (problem.valueElements() +
                                                      MmaTile::sumPadding)));
  rowMemory = frame.sharedView(b.getF32Type(), attentionSumBytes(tile, problem),
                               2 * tile.keyWarps * tile.rows());
  auto sums = [&](StringRef text, int64_t columns) {
    FragmentSums result;
    result.rowUnits = tile.rowUnits;
    result.columnUnits = columns / MmaTile::unitColumns;
    result.memory = registers(result.size(), text);
    return result;
  };
  warp.scores = sums("score", tile.warpKeys);
  warp.sums = sums("sum", problem.valueElements());
  products =
      problem.usesMatrixUnits ? matrixUnits(b, warp) : plainProducts(b, warp);
}

LineCopy TilesEmitter::copyOf(Operation *primitive, Value factor,
                              const SharedLines &lines, unsigned lineAxis,
                              unsigned elementAxis,
                              SmallVector<Lanes> coordinates, DimExpr count,
                              DimExpr elements, LineGroup lineGroup) {
  LineSource source;
  source.group = lineGroup;
  source.primitive = primitive;
  source.scalar = problem.element.isF32() ? factor : shortScalar(factor);
  source.lineAxis = lineAxis;
  source.elementAxis = elementAxis;
  source.coordinates = std::move(coordinates);
  source.lines = count;
  source.elements = elements;
  return LineCopy(frame, source, lines, thread, tile.threads());
}

void TilesEmitter::clear(const FragmentSums &sums) {
  Value zero = kernel.splatFloat(0);
  unrolled(b, sums.size(), "i",
           [&](Value at) { b.create<memref::StoreOp>(zero, sums.memory, at); });
}

/// Lets the kernel stand at a row of the group. \returns its query.
Lanes TilesEmitter::enterRow(Value place) {
  if (group.axis) {
    kernel.outer[*group.axis] =
        Lanes::index(math.plus(firstHead, math.mod(place, group.size)));
  }
  return Lanes::index(math.over(place, group.size));
}

/// The same for a row of this thread, the last one of the group for rows past
/// it.
Lanes TilesEmitter::queryOf(int64_t row) {
  Value place = math.plus(blockRow, rowOf(row));
  return enterRow(
      b.createOrFold<arith::MinSIOp>(place, math.plus(rowCount, -1)));
}

//===----------------------------------------------------------------------===//
// A step of the main loop
//===----------------------------------------------------------------------===//

Result<SmallVector<Value>> TilesEmitter::step(Value step, Value stage,
                                              ArrayRef<Value> state) {
  ArrayRef<Value> oldMax = state.take_front(rowsOfThread()),
                  oldSum = state.drop_front(rowsOfThread());
  clear(warp.scores);
  products->addScores(stage);
  Result<Values> max = scores(step, oldMax);
  TW_RETURN_IF_ERROR(max.status());
  Values factors, sum;
  for (auto [row, old] : llvm::enumerate(oldMax)) {
    Result<Value> factor = kernel.exponential(old, (*max)[row], Value());
    TW_RETURN_IF_ERROR(factor.status());
    name("factor", *factor);
    factors.push_back(*factor);
    sum.push_back(b.create<arith::MulFOp>(oldSum[row], *factor));
  }
  Result<Values> sums = exponentials(*max, sum);
  TW_RETURN_IF_ERROR(sums.status());
  unrolled(b, warp.sums.columnUnits, "column", [&](Value column) {
    for (auto [row, factor] : llvm::enumerate(factors)) {
      auto number = static_cast<int64_t>(row);
      for (int64_t i : {0, 1}) {
        Value at = warp.sums.at(b, number / halves, column, number % halves, i);
        Value old = b.create<memref::LoadOp>(warp.sums.memory, at);
        b.create<memref::StoreOp>(b.create<arith::MulFOp>(old, factor),
                                  warp.sums.memory, at);
      }
    }
  });
  products->addValues(stage);
  Values next(*max);
  llvm::append_range(next, *sums);
  return next;
}

/// Finishes the scores by the region's maps. Keys that do not exist have a
/// score whose exponential is zero. \returns the greatest of each row.
Result<SmallVector<Value>> TilesEmitter::scores(Value step,
                                                ArrayRef<Value> max) {
  Lanes count = kernel.keys();
  bool isRagged = !count.isConstantIndex() || count.offset % tile.keys() != 0;
  Value keys = b.first(count);
  Value none = kernel.splatFloat(-std::numeric_limits<float>::infinity());
  auto loop = b.create<scf::ForOp>(b.constantIndex(0),
                                   b.constantIndex(warp.scores.columnUnits),
                                   b.constantIndex(1), max);
  loop->setAttr(twk::nameAttr, b.getStringAttr("unit"));
  loop->setAttr(twk::unrollAttr, b.getUnitAttr());
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value unit = loop.getInductionVar();
    Value first = math.plus(
        math.plus(math.plus(math.times(step, tile.keys()), warp.firstKey),
                  math.times(unit, MmaTile::unitColumns)),
        math.times(math.mod(warp.lane, 4), 2));
    Values greatest(loop.getRegionIterArgs());
    std::vector<BodyEmitter> maps = kernel.scoreEmitters(Value());
    unsigned copy = 0;
    for (int64_t i : {0, 1}) {
      Value key = b.named("key", math.plus(first, i));
      Value exists = isRagged ? math.isLess(key, keys) : Value();
      Value place =
          isRagged ? Value(b.create<arith::MinSIOp>(key, math.plus(keys, -1)))
                   : key;
      for (int64_t row = 0; row < rowsOfThread(); ++row) {
        Value at = warp.scores.at(b, row / halves, unit, row % halves, i);
        Value sum = b.create<memref::LoadOp>(warp.scores.memory, at);
        Result<Value> score = kernel.finishScore(
            copy++, sum, kernel.score(queryOf(row), Lanes::index(place)), maps);
        TW_RETURN_IF_ERROR(score.status());
        Value finished =
            exists ? Value(b.create<arith::SelectOp>(exists, *score, none))
                   : *score;
        b.create<memref::StoreOp>(finished, warp.scores.memory, at);
        greatest[row] = kernel.greater(finished, greatest[row]);
      }
    }
    b.create<scf::YieldOp>(greatest);
  }
  Values result;
  for (Value own : loop.getResults()) {
    result.push_back(
        acrossRow(own, [&](Value x, Value y) { return kernel.greater(y, x); }));
  }
  return result;
}

/// Folds over the four threads of a row.
Value TilesEmitter::acrossRow(Value value,
                              llvm::function_ref<Value(Value, Value)> fold) {
  for (int64_t distance : {1, 2}) {
    auto other = b.create<gpu::ShuffleOp>(value, distance, GpuSpec::warpSize,
                                          gpu::ShuffleMode::XOR);
    value = fold(value, other.getShuffleResult());
  }
  return value;
}

/// Replaces the scores by their exponentials. \returns the sums of this
/// thread's.
Result<SmallVector<Value>> TilesEmitter::exponentials(ArrayRef<Value> max,
                                                      ArrayRef<Value> sum) {
  auto loop = b.create<scf::ForOp>(b.constantIndex(0),
                                   b.constantIndex(warp.scores.columnUnits),
                                   b.constantIndex(1), sum);
  loop->setAttr(twk::nameAttr, b.getStringAttr("unit"));
  loop->setAttr(twk::unrollAttr, b.getUnitAttr());
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Values next(loop.getRegionIterArgs());
  for (int64_t row = 0; row < rowsOfThread(); ++row) {
    for (int64_t i : {0, 1}) {
      Value at = warp.scores.at(b, row / halves, loop.getInductionVar(),
                                row % halves, i);
      Value score = b.create<memref::LoadOp>(warp.scores.memory, at);
      Result<Value> power = kernel.exponential(score, max[row], Value());
      TW_RETURN_IF_ERROR(power.status());
      name("weight", *power);
      b.create<memref::StoreOp>(*power, warp.scores.memory, at);
      next[row] = b.create<arith::AddFOp>(next[row], *power);
    }
  }
  b.create<scf::YieldOp>(next);
  return llvm::to_vector_of<Value>(loop.getResults());
}

Status TilesEmitter::run() {
  findPlace();
  takeMemory();
  Result<Values> state = overKeys();
  TW_RETURN_IF_ERROR(state.status());
  // Of no keys, nobody has waited for the queries.
  waitForAll();
  TW_RETURN_IF_ERROR(spillSums(*state));
  b.create<gpu::BarrierOp>();
  TW_RETURN_IF_ERROR(finish());
  frame.clearRegisters();
  return Status::ok();
}

Result<twk::KernelOp> buildAttentionTiles(const FusedRegion &region,
                                          const AttentionTile &tile,
                                          const AttentionProblem &problem,
                                          const TargetSpec &target,
                                          StringRef name, OpBuilder &builder) {
  KernelFrame frame(region, target, name, builder);
  frame.getKernel()->setAttr(twk::residentAttr, builder.getI64IntegerAttr(1));
  AttentionForm form = attentionOf(region);
  return frame.finish(TilesEmitter(frame, form, tile, problem).run());
}

} // namespace tilewright::families
