//===- Axes.cpp - which axes a reduction folds ----------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "frontend/ops/Axes.h"

using namespace mlir;

namespace tilewright::frontend {

SmallVector<Value> ReducedAxes::inputCoordinates(BodyBuilder &body,
                                                 ValueRange at) const {
  SmallVector<Value> coordinates;
  for (size_t i = 0; i < extentOf.size(); ++i) {
    Value outer = at[i];
    if (extentOf[i] < 0) {
      coordinates.push_back(outer);
      continue;
    }
    Value inner = at[kept.size() + extentOf[i]];
    // One of the two is always zero.
    coordinates.push_back(axesAreData ? body.add(outer, inner) : inner);
  }
  return coordinates;
}

ReducedAxes reducedAxes(NodeImport &node, ArrayRef<int64_t> axes,
                        bool keepDims) {
  ReducedAxes result;
  Dims dims = node.dims(0);
  for (int64_t i = 0; i < static_cast<int64_t>(dims.size()); ++i) {
    bool folded = llvm::is_contained(axes, i);
    result.extentOf.push_back(
        folded ? static_cast<int64_t>(result.extents.size()) : -1);
    if (folded) {
      result.extents.push_back(dims[i]);
    }
    result.kept.push_back(folded ? node.constant(1) : dims[i]);
    if (!folded || keepDims) {
      result.dims.push_back(result.kept.back());
    }
  }
  return result;
}

/// For each axis of input 0, a symbol that is 1 where `axes` (input 1) names
/// the axis and 0 elsewhere. An empty list names all axes, or none.
static Result<Dims> foldedFlags(NodeImport &node, bool emptyIsNone) {
  int64_t rank = node.rank(0);
  Value axes = node.input(1);
  Type type = node.element(1), i64 = node.builder().getI64Type();
  DimExpr count = node.dims(1)[0];
  DimExpr whenEmpty = node.constant(emptyIsNone ? 0 : 1);
  Value flags = tw::buildReduce(
      node.builder(), node.loc(), FoldKind::Max, {node.constant(rank)}, {count},
      i64, [&](BodyBuilder &body, ValueRange at) {
        Value axis = body.createOrFold<arith::IndexCastOp>(
            body.getIndexType(), body.cast(body.load(axes, at[1]), type, i64));
        axis = body.select(body.less(axis, body.index(0)), body.add(axis, rank),
                           axis);
        return body.select(body.equal(axis, at[0]), body.integer(i64, 1),
                           body.integer(i64, 0));
      });
  // The maximum of no flags is the least integer.
  flags = tw::buildElementwise(
      node.builder(), node.loc(), {node.constant(rank)}, i64, flags,
      [&](BodyBuilder &body, ValueRange x) {
        Value isEmpty = body.lessOf(x[0], body.integer(i64, 0), i64);
        Value all = body.integer(i64, *whenEmpty.getConstant());
        return body.select(isEmpty, all, x[0]);
      });
  return node.readSizes(flags);
}

/// 1 where the size expressions are equal, else 0.
static DimExpr isEqual(NodeImport &node, DimExpr a, int64_t b) {
  return DimExpr::select(a - b, node.constant(0), node.constant(1));
}

/// Axes known only at run time. Without the folded axes in the result its rank
/// comes from the number of axes.
static Result<ReducedAxes> dataAxes(NodeImport &node, bool keepDims,
                                    bool emptyIsNone) {
  TW_RETURN_IF_ERROR(requireInteger(node, 1));
  TW_RETURN_IF_ERROR(requireRank(node, 1, 1));
  std::optional<int64_t> axesCount = node.dims(1)[0].getConstant();
  Dims dims = node.dims(0);
  if (!keepDims && !axesCount) {
    return node.error(
        ErrorCode::UnsupportedShape,
        "the number of axes must be known at compile time where keepdims is 0");
  }
  Result<Dims> flags = foldedFlags(node, emptyIsNone);
  if (!flags) {
    return flags.status();
  }
  ReducedAxes result;
  result.axesAreData = true;
  for (size_t i = 0; i < dims.size(); ++i) {
    result.kept.push_back(
        DimExpr::select((*flags)[i], node.constant(1), dims[i]));
    result.extents.push_back(
        DimExpr::select((*flags)[i], dims[i], node.constant(1)));
    result.extentOf.push_back(i);
  }
  if (keepDims) {
    result.dims = result.kept;
    return result;
  }
  int64_t folded = *axesCount > 0 ? *axesCount : emptyIsNone ? 0 : dims.size();
  for (int64_t k = 0; k + folded < static_cast<int64_t>(dims.size()); ++k) {
    // The k-th axis that stays: the one with k such axes before it.
    DimExpr size = node.constant(0), before = node.constant(0);
    for (size_t i = 0; i < dims.size(); ++i) {
      DimExpr stays = node.constant(1) - (*flags)[i];
      size = size + stays * isEqual(node, before, k) * dims[i];
      before = before + stays;
    }
    result.dims.push_back(size);
  }
  return result;
}

Result<ReducedAxes> reducedAxes(NodeImport &node) {
  bool keepDims = node.intAttribute("keepdims", 1) != 0;
  bool emptyIsNone = node.intAttribute("noop_with_empty_axes", 0) != 0;
  if (node.hasInput(1) && !node.constantElements(1)) {
    return dataAxes(node, keepDims, emptyIsNone);
  }
  int64_t rank = node.rank(0);
  Result<std::optional<SmallVector<int64_t>>> axes =
      constantAxes(node, 1, rank);
  if (!axes) {
    return axes.status();
  }
  SmallVector<int64_t> list = axes->value_or(SmallVector<int64_t>());
  if (list.empty() && !emptyIsNone) {
    list = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  }
  return reducedAxes(node, list, keepDims);
}

} // namespace tilewright::frontend
