//===- RowBlocks.cpp - contractions before rows ---------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "codegen/families/rows/RowBlocks.h"
#include "codegen/families/emit/MemoryAccess.h"
#include "codegen/families/nest/NestEmitter.h"
#include "codegen/families/nest/NestSchedule.h"
#include "codegen/families/nest/TaskLoop.h"
#include "codegen/families/rows/RowEmitter.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace tilewright::tw;

namespace tilewright::families {

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

RowBlockParts partsOf(const FusedRegion &region) {
  ArrayRef<Operation *> all = region.primitives;
  ArrayRef<Operation *> before = all.take_front(region.nest),
                        behind = all.drop_front(region.nest);
  RowBlockParts parts;
  parts.nest.op = parts.rows.op = region.op;
  parts.nest.rows = parts.rows.rows = region.rows;
  parts.nest.form = Form::Reduce;
  parts.nest.primitives.assign(before.begin(), before.end());
  parts.nest.behind.assign(behind.begin(), behind.end());
  parts.nest.parallel = dimsOf(before.front()->getResult(0).getType());
  parts.rows.form = Form::Rows;
  parts.rows.primitives.assign(behind.begin(), behind.end());
  parts.rows.parallel = region.parallel;
  return parts;
}

std::optional<unsigned> rowAxisOf(const FusedRegion &nest,
                                  const TileDomain &domain) {
  std::optional<unsigned> last;
  for (auto [number, axis] : llvm::enumerate(domain.parallel)) {
    if (axis.last < nest.rows) {
      last = number;
    }
  }
  return last;
}

/// The results of the nest that the rows read and that nothing outside gets.
static SmallVector<Value> blockBuffers(const RowBlockParts &parts) {
  llvm::SmallDenseSet<Value> read, yielded;
  for (Operation *primitive : parts.rows.primitives) {
    for (LoadOp load : primitive->getRegion(0).getOps<LoadOp>()) {
      read.insert(stripReshapes(load.getSource()));
    }
  }
  for (Value value : parts.nest.getYield().getOperands()) {
    yielded.insert(stripReshapes(value));
  }
  SmallVector<Value> buffers;
  for (Operation *primitive : parts.nest.primitives) {
    llvm::copy_if(primitive->getResults(), std::back_inserter(buffers),
                  [&](Value result) {
                    return read.contains(result) && !yielded.contains(result);
                  });
  }
  return buffers;
}

/// The elements of one row of the nest.
static DimExpr columnsOf(const RowBlockParts &parts) {
  return productOf(parts.nest.op.getContext(),
                   ArrayRef(parts.nest.parallel).drop_front(parts.nest.rows));
}

/// The elements of a block.
static DimExpr blockElements(const RowBlockParts &parts,
                             const NestParameters &parameters) {
  return columnsOf(parts) * std::max<int64_t>(parameters.block, 1);
}

/// The bytes of a block of `value`, in whole cache lines.
static DimExpr blockBytes(const RowBlockParts &parts,
                          const NestParameters &parameters, Value value) {
  constexpr int64_t lineBytes = 64;
  DimExpr bytes = blockElements(parts, parameters) *
                  storageBytes(elementTypeOf(value.getType()));
  return bytes.ceilDiv(lineBytes) * lineBytes;
}

//===----------------------------------------------------------------------===//
// Schedule
//===----------------------------------------------------------------------===//

/// So many blocks, if there are enough rows, share out well.
constexpr int64_t fewBlocks = 16;
/// Tiles in a block of rows that only run time counts: the last block computes
/// rows again.
constexpr int64_t mostOpenTiles = 4;
/// Of the rows, this part may be computed twice for the sake of larger blocks.
constexpr int64_t smallPart = 32;

std::pair<unsigned, int64_t> rowsOfTask(const FusedRegion &nest,
                                        const TileDomain &domain,
                                        const NestParameters &parameters,
                                        const TargetSpec &target) {
  std::optional<unsigned> axis = rowAxisOf(nest, domain);
  if (!axis) {
    return {0, 0};
  }
  double elements = 1, sums = 0;
  for (const TileAxis &column :
       ArrayRef(domain.parallel).drop_front(*axis + 1)) {
    elements *= guessedExtent(column.extent, false);
  }
  for (ArrayRef<TileAxis> reduction : domain.reductions) {
    double size = 1;
    for (const TileAxis &inner : reduction) {
      size *= guessedExtent(inner.extent, false);
    }
    sums += size;
  }
  int64_t bytes =
      storageBytes(elementTypeOf(nest.getReduces().front().getType()));
  double rowBytes = (elements + sums) * static_cast<double>(bytes);
  int64_t tile = parameters.tileOf(*axis);
  auto budget = static_cast<double>(target.l1Bytes);
  auto fitting =
      static_cast<int64_t>(budget / (rowBytes * static_cast<double>(tile)));
  std::optional<int64_t> extent = domain.parallel[*axis].extent.getConstant();
  if (!extent) {
    return {*axis, std::clamp<int64_t>(fitting, 1, mostOpenTiles) * tile};
  }
  int64_t others = 1; // rows of the outer axes, where known
  for (const TileAxis &outer : ArrayRef(domain.parallel).take_front(*axis)) {
    others *= std::max<int64_t>(outer.extent.getConstant().value_or(1), 1);
  }
  int64_t wanted = llvm::divideCeil(fewBlocks, others);
  int64_t most =
      std::clamp<int64_t>(std::max<int64_t>(*extent, 1) / (tile * wanted), 1,
                          std::max<int64_t>(fitting, 1));
  // The largest block that computes few rows twice.
  auto computed = [&](int64_t tiles) {
    return static_cast<int64_t>(llvm::divideCeil(*extent, tiles * tile)) *
           tiles * tile;
  };
  int64_t least = computed(most);
  for (int64_t tiles = 1; tiles < most; ++tiles) {
    least = std::min(least, computed(tiles));
  }
  int64_t best = most;
  while (best > 1 && computed(best) > least + least / smallPart) {
    --best;
  }
  return {*axis, best * tile};
}

NestParameters referenceRowBlocks(const FusedRegion &region) {
  RowBlockParts parts = partsOf(region);
  NestParameters parameters;
  parameters.wide = true;
  std::optional<unsigned> axis =
      rowAxisOf(parts.nest, tileDomainOf(parts.nest));
  if (axis) {
    parameters.blockAxis = *axis;
    parameters.block = 1;
  }
  return parameters;
}

Launch rowBlocksLaunch(const FusedRegion &region,
                       const NestParameters &parameters) {
  RowBlockParts parts = partsOf(region);
  TileDomain domain = tileDomainOf(parts.nest);
  MLIRContext *context = region.op.getContext();
  Launch launch;
  launch.sizes = sizesOf(region.op);
  launch.tasks = DimExpr::constant(context, 1);
  std::optional<unsigned> blocked = rowAxisOf(parts.nest, domain);
  for (unsigned axis = 0; blocked && axis <= *blocked; ++axis) {
    DimExpr extent = domain.parallel[axis].extent;
    launch.tasks =
        launch.tasks *
        (axis == *blocked ? extent.ceilDiv(parameters.block) : extent);
  }
  launch.workspaceBytes =
      padWorkspace(parts.nest, parameters) + rowWorkspace(parts.rows);
  for (Value value : blockBuffers(parts)) {
    launch.workspaceBytes =
        launch.workspaceBytes + blockBytes(parts, parameters, value);
  }
  int64_t steps = std::min(
      stepsPerThread,
      blockElements(parts, parameters).getConstant().value_or(stepsPerThread));
  steps = std::min(stepsPerThread, steps * reductionSteps(domain));
  launch.grain =
      std::max<int64_t>(1, stepsPerThread / std::max<int64_t>(steps, 1));
  return launch;
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

namespace {

class RowBlockEmitter {
public:
  RowBlockEmitter(KernelFrame &frame, const RowBlockParts &parts,
                  const NestParameters &parameters,
                  const RowParameters &rowParameters)
      : frame(frame), b(frame.getBuilder()), parts(parts),
        parameters(parameters), nest(frame, parts.nest, parameters),
        rows(frame, parts.rows, rowParameters), domain(nest.getDomain()),
        blocked(rowAxisOf(parts.nest, domain)) {}

  Status run();

private:
  void makeBuffers(Lanes offset);
  Status block(ArrayRef<Value> digits);
  Status columns(unsigned axis);
  SmallVector<Lanes> coordinatesAt(Value row) const;
  Status rowsOfBlock();

  KernelFrame &frame;
  LaneBuilder &b;
  const RowBlockParts &parts;
  const NestParameters &parameters;
  NestEmitter nest;
  RowEmitter rows;
  const TileDomain &domain;
  std::optional<unsigned> blocked; // the axis
  SmallVector<std::pair<Value, Memory>> buffers;
  SmallVector<Lanes> position; // by axis
  Value first, end;            // the rows of the block
};

} // namespace

/// Carves a block of each value that stays inside out of the workspace.
void RowBlockEmitter::makeBuffers(Lanes offset) {
  for (Value value : blockBuffers(parts)) {
    Type element = elementTypeOf(value.getType());
    auto type = MemRefType::get({ShapedType::kDynamic}, storageType(element));
    Value elements = frame.sizeValue(blockElements(parts, parameters));
    Value view =
        b.create<memref::ViewOp>(type, frame.getKernel().getWorkspace(),
                                 b.first(offset), ValueRange(elements));
    buffers.push_back({value, {view, element}});
    offset = b.add(offset, frame.size(blockBytes(parts, parameters, value)));
  }
}

Status RowBlockEmitter::run() {
  makeBuffers(rows.makeBuffers(nest.makePads()));
  SmallVector<Lanes> counts;
  for (unsigned axis = 0; blocked && axis <= *blocked; ++axis) {
    Lanes extent = frame.size(domain.parallel[axis].extent);
    Lanes step = Lanes::index(axis == *blocked ? parameters.block : 1);
    counts.push_back(
        b.floorDiv(b.add(extent, b.sub(step, Lanes::index(1))), step));
  }
  return emitTaskLoop(frame, counts,
                      [&](ArrayRef<Value> digits) { return block(digits); });
}

/// The coordinates of the nest at the start of a row.
SmallVector<Lanes> RowBlockEmitter::coordinatesAt(Value row) const {
  SmallVector<Lanes> at(parts.nest.parallel.size(), Lanes::index(0));
  for (unsigned axis = 0; blocked && axis <= *blocked; ++axis) {
    at[domain.parallel[axis].last] =
        axis == *blocked ? Lanes::index(row) : position[axis];
  }
  return at;
}

Status RowBlockEmitter::block(ArrayRef<Value> digits) {
  position.assign(domain.parallel.size(), Lanes::index(0));
  for (auto [axis, digit] : llvm::enumerate(digits)) {
    position[axis] = Lanes::index(digit);
  }
  first = b.constantIndex(0);
  end = b.constantIndex(1);
  if (blocked) {
    // No tile may leave the block: the last one starts earlier instead.
    Lanes extent = frame.size(domain.parallel[*blocked].extent);
    Lanes size = Lanes::index(parameters.block);
    Lanes start = b.min(b.mul(position[*blocked], size), b.sub(extent, size));
    first = b.first(b.max(start, Lanes::index(0)));
    end = b.first(b.min(b.add(Lanes::index(first), size), extent));
  }
  for (auto [value, memory] : buffers) {
    Lanes origin =
        offsetOf(frame, memory, value.getType(), coordinatesAt(first));
    Memory here = memory;
    here.origin = b.first(origin);
    frame.setMemory(value, here);
  }
  TW_RETURN_IF_ERROR(columns(blocked ? *blocked + 1 : 0));
  return rowsOfBlock();
}

/// All tiles of the block: each panel meets all rows before the next one does.
Status RowBlockEmitter::columns(unsigned axis) {
  if (axis < domain.parallel.size()) {
    return emitLoop(b, b.constantIndex(0),
                    frame.sizeValue(domain.parallel[axis].extent),
                    parameters.tileOf(axis), [&](Value at) {
                      position[axis] = Lanes::index(at);
                      return columns(axis + 1);
                    });
  }
  if (!blocked) {
    return nest.tilesAt(position);
  }
  return emitLoop(b, first, end, parameters.tileOf(*blocked), [&](Value at) {
    position[*blocked] = Lanes::index(at);
    return nest.tilesAt(position);
  });
}

Status RowBlockEmitter::rowsOfBlock() {
  return emitLoop(b, first, end, 1, [&](Value row) {
    SmallVector<Lanes> coordinates = coordinatesAt(row);
    coordinates.truncate(parts.nest.rows);
    return rows.row(llvm::map_to_vector(
        coordinates, [&](const Lanes &at) { return b.first(at); }));
  });
}

Result<twk::KernelOp> buildRowBlocks(const FusedRegion &region,
                                     const NestParameters &parameters,
                                     const TargetSpec &target, StringRef name,
                                     OpBuilder &builder) {
  KernelFrame frame(region, target, name, builder);
  RowBlockParts parts = partsOf(region);
  RowParameters rowParameters;
  rowParameters.wide = parameters.wide;
  rowParameters.width = parameters.wide ? 1 : rowWidth(parts.rows, target);
  Status status =
      RowBlockEmitter(frame, parts, parameters, rowParameters).run();
  return frame.finish(status);
}

} // namespace tilewright::families
