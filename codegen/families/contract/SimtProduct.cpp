//===- SimtProduct.cpp - the kernel of contract.simt ----------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
//   for each step:
//     wait for this step's copies, of all threads
//     start those of step + stages - 1, in the place of the step before
//     multiply
//
// A line of a factor's tile lies as in memory: along the depth, or along the
// rows (columns). Threads read 16 bytes at once, of either; so a thread has
// single rows at equal distances, or runs of four of them.
//
//===----------------------------------------------------------------------===//

#include "codegen/families/contract/ContractSimt.h"
#include "codegen/families/contract/ProductResults.h"
#include "codegen/families/contract/SharedTile.h"
#include "codegen/families/emit/BodyEmitter.h"
#include "codegen/families/emit/IndexMath.h"
#include "codegen/families/emit/VectorAccess.h"
#include "codegen/families/nest/SimtVectors.h"
#include "codegen/families/nest/TaskLoop.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tilewright::tw;

namespace tilewright::families {

namespace {

constexpr int64_t run = ContractTile::run;

class ProductEmitter {
public:
  ProductEmitter(KernelFrame &frame, const MatrixProduct &product,
                 const ContractTile &tile)
      : frame(frame), b(frame.getBuilder()), math(b), region(frame.getRegion()),
        product(product), tile(tile), f32(b.getF32Type()),
        rows(product.a, product.rows, tile.rows, tile.threadRows, tile),
        columns(product.b, product.columns, tile.columns, tile.threadColumns,
                tile) {}

  Status run();

private:
  /// One factor as the block sees it.
  struct Side {
    Side(const Factor &factor, ArrayRef<unsigned> group, int64_t positions,
         int64_t ofThread, const ContractTile &tile)
        : group(group), ofThread(ofThread), threads(positions / ofThread),
          shared(factor, group, positions, tile.step, tile.stages,
                 /*likeMemory=*/true) {}

    /// Whether elements are copied as they are.
    bool isCopied() const {
      return shared.factor.load && shared.factor.element.isF32();
    }

    ArrayRef<unsigned> group;
    int64_t ofThread, threads; ///< positions of a thread, threads side by side
    SharedTile shared;
    Value own;     ///< number of this thread
    Value first;   ///< position of the block
    Value extent;  ///< positions that exist
    Value factors; ///< of a run: `[position][depth]`
    std::optional<TileCopy> copy;
  };

  void findPlace();
  void prepare(Side &side, StringRef name);
  Status bring(Side &side, Value step, Value stage);
  Status evaluate(Side &side, Value step, Value stage);
  Status multiply();
  Status multiplyStage(Value stage);
  Status fetch(Side &side, Value stage, Value chunk);
  Value position(const Side &side, Value number);
  Status results();
  Value extentOf(ArrayRef<unsigned> group);
  Status each(int64_t count, StringRef name,
              llvm::function_ref<Status(Value)> body,
              Attribute unroll = Attribute());
  Value privateArray(int64_t count) {
    return b.create<memref::AllocaOp>(MemRefType::get({count}, f32));
  }
  Value load(Value memory, Value at) {
    return b.create<memref::LoadOp>(memory, at);
  }

  KernelFrame &frame;
  LaneBuilder &b;
  IndexMath math;
  const FusedRegion &region;
  const MatrixProduct &product;
  const ContractTile &tile;
  Type f32;
  Side rows, columns;
  Value thread, sums;
  SmallVector<Lanes> batch; ///< the batches' coordinates
};

} // namespace

/// A loop over constants, written out unless `unroll` says otherwise.
Status ProductEmitter::each(int64_t count, StringRef name,
                            llvm::function_ref<Status(Value)> body,
                            Attribute unroll) {
  auto loop = b.create<scf::ForOp>(b.constantIndex(0), b.constantIndex(count),
                                   b.constantIndex(1));
  loop->setAttr(twk::nameAttr, b.getStringAttr(name));
  loop->setAttr(twk::unrollAttr, unroll ? unroll : b.getUnitAttr());
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  return body(loop.getInductionVar());
}

Value ProductEmitter::extentOf(ArrayRef<unsigned> group) {
  Lanes extent = Lanes::index(1);
  for (unsigned coordinate : group) {
    extent = b.mul(extent, frame.size(product.extentOf(coordinate)));
  }
  return b.first(extent);
}

/// Names a value that is computed.
static void name(LaneBuilder &b, StringRef text, Value value) {
  if (value.getDefiningOp()) {
    b.named(text, value);
  }
}

/// Which tile this block computes, and which part of it this thread. Blocks
/// side by side share columns.
void ProductEmitter::findPlace() {
  thread = b.create<gpu::ThreadIdOp>(gpu::Dimension::x);
  Value block = b.create<gpu::BlockIdOp>(gpu::Dimension::x);
  rows.own = math.over(thread, columns.threads);
  columns.own = math.mod(thread, columns.threads);
  rows.extent = extentOf(product.rows);
  columns.extent = extentOf(product.columns);
  Value rowTiles = math.parts(rows.extent, tile.rows);
  Value columnTiles = math.parts(columns.extent, tile.columns);
  Value rest = math.over(block, rowTiles);
  rows.first = math.times(math.mod(block, rowTiles), tile.rows);
  columns.first = math.times(math.mod(rest, columnTiles), tile.columns);
  name(b, "row", rows.own);
  name(b, "column", columns.own);
  name(b, "firstRow", rows.first);
  name(b, "firstColumn", columns.first);
  batch.assign(product.body().getNumArguments(), Lanes::index(0));
  splitIndex(frame, product, product.batches, math.over(rest, columnTiles),
             batch);
}

void ProductEmitter::prepare(Side &side, StringRef text) {
  constexpr int64_t floatBytes = 4;
  side.shared.elementBytes = floatBytes;
  side.shared.memory =
      b.named(text, frame.takeShared(f32, side.shared.elements() * tile.stages,
                                     floatBytes));
  side.factors = b.named(text.take_front(1) == "r" ? "x" : "y",
                         privateArray(side.ofThread * families::run));
  if (side.isCopied()) {
    side.copy.emplace(frame, product, side.shared, thread, tile.threads(),
                      side.first, batch);
    side.copy->prepare();
  }
}

Status ProductEmitter::run() {
  findPlace();
  prepare(rows, "rowsShared");
  prepare(columns, "columnsShared");
  sums = b.named("sums", privateArray(tile.threadRows * tile.threadColumns));
  TW_RETURN_IF_ERROR(multiply());
  return results();
}

//===----------------------------------------------------------------------===//
// The main loop
//===----------------------------------------------------------------------===//

Status ProductEmitter::bring(Side &side, Value step, Value stage) {
  return side.copy ? side.copy->emit(step, stage) : evaluate(side, step, stage);
}

/// A factor that is not simply there: computed for each element. Positions and
/// steps beyond the last are zero.
Status ProductEmitter::evaluate(Side &side, Value step, Value stage) {
  const SharedTile &shared = side.shared;
  Value depthExtent = extentOf(product.depth), zero = b.constantIndex(0);
  return each(
      llvm::divideCeil(shared.elements(), tile.threads()), "part",
      [&](Value part) -> Status {
        Value number = math.plus(thread, math.times(part, tile.threads()));
        auto element = [&]() -> Status {
          Value line = math.over(number, shared.lineElements());
          Value within = math.mod(number, shared.lineElements());
          Value position =
              math.plus(side.first, shared.alongDepth ? line : within);
          Value depth = math.plus(math.times(step, tile.step),
                                  shared.alongDepth ? within : line);
          Value exists = math.both(math.isLess(position, side.extent),
                                   math.isLess(depth, depthExtent));
          SmallVector<Lanes> at(batch);
          splitIndex(frame, product, side.group,
                     b.create<arith::SelectOp>(exists, position, zero), at);
          splitIndex(frame, product, product.depth,
                     b.create<arith::SelectOp>(exists, depth, zero), at);
          BodyEmitter emitter(frame, product.body(), Value());
          Result<Lanes> factor = emitter.emitFor(0, at, shared.factor.value);
          TW_RETURN_IF_ERROR(factor.status());
          Value value = b.first(*factor);
          if (value.getType() != f32) {
            value = b.create<arith::ExtFOp>(f32, value);
          }
          Value nothing = b.create<arith::ConstantOp>(b.getF32FloatAttr(0.0f));
          value = b.create<arith::SelectOp>(exists, value, nothing);
          Value to = shared.offsetOf(b, stage, line,
                                     math.over(within, shared.chunkElements()),
                                     shared.permutationOf(b, line));
          b.create<memref::StoreOp>(
              value, shared.memory,
              math.plus(to, math.mod(within, shared.chunkElements())));
          return Status::ok();
        };
        return shared.elements() % tile.threads() == 0
                   ? element()
                   : emitIf(b,
                            math.isLess(number,
                                        b.constantIndex(shared.elements())),
                            element);
      },
      unrollOfCopies(b, shared.elements(), tile.threads()));
}

Status ProductEmitter::multiply() {
  Value steps = math.parts(extentOf(product.depth), tile.step);
  name(b, "steps", steps);
  Value zero = b.create<arith::ConstantOp>(b.getF32FloatAttr(0.0f));
  TW_RETURN_IF_ERROR(
      each(tile.threadRows * tile.threadColumns, "i", [&](Value i) {
        b.create<memref::StoreOp>(zero, sums, i);
        return Status::ok();
      }));
  auto token = nvgpu::DeviceAsyncTokenType::get(b.getContext());
  auto copy = [&](Value step, Value stage) {
    return emitIf(b, math.isLess(step, steps), [&]() -> Status {
      TW_RETURN_IF_ERROR(bring(rows, step, stage));
      return bring(columns, step, stage);
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
  auto loop =
      b.create<scf::ForOp>(b.constantIndex(0), steps, b.constantIndex(1));
  loop->setAttr(twk::nameAttr, b.getStringAttr("step"));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value step = loop.getInductionVar();
  Value group = b.create<nvgpu::DeviceAsyncCreateGroupOp>(token, ValueRange());
  b.create<nvgpu::DeviceAsyncWaitOp>(group,
                                     b.getI32IntegerAttr(tile.stages - 2));
  b.create<gpu::BarrierOp>();
  Value next = b.named("next", math.plus(step, tile.stages - 1));
  TW_RETURN_IF_ERROR(copy(next, math.mod(next, tile.stages)));
  return multiplyStage(b.named("stage", math.mod(step, tile.stages)));
}

/// \returns the place in the tile of this thread's position `number`.
Value ProductEmitter::position(const Side &side, Value number) {
  if (side.shared.alongDepth) {
    return math.plus(side.own, math.times(number, side.threads));
  }
  Value among = math.plus(
      side.own, math.times(math.over(number, families::run), side.threads));
  return math.plus(math.times(among, families::run),
                   math.mod(number, families::run));
}

/// Brings this thread's positions of a run of the depth to registers.
Status ProductEmitter::fetch(Side &side, Value stage, Value chunk) {
  const SharedTile &shared = side.shared;
  VectorType type = VectorType::get({families::run}, f32);
  auto bring = [&](Value line, Value chunkOfLine,
                   llvm::function_ref<Value(int64_t)> place) {
    Value at = shared.offsetOf(b, stage, line, chunkOfLine,
                               shared.permutationOf(b, line));
    Value values = b.create<vector::LoadOp>(type, shared.memory, at);
    for (int64_t i = 0; i < families::run; ++i) {
      Value one = b.create<vector::ExtractOp>(values, ArrayRef<int64_t>{i});
      b.create<memref::StoreOp>(one, side.factors, place(i));
    }
  };
  if (shared.alongDepth) {
    return each(side.ofThread, "i", [&](Value i) {
      bring(position(side, i), chunk, [&](int64_t depth) {
        return math.plus(math.times(i, families::run), depth);
      });
      return Status::ok();
    });
  }
  return each(families::run, "k", [&](Value k) {
    Value line = math.plus(math.times(chunk, families::run), k);
    return each(side.ofThread / families::run, "i", [&](Value i) {
      Value among = math.plus(side.own, math.times(i, side.threads));
      bring(line, among, [&](int64_t lane) {
        Value number = math.plus(math.times(i, families::run), lane);
        return math.plus(math.times(number, families::run), k);
      });
      return Status::ok();
    });
  });
}

Status ProductEmitter::multiplyStage(Value stage) {
  auto loop = b.create<scf::ForOp>(b.constantIndex(0),
                                   b.constantIndex(tile.step / families::run),
                                   b.constantIndex(1));
  loop->setAttr(twk::nameAttr, b.getStringAttr("chunk"));
  // The next run arrives while this one is multiplied, if registers hold both.
  constexpr int64_t fewPositions = 12;
  int64_t runsAtOnce =
      tile.threadRows + tile.threadColumns <= fewPositions ? 2 : 1;
  loop->setAttr(twk::unrollAttr, b.getI64IntegerAttr(runsAtOnce));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value chunk = loop.getInductionVar();
  TW_RETURN_IF_ERROR(fetch(rows, stage, chunk));
  TW_RETURN_IF_ERROR(fetch(columns, stage, chunk));
  return each(families::run, "k", [&](Value k) {
    return each(tile.threadRows, "i", [&](Value i) {
      return each(tile.threadColumns, "j", [&](Value j) {
        auto factor = [&](const Side &side, Value number) {
          return load(side.factors,
                      math.plus(math.times(number, families::run), k));
        };
        Value at = math.plus(math.times(i, tile.threadColumns), j);
        Value sum = b.create<math::FmaOp>(factor(rows, i), factor(columns, j),
                                          load(sums, at));
        b.create<memref::StoreOp>(sum, sums, at);
        return Status::ok();
      });
    });
  });
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

/// Where a thread has runs of columns that lie side by side, the maps and the
/// stores take a run at once.
Status ProductEmitter::results() {
  unsigned last = product.columns.back();
  bool hasRuns = !columns.shared.alongDepth &&
                 epilogueWidth(region, last) >= families::run;
  int64_t width = hasRuns ? families::run : 1;
  auto loop = b.create<scf::ForOp>(
      b.constantIndex(0), b.constantIndex(tile.threadRows), b.constantIndex(1));
  loop->setAttr(twk::nameAttr, b.getStringAttr("i"));
  loop->setAttr(twk::unrollAttr, b.getUnitAttr());
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value i = loop.getInductionVar();
  Value row = math.plus(rows.first, position(rows, i));
  SmallVector<Lanes> ofRow(batch);
  splitIndex(frame, product, product.rows, row, ofRow);
  auto ofColumns = [&](Value j) {
    Value number = math.times(j, width);
    Value column = math.plus(columns.first, position(columns, number));
    return emitIf(b,
                  math.both(math.isLess(row, rows.extent),
                            math.isLess(column, columns.extent)),
                  [&]() -> Status {
                    SmallVector<Lanes> at(ofRow);
                    splitIndex(frame, product, product.columns, column, at);
                    Value first =
                        math.plus(math.times(i, tile.threadColumns), number);
                    if (width == 1) {
                      return finishSums(frame, product.reduce, at,
                                        Lanes::scalar(load(sums, first)));
                    }
                    SmallVector<Value> values;
                    for (int64_t lane = 0; lane < width; ++lane) {
                      values.push_back(load(sums, math.plus(first, lane)));
                    }
                    Value sum = b.create<vector::FromElementsOp>(
                        VectorType::get({width}, f32), values);
                    at[last] = Lanes::coordinate(b.first(at[last]), width);
                    b.setWidth(width);
                    Status status = finishSums(frame, product.reduce, at,
                                               Lanes::vector(sum));
                    b.setWidth(1);
                    return status;
                  });
  };
  TW_RETURN_IF_ERROR(each(tile.threadColumns / width, "j", ofColumns));
  return width > 1 ? takeVectorsApart(*loop.getBody()) : Status::ok();
}

Result<twk::KernelOp> buildContractSimt(const FusedRegion &region,
                                        const ContractTile &tile,
                                        const TargetSpec &target,
                                        StringRef name, OpBuilder &builder) {
  KernelFrame frame(region, target, name, builder);
  MatrixProduct product = *matchSumOfProducts(region);
  return frame.finish(ProductEmitter(frame, product, tile).run());
}

} // namespace tilewright::families
