//===- ArgScan.cpp - positions of extremes, and running sums --------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "frontend/ops/Axes.h"
#include "frontend/ops/Families.h"
#include "frontend/ops/Ordering.h"

using namespace mlir;

namespace tilewright::frontend {

Value orderedScalar(BodyBuilder &body, Value scalar, Type element) {
  if (!tw::isUnsigned(element)) {
    return body.widen(scalar);
  }
  // Flipping the top bit turns unsigned order into signed order.
  unsigned width = cast<IntegerType>(scalar.getType()).getWidth();
  Value top = body.integer(scalar.getType(),
                           APInt::getSignedMinValue(width).getSExtValue());
  return body.create<arith::XOrIOp>(scalar, top);
}

/// The position of the extreme element along `axis`, which stays with size one.
static Value positionOfExtreme(NodeImport &node, FoldKind kind, int64_t axis) {
  ReducedAxes axes = reducedAxes(node, axis, /*keepDims=*/true);
  return tw::buildReduce(
      node.builder(), node.loc(), kind, axes.kept, axes.extents,
      node.builder().getI64Type(), [&](BodyBuilder &body, ValueRange at) {
        Value x = body.load(node.input(0), axes.inputCoordinates(body, at));
        return orderedScalar(body, x, node.element(0));
      });
}

template <bool isMax> static Status importArg(NodeImport &node) {
  TW_RETURN_IF_ERROR(requireNumber(node, 0));
  TW_RETURN_IF_ERROR(requireRankAtLeast(node, 0, 1));
  Result<int64_t> axis =
      node.normalizeAxis(node.intAttribute("axis", 0), node.rank(0));
  if (!axis) {
    return axis.status();
  }
  bool last = node.intAttribute("select_last_index", 0) != 0;
  FoldKind kind = isMax ? (last ? FoldKind::ArgMaxLast : FoldKind::ArgMax)
                        : (last ? FoldKind::ArgMinLast : FoldKind::ArgMin);
  bool keepDims = node.intAttribute("keepdims", 1) != 0;
  Value position = positionOfExtreme(node, kind, *axis);
  node.setOutput(0, tw::buildReshape(node.builder(), node.loc(), position,
                                     reducedAxes(node, *axis, keepDims).dims));
  return Status::ok();
}

/// One at the first greatest element along an axis, zero elsewhere. Before
/// opset 13 all axes from `axis` on count as one.
static Status importHardmax(NodeImport &node) {
  TW_RETURN_IF_ERROR(requireFloat(node, 0));
  TW_RETURN_IF_ERROR(requireRankAtLeast(node, 0, 1));
  bool flattens = node.version() < 13;
  Result<int64_t> axis = node.normalizeAxis(
      node.intAttribute("axis", flattens ? 1 : -1), node.rank(0));
  if (!axis) {
    return axis.status();
  }
  SmallVector<int64_t> folded{*axis};
  if (flattens) {
    folded = llvm::to_vector(llvm::seq<int64_t>(*axis, node.rank(0)));
  }
  ReducedAxes axes = reducedAxes(node, folded, /*keepDims=*/true);
  Type i64 = node.builder().getI64Type();
  Value position =
      tw::buildReduce(node.builder(), node.loc(), FoldKind::ArgMax, axes.kept,
                      axes.extents, i64, [&](BodyBuilder &body, ValueRange at) {
                        return body.widen(body.load(
                            node.input(0), axes.inputCoordinates(body, at)));
                      });
  Type element = node.element(0);
  Value result = tw::buildMap(
      node.builder(), node.loc(), node.dims(0), element,
      [&](BodyBuilder &body, ValueRange at) {
        Value own = body.index(0);
        for (auto [i, extent] : llvm::zip(folded, axes.extents)) {
          own = body.add(body.mul(own, body.size(extent)), at[i]);
        }
        Value winner = body.createOrFold<arith::IndexCastOp>(
            body.getIndexType(), body.loadBroadcast(position, at));
        return body.select(body.equal(own, winner), body.constant(element, 1),
                           body.constant(element, 0));
      });
  node.setOutput(0, result);
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// CumSum, CumProd
//===----------------------------------------------------------------------===//

static Value scanAlong(NodeImport &node, FoldKind kind, int64_t axis) {
  bool exclusive = node.intAttribute("exclusive", 0) != 0;
  bool reverse = node.intAttribute("reverse", 0) != 0;
  Type element = node.element(0), accumulator = tw::computeType(element);
  Value result = tw::buildScan(
      node.builder(), node.loc(), kind, axis, exclusive, reverse, node.dims(0),
      accumulator, [&](BodyBuilder &body, ValueRange at) {
        return body.widen(body.load(node.input(0), at));
      });
  return castTensor(node, result, element);
}

template <FoldKind kind> static Status importScan(NodeImport &node) {
  TW_RETURN_IF_ERROR(requireNumber(node, 0));
  TW_RETURN_IF_ERROR(requireInteger(node, 1));
  int64_t rank = node.rank(0);
  if (std::optional<SmallVector<int64_t>> known = node.constantElements(1)) {
    if (known->size() != 1) {
      return node.error(ErrorCode::ShapeMismatch, "axis must be one number");
    }
    Result<int64_t> axis = node.normalizeAxis(known->front(), rank);
    if (!axis) {
      return axis.status();
    }
    node.setOutput(0, scanAlong(node, kind, *axis));
    return Status::ok();
  }
  // An axis that is data picks one of the scans.
  Value result = node.input(0), axis = node.input(1);
  Type axisType = node.element(1), i64 = node.builder().getI64Type();
  for (int64_t i = 0; i < rank; ++i) {
    Value scan = scanAlong(node, kind, i);
    result =
        tw::buildMap(node.builder(), node.loc(), node.dims(0), node.element(0),
                     [&](BodyBuilder &body, ValueRange at) {
                       SmallVector<Value> first(node.rank(1), body.index(0));
                       Value wanted =
                           body.cast(body.load(axis, first), axisType, i64);
                       Value chosen = body.create<arith::OrIOp>(
                           body.equalOf(wanted, body.integer(i64, i)),
                           body.equalOf(wanted, body.integer(i64, i - rank)));
                       return body.select(chosen, body.load(scan, at),
                                          body.load(result, at));
                     });
  }
  node.setOutput(0, result);
  return Status::ok();
}

OperatorFamily argScanOperators() {
  static const OperatorEntry entries[] = {
      {"", "ArgMax", 1, importArg<true>},
      {"", "ArgMin", 1, importArg<false>},
      {"", "CumProd", 26, importScan<FoldKind::Mul>},
      {"", "CumSum", 11, importScan<FoldKind::Add>},
      {"", "Hardmax", 1, importHardmax},
  };
  return entries;
}

} // namespace tilewright::frontend
