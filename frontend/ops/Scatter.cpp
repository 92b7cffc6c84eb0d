//===- Scatter.cpp - writing at indices that are data ---------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "frontend/ops/Families.h"
#include "frontend/ops/Indices.h"

using namespace mlir;

namespace tilewright::frontend {

static Result<FoldKind> foldKind(NodeImport &node) {
  std::string name = node.stringAttribute("reduction", "none");
  std::optional<FoldKind> kind = name == "none"  ? FoldKind::Assign
                                 : name == "add" ? FoldKind::Add
                                 : name == "mul" ? FoldKind::Mul
                                 : name == "min" ? FoldKind::Min
                                 : name == "max" ? std::optional(FoldKind::Max)
                                                 : std::nullopt;
  if (!kind) {
    return node.error(ErrorCode::AttributeInvalid,
                      "the reduction '" + name + "' is unknown");
  }
  return *kind;
}

static Status checkUpdates(NodeImport &node, ArrayRef<DimExpr> wanted) {
  TW_RETURN_IF_ERROR(requireDims(node, 2, "updates", wanted));
  if (node.element(2) != node.element(0)) {
    return node.error(ErrorCode::TypeMismatch,
                      "updates have elements of type " +
                          textOf(node.element(2)) + ", the data of type " +
                          textOf(node.element(0)));
  }
  for (auto [want, have] : llvm::zip(wanted, node.dims(2))) {
    node.requireZero(want - have);
  }
  return Status::ok();
}

static Status importScatterElements(NodeImport &node) {
  Result<int64_t> axis = elementsAxis(node);
  if (!axis) {
    return axis.status();
  }
  Result<FoldKind> kind = foldKind(node);
  if (!kind) {
    return kind.status();
  }
  Dims dims = node.dims(0), extents = node.dims(1);
  TW_RETURN_IF_ERROR(checkInside(node, extents, dims, *axis));
  TW_RETURN_IF_ERROR(checkUpdates(node, extents));
  auto write = [&](BodyBuilder &body, ValueRange at) {
    SmallVector<Value> results(at);
    results[*axis] = loadIndex(node, body, 1, at, dims[*axis]);
    results.push_back(body.load(node.input(2), at));
    return results;
  };
  node.setOutput(0, tw::buildScatter(node.builder(), node.loc(), *kind,
                                     node.input(0), extents, write));
  return Status::ok();
}

static Status importScatterND(NodeImport &node) {
  Result<int64_t> length = tupleLength(node, 0);
  if (!length) {
    return length.status();
  }
  Result<FoldKind> kind = foldKind(node);
  if (!kind) {
    return kind.status();
  }
  Dims dims = node.dims(0), indices = node.dims(1);
  Dims extents(indices.begin(), indices.end() - 1);
  extents.append(dims.begin() + *length, dims.end());
  TW_RETURN_IF_ERROR(checkUpdates(node, extents));
  size_t outer = indices.size() - 1;
  auto write = [&](BodyBuilder &body, ValueRange at) {
    SmallVector<Value> results;
    for (int64_t i = 0; i < *length; ++i) {
      SmallVector<Value> entry(at.take_front(outer));
      entry.push_back(body.index(i));
      results.push_back(loadIndex(node, body, 1, entry, dims[i]));
    }
    llvm::append_range(results, at.drop_front(outer));
    results.push_back(body.load(node.input(2), at));
    return results;
  };
  node.setOutput(0, tw::buildScatter(node.builder(), node.loc(), *kind,
                                     node.input(0), extents, write));
  return Status::ok();
}

/// Writes a run of slices into a cache, at a position of its own for each
/// batch.
static Status importTensorScatter(NodeImport &node) {
  TW_RETURN_IF_ERROR(requireRankAtLeast(node, 0, 2));
  TW_RETURN_IF_ERROR(requireRank(node, 1, node.rank(0)));
  TW_RETURN_IF_ERROR(requireSameElement(node, 2));
  Dims dims = node.dims(0), extents = node.dims(1);
  Result<int64_t> axis =
      node.normalizeAxis(node.intAttribute("axis", -2), dims.size());
  if (!axis) {
    return axis.status();
  }
  std::string mode = node.stringAttribute("mode", "linear");
  if (*axis == 0 || (mode != "linear" && mode != "circular")) {
    return node.error(
        ErrorCode::AttributeInvalid,
        "'axis' must not be the batch, and 'mode' must be linear or circular");
  }
  TW_RETURN_IF_ERROR(checkInside(node, extents, dims, -1));
  if (node.hasInput(2)) {
    TW_RETURN_IF_ERROR(requireInteger(node, 2));
    TW_RETURN_IF_ERROR(requireDims(node, 2, "write_indices", dims[0]));
  }
  auto write = [&](BodyBuilder &body, ValueRange at) {
    SmallVector<Value> results(at);
    Value begin = body.index(0);
    if (node.hasInput(2)) {
      begin = body.createOrFold<arith::IndexCastOp>(
          body.getIndexType(), body.load(node.input(2), at[0]));
    }
    Value position = body.add(begin, at[*axis]), size = body.size(dims[*axis]);
    if (mode == "circular") {
      position = body.mod(position, body.max(size, body.index(1)));
    }
    results[*axis] = body.createOrFold<tw::ClampIndexOp>(position, size);
    results.push_back(body.load(node.input(1), at));
    return results;
  };
  node.setOutput(0,
                 tw::buildScatter(node.builder(), node.loc(), FoldKind::Assign,
                                  node.input(0), extents, write));
  return Status::ok();
}

static constexpr OperatorEntry entries[] = {
    {"", "Scatter", 9, importScatterElements},
    {"", "ScatterElements", 11, importScatterElements},
    {"", "ScatterND", 11, importScatterND},
    {"", "TensorScatter", 24, importTensorScatter},
};

OperatorFamily scatterOperators() { return entries; }

} // namespace tilewright::frontend
