//===- RowsSimt.cpp - rows in the registers of a team ---------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "codegen/families/RowsSimt.h"
#include "codegen/families/BodyEmitter.h"
#include "codegen/families/Grid.h"
#include "codegen/families/MemoryAccess.h"
#include "codegen/families/Reduction.h"
#include "codegen/families/TaskLoop.h"
#include "codegen/families/Team.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include <map>

using namespace mlir;
using namespace tilewright::tw;

namespace tilewright::families {

//===----------------------------------------------------------------------===//
// Legality
//===----------------------------------------------------------------------===//

/// A warp takes rows of so many elements per lane, a block the longer ones.
constexpr int64_t mostCopies = 16;
constexpr int64_t warpSize = GpuSpec::warpSize;
constexpr int64_t usualThreads = 128, mostThreads = 1024;

/// The extents of a primitive within a row.
static SmallVector<DimExpr> innerExtents(const FusedRegion &region,
                                         Operation *primitive) {
  if (auto reduce = dyn_cast<ReduceOp>(primitive)) {
    return reduce.getExtents().getDims();
  }
  SmallVector<DimExpr> domain = domainOf(primitive);
  domain.erase(domain.begin(), domain.begin() + region.rows);
  return domain;
}

/// The extents within a row, which all primitives share but those that compute
/// a scalar of the row. Nothing if they differ or depend on the run.
static std::optional<SmallVector<int64_t>>
sharedExtents(const FusedRegion &region) {
  std::optional<SmallVector<int64_t>> shared;
  for (Operation *primitive : region.primitives) {
    SmallVector<int64_t> own;
    for (DimExpr extent : innerExtents(region, primitive)) {
      std::optional<int64_t> constant = extent.getConstant();
      if (!constant || *constant < 1) {
        return std::nullopt;
      }
      own.push_back(*constant);
    }
    if (own.empty()) {
      continue;
    }
    if (shared && *shared != own) {
      return std::nullopt;
    }
    shared = own;
  }
  return shared;
}

static int64_t rowElements(const FusedRegion &region) {
  int64_t count = 1;
  for (int64_t extent : *sharedExtents(region)) {
    count *= extent;
  }
  return count;
}

/// Whether `load` reads a value of the region at its reader's own coordinates.
static bool readsOwnElement(LoadOp load) {
  Value source = load.getSource();
  if (stripReshapes(source) != source) {
    return false;
  }
  Block *body = load->getBlock();
  for (auto [i, index] : llvm::enumerate(load.getIndices())) {
    auto argument = dyn_cast<BlockArgument>(index);
    if (!argument || argument.getOwner() != body ||
        argument.getArgNumber() != i) {
      return false;
    }
  }
  return true;
}

std::optional<Refusal> refuseRowsSimt(const FusedRegion &region) {
  if (!sharedExtents(region)) {
    return Refusal{"TWT110", "extents within a row differ or are not fixed"};
  }
  if (rowElements(region) > mostCopies * mostThreads) {
    return Refusal{"TWT111", "a row does not fit the registers of a block"};
  }
  for (Operation *primitive : region.primitives) {
    auto reduce = dyn_cast<ReduceOp>(primitive);
    if (reduce && reduce.isArg()) {
      return Refusal{"TWT112", "a position is not folded across threads"};
    }
    WalkResult walk = primitive->walk([&](LoadOp load) {
      bool isInner =
          !isa<BlockArgument>(stripReshapes(load.getSource())) &&
          !stripReshapes(load.getSource()).getDefiningOp<ConstantOp>();
      return isInner && !readsOwnElement(load) ? WalkResult::interrupt()
                                               : WalkResult::advance();
    });
    if (walk.wasInterrupted()) {
      return Refusal{"TWT113", "an element of the row is read by others"};
    }
  }
  return std::nullopt;
}

DictionaryAttr chooseRowsSimt(const FusedRegion &region,
                              const TargetSpec &target, StringRef tactic) {
  Builder b(region.op.getContext());
  auto attribute =
      b.getDictionaryAttr(b.getNamedAttr("name", b.getStringAttr(tactic)));
  int64_t elements = rowElements(region);
  if (elements <= warpSize * mostCopies) {
    return Grid::fill(target, usualThreads, warpSize).addTo(attribute);
  }
  // Half of the copies that fit, so that loads of a few rows overlap.
  int64_t threads = usualThreads;
  while (threads < mostThreads && threads * mostCopies / 2 < elements) {
    threads *= 2;
  }
  return Grid::fill(target, threads, threads).addTo(attribute);
}

static int64_t countReductions(const FusedRegion &region) {
  return llvm::count_if(region.primitives,
                        [](Operation *op) { return isa<ReduceOp>(op); });
}

Launch rowsSimtLaunch(const FusedRegion &region, DictionaryAttr parameters) {
  MLIRContext *context = region.op.getContext();
  Grid grid = Grid::fromAttribute(parameters);
  Launch launch;
  launch.sizes = sizesOf(region.op);
  launch.tasks = productOf(context, region.parallel);
  launch.workspaceBytes = DimExpr::constant(context, 0);
  launch.inPlace = true;
  launch.shared = teamSharedBytes(grid.team, countReductions(region));
  return overTeams(launch, grid);
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

namespace {

class RowEmitter {
public:
  explicit RowEmitter(KernelFrame &frame)
      : frame(frame), b(frame.getBuilder()), region(frame.getRegion()),
        extents(*sharedExtents(region)) {}

  Status run();

private:
  Status row(ArrayRef<Value> at);
  void placeElements();
  Status reduction(ReduceOp reduce);
  Status map(MapOp map);
  Status keepScalar(Value value, const Lanes &lanes);
  Status evaluate(Operation *primitive,
                  llvm::function_ref<Status(BodyEmitter &, int64_t)> each,
                  Operation *skip = nullptr);
  Value widen(Value value, Type accumulator);

  KernelFrame &frame;
  LaneBuilder &b;
  const FusedRegion &region;
  SmallVector<int64_t> extents;
  SmallVector<Lanes> rowAt;
  /// Of each element of this thread: its coordinates, and whether it exists
  /// (null: always). One that does not has the coordinates of the row's last.
  SmallVector<SmallVector<Lanes>> elements;
  SmallVector<Value> exists;
  /// What was loaded, by source and coordinates.
  std::map<std::pair<void *, SmallVector<int64_t>>, SmallVector<Lanes>> loaded;
};

} // namespace

Status RowEmitter::run() {
  SmallVector<Lanes> counts;
  for (DimExpr extent : region.parallel) {
    counts.push_back(frame.size(extent));
  }
  placeElements();
  return emitTaskLoop(frame, counts,
                      [&](ArrayRef<Value> at) { return row(at); });
}

void RowEmitter::placeElements() {
  int64_t team = frame.teamSize(), count = 1;
  for (int64_t extent : extents) {
    count *= extent;
  }
  Value lane = b.named("lane", frame.laneOfTeam());
  for (int64_t start = 0; start < count; start += team) {
    Lanes position = b.add(Lanes::index(lane), Lanes::index(start));
    Value isElement;
    if (start + team > count) {
      Value at = b.first(position);
      isElement = b.create<arith::CmpIOp>(arith::CmpIPredicate::slt, at,
                                          b.constantIndex(count));
      position = b.min(Lanes::index(at), Lanes::index(count - 1));
    }
    SmallVector<Lanes> coordinates(extents.size());
    for (size_t i = extents.size(); i-- > 0;) {
      Lanes extent = Lanes::index(extents[i]);
      coordinates[i] = i == 0 ? position : b.mod(position, extent);
      position = b.floorDiv(position, extent);
    }
    elements.push_back(coordinates);
    exists.push_back(isElement);
  }
}

Status RowEmitter::row(ArrayRef<Value> at) {
  frame.clearRegisters();
  loaded.clear();
  rowAt.clear();
  for (Value coordinate : at) {
    rowAt.push_back(Lanes::index(coordinate));
  }
  for (Operation *primitive : region.primitives) {
    auto reduce = dyn_cast<ReduceOp>(primitive);
    TW_RETURN_IF_ERROR(reduce ? reduction(reduce)
                              : map(cast<MapOp>(primitive)));
  }
  frame.clearRegisters();
  return Status::ok();
}

/// Where a load reads, in terms that are the same in all primitives: numbers
/// of coordinates, and constants below zero. Nothing for any other load.
static std::optional<SmallVector<int64_t>> placeOf(LoadOp load) {
  if (load.getGuard()) {
    return std::nullopt;
  }
  SmallVector<int64_t> place;
  for (Value index : load.getIndices()) {
    APInt constant;
    if (auto argument = dyn_cast<BlockArgument>(index)) {
      place.push_back(argument.getArgNumber());
    } else if (matchPattern(index, m_ConstantInt(&constant))) {
      place.push_back(-1 - constant.getSExtValue());
    } else {
      return std::nullopt;
    }
  }
  return place;
}

/// Evaluates the body for each element and calls `each`. What an earlier
/// primitive has loaded is not loaded again.
Status
RowEmitter::evaluate(Operation *primitive,
                     llvm::function_ref<Status(BodyEmitter &, int64_t)> each,
                     Operation *skip) {
  Block &body = primitive->getRegion(0).front();
  auto keyOf = [](LoadOp load, SmallVector<int64_t> place) {
    return std::pair(load.getSource().getAsOpaquePointer(), std::move(place));
  };
  BodyVariant variant;
  variant.load = [&](LoadOp load, unsigned copy) -> std::optional<Lanes> {
    if (auto place = placeOf(load)) {
      auto found = loaded.find(keyOf(load, *place));
      if (found != loaded.end() && copy < found->second.size()) {
        return found->second[copy];
      }
    }
    return std::nullopt;
  };
  BodyEmitter emitter(frame, body, Value(), variant);
  for (auto [copy, coordinates] : llvm::enumerate(elements)) {
    SmallVector<Lanes> all(rowAt);
    llvm::append_range(all, coordinates);
    TW_RETURN_IF_ERROR(emitter.emit(copy, all, skip));
    for (LoadOp load : body.getOps<LoadOp>()) {
      if (auto place = placeOf(load)) {
        auto &copies = loaded[keyOf(load, *place)];
        if (copies.size() == copy) {
          copies.push_back(emitter.get(load.getResult()));
        }
      }
    }
    TW_RETURN_IF_ERROR(each(emitter, copy));
  }
  return Status::ok();
}

Value RowEmitter::widen(Value value, Type accumulator) {
  return value.getType() == accumulator || !isa<FloatType>(accumulator)
             ? value
             : Value(b.create<arith::ExtFOp>(accumulator, value));
}

Status RowEmitter::reduction(ReduceOp reduce) {
  Type scalar = yieldOf(reduce).getOperand(0).getType();
  if (bodyType(scalar) != scalar) {
    return Status(ErrorCode::UnsupportedType,
                  "a reduction cannot fold 8-bit or 4-bit floats");
  }
  bool isFloat = isa<FloatType>(scalar);
  bool isUnsigned =
      scalar.isInteger(1) || tw::isUnsigned(elementTypeOf(reduce.getType()));
  unsigned width = scalar.getIntOrFloatBitWidth();
  Type accumulator = width >= 32 ? scalar
                     : isFloat   ? Type(b.getF32Type())
                                 : Type(b.getI32Type());
  auto toAccumulator = [&](Value value) -> Value {
    if (isFloat || width >= 32) {
      return widen(value, accumulator);
    }
    return isUnsigned ? Value(b.create<arith::ExtUIOp>(accumulator, value))
                      : Value(b.create<arith::ExtSIOp>(accumulator, value));
  };
  FoldKind kind = reduce.getKind();
  Value total =
      b.create<arith::ConstantOp>(identityOf(kind, accumulator, isUnsigned));
  Operation *product = isFloat ? productOfBody(reduce) : nullptr;
  Status emitted = evaluate(
      reduce,
      [&](BodyEmitter &emitter, int64_t copy) {
        Value next;
        if (product) {
          auto operand = [&](unsigned number) {
            return widen(b.first(emitter.get(product->getOperand(number))),
                         accumulator);
          };
          next = b.create<math::FmaOp>(operand(0), operand(1), total);
        } else {
          Value value = b.first(emitter.get(yieldOf(reduce).getOperand(0)));
          next = fold(b, kind, isUnsigned, total, toAccumulator(value));
        }
        total =
            exists[copy]
                ? Value(b.create<arith::SelectOp>(exists[copy], next, total))
                : next;
        return Status::ok();
      },
      product);
  TW_RETURN_IF_ERROR(emitted);
  total = foldTeam(frame, total, [&](Value x, Value y) {
            return fold(b, kind, isUnsigned, x, y);
          }).front();
  Type element = bodyType(scalarType(elementTypeOf(reduce.getType())));
  if (element != accumulator) {
    total = isFloat ? Value(b.create<arith::TruncFOp>(element, total))
                    : Value(b.create<arith::TruncIOp>(element, total));
  }
  return keepScalar(reduce.getResult(), Lanes::scalar(total));
}

/// A scalar of the row is the same for all elements; one thread writes it.
Status RowEmitter::keepScalar(Value value, const Lanes &lanes) {
  for (size_t copy = 0; copy < elements.size(); ++copy) {
    frame.setRegister(value, copy, lanes);
  }
  return storeForOne(frame, value, rowAt, lanes);
}

Status RowEmitter::map(MapOp map) {
  if (innerExtents(region, map).empty()) {
    BodyEmitter emitter(frame, map.getBody().front(), Value());
    TW_RETURN_IF_ERROR(emitter.emit(0, rowAt));
    for (auto [result, yielded] :
         llvm::zip(map.getResults(), yieldOf(map).getOperands())) {
      TW_RETURN_IF_ERROR(keepScalar(result, emitter.get(yielded)));
    }
    return Status::ok();
  }
  auto keep = [&](BodyEmitter &emitter, int64_t copy) {
    SmallVector<Lanes> all(rowAt);
    llvm::append_range(all, elements[copy]);
    auto store = [&] {
      for (auto [result, yielded] :
           llvm::zip(map.getResults(), yieldOf(map).getOperands())) {
        for (const Memory &memory : frame.outputsOf(result)) {
          storeLanes(frame, memory,
                     offsetOf(frame, memory, result.getType(), all),
                     emitter.get(yielded), Value());
        }
      }
      return Status::ok();
    };
    bool isOutput = false;
    for (auto [result, yielded] :
         llvm::zip(map.getResults(), yieldOf(map).getOperands())) {
      frame.setRegister(result, copy, emitter.get(yielded));
      isOutput |= !frame.outputsOf(result).empty();
    }
    if (!isOutput) {
      return Status::ok();
    }
    return exists[copy] ? emitIf(b, exists[copy], store) : store();
  };
  return evaluate(map, keep);
}

Result<twk::KernelOp> buildRowsSimt(const FusedRegion &region,
                                    const TargetSpec &target, StringRef name,
                                    OpBuilder &builder) {
  KernelFrame frame(region, target, name, builder);
  Status status = RowEmitter(frame).run();
  if (!status) {
    frame.getKernel()->erase();
    return status;
  }
  return frame.getKernel();
}

} // namespace tilewright::families
