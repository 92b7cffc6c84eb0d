//===- MmaKernel.cpp - contractions on matrix units -----------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// A block computes one tile of the result. Copies of the next steps run while
// the matrix units work on this one:
//
//   for each step:
//     wait for this step's copies, of all threads
//     start those of step + stages - 1, in the place of the step before
//     multiply
//
// The sums then go through shared memory, so that neighbours in memory belong
// to neighbouring threads, and the region's maps are evaluated on each.
//
//===----------------------------------------------------------------------===//

#include "codegen/families/contract/MmaKernel.h"
#include "codegen/families/contract/ProductResults.h"
#include "codegen/families/contract/SharedTile.h"
#include "codegen/families/emit/IndexMath.h"
#include "codegen/families/emit/VectorAccess.h"
#include "codegen/families/nest/SimtVectors.h"
#include "codegen/families/nest/TaskLoop.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tilewright::tw;

namespace tilewright::families {

Launch mmaLaunch(const FusedRegion &region, const MatrixProduct &contraction,
                 const MmaTile &tile) {
  Launch launch;
  launch.sizes = sizesOf(region.op);
  launch.tasks =
      contraction.extentOf(contraction.batches) *
      contraction.extentOf(contraction.rows).ceilDiv(tile.rows) *
      contraction.extentOf(contraction.columns).ceilDiv(tile.columns);
  launch.workspaceBytes = DimExpr::constant(region.op.getContext(), 0);
  launch.threads = tile.threads();
  launch.shared = tile.sharedBytes(storageBytes(contraction.a.element));
  launch.inPlace = true;
  return launch;
}

namespace {

class MmaEmitter {
public:
  MmaEmitter(KernelFrame &frame, const MatrixProduct &contraction,
             const MmaTile &tile)
      : frame(frame), b(frame.getBuilder()), math(b), region(frame.getRegion()),
        contraction(contraction), tile(tile),
        a(contraction.a, contraction.rows, tile.rows, tile.depth, tile.stages),
        bTile(contraction.b, contraction.columns, tile.columns, tile.depth,
              tile.stages),
        sumType(elementTypeOf(contraction.reduce.getResult().getType())) {}

  Status run();

private:
  void findPlace();
  /// Names a value that is computed.
  void name(StringRef text, Value value) {
    if (value.getDefiningOp()) {
      b.named(text, value);
    }
  }
  Value extentOf(ArrayRef<unsigned> group);
  Result<SmallVector<Value>> multiply();
  SmallVector<Value> multiplyStage(Value stage, SmallVector<Value> sums);
  SmallVector<Value> fragmentsOfA(Value stage, int64_t unit);
  SmallVector<Value> fragmentsOfB(Value stage, int64_t unit);
  Value product(Value x, Value y, Value sum);
  void spillSums(ArrayRef<Value> sums);
  Status finish();
  Status finishElements(Value row, Value column, const Lanes &sum);

  Value plus(Value x, int64_t y) { return math.plus(x, y); }
  Value plus(Value x, Value y) { return math.plus(x, y); }
  Value times(Value x, int64_t y) { return math.times(x, y); }
  Value over(Value x, int64_t y) { return math.over(x, y); }
  Value mod(Value x, int64_t y) { return math.mod(x, y); }

  KernelFrame &frame;
  LaneBuilder &b;
  IndexMath math;
  const FusedRegion &region;
  const MatrixProduct &contraction;
  const MmaTile &tile;
  SharedTile a, bTile;
  Type sumType;
  Value sumMemory;
  Value thread, lane, warpRow, warpColumn; // the warp's first row and column
  Value firstRow, firstColumn;             // of the block
  SmallVector<Lanes> batch;                // the batches' coordinates
};

} // namespace

Value MmaEmitter::extentOf(ArrayRef<unsigned> group) {
  Lanes extent = Lanes::index(1);
  for (unsigned coordinate : group) {
    extent = b.mul(extent, frame.size(contraction.extentOf(coordinate)));
  }
  return b.first(extent);
}

/// Which tile this block computes, and which part of it this warp. Blocks side
/// by side share columns.
void MmaEmitter::findPlace() {
  thread = b.create<gpu::ThreadIdOp>(gpu::Dimension::x);
  Value block = b.create<gpu::BlockIdOp>(gpu::Dimension::x);
  lane = b.named("lane", mod(thread, GpuSpec::warpSize));
  Value warp = b.named("warp", over(thread, GpuSpec::warpSize));
  warpRow = times(over(warp, tile.warpsAlongColumns), tile.warpRows());
  warpColumn = times(mod(warp, tile.warpsAlongColumns), tile.warpColumns());
  Value rowTiles = math.parts(extentOf(contraction.rows), tile.rows);
  Value columnTiles = math.parts(extentOf(contraction.columns), tile.columns);
  Value rest = math.over(block, rowTiles);
  firstRow = times(math.mod(block, rowTiles), tile.rows);
  firstColumn = times(math.mod(rest, columnTiles), tile.columns);
  name("warpRow", warpRow);
  name("warpColumn", warpColumn);
  name("firstRow", firstRow);
  name("firstColumn", firstColumn);
  batch.assign(contraction.body().getNumArguments(), Lanes::index(0));
  splitIndex(frame, contraction, contraction.batches,
             math.over(rest, columnTiles), batch);
}

Status MmaEmitter::run() {
  findPlace();
  Type ofA = storageType(a.factor.element),
       ofB = storageType(bTile.factor.element);
  a.memory = frame.sharedView(ofA, 0, a.elements() * tile.stages);
  bTile.memory =
      frame.sharedView(ofB, a.elements() * tile.stages * a.elementBytes,
                       bTile.elements() * tile.stages);
  sumMemory = frame.sharedView(
      sumType, 0, tile.rows * (tile.columns + MmaTile::sumPadding));
  name("tileA", a.memory);
  name("tileB", bTile.memory);
  name("sums", sumMemory);
  Result<SmallVector<Value>> sums = multiply();
  TW_RETURN_IF_ERROR(sums.status());
  b.create<gpu::BarrierOp>();
  spillSums(*sums);
  b.create<gpu::BarrierOp>();
  return finish();
}

//===----------------------------------------------------------------------===//
// The main loop
//===----------------------------------------------------------------------===//

Result<SmallVector<Value>> MmaEmitter::multiply() {
  Value steps = math.parts(extentOf(contraction.depth), tile.depth);
  name("steps", steps);
  TileCopy copyA(frame, contraction, a, thread, tile.threads(), firstRow,
                 batch);
  TileCopy copyB(frame, contraction, bTile, thread, tile.threads(), firstColumn,
                 batch);
  copyA.prepare();
  copyB.prepare();
  auto token = nvgpu::DeviceAsyncTokenType::get(b.getContext());
  auto copy = [&](Value step, Value stage) -> Status {
    Value exists = math.isLess(step, steps);
    return emitIf(b, exists, [&]() -> Status {
      TW_RETURN_IF_ERROR(copyA.emit(step, stage));
      return copyB.emit(step, stage);
    });
  };
  // A group ends where the next begins.
  auto start = b.create<scf::ForOp>(
      b.constantIndex(0), b.constantIndex(tile.stages - 1), b.constantIndex(1));
  start->setAttr(twk::nameAttr, b.getStringAttr("step"));
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(start.getBody());
    b.create<nvgpu::DeviceAsyncCreateGroupOp>(token, ValueRange());
    TW_RETURN_IF_ERROR(copy(start.getInductionVar(), start.getInductionVar()));
  }
  int64_t units = tile.warpRows() / MmaTile::unitRows *
                  (tile.warpColumns() / MmaTile::unitColumns);
  Value zero = b.create<arith::ConstantOp>(
      b.getZeroAttr(VectorType::get({2, 2}, sumType)));
  auto loop =
      b.create<scf::ForOp>(b.constantIndex(0), steps, b.constantIndex(1),
                           SmallVector<Value>(units, zero));
  loop->setAttr(twk::nameAttr, b.getStringAttr("step"));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value step = loop.getInductionVar();
  Value group = b.create<nvgpu::DeviceAsyncCreateGroupOp>(token, ValueRange());
  b.create<nvgpu::DeviceAsyncWaitOp>(group,
                                     b.getI32IntegerAttr(tile.stages - 2));
  b.create<gpu::BarrierOp>();
  Value next = plus(step, tile.stages - 1);
  name("next", next);
  TW_RETURN_IF_ERROR(copy(next, mod(next, tile.stages)));
  SmallVector<Value> sums(loop.getRegionIterArgs());
  Value stage = mod(step, tile.stages);
  name("stage", stage);
  b.create<scf::YieldOp>(multiplyStage(stage, sums));
  return SmallVector<Value>(loop.getResults());
}

/// The matrices that ldmatrix gives as a fragment: four of 8 rows and 16 bytes.
static VectorType fragmentType(const SharedTile &tile, int64_t matrices) {
  return VectorType::get({matrices, 4 / tile.elementBytes},
                         storageType(tile.factor.element));
}

/// A unit is 16 rows and 32 bytes of depth: matrices 0 and 1 are the upper and
/// the lower half, 2 and 3 the same at the next 16 bytes.
SmallVector<Value> MmaEmitter::fragmentsOfA(Value stage, int64_t unit) {
  Value half = mod(over(lane, 8), 2), next = over(lane, 16);
  Value permutation = a.permutationOf(b, mod(lane, 8));
  SmallVector<Value> fragments;
  for (int64_t row = 0; row < tile.warpRows(); row += MmaTile::unitRows) {
    Value first = plus(warpRow, row), line, chunk;
    if (a.alongDepth) {
      line = plus(first, mod(lane, 16));
      chunk = plus(next, unit * 2);
    } else {
      line = plus(plus(mod(lane, 8), times(next, 8)), unit * 16);
      chunk = plus(over(first, 8), half);
    }
    Value at = a.offsetOf(b, stage, line, chunk, permutation);
    fragments.push_back(b.create<nvgpu::LdMatrixOp>(
        fragmentType(a, 4), a.memory, ValueRange(at), !a.alongDepth, 4));
  }
  return fragments;
}

/// Two units of 8 columns at once: matrices 0 and 1 are the first one's 16
/// bytes of depth and the next, 2 and 3 the second one's.
SmallVector<Value> MmaEmitter::fragmentsOfB(Value stage, int64_t unit) {
  Value half = mod(over(lane, 8), 2), next = over(lane, 16);
  Value permutation = bTile.permutationOf(b, mod(lane, 8));
  SmallVector<Value> fragments;
  for (int64_t column = 0; column < tile.warpColumns();
       column += 2 * MmaTile::unitColumns) {
    Value first = plus(warpColumn, column), line, chunk;
    if (bTile.alongDepth) {
      line = plus(plus(first, mod(lane, 8)), times(next, 8));
      chunk = plus(half, unit * 2);
    } else {
      line = plus(mod(lane, 16), unit * 16);
      chunk = plus(over(first, 8), next);
    }
    Value at = bTile.offsetOf(b, stage, line, chunk, permutation);
    Value pair =
        b.create<nvgpu::LdMatrixOp>(fragmentType(bTile, 4), bTile.memory,
                                    ValueRange(at), !bTile.alongDepth, 4);
    for (int64_t i = 0; i < 2; ++i) {
      fragments.push_back(b.create<vector::ExtractStridedSliceOp>(
          pair, ArrayRef<int64_t>{2 * i}, ArrayRef<int64_t>{2},
          ArrayRef<int64_t>{1}));
    }
  }
  return fragments;
}

Value MmaEmitter::product(Value x, Value y, Value sum) {
  Type ofA = a.factor.element, ofB = bTile.factor.element;
  if (a.elementBytes == 1) {
    auto plain = [&](Type type) -> Type {
      return type.isInteger(8) && !type.isUnsignedInteger()
                 ? Type(b.getI8Type())
                 : type;
    };
    return b.create<twk::MmaBytesOp>(sum.getType(), x, y, sum,
                                     TypeAttr::get(plain(ofA)),
                                     TypeAttr::get(plain(ofB)));
  }
  int64_t depth = MmaTile::unitBytes / a.elementBytes;
  return b.create<nvgpu::MmaSyncOp>(
      x, y, sum,
      ArrayRef<int64_t>{MmaTile::unitRows, MmaTile::unitColumns, depth},
      /*tf32Enabled=*/ofA.isF32());
}

SmallVector<Value> MmaEmitter::multiplyStage(Value stage,
                                             SmallVector<Value> sums) {
  int64_t units = tile.depth * a.elementBytes / MmaTile::unitBytes;
  for (int64_t unit = 0; unit < units; ++unit) {
    SmallVector<Value> left = fragmentsOfA(stage, unit);
    SmallVector<Value> right = fragmentsOfB(stage, unit);
    size_t number = 0;
    for (Value x : left) {
      for (Value y : right) {
        sums[number] = product(x, y, sums[number]);
        ++number;
      }
    }
  }
  return sums;
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

/// Of a unit's sums a thread has two neighbours in row lane / 4, and two in the
/// row eight below.
void MmaEmitter::spillSums(ArrayRef<Value> sums) {
  int64_t stride = tile.columns + MmaTile::sumPadding;
  int64_t unitsOfRow = tile.warpColumns() / MmaTile::unitColumns;
  Value row = plus(warpRow, over(lane, 4));
  Value column = plus(warpColumn, times(mod(lane, 4), 2));
  Value start = plus(times(row, stride), column);
  for (auto [i, sum] : llvm::enumerate(sums)) {
    int64_t number = static_cast<int64_t>(i);
    for (int64_t half = 0; half < 2; ++half) {
      int64_t down = number / unitsOfRow * MmaTile::unitRows + half * 8;
      int64_t right = number % unitsOfRow * MmaTile::unitColumns;
      Value pair[] = {
          b.create<vector::ExtractOp>(sum, ArrayRef<int64_t>{half, 0}),
          b.create<vector::ExtractOp>(sum, ArrayRef<int64_t>{half, 1})};
      Value both = b.create<vector::FromElementsOp>(
          VectorType::get({2}, sumType), ArrayRef<Value>(pair));
      b.create<vector::StoreOp>(both, sumMemory,
                                plus(start, down * stride + right));
    }
  }
}

/// Several elements are on their way at once; runs of columns, where maps and
/// results have them side by side.
Status MmaEmitter::finish() {
  constexpr int64_t sumsAtOnce = 4; // 16 bytes
  unsigned last = contraction.columns.back();
  int64_t width = std::min(epilogueWidth(region, last), sumsAtOnce);
  int64_t runs = tile.rows * tile.columns / width;
  int64_t together = std::clamp<int64_t>(runs / tile.threads(), 1, 4);
  auto finishRun = [&](Value run) {
    Value element = times(run, width);
    Value row = over(element, tile.columns),
          column = mod(element, tile.columns);
    Value globalRow = plus(firstRow, row),
          globalColumn = plus(firstColumn, column);
    Value exists =
        math.both(math.isLess(globalRow, extentOf(contraction.rows)),
                  math.isLess(globalColumn, extentOf(contraction.columns)));
    return emitIf(b, exists, [&] {
      int64_t stride = tile.columns + MmaTile::sumPadding;
      Value at = plus(times(row, stride), column);
      b.setWidth(width);
      Lanes sum = width == 1
                      ? Lanes::scalar(b.create<memref::LoadOp>(sumMemory, at))
                      : Lanes::vector(b.create<vector::LoadOp>(
                            b.vectorOf(sumType), sumMemory, at,
                            /*nontemporal=*/false,
                            llvm::MaybeAlign(MmaTile::chunkBytes)));
      Status status = finishElements(globalRow, globalColumn, sum);
      b.setWidth(1);
      return status;
    });
  };
  Result<scf::ForOp> loop =
      emitSharedLoop(b, thread, runs, tile.threads(), together, finishRun);
  TW_RETURN_IF_ERROR(loop.status());
  return width > 1 ? takeVectorsApart(*loop->getBody()) : Status::ok();
}

/// Runs the maps for the elements from `column` on, as many as the builder has
/// lanes.
Status MmaEmitter::finishElements(Value row, Value column, const Lanes &sum) {
  SmallVector<Lanes> all = batch;
  splitIndex(frame, contraction, contraction.rows, row, all);
  splitIndex(frame, contraction, contraction.columns, column, all);
  if (b.getWidth() > 1) {
    Lanes &last = all[contraction.columns.back()];
    last = Lanes::coordinate(b.first(last), b.getWidth());
  }
  return finishSums(frame, contraction.reduce, all, sum);
}

Result<twk::KernelOp> buildMma(const FusedRegion &region,
                               const MatrixProduct &contraction,
                               const MmaTile &tile, const TargetSpec &target,
                               StringRef name, OpBuilder &builder) {
  KernelFrame frame(region, target, name, builder);
  return frame.finish(MmaEmitter(frame, contraction, tile).run());
}

} // namespace tilewright::families
