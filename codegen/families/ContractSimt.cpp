//===- ContractSimt.cpp - contractions in tiles of a block ----------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "codegen/families/ContractSimt.h"
#include "codegen/families/BodyEmitter.h"
#include "codegen/families/Contraction.h"
#include "codegen/families/Grid.h"
#include "codegen/families/MemoryAccess.h"
#include "codegen/families/NestSchedule.h"
#include "codegen/families/ReshapeCoordinates.h"
#include "codegen/families/TaskLoop.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tilewright::tw;

namespace tilewright::families {

//===----------------------------------------------------------------------===//
// Parameters
//===----------------------------------------------------------------------===//

DictionaryAttr ContractTile::toAttribute(MLIRContext *context,
                                         StringRef tactic) const {
  Builder b(context);
  return b.getDictionaryAttr(
      {b.getNamedAttr("name", b.getStringAttr(tactic)),
       b.getNamedAttr("tile", b.getDenseI64ArrayAttr({rows, columns, step})),
       b.getNamedAttr("thread",
                      b.getDenseI64ArrayAttr({threadRows, threadColumns}))});
}

ContractTile ContractTile::fromAttribute(DictionaryAttr attribute) {
  ContractTile tile;
  auto sizes = attribute.getAs<DenseI64ArrayAttr>("tile");
  auto thread = attribute.getAs<DenseI64ArrayAttr>("thread");
  if (sizes && sizes.size() == 3 && thread && thread.size() == 2) {
    tile = {sizes[0], sizes[1], sizes[2], thread[0], thread[1]};
  }
  return tile;
}

/// From large to small. All sizes are powers of two, and a block has at least
/// as many threads as a tile has rows or columns.
static constexpr ContractTile tiles[] = {
    {128, 128, 16, 8, 8}, {128, 64, 16, 8, 4}, {64, 128, 16, 4, 8},
    {64, 64, 16, 4, 4},   {64, 32, 16, 4, 4},  {32, 64, 16, 4, 4},
    {32, 32, 16, 4, 2},   {16, 64, 16, 4, 2},  {64, 16, 16, 2, 4}};

/// Fewer rows or columns than this leave most of a tile without work.
constexpr int64_t fewestRows = 8;

std::optional<Refusal> refuseContractSimt(const FusedRegion &region) {
  std::optional<Contraction> form = contractionOf(region);
  if (!form) {
    return Refusal{"TWT103", "it is no sum of products"};
  }
  ReduceOp reduce = region.getReduce();
  Type type = yieldOf(reduce).getOperand(0).getType();
  if (!isa<FloatType>(type) || type.isF64() || bodyType(type) != type) {
    return Refusal{"TWT116", "it does not accumulate in f32"};
  }
  MLIRContext *context = region.op.getContext();
  for (const auto *side : {&form->rows, &form->columns}) {
    DimExpr extent = extentOf(context, side->axes);
    if (side->axes.empty() ||
        extent.getConstant().value_or(fewestRows) < fewestRows) {
      return Refusal{"TWT117", "there are too few rows or columns for a tile"};
    }
  }
  return std::nullopt;
}

static int64_t guessed(ArrayRef<TileAxis> axes) {
  int64_t count = 1;
  for (const TileAxis &axis : axes) {
    count *= std::max<int64_t>(guessedExtent(axis.extent, false), 1);
  }
  return count;
}

std::optional<ContractTile>
chooseContractTile(const FusedRegion &region, const TargetSpec &target,
                   llvm::function_ref<bool(const ContractTile &)> mayUse) {
  Contraction form = *contractionOf(region);
  auto rows = static_cast<double>(guessed(form.rows.axes));
  auto columns = static_cast<double>(guessed(form.columns.axes));
  auto batches = static_cast<double>(guessed(form.batches));
  std::optional<ContractTile> best;
  double least = 0;
  for (const ContractTile &tile : tiles) {
    if (!mayUse(tile)) {
      continue;
    }
    double blocks = std::ceil(rows / tile.rows) *
                    std::ceil(columns / tile.columns) * batches;
    // Per step of a block: products, and what each thread loads for them.
    double work = static_cast<double>(tile.rows * tile.columns) *
                  (1.0 + 1.0 / tile.threadRows + 1.0 / tile.threadColumns);
    double cost = std::max(1.0, blocks / target.gpu->multiprocessors) * work;
    if (!best || cost < least) {
      best = tile;
      least = cost;
    }
  }
  return best;
}

/// Elements between the steps of an operand in shared memory: with these more
/// than its rows, threads that follow each other along the reduction write to
/// different banks.
static int64_t pitchOf(int64_t rows, int64_t step) {
  constexpr int64_t banks = 32;
  return rows + banks / step;
}

static int64_t sharedElements(const ContractTile &tile) {
  return tile.step *
         (pitchOf(tile.rows, tile.step) + pitchOf(tile.columns, tile.step));
}

Launch contractSimtLaunch(const FusedRegion &region, const ContractTile &tile) {
  constexpr int64_t floatBytes = 4;
  MLIRContext *context = region.op.getContext();
  Contraction form = *contractionOf(region);
  Launch launch;
  launch.sizes = sizesOf(region.op);
  launch.tasks = extentOf(context, form.batches) *
                 extentOf(context, form.rows.axes).ceilDiv(tile.rows) *
                 extentOf(context, form.columns.axes).ceilDiv(tile.columns);
  launch.workspaceBytes = DimExpr::constant(context, 0);
  launch.threads = tile.threads();
  launch.shared = sharedElements(tile) * floatBytes;
  launch.inPlace = true;
  return launch;
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

namespace {

class TileEmitter {
public:
  TileEmitter(KernelFrame &frame, const ContractTile &tile)
      : frame(frame), b(frame.getBuilder()), region(frame.getRegion()),
        form(*contractionOf(region)), tile(tile), f32(b.getF32Type()) {}

  Status run();

private:
  /// A side of the product as the block sees it.
  struct Operand {
    const Contraction::Side *side;
    int64_t rows;  ///< of the tile
    int64_t pitch; ///< in shared memory
    Value shared;
    Lanes first;  ///< row of the tile
    Lanes extent; ///< rows that exist
    bool isWhole; ///< tiles never reach beyond them
  };

  Operand operandOf(const Contraction::Side &side, int64_t rows);
  Status block(ArrayRef<Value> at);
  Status loadStep(const Operand &operand, Value k);
  Status multiply();
  Status results();
  Status finish(ArrayRef<Lanes> at, Value sum);
  void place(ArrayRef<TileAxis> axes, Lanes number,
             MutableArrayRef<Lanes> coordinates);
  Status each(int64_t count, StringRef name, int64_t unroll,
              llvm::function_ref<Status(Value)> body);
  Value constant(StringRef name, int64_t value) {
    return b.named(name, b.constantIndex(value));
  }
  Value add(Value x, Value y) { return b.create<arith::AddIOp>(x, y); }
  Value mul(Value x, int64_t y) {
    return y == 1 ? x : Value(b.create<arith::MulIOp>(x, b.constantIndex(y)));
  }
  Value below(const Lanes &x, const Lanes &y) {
    return b.create<arith::CmpIOp>(arith::CmpIPredicate::slt, b.first(x),
                                   b.first(y));
  }

  KernelFrame &frame;
  LaneBuilder &b;
  const FusedRegion &region;
  Contraction form;
  const ContractTile &tile;
  Type f32;
  Operand rows, columns;
  Value thread, row, column; ///< this thread's first ones in the tile
  Value sums, rowFactors, columnFactors;
  Lanes depth; ///< the extent of the reduction
  SmallVector<Lanes> batch;
};

} // namespace

/// A loop over constants; `unroll` is the factor, 0 for all of it.
Status TileEmitter::each(int64_t count, StringRef name, int64_t unroll,
                         llvm::function_ref<Status(Value)> body) {
  auto loop = b.create<scf::ForOp>(b.constantIndex(0), b.constantIndex(count),
                                   b.constantIndex(1));
  loop->setAttr(twk::nameAttr, b.getStringAttr(name));
  loop->setAttr(twk::unrollAttr, unroll ? Attribute(b.getI64IntegerAttr(unroll))
                                        : Attribute(b.getUnitAttr()));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  return body(loop.getInductionVar());
}

TileEmitter::Operand TileEmitter::operandOf(const Contraction::Side &side,
                                            int64_t rowsOfTile) {
  constexpr int64_t floatBytes = 4;
  Operand operand;
  operand.side = &side;
  operand.rows = rowsOfTile;
  operand.pitch = pitchOf(rowsOfTile, tile.step);
  operand.shared = frame.takeShared(f32, tile.step * operand.pitch, floatBytes);
  DimExpr extent = extentOf(b.getContext(), side.axes);
  operand.extent = frame.size(extent);
  operand.isWhole =
      extent.getConstant() && *extent.getConstant() % rowsOfTile == 0;
  return operand;
}

Status TileEmitter::run() {
  auto privateArray = [&](int64_t count) -> Value {
    return b.create<memref::AllocaOp>(MemRefType::get({count}, f32));
  };
  rows = operandOf(form.rows, tile.rows);
  columns = operandOf(form.columns, tile.columns);
  b.named("rowsShared", rows.shared);
  b.named("columnsShared", columns.shared);
  sums = b.named("sums", privateArray(tile.threadRows * tile.threadColumns));
  rowFactors = b.named("x", privateArray(tile.threadRows));
  columnFactors = b.named("y", privateArray(tile.threadColumns));
  depth = frame.size(extentOf(b.getContext(), form.reduction));
  thread = frame.laneOfTeam();
  Value across = b.constantIndex(tile.threadsAcross());
  column = b.named("column", b.create<arith::RemUIOp>(thread, across));
  row = b.named("row", b.create<arith::DivUIOp>(thread, across));
  SmallVector<Lanes> counts;
  for (const TileAxis &axis : form.batches) {
    counts.push_back(frame.size(axis.extent));
  }
  auto tilesOf = [&](const Operand &operand) {
    return b.floorDiv(b.add(operand.extent, Lanes::index(operand.rows - 1)),
                      Lanes::index(operand.rows));
  };
  counts.push_back(tilesOf(rows));
  counts.push_back(tilesOf(columns));
  return emitTaskLoop(frame, counts,
                      [&](ArrayRef<Value> at) { return block(at); });
}

Status TileEmitter::block(ArrayRef<Value> at) {
  batch.assign(region.parallel.size(), Lanes::index(0));
  for (auto [axis, position] : llvm::zip(form.batches, at)) {
    batch[axis.last] = Lanes::index(position);
  }
  auto firstOf = [&](const Operand &operand, Value number) {
    return b.mul(Lanes::index(number), Lanes::index(operand.rows));
  };
  rows.first = firstOf(rows, at[at.size() - 2]);
  columns.first = firstOf(columns, at[at.size() - 1]);
  Value zero = b.create<arith::ConstantOp>(b.getF32FloatAttr(0.0f));
  TW_RETURN_IF_ERROR(
      each(tile.threadRows * tile.threadColumns, "i", 0, [&](Value i) {
        b.create<memref::StoreOp>(zero, sums, i);
        return Status::ok();
      }));
  auto loop = b.create<scf::ForOp>(b.constantIndex(0), b.first(depth),
                                   constant("step", tile.step));
  loop->setAttr(twk::nameAttr, b.getStringAttr("k"));
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    TW_RETURN_IF_ERROR(loadStep(rows, loop.getInductionVar()));
    TW_RETURN_IF_ERROR(loadStep(columns, loop.getInductionVar()));
    b.create<gpu::BarrierOp>();
    TW_RETURN_IF_ERROR(multiply());
    b.create<gpu::BarrierOp>();
  }
  return results();
}

/// Splits a number into the coordinates of axes, the last one fastest.
void TileEmitter::place(ArrayRef<TileAxis> axes, Lanes number,
                        MutableArrayRef<Lanes> coordinates) {
  for (size_t i = axes.size(); i-- > 0;) {
    if (i == 0) {
      coordinates[axes[i].last] = number;
      return;
    }
    Value extent = frame.sizeValue(axes[i].extent), from = b.first(number);
    coordinates[axes[i].last] =
        Lanes::index(b.create<arith::RemUIOp>(from, extent));
    number = Lanes::index(b.create<arith::DivUIOp>(from, extent));
  }
}

/// Brings one step of an operand to shared memory, as `[step][row]`. Rows
/// beyond the last are copies of it, steps beyond the last are zero.
Status TileEmitter::loadStep(const Operand &operand, Value k) {
  int64_t threads = tile.threads();
  int64_t count = operand.rows * tile.step / threads;
  bool alongSteps = operand.side->isContiguous;
  int64_t inner = alongSteps ? tile.step : operand.rows;
  Block &body = region.getReduce().getBody().front();
  // Threads are a multiple of `inner`: the fast one is the same in all rounds.
  Value by = b.constantIndex(inner);
  Value fast = b.create<arith::RemUIOp>(thread, by);
  Value start = b.create<arith::DivUIOp>(thread, by);
  return each(count, "i", 0, [&](Value i) {
    Value slow = add(mul(i, threads / inner), start);
    Value ownStep = alongSteps ? fast : slow, ownRow = alongSteps ? slow : fast;
    Lanes at = b.add(operand.first, Lanes::index(ownRow));
    if (!operand.isWhole) {
      at = b.min(Lanes::index(b.first(at)),
                 b.sub(operand.extent, Lanes::index(1)));
    }
    Lanes step = b.add(Lanes::index(k), Lanes::index(ownStep));
    Value exists;
    bool stepsFit = depth.isConstantIndex() && depth.offset % tile.step == 0;
    if (!stepsFit) {
      exists = below(step, depth);
      step = b.min(Lanes::index(b.first(step)), b.sub(depth, Lanes::index(1)));
    }
    SmallVector<Lanes> all(batch);
    place(operand.side->axes, at, all);
    SmallVector<Lanes> folded(region.getReduce().getExtents().getSizes().size(),
                              Lanes::index(0));
    place(form.reduction, step, folded);
    llvm::append_range(all, folded);
    BodyEmitter emitter(frame, body, Value());
    Result<Lanes> factor = emitter.emitFor(0, all, operand.side->factor);
    TW_RETURN_IF_ERROR(factor.status());
    Value value = b.first(*factor);
    if (value.getType() != f32) {
      value = b.create<arith::ExtFOp>(f32, value);
    }
    if (exists) {
      Value zero = b.create<arith::ConstantOp>(b.getF32FloatAttr(0.0f));
      value = b.create<arith::SelectOp>(exists, value, zero);
    }
    b.create<memref::StoreOp>(value, operand.shared,
                              add(mul(ownStep, operand.pitch), ownRow));
    return Status::ok();
  });
}

/// One step from shared memory: a thread's rows and columns are interleaved
/// with those of others, so that a warp reads neighbours.
Status TileEmitter::multiply() {
  constexpr int64_t stepsAtOnce = 4;
  int64_t down = tile.rows / tile.threadRows, across = tile.threadsAcross();
  return each(tile.step, "step", stepsAtOnce, [&](Value step) {
    auto fetch = [&](const Operand &operand, Value own, int64_t distance,
                     int64_t count, Value factors) {
      Value base = add(mul(step, operand.pitch), own);
      return each(count, "i", 0, [&](Value i) {
        Value value = b.create<memref::LoadOp>(operand.shared,
                                               add(base, mul(i, distance)));
        b.create<memref::StoreOp>(value, factors, i);
        return Status::ok();
      });
    };
    TW_RETURN_IF_ERROR(fetch(rows, row, down, tile.threadRows, rowFactors));
    TW_RETURN_IF_ERROR(
        fetch(columns, column, across, tile.threadColumns, columnFactors));
    return each(tile.threadRows, "i", 0, [&](Value i) {
      return each(tile.threadColumns, "j", 0, [&](Value j) {
        Value at = add(mul(i, tile.threadColumns), j);
        Value x = b.create<memref::LoadOp>(rowFactors, i);
        Value y = b.create<memref::LoadOp>(columnFactors, j);
        Value sum = b.create<memref::LoadOp>(sums, at);
        b.create<memref::StoreOp>(b.create<math::FmaOp>(x, y, sum), sums, at);
        return Status::ok();
      });
    });
  });
}

Status TileEmitter::results() {
  int64_t down = tile.rows / tile.threadRows, across = tile.threadsAcross();
  auto positionOf = [&](const Operand &operand, Value own, Value number,
                        int64_t distance) {
    return b.add(operand.first, Lanes::index(add(own, mul(number, distance))));
  };
  return each(tile.threadRows, "i", 0, [&](Value i) {
    Lanes atRow = positionOf(rows, row, i, down);
    SmallVector<Lanes> ofRow(batch);
    place(form.rows.axes, atRow, ofRow);
    return each(tile.threadColumns, "j", 0, [&](Value j) {
      Lanes atColumn = positionOf(columns, column, j, across);
      auto element = [&] {
        SmallVector<Lanes> at(ofRow);
        place(form.columns.axes, atColumn, at);
        Value number = add(mul(i, tile.threadColumns), j);
        return finish(at, b.create<memref::LoadOp>(sums, number));
      };
      Value exists;
      for (auto [operand, at] :
           {std::pair(&rows, &atRow), std::pair(&columns, &atColumn)}) {
        if (!operand->isWhole) {
          Value own = below(*at, operand->extent);
          exists = exists ? Value(b.create<arith::AndIOp>(exists, own)) : own;
        }
      }
      return exists ? emitIf(b, exists, element) : element();
    });
  });
}

/// Runs the maps over one sum and writes what the region yields.
Status TileEmitter::finish(ArrayRef<Lanes> at, Value sum) {
  frame.clearRegisters();
  ReduceOp reduce = region.getReduce();
  auto keep = [&](Value value, const Lanes &lanes,
                  ArrayRef<Lanes> coordinates) {
    frame.setRegister(value, 0, lanes);
    for (const Memory &memory : frame.outputsOf(value)) {
      storeLanes(frame, memory,
                 offsetOf(frame, memory, value.getType(), coordinates), lanes,
                 Value());
    }
  };
  Type element = scalarType(elementTypeOf(reduce.getType()));
  if (element != f32) {
    sum = b.create<arith::TruncFOp>(element, sum);
  }
  keep(reduce.getResult(), Lanes::scalar(sum), at);
  for (Operation *op : ArrayRef(region.primitives).drop_front()) {
    auto map = cast<MapOp>(op);
    SmallVector<Lanes> own =
        reshapeCoordinates(frame, region.parallel, map.getDomain(), at);
    BodyEmitter emitter(frame, map.getBody().front(), Value());
    TW_RETURN_IF_ERROR(emitter.emit(0, own));
    for (auto [result, yielded] :
         llvm::zip(map.getResults(), yieldOf(map).getOperands())) {
      keep(result, emitter.get(yielded), own);
    }
  }
  frame.clearRegisters();
  return Status::ok();
}

Result<twk::KernelOp> buildContractSimt(const FusedRegion &region,
                                        const ContractTile &tile,
                                        const TargetSpec &target,
                                        StringRef name, OpBuilder &builder) {
  KernelFrame frame(region, target, name, builder);
  Status status = TileEmitter(frame, tile).run();
  if (!status) {
    frame.getKernel()->erase();
    return status;
  }
  return frame.getKernel();
}

} // namespace tilewright::families
