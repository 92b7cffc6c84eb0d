//===- ScanSimt.cpp - scans by teams --------------------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "codegen/families/sequential/ScanSimt.h"
#include "codegen/families/emit/Access.h"
#include "codegen/families/emit/BodyEmitter.h"
#include "codegen/families/emit/Grid.h"
#include "codegen/families/emit/MemoryAccess.h"
#include "codegen/families/emit/VectorAccess.h"
#include "codegen/families/nest/NestSchedule.h"
#include "codegen/families/nest/SimtVectors.h"
#include "codegen/families/nest/TaskLoop.h"
#include "codegen/families/rows/Team.h"
#include "codegen/families/sequential/Sequential.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tilewright::tw;

namespace tilewright::families {

constexpr int64_t warpSize = GpuSpec::warpSize;

//===----------------------------------------------------------------------===//
// Legality and choice
//===----------------------------------------------------------------------===//

static ScanOp scanOf(const FusedRegion &region) {
  return cast<ScanOp>(region.primitives.front());
}

static int64_t guessedLines(const FusedRegion &region) {
  int64_t count = 1;
  for (auto [axis, extent] : llvm::enumerate(region.parallel)) {
    count *=
        axis == scanOf(region).getAxis() ? 1 : guessedExtent(extent, axis == 0);
  }
  return count;
}

static int64_t guessedLength(const FusedRegion &region) {
  return guessedExtent(region.parallel[scanOf(region).getAxis()], false);
}

static bool isLast(const FusedRegion &region) {
  return scanOf(region).getAxis() + 1 == region.parallel.size();
}

std::optional<Refusal> TeamScan::applicable(FusedOp op,
                                            const TargetSpec &target) const {
  if (auto refusal = ReferenceTactic::applicable(op, target)) {
    return refusal;
  }
  FusedRegion region = *analyseRegion(op);
  if (guessedLength(region) < warpSize) {
    return Refusal{"TWT114", "there is too little to fold for a warp"};
  }
  // With so many lines a thread for each keeps the GPU busy, side by side where
  // they lie so.
  constexpr int64_t manyLines = 8192;
  BlockArgument along =
      scanOf(region).getBody().getArgument(scanOf(region).getAxis());
  bool isContiguous = isLast(region);
  scanOf(region).walk([&](LoadOp load) {
    Movement movement = movementOf(load, along, 1);
    isContiguous &=
        movement == Movement::Contiguous || movement == Movement::None;
  });
  if (!isContiguous && guessedLines(region) >= manyLines) {
    return Refusal{"TWT115", "neighbours along the fold lie far apart"};
  }
  return std::nullopt;
}

Result<DictionaryAttr> TeamScan::choose(FusedOp op,
                                        const TargetSpec &target) const {
  Result<FusedRegion> region = analyseRegion(op);
  TW_RETURN_IF_ERROR(region.status());
  constexpr int64_t usualThreads = 128, manyThreads = 256, mostThreads = 512;
  Builder b(op.getContext());
  int64_t width = isLast(*region) ? rowVectorWidth(*region) : 1;
  int64_t length = guessedLength(*region), lines = guessedLines(*region);
  // A line that keeps a block busy; a block for each multiprocessor at least.
  int64_t steps = length / width;
  bool isAlone = lines < target.gpu->multiprocessors;
  int64_t threads = isAlone && steps >= 4 * mostThreads ? mostThreads
                    : steps >= 4 * manyThreads          ? manyThreads
                                                        : usualThreads;
  int64_t team = steps >= 4 * manyThreads ? threads : warpSize;
  NamedAttrList entries;
  entries.set("name", b.getStringAttr(name()));
  entries.set("width", b.getI64IntegerAttr(width));
  return Grid::fill(target, threads, team)
      .addTo(entries.getDictionary(op.getContext()));
}

Result<Launch> TeamScan::launch(FusedOp op) const {
  Result<FusedRegion> region = analyseRegion(op);
  TW_RETURN_IF_ERROR(region.status());
  Grid grid = Grid::fromAttribute(parametersOf(op));
  Launch launch = overTeams(sequentialLaunch(*region), grid);
  launch.shared = teamSharedBytes(grid.team, 1);
  return launch;
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

namespace {

class TeamScanEmitter {
public:
  TeamScanEmitter(KernelFrame &frame, int64_t width)
      : frame(frame), b(frame.getBuilder()), fold(frame), scan(fold.getScan()),
        width(width), warps(frame.teamSize() / warpSize) {}

  Status run();

private:
  Status line(ArrayRef<Value> at);
  Result<Value> piece(ArrayRef<Value> line, Value start, Value before);
  std::pair<Value, Value> acrossWarp(Value own);
  std::pair<Value, Value> acrossBlock(Value before, Value ofWarp);

  KernelFrame &frame;
  LaneBuilder &b;
  ScanFold fold;
  ScanOp scan;
  int64_t width, warps;
  Value length, lane, slots;
};

} // namespace

Status TeamScanEmitter::run() {
  TW_RETURN_IF_ERROR(fold.check());
  length = frame.sizeValue(frame.getRegion().parallel[scan.getAxis()]);
  lane = b.named("lane", frame.laneOfTeam());
  if (warps > 1) {
    constexpr int64_t slotBytes = 8;
    slots = frame.takeShared(fold.getAccumulator(), warps, slotBytes);
  }
  return emitTaskLoop(frame, fold.lines(),
                      [&](ArrayRef<Value> at) { return line(at); });
}

/// Piece by piece, all threads as often.
Status TeamScanEmitter::line(ArrayRef<Value> at) {
  Value step = b.constantIndex(frame.teamSize() * width);
  auto loop = b.create<scf::ForOp>(b.constantIndex(0), length, step,
                                   ValueRange(fold.initial()));
  loop->setAttr(twk::nameAttr, b.getStringAttr("start"));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Result<Value> total =
      piece(at, loop.getInductionVar(), loop.getRegionIterArg(0));
  TW_RETURN_IF_ERROR(total.status());
  b.create<scf::YieldOp>(ValueRange(*total));
  return Status::ok();
}

/// Writes the prefixes of the elements from `start` on, with what is before
/// them. \returns the fold of all up to their end.
Result<Value> TeamScanEmitter::piece(ArrayRef<Value> line, Value start,
                                     Value before) {
  Value own = b.create<arith::MulIOp>(lane, b.constantIndex(width));
  Value number = b.create<arith::AddIOp>(start, own);
  Value exists =
      b.create<arith::CmpIOp>(arith::CmpIPredicate::slt, number, length);
  Value last = b.create<arith::SubIOp>(length, b.constantIndex(width));
  Value first = b.create<arith::MinSIOp>(number, last);
  if (scan.getReverse()) {
    first = b.create<arith::SubIOp>(last, first);
  }
  b.setWidth(width);
  SmallVector<Lanes> at = fold.at(
      line, width > 1 ? Lanes::coordinate(first, width) : Lanes::index(first));
  BodyEmitter emitter(frame, scan.getBody().front(), Value());
  TW_RETURN_IF_ERROR(emitter.emit(0, at));
  Lanes lanes = emitter.get(yieldOf(scan).getOperand(0));
  // The prefixes within the thread's elements.
  SmallVector<Value> within;
  for (int64_t i = 0; i < width; ++i) {
    Value element = b.first(lanes);
    if (width > 1) {
      int64_t place = scan.getReverse() ? width - 1 - i : i;
      element = b.create<vector::ExtractOp>(b.asVector(lanes),
                                            ArrayRef<int64_t>{place});
    }
    Value value = fold.fromElement(element);
    within.push_back(i == 0 ? value : fold.both(within.back(), value));
  }
  Value ofThread =
      b.create<arith::SelectOp>(exists, within.back(), fold.initial());
  auto [beforeInWarp, ofWarp] = acrossWarp(ofThread);
  auto [beforeWarp, total] = acrossBlock(before, ofWarp);
  Value beforeThread = fold.both(beforeWarp, beforeInWarp);
  SmallVector<Value> prefixes(width);
  for (int64_t i = 0; i < width; ++i) {
    bool isBefore = scan.getExclusive() && i == 0;
    Value prefix =
        isBefore
            ? beforeThread
            : fold.both(beforeThread, within[scan.getExclusive() ? i - 1 : i]);
    prefixes[scan.getReverse() ? width - 1 - i : i] = fold.toElement(prefix);
  }
  TW_RETURN_IF_ERROR(emitIf(b, exists, [&] {
    Lanes result = width == 1
                       ? Lanes::scalar(prefixes.front())
                       : Lanes::vector(b.create<vector::FromElementsOp>(
                             b.vectorOf(prefixes.front().getType()), prefixes));
    for (const Memory &memory : frame.outputsOf(scan.getResult())) {
      storeLanes(frame, memory, offsetOf(frame, memory, scan.getType(), at),
                 result, Value());
    }
    return Status::ok();
  }));
  b.setWidth(1);
  return total;
}

/// \returns the fold over the warp's threads before this one, and over all of
/// them. At distance d, groups of d threads learn what the neighbouring group
/// has; the one behind has it before its own.
std::pair<Value, Value> TeamScanEmitter::acrossWarp(Value own) {
  Value before = fold.initial(), all = own;
  for (int64_t distance = 1; distance < warpSize; distance *= 2) {
    Value other =
        b.create<gpu::ShuffleOp>(all, distance, warpSize, gpu::ShuffleMode::XOR)
            .getShuffleResult();
    Value bit = b.create<arith::AndIOp>(lane, b.constantIndex(distance));
    Value isBehind = b.create<arith::CmpIOp>(arith::CmpIPredicate::ne, bit,
                                             b.constantIndex(0));
    before =
        b.create<arith::SelectOp>(isBehind, fold.both(other, before), before);
    all = fold.both(all, other);
  }
  return {before, all};
}

/// \returns what is before this thread's warp, given what is before the block's
/// elements, and the fold of that and all of the block's.
std::pair<Value, Value> TeamScanEmitter::acrossBlock(Value before,
                                                     Value ofWarp) {
  if (warps == 1) {
    return {before, fold.both(before, ofWarp)};
  }
  Value warp = b.create<arith::DivUIOp>(lane, b.constantIndex(warpSize));
  Value ofLane = b.create<arith::RemUIOp>(lane, b.constantIndex(warpSize));
  Value isFirst = b.create<arith::CmpIOp>(arith::CmpIPredicate::eq, ofLane,
                                          b.constantIndex(0));
  (void)emitIf(b, isFirst, [&] {
    b.create<memref::StoreOp>(ofWarp, slots, ValueRange(warp));
    return Status::ok();
  });
  b.create<gpu::BarrierOp>();
  Value total = before, beforeWarp = before;
  for (int64_t i = 0; i < warps; ++i) {
    if (i > 0) {
      Value isOwn = b.create<arith::CmpIOp>(arith::CmpIPredicate::eq, warp,
                                            b.constantIndex(i));
      beforeWarp = b.create<arith::SelectOp>(isOwn, total, beforeWarp);
    }
    total = fold.both(
        total, b.create<memref::LoadOp>(slots, ValueRange(b.constantIndex(i))));
  }
  b.create<gpu::BarrierOp>(); // the next piece writes there again
  return {beforeWarp, total};
}

Result<twk::KernelOp> TeamScan::build(FusedOp op, const TargetSpec &target,
                                      StringRef kernelName,
                                      OpBuilder &builder) const {
  Result<FusedRegion> region = analyseRegion(op);
  TW_RETURN_IF_ERROR(region.status());
  int64_t width = parametersOf(op).getAs<IntegerAttr>("width").getInt();
  KernelFrame frame(*region, target, kernelName, builder);
  Status status = TeamScanEmitter(frame, width).run();
  if (status && width > 1) {
    status = takeVectorsApart(frame.getKernel().getEntry());
  }
  return frame.finish(status);
}

} // namespace tilewright::families
