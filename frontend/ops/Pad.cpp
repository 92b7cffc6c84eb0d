//===- Pad.cpp - borders around a tensor ----------------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "frontend/ops/Common.h"
#include "frontend/ops/Families.h"
#include "frontend/ops/Sizes.h"

using namespace mlir;

namespace tilewright::frontend {
namespace {

/// The borders of all axes of the data, negative ones cut off.
struct Borders {
  /// How far coordinates of the result are ahead of those of the data.
  llvm::function_ref<Value(BodyBuilder &, size_t axis)> begin;
  Dims result;
};

} // namespace

/// The coordinate of the data behind `position`, which may lie outside of it.
static Value foldBack(BodyBuilder &body, StringRef mode, Value position,
                      DimExpr dim) {
  Value size = body.size(dim), zero = body.index(0);
  if (mode == "edge") {
    return body.min(body.max(position, zero), body.sub(size, 1));
  }
  if (mode == "wrap") {
    return body.mod(position, body.max(size, body.index(1)));
  }
  // The border elements themselves are not repeated: the period is 2 (n - 1).
  Value last = body.sub(size, 1);
  Value period = body.max(body.mul(last, 2), body.index(1));
  Value phase = body.mod(position, period);
  return body.select(body.lessEqual(phase, last), phase,
                     body.sub(period, phase));
}

static Status setPadded(NodeImport &node, const Borders &borders,
                        StringRef mode, Value fill) {
  Value source = node.input(0);
  Dims dims = node.dims(0);
  Type element = node.element(0);
  auto write = [&](BodyBuilder &body, ValueRange at) {
    Value otherwise =
        fill ? body.load(fill,
                         SmallVector<Value>(tw::dimsOf(fill.getType()).size(),
                                            body.index(0)))
             : body.constant(tw::scalarType(element), 0.0);
    SmallVector<Value> positions;
    Value guard;
    for (auto [axis, dim] : llvm::enumerate(dims)) {
      Value begin = borders.begin(body, axis);
      if (!begin) {
        positions.push_back(at[axis]);
        continue;
      }
      Value position = body.sub(at[axis], begin);
      if (mode != "constant") {
        position = foldBack(body, mode, position, dim);
      }
      // An axis of size zero has nothing to repeat.
      if (mode == "constant" || !dim.getConstant() || dim.isConstant(0)) {
        guard = body.both(guard, body.inside(position, dim));
      }
      positions.push_back(position);
    }
    return body.load(source, positions, guard, otherwise);
  };
  node.setOutput(0, tw::buildMap(node.builder(), node.loc(), borders.result,
                                 element, write));
  return Status::ok();
}

static Status padKnown(NodeImport &node, ArrayRef<DimExpr> pads,
                       ArrayRef<int64_t> axes, StringRef mode, Value fill) {
  Dims result = node.dims(0);
  Dims begins(result.size()), ends(result.size());
  for (auto [i, axis] : llvm::enumerate(axes)) {
    begins[axis] = pads[i];
    ends[axis] = pads[i + axes.size()];
    result[axis] = result[axis] + begins[axis] + ends[axis];
  }
  TW_RETURN_IF_ERROR(checkSizes(node, result));
  auto begin = [&](BodyBuilder &body, size_t axis) -> Value {
    bool isKept = !begins[axis] ||
                  (begins[axis].isConstant(0) && ends[axis].isConstant(0));
    return isKept ? Value() : body.size(begins[axis]);
  };
  return setPadded(node, {begin, result}, mode, fill);
}

/// Pads, and perhaps axes, that only the run knows: a map computes the begin
/// and the resulting size of every axis.
static Status padAtRunTime(NodeImport &node,
                           std::optional<SmallVector<int64_t>> axes,
                           int64_t count, StringRef mode, Value fill) {
  Dims dims = node.dims(0);
  auto rank = static_cast<int64_t>(dims.size());
  Type i64 = node.builder().getI64Type();
  auto write = [&](BodyBuilder &body, ValueRange at) -> SmallVector<Value> {
    Value begin = body.integer(i64, 0), size = body.integer(i64, 0);
    for (auto [i, dim] : llvm::enumerate(dims)) {
      size = body.select(body.equal(at[0], body.index(i)),
                         toScalar(body, body.size(dim), i64), size);
    }
    auto read = [&](size_t input, int64_t i) {
      return body.cast(body.load(node.input(input), body.index(i)),
                       node.element(input), i64);
    };
    Value total = size;
    for (int64_t i = 0; i < count; ++i) {
      Value listed;
      if (axes) {
        listed = body.index((*axes)[i]);
      } else {
        listed = body.createOrFold<arith::IndexCastOp>(body.getIndexType(),
                                                       read(3, i));
        listed = body.select(body.less(listed, body.index(0)),
                             body.add(listed, rank), listed);
      }
      Value isOwn = body.equal(at[0], listed);
      Value before = read(1, i), after = read(1, i + count);
      begin = body.select(isOwn, before, begin);
      total = body.select(isOwn, body.addOf(body.addOf(size, before), after),
                          total);
    }
    return {begin, total};
  };
  SmallVector<Value> tables =
      tw::buildMap(node.builder(), node.loc(), {node.constant(rank)},
                   TypeRange{i64, i64}, write);
  Result<Dims> read = node.readSizes(tables[1]);
  if (!read) {
    return read.status();
  }
  Dims result = *read;
  for (int64_t axis = 0; axes && axis < rank; ++axis) {
    if (!llvm::is_contained(*axes, axis)) {
      result[axis] = dims[axis];
    }
  }
  auto begin = [&](BodyBuilder &body, size_t axis) -> Value {
    if (axes && !llvm::is_contained(*axes, static_cast<int64_t>(axis))) {
      return {};
    }
    return body.createOrFold<arith::IndexCastOp>(
        body.getIndexType(), body.load(tables[0], body.index(axis)));
  };
  return setPadded(node, {begin, result}, mode, fill);
}

static Result<std::string> padMode(NodeImport &node) {
  std::string mode = node.stringAttribute("mode", "constant");
  if (mode != "constant" && mode != "reflect" && mode != "edge" &&
      mode != "wrap") {
    return node.error(ErrorCode::AttributeInvalid,
                      "the mode '" + mode + "' is unknown");
  }
  return mode;
}

/// Until opset 10 pads and value were attributes.
static Status importPad1(NodeImport &node) {
  Result<std::string> mode = padMode(node);
  if (!mode) {
    return mode.status();
  }
  Dims pads;
  for (int64_t pad :
       node.intsAttribute(node.version() < 2 ? "paddings" : "pads")) {
    pads.push_back(node.constant(pad));
  }
  size_t rank = node.rank(0);
  if (pads.size() != 2 * rank) {
    return node.error(ErrorCode::AttributeInvalid,
                      Twine(pads.size()) +
                          " pads are given for a tensor of rank " +
                          Twine(rank));
  }
  TW_RETURN_IF_ERROR(requireFloat(node, 0));
  Value fill;
  if (double value = node.floatAttribute("value", 0)) {
    fill =
        tw::buildConstant(node.builder(), node.loc(), node.element(0), value);
  }
  return padKnown(node, pads, llvm::to_vector(llvm::seq<int64_t>(0, rank)),
                  *mode, fill);
}

static Status importPad11(NodeImport &node) {
  Result<std::string> mode = padMode(node);
  if (!mode) {
    return mode.status();
  }
  TW_RETURN_IF_ERROR(requireInteger(node, 1));
  TW_RETURN_IF_ERROR(requireRank(node, 1, 1));
  auto rank = static_cast<int64_t>(node.rank(0));
  Value fill = node.input(2);
  if (fill && (node.element(2) != node.element(0) ||
               !tw::productOf(node.context(), node.dims(2)).isConstant(1))) {
    return node.error(ErrorCode::TypeMismatch,
                      "the value must be one element of the type of the data");
  }
  std::optional<SmallVector<int64_t>> axes =
      llvm::to_vector(llvm::seq<int64_t>(0, rank));
  int64_t count = rank;
  if (node.hasInput(3)) {
    TW_RETURN_IF_ERROR(requireInteger(node, 3));
    TW_RETURN_IF_ERROR(requireRank(node, 3, 1));
    axes.reset();
    count = node.dims(3)[0].getConstant().value_or(-1);
    if (node.constantElements(3)) {
      Result<std::optional<SmallVector<int64_t>>> listed =
          axesOf(node, 3, rank);
      if (!listed) {
        return listed.status();
      }
      axes = *listed;
    }
  }
  if (!node.dims(1)[0].isConstant(2 * count)) {
    return node.error(ErrorCode::ShapeMismatch,
                      "pads must have two elements for each axis, not " +
                          node.dims(1)[0].toString());
  }
  std::optional<Dims> pads = node.elements(1);
  if (axes && pads) {
    return padKnown(node, *pads, *axes, *mode, fill);
  }
  return padAtRunTime(node, axes, count, *mode, fill);
}

static constexpr OperatorEntry entries[] = {
    {"", "Pad", 1, importPad1},
    {"", "Pad", 11, importPad11},
};

OperatorFamily padOperators() { return entries; }

} // namespace tilewright::frontend
