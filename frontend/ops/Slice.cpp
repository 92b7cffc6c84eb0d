//===- Slice.cpp - every n-th element of a range of each axis -------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// Bounds that are constants or size expressions give exact sizes. Otherwise a
// map computes start, step and count of every axis at run time, and the counts
// become symbols.
//
//===----------------------------------------------------------------------===//

#include "frontend/ops/Common.h"
#include "frontend/ops/Families.h"
#include "frontend/ops/Sizes.h"

#include <climits>

using namespace mlir;

namespace tilewright::frontend {
namespace {

/// One axis: output coordinate i reads start + i * step.
struct AxisRange {
  DimExpr start;
  DimExpr count;
  int64_t step = 1;
};

/// The operands of a Slice, by position in its lists.
struct Bounds {
  std::optional<Dims> starts, ends; // known ones; null elements where not
  std::optional<SmallVector<int64_t>> axes, steps;
  int64_t length = 0;
};

} // namespace

/// Exporters write "to the end" as some number that no axis reaches: the
/// largest i32 or i64, a billion.
static constexpr int64_t endless = int64_t(1) << 29;
static bool isEndless(DimExpr bound) {
  return bound.getConstant().value_or(0) >= endless;
}
static bool isEndlessBack(DimExpr bound) {
  return bound.getConstant().value_or(0) <= -endless;
}

/// `bound`, counted from the end where it is negative.
static DimExpr fromEnd(NodeImport &node, DimExpr bound, DimExpr size) {
  if (bound.isNonNegative()) {
    return bound;
  }
  if ((bound * -1 - 1).isNonNegative()) {
    return bound + size;
  }
  DimExpr isNegative = (bound * -1).max(node.constant(0)).min(node.constant(1));
  return bound + isNegative * size;
}

static AxisRange rangeOf(NodeImport &node, DimExpr start, DimExpr end,
                         int64_t step, DimExpr size) {
  DimExpr zero = node.constant(0), last = size - 1;
  AxisRange range;
  range.step = step;
  if (step > 0) {
    range.start = isEndless(start) ? size
                  : isEndlessBack(start)
                      ? zero
                      : fromEnd(node, start, size).max(zero).min(size);
    DimExpr stop = isEndless(end) ? size
                   : isEndlessBack(end)
                       ? zero
                       : fromEnd(node, end, size).max(zero).min(size);
    // To the end, the count needs no clamped start.
    std::optional<int64_t> first = start.getConstant();
    bool takesRest =
        stop == size && first && !isEndless(start) && !isEndlessBack(start);
    DimExpr span = !takesRest   ? (stop - range.start).max(zero)
                   : *first < 0 ? (start * -1).min(size)
                                : (size - start).max(zero);
    range.count = span.ceilDiv(step);
    return range;
  }
  range.start = isEndless(start) ? last
                : isEndlessBack(start)
                    ? zero
                    : fromEnd(node, start, size).max(zero).min(last);
  DimExpr stop =
      isEndless(end) ? last
      : isEndlessBack(end)
          ? node.constant(-1)
          : fromEnd(node, end, size).max(node.constant(-1)).min(last);
  DimExpr span = (range.start - stop).max(zero);
  range.count =
      step == INT64_MIN ? span.min(node.constant(1)) : span.ceilDiv(-step);
  return range;
}

static void
setSliced(NodeImport &node, ArrayRef<DimExpr> dims,
          llvm::function_ref<Value(BodyBuilder &, size_t, Value)> position) {
  Value source = node.input(0);
  auto write = [&](BodyBuilder &body, ValueRange at) {
    SmallVector<Value> positions;
    for (auto [axis, coordinate] : llvm::enumerate(at)) {
      positions.push_back(position(body, axis, coordinate));
    }
    return body.load(source, positions);
  };
  node.setOutput(0, tw::buildMap(node.builder(), node.loc(), dims,
                                 node.element(0), write));
}

static Status sliceByRanges(NodeImport &node, const Bounds &bounds) {
  Dims dims = node.dims(0), result = dims;
  SmallVector<std::optional<AxisRange>> ranges(dims.size());
  for (auto [i, axis] : llvm::enumerate(*bounds.axes)) {
    AxisRange range = rangeOf(node, (*bounds.starts)[i], (*bounds.ends)[i],
                              (*bounds.steps)[i], dims[axis]);
    result[axis] = range.count;
    ranges[axis] = range;
  }
  if (result == dims &&
      llvm::all_of(*bounds.steps, [](int64_t step) { return step == 1; })) {
    node.setOutput(0, node.input(0));
    return Status::ok();
  }
  setSliced(node, result, [&](BodyBuilder &body, size_t axis, Value at) {
    if (!ranges[axis]) {
      return at;
    }
    return body.add(body.size(ranges[axis]->start),
                    body.mul(at, ranges[axis]->step));
  });
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// Bounds that only the run knows
//===----------------------------------------------------------------------===//

/// Start, step and count of axis `axis` of the data, given where it stands in
/// the lists (if it does).
static SmallVector<Value> computeRange(NodeImport &node, BodyBuilder &body,
                                       const Bounds &bounds, Value axis) {
  Type i64 = body.getI64Type();
  Value zero = body.integer(i64, 0), one = body.integer(i64, 1),
        minusOne = body.integer(i64, -1);
  auto read = [&](size_t input, int64_t i) {
    return body.cast(body.load(node.input(input), body.index(i)),
                     node.element(input), i64);
  };
  Dims dims = node.dims(0);
  auto rank = static_cast<int64_t>(dims.size());
  Value size = zero;
  for (auto [i, dim] : llvm::enumerate(dims)) {
    size = body.select(body.equal(axis, body.index(i)),
                       toScalar(body, body.size(dim), i64), size);
  }
  Value start = zero, end = size, step = one;
  for (int64_t i = 0; i < bounds.length; ++i) {
    Value listed;
    if (bounds.axes) {
      listed = body.index((*bounds.axes)[i]);
    } else {
      listed = body.createOrFold<arith::IndexCastOp>(body.getIndexType(),
                                                     read(3, i));
      listed = body.select(body.less(listed, body.index(0)),
                           body.add(listed, rank), listed);
    }
    Value isOwn = body.equal(axis, listed);
    start = body.select(isOwn, read(1, i), start);
    end = body.select(isOwn, read(2, i), end);
    if (node.hasInput(4)) {
      step = body.select(isOwn, read(4, i), step);
    }
  }
  auto clamp = [&](Value bound, Value low, Value high) {
    bound = body.select(body.lessOf(bound, zero, i64), body.addOf(bound, size),
                        bound);
    return body.minOf(body.maxOf(bound, low, i64), high, i64);
  };
  Value isUp = body.lessOf(zero, step, i64), last = body.subOf(size, one);
  start = clamp(start, zero, body.select(isUp, size, last));
  end = clamp(end, body.select(isUp, zero, minusOne),
              body.select(isUp, size, last));
  Value span = body.subOf(end, start);
  Value towards =
      body.select(isUp, body.subOf(step, one), body.addOf(step, one));
  Value count =
      body.maxOf(body.divOf(body.addOf(span, towards), step, i64), zero, i64);
  // A step of zero is refused where the counts are read.
  count = body.select(body.equalOf(step, zero), minusOne, count);
  return {start, step, count};
}

static Status sliceAtRunTime(NodeImport &node, const Bounds &bounds) {
  for (size_t input = 1; input < node.numInputs(); ++input) {
    if (node.hasInput(input)) {
      TW_RETURN_IF_ERROR(requireInteger(node, input));
    }
  }
  Dims dims = node.dims(0);
  Type i64 = node.builder().getI64Type();
  auto rank = static_cast<int64_t>(dims.size());
  SmallVector<Value> tables = tw::buildMap(
      node.builder(), node.loc(), {node.constant(rank)},
      TypeRange{i64, i64, i64}, [&](BodyBuilder &body, ValueRange at) {
        return computeRange(node, body, bounds, at[0]);
      });
  Result<Dims> counts = node.readSizes(tables[2]);
  if (!counts) {
    return counts.status();
  }
  Dims result = bounds.axes ? dims : *counts;
  if (bounds.axes) {
    for (int64_t axis : *bounds.axes) {
      result[axis] = (*counts)[axis];
    }
  }
  auto isCut = [&](size_t axis) {
    return !bounds.axes ||
           llvm::is_contained(*bounds.axes, static_cast<int64_t>(axis));
  };
  setSliced(node, result, [&](BodyBuilder &body, size_t axis, Value at) {
    if (!isCut(axis)) {
      return at;
    }
    auto entry = [&](Value table) {
      return body.createOrFold<arith::IndexCastOp>(
          body.getIndexType(), body.load(table, body.index(axis)));
    };
    return body.add(entry(tables[0]), body.mul(at, entry(tables[1])));
  });
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

static Dims constantsOf(NodeImport &node, ArrayRef<int64_t> values) {
  return llvm::map_to_vector(
      values, [&](int64_t value) { return node.constant(value); });
}

static Status checkLengths(NodeImport &node, const Bounds &bounds) {
  auto fits = [&](const auto &list) {
    return !list || static_cast<int64_t>(list->size()) == bounds.length;
  };
  if (!fits(bounds.starts) || !fits(bounds.ends) || !fits(bounds.axes) ||
      !fits(bounds.steps)) {
    return node.error(ErrorCode::ShapeMismatch,
                      "starts, ends, axes and steps must have one length");
  }
  if (bounds.steps && llvm::is_contained(*bounds.steps, 0)) {
    return node.error(ErrorCode::AttributeInvalid,
                      "a step of 0 is not possible");
  }
  return Status::ok();
}

/// Normalises `axes`, which default to the first ones.
static Status setAxes(NodeImport &node, Bounds &bounds,
                      std::optional<SmallVector<int64_t>> axes) {
  auto rank = static_cast<int64_t>(node.rank(0));
  if (bounds.length > rank) {
    return node.error(ErrorCode::ShapeMismatch,
                      Twine(bounds.length) +
                          " axes are cut of a tensor of rank " + Twine(rank));
  }
  bounds.axes.emplace();
  if (!axes) {
    llvm::append_range(*bounds.axes, llvm::seq<int64_t>(0, bounds.length));
    return Status::ok();
  }
  for (int64_t axis : *axes) {
    Result<int64_t> normal = node.normalizeAxis(axis, rank);
    if (!normal) {
      return normal.status();
    }
    if (llvm::is_contained(*bounds.axes, *normal)) {
      return node.error(ErrorCode::AttributeInvalid,
                        "axis " + Twine(axis) + " is listed twice");
    }
    bounds.axes->push_back(*normal);
  }
  return Status::ok();
}

/// Until opset 9 the bounds were attributes.
static Status importSlice1(NodeImport &node) {
  Bounds bounds;
  bounds.starts = constantsOf(node, node.intsAttribute("starts"));
  bounds.ends = constantsOf(node, node.intsAttribute("ends"));
  bounds.length = bounds.starts->size();
  bounds.steps = SmallVector<int64_t>(bounds.length, 1);
  std::optional<SmallVector<int64_t>> axes;
  if (node.hasAttribute("axes")) {
    axes = node.intsAttribute("axes");
  }
  TW_RETURN_IF_ERROR(setAxes(node, bounds, axes));
  TW_RETURN_IF_ERROR(checkLengths(node, bounds));
  return sliceByRanges(node, bounds);
}

static Status importSlice10(NodeImport &node) {
  for (size_t input = 1; input < node.numInputs(); ++input) {
    if (node.hasInput(input)) {
      TW_RETURN_IF_ERROR(requireRank(node, input, 1));
      if (node.dims(input)[0] != node.dims(1)[0]) {
        return node.error(ErrorCode::ShapeMismatch,
                          "starts, ends, axes and steps must have one length");
      }
    }
  }
  std::optional<int64_t> length = node.dims(1)[0].getConstant();
  if (!length) {
    return node.error(
        ErrorCode::UnsupportedShape,
        "the number of axes to cut must be known at compile time");
  }
  Bounds bounds;
  bounds.length = *length;
  bounds.starts = node.partialElements(1);
  bounds.ends = node.partialElements(2);
  bounds.steps = node.hasInput(4) ? node.constantElements(4)
                                  : SmallVector<int64_t>(*length, 1);
  std::optional<SmallVector<int64_t>> axes = node.constantElements(3);
  if (axes || !node.hasInput(3)) {
    TW_RETURN_IF_ERROR(setAxes(node, bounds, axes));
  }
  TW_RETURN_IF_ERROR(checkLengths(node, bounds));
  auto isKnown = [](const std::optional<Dims> &list) {
    return list && !llvm::is_contained(*list, DimExpr());
  };
  if (bounds.axes && bounds.steps && isKnown(bounds.starts) &&
      isKnown(bounds.ends)) {
    return sliceByRanges(node, bounds);
  }
  return sliceAtRunTime(node, bounds);
}

static constexpr OperatorEntry entries[] = {
    {"", "Slice", 1, importSlice1},
    {"", "Slice", 10, importSlice10},
};

OperatorFamily sliceOperators() { return entries; }

} // namespace tilewright::frontend
