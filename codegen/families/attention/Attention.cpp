//===- Attention.cpp - scores, softmax and values in one kernel -----------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "codegen/families/attention/Attention.h"
#include "codegen/families/attention/AttentionKernel.h"
#include "codegen/families/nest/TaskLoop.h"
#include "llvm/ADT/bit.h"

using namespace mlir;
using namespace tilewright::tw;

namespace tilewright::families {

//===----------------------------------------------------------------------===//
// Parameters and launch
//===----------------------------------------------------------------------===//

DictionaryAttr AttentionParameters::toAttribute(MLIRContext *context,
                                                StringRef tactic) const {
  Builder b(context);
  auto number = [&](StringRef entry, int64_t value) {
    return b.getNamedAttr(entry, b.getI64IntegerAttr(value));
  };
  return b.getDictionaryAttr(
      {b.getNamedAttr("name", b.getStringAttr(tactic)),
       b.getNamedAttr("tile", b.getDenseI64ArrayAttr({tile, vectors})),
       number("keys", keys), number("alone", alone), number("width", width)});
}

AttentionParameters
AttentionParameters::fromAttribute(DictionaryAttr attribute) {
  AttentionParameters result;
  auto read = [&](StringRef entry, int64_t &value) {
    if (auto number = attribute.getAs<IntegerAttr>(entry)) {
      value = number.getInt();
    }
  };
  read("keys", result.keys);
  read("alone", result.alone);
  read("width", result.width);
  if (auto tile = attribute.getAs<DenseI64ArrayAttr>("tile");
      tile && tile.size() == 2) {
    result.tile = tile[0];
    result.vectors = tile[1];
  }
  return result;
}

AttentionForm attentionOf(const FusedRegion &region) {
  const Reason *reason = nullptr;
  for (Operation *primitive : llvm::reverse(region.primitives)) {
    if (auto reduce = dyn_cast<ReduceOp>(primitive)) {
      if (auto form = matchAttention(reduce, reason)) {
        return *form;
      }
    }
  }
  llvm_unreachable("analyseRegion has matched it");
}

AttentionParameters chooseAttention(const FusedRegion &region,
                                    const TargetSpec &target) {
  constexpr int64_t floatBytes = 4;
  AttentionForm form = attentionOf(region);
  AttentionParameters result;
  result.width = target.lanes(floatBytes);
  // Two vectors of queries use each scalar of keys and values twice; three
  // quarters of the registers hold sums.
  result.vectors = 2;
  unsigned vectors = result.vectors;
  result.tile = llvm::bit_floor(target.vectorRegisters * 3 / 4 / vectors);
  // A block of scores takes a quarter of the first cache at most, its keys or
  // values half of it.
  constexpr int64_t usualDepth = 64;
  result.keys = std::min(target.l1Bytes / 4 / (floatBytes * result.rows()),
                         target.l1Bytes / 2 / (floatBytes * usualDepth));
  // One query alone has lanes of work where many would have one lane each.
  bool haveRows =
      readsRows(form.scores, form.keyFactor, form.scores.getParallelRank(),
                result.width) &&
      readsRows(form.values, form.valueFactor, form.valueAxis, result.width);
  result.alone = haveRows ? std::max<int64_t>(result.width / 4, 1) : 1;
  return result;
}

/// The extents of the task space: rows, the queries in blocks.
static SmallVector<DimExpr> taskExtents(const AttentionForm &form,
                                        ArrayRef<DimExpr> rows,
                                        int64_t queries) {
  SmallVector<DimExpr> extents(rows);
  if (form.queryAxis) {
    extents[*form.queryAxis] = extents[*form.queryAxis].ceilDiv(queries);
  }
  return extents;
}

Launch attentionLaunch(const FusedRegion &region,
                       const AttentionParameters &parameters) {
  constexpr int64_t floatBytes = 4, lineFloats = 16;
  AttentionForm form = attentionOf(region);
  MLIRContext *context = region.op.getContext();
  Launch launch;
  launch.sizes = sizesOf(region.op);
  launch.tasks =
      productOf(context, taskExtents(form, region.parallel, parameters.rows()));
  if (parameters.width == 1) {
    launch.workspaceBytes = attentionRowBytes(form);
    return launch;
  }
  DimExpr depth = form.scores.getExtents().getDims().front(),
          values = dimsOf(form.values.getType())[form.valueAxis];
  // Whole cache lines for each of the buffers (AttentionKernel::buffers).
  int64_t blocks = 1 + turnedMasks(form, parameters.width).size();
  auto whole = [&](DimExpr extent) {
    return extent.ceilDiv(parameters.width) * parameters.width;
  };
  launch.workspaceBytes =
      (depth + values + blocks * parameters.keys + (blocks + 2) * lineFloats) *
          (parameters.rows() * floatBytes) +
      (whole(depth) + whole(values)) * (parameters.keys * floatBytes);
  return launch;
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

namespace {

/// The ways to compute a task, by the number of its queries.
class TaskEmitter {
public:
  explicit TaskEmitter(AttentionKernel &kernel)
      : kernel(kernel), b(kernel.b), parameters(kernel.parameters) {}

  Status run(ArrayRef<Value> at);

private:
  Status when(int64_t more, int64_t upTo, llvm::function_ref<Status()> body);
  bool mayBe(int64_t more, int64_t upTo) const;

  AttentionKernel &kernel;
  LaneBuilder &b;
  const AttentionParameters &parameters;
  std::optional<int64_t> queries;
  Value left;
};

} // namespace

/// True if some task has a number of queries in (more, upTo].
bool TaskEmitter::mayBe(int64_t more, int64_t upTo) const {
  int64_t rows = parameters.rows();
  if (!queries) {
    return more < upTo;
  }
  auto isWithin = [&](int64_t count) { return more < count && count <= upTo; };
  return (*queries >= rows && isWithin(rows)) || isWithin(*queries % rows);
}

/// Emits `body` for tasks of more than `more` and up to `upTo` queries.
Status TaskEmitter::when(int64_t more, int64_t upTo,
                         llvm::function_ref<Status()> body) {
  if (!mayBe(more, upTo)) {
    return Status::ok();
  }
  using P = arith::CmpIPredicate;
  Value isMore = b.create<arith::CmpIOp>(P::sgt, left, b.constantIndex(more));
  Value isLess = b.create<arith::CmpIOp>(P::sle, left, b.constantIndex(upTo));
  return emitIf(b, b.create<arith::AndIOp>(isMore, isLess), body);
}

Status TaskEmitter::run(ArrayRef<Value> at) {
  kernel.outer.clear();
  for (Value coordinate : at) {
    kernel.outer.push_back(Lanes::index(coordinate));
  }
  std::optional<unsigned> axis = kernel.form.queryAxis;
  if (!axis) {
    return emitQueryAlone(kernel, Lanes::index(0));
  }
  int64_t rows = parameters.rows(), width = parameters.width;
  DimExpr extent = kernel.frame.getRegion().parallel[*axis];
  queries = extent.getConstant();
  Lanes first = b.mul(kernel.outer[*axis], Lanes::index(rows));
  left = b.first(
      b.min(b.sub(kernel.frame.size(extent), first), Lanes::index(rows)));
  TW_RETURN_IF_ERROR(when(0, parameters.alone, [&] {
    return emitLoop(b, b.constantIndex(0), left, 1, [&](Value number) {
      return emitQueryAlone(kernel, b.add(first, Lanes::index(number)));
    });
  }));
  for (int64_t vectors = 1; vectors <= parameters.vectors; ++vectors) {
    int64_t more = vectors == 1 ? parameters.alone : (vectors - 1) * width;
    TW_RETURN_IF_ERROR(when(more, vectors * width, [&] {
      return emitQueriesInLanes(kernel, vectors, b.first(first), left);
    }));
  }
  return Status::ok();
}

static Status emitKernel(KernelFrame &frame, const FusedRegion &region,
                         const AttentionParameters &parameters) {
  AttentionForm form = attentionOf(region);
  LaneBuilder &b = frame.getBuilder();
  SmallVector<Lanes> counts;
  for (auto [axis, extent] : llvm::enumerate(region.parallel)) {
    Lanes count = frame.size(extent);
    bool isQuery = form.queryAxis && axis == *form.queryAxis;
    counts.push_back(
        isQuery && parameters.rows() > 1
            ? b.floorDiv(b.add(count, Lanes::index(parameters.rows() - 1)),
                         Lanes::index(parameters.rows()))
            : count);
  }
  AttentionKernel kernel(frame, form, parameters);
  return emitTaskLoop(frame, counts, [&](ArrayRef<Value> at) {
    return parameters.width == 1 ? emitAttentionRow(frame, form, at)
                                 : TaskEmitter(kernel).run(at);
  });
}

Result<twk::KernelOp> buildAttention(const FusedRegion &region,
                                     const AttentionParameters &parameters,
                                     const TargetSpec &target, StringRef name,
                                     OpBuilder &builder) {
  KernelFrame frame(region, target, name, builder);
  return frame.finish(emitKernel(frame, region, parameters));
}

} // namespace tilewright::families
