//===- Gather.cpp - reading at indices that are data ----------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "frontend/ops/Common.h"
#include "frontend/ops/Families.h"
#include "frontend/ops/Indices.h"

using namespace mlir;

namespace tilewright::frontend {

Value loadIndex(NodeImport &node, BodyBuilder &body, size_t input,
                ValueRange position, DimExpr bound) {
  return body.dataIndex(body.load(node.input(input), position), bound,
                        /*wrap=*/true, tw::isUnsigned(node.element(input)));
}

Value loadIndexed(BodyBuilder &body, Value source, ValueRange position,
                  ArrayRef<DimExpr> bounds) {
  Value guard;
  for (DimExpr bound : bounds) {
    if (!(bound - 1).isNonNegative()) {
      guard = body.both(guard, body.less(body.index(0), body.size(bound)));
    }
  }
  Type scalar = tw::scalarType(tw::elementTypeOf(source.getType()));
  return guard ? body.load(source, position, guard, body.constant(scalar, 0.0))
               : body.load(source, position);
}

static Status importGather(NodeImport &node) {
  TW_RETURN_IF_ERROR(requireRankAtLeast(node, 0, 1));
  TW_RETURN_IF_ERROR(requireInteger(node, 1));
  Result<int64_t> axis =
      node.normalizeAxis(node.intAttribute("axis", 0), node.rank(0));
  if (!axis) {
    return axis.status();
  }
  Dims dims = node.dims(0), indices = node.dims(1);
  Dims result(dims.begin(), dims.begin() + *axis);
  llvm::append_range(result, indices);
  result.append(dims.begin() + *axis + 1, dims.end());
  Value source = node.input(0);
  auto write = [&](BodyBuilder &body, ValueRange at) {
    SmallVector<Value> position(at.take_front(*axis));
    position.push_back(
        loadIndex(node, body, 1, at.slice(*axis, indices.size()), dims[*axis]));
    llvm::append_range(position, at.drop_front(*axis + indices.size()));
    return loadIndexed(body, source, position, dims[*axis]);
  };
  node.setOutput(0, tw::buildMap(node.builder(), node.loc(), result,
                                 node.element(0), write));
  return Status::ok();
}

static Status importGatherElements(NodeImport &node) {
  Result<int64_t> axis = elementsAxis(node);
  if (!axis) {
    return axis.status();
  }
  Dims dims = node.dims(0), result = node.dims(1);
  TW_RETURN_IF_ERROR(checkInside(node, result, dims, *axis));
  Value source = node.input(0);
  auto write = [&](BodyBuilder &body, ValueRange at) {
    SmallVector<Value> position(at);
    position[*axis] = loadIndex(node, body, 1, at, dims[*axis]);
    return loadIndexed(body, source, position, dims[*axis]);
  };
  node.setOutput(0, tw::buildMap(node.builder(), node.loc(), result,
                                 node.element(0), write));
  return Status::ok();
}

Status checkInside(NodeImport &node, ArrayRef<DimExpr> inner,
                   ArrayRef<DimExpr> outer, int64_t except) {
  for (int64_t i = 0; i < static_cast<int64_t>(inner.size()); ++i) {
    if (i == except) {
      continue;
    }
    DimExpr room = outer[i] - inner[i];
    if (room.getConstant().value_or(0) < 0) {
      return node.error(ErrorCode::ShapeMismatch,
                        "indices of shape " + textOf(inner) +
                            " go beyond data of shape " + textOf(outer));
    }
    // Zero exactly where there is room.
    node.requireZero(room.min(node.constant(0)));
  }
  return Status::ok();
}

Result<int64_t> elementsAxis(NodeImport &node) {
  TW_RETURN_IF_ERROR(requireRankAtLeast(node, 0, 1));
  TW_RETURN_IF_ERROR(requireInteger(node, 1));
  TW_RETURN_IF_ERROR(requireRank(node, 1, node.rank(0)));
  return node.normalizeAxis(node.intAttribute("axis", 0), node.rank(0));
}

Result<int64_t> tupleLength(NodeImport &node, int64_t batchDims) {
  TW_RETURN_IF_ERROR(requireRankAtLeast(node, 0, 1));
  TW_RETURN_IF_ERROR(requireInteger(node, 1));
  TW_RETURN_IF_ERROR(requireRankAtLeast(node, 1, 1));
  std::optional<int64_t> length = node.dims(1).back().getConstant();
  if (!length) {
    return node.error(
        ErrorCode::UnsupportedShape,
        "the last axis of the indices must be known at compile time");
  }
  auto rank = static_cast<int64_t>(node.rank(0)),
       depth = static_cast<int64_t>(node.rank(1));
  if (batchDims < 0 || batchDims >= depth || batchDims > rank) {
    return node.error(ErrorCode::AttributeInvalid,
                      "'batch_dims' is " + Twine(batchDims) +
                          ", for operands of rank " + Twine(rank) + " and " +
                          Twine(depth));
  }
  if (*length < 1 || *length > rank - batchDims) {
    return node.error(ErrorCode::ShapeMismatch,
                      "indices of " + Twine(*length) +
                          " coordinates do not fit data of rank " +
                          Twine(rank));
  }
  return *length;
}

static Status importGatherND(NodeImport &node) {
  int64_t batch = node.intAttribute("batch_dims", 0);
  Result<int64_t> length = tupleLength(node, batch);
  if (!length) {
    return length.status();
  }
  Dims dims = node.dims(0), indices = node.dims(1);
  for (int64_t i = 0; i < batch; ++i) {
    if (!mayBeEqual(dims[i], indices[i])) {
      return node.error(ErrorCode::ShapeMismatch,
                        "batches of " + textOf(dims) + " and " +
                            textOf(indices) + " differ");
    }
    node.requireZero(dims[i] - indices[i]);
  }
  Dims result(indices.begin(), indices.end() - 1);
  result.append(dims.begin() + batch + *length, dims.end());
  Value source = node.input(0);
  size_t outer = indices.size() - 1;
  auto write = [&](BodyBuilder &body, ValueRange at) {
    SmallVector<Value> position(at.take_front(batch));
    ArrayRef<DimExpr> bounds = ArrayRef<DimExpr>(dims).slice(batch, *length);
    for (auto [i, bound] : llvm::enumerate(bounds)) {
      SmallVector<Value> entry(at.take_front(outer));
      entry.push_back(body.index(i));
      position.push_back(loadIndex(node, body, 1, entry, bound));
    }
    llvm::append_range(position, at.drop_front(outer));
    return loadIndexed(body, source, position, bounds);
  };
  node.setOutput(0, tw::buildMap(node.builder(), node.loc(), result,
                                 node.element(0), write));
  return Status::ok();
}

/// Compares every coordinate with an index: an index outside [-depth, depth)
/// gives all off.
static Status importOneHot(NodeImport &node) {
  TW_RETURN_IF_ERROR(requireNumber(node, 0));
  TW_RETURN_IF_ERROR(requireRank(node, 2, 1));
  Dims indices = node.dims(0);
  Result<int64_t> axis =
      node.normalizeAxis(node.intAttribute("axis", -1), indices.size() + 1);
  if (!axis) {
    return axis.status();
  }
  if (!node.dims(2)[0].isConstant(2)) {
    return node.error(ErrorCode::ShapeMismatch,
                      "values must be the two of off and on");
  }
  Result<Dims> depth = readDepth(node, 1);
  if (!depth) {
    return depth.status();
  }
  Dims result = indices;
  result.insert(result.begin() + *axis, depth->front());
  Type from = node.element(0), i64 = node.builder().getI64Type();
  Value values = node.input(2);
  auto write = [&](BodyBuilder &body, ValueRange at) {
    SmallVector<Value> position(at);
    position.erase(position.begin() + *axis);
    Value index = body.cast(body.load(node.input(0), position), from, i64);
    Value size = toScalar(body, body.size(depth->front()), i64);
    index = body.select(body.lessOf(index, body.integer(i64, 0), i64),
                        body.addOf(index, size), index);
    Value isOn = body.equalOf(index, toScalar(body, at[*axis], i64));
    return body.select(isOn, body.load(values, body.index(1)),
                       body.load(values, body.index(0)));
  };
  node.setOutput(0, tw::buildMap(node.builder(), node.loc(), result,
                                 node.element(2), write));
  return Status::ok();
}

Result<Dims> readDepth(NodeImport &node, size_t input) {
  if (!node.hasInput(input) ||
      !tw::productOf(node.context(), node.dims(input)).isConstant(1) ||
      node.rank(input) > 1) {
    return node.error(ErrorCode::ShapeMismatch,
                      "input " + Twine(input) +
                          " must be a scalar or a vector of one");
  }
  if (isInteger(node.element(input))) {
    Result<Dims> read = node.elementsOrRead(input);
    if (read && read->front().getConstant().value_or(0) < 0) {
      return node.error(ErrorCode::ShapeMismatch,
                        "input " + Twine(input) + " is a negative size");
    }
    return read;
  }
  return node.readSizes(
      castTensor(node, node.input(input), node.builder().getI64Type()));
}

static constexpr OperatorEntry entries[] = {
    {"", "Gather", 1, importGather},
    {"", "GatherElements", 11, importGatherElements},
    {"", "GatherND", 11, importGatherND},
    {"", "OneHot", 9, importOneHot},
};

OperatorFamily gatherOperators() { return entries; }

} // namespace tilewright::frontend
