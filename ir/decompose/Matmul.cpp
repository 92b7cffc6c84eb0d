//===- Matmul.cpp - what matmul means -------------------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "ir/BodyBuilder.h"

using namespace mlir;

namespace tilewright::tw {

/// Coordinates of an operand: its batch axes broadcast against the result's,
/// its matrix axes are `row` and `column`, either of which may be absent.
static SmallVector<Value> coordinatesOf(BodyBuilder &body, Value operand,
                                        ValueRange batch, ValueRange matrix) {
  SmallVector<DimExpr> dims = dimsOf(operand.getType());
  size_t batchRank = dims.size() - matrix.size();
  SmallVector<Value> coordinates;
  for (auto [dim, coordinate] : llvm::zip(ArrayRef(dims).take_front(batchRank),
                                          batch.take_back(batchRank))) {
    coordinates.push_back(dim.isConstant(1) ? body.index(0) : coordinate);
  }
  llvm::append_range(coordinates, matrix);
  return coordinates;
}

FailureOr<SmallVector<Value>> MatmulOp::decompose(OpBuilder &builder) {
  auto resultType = cast<RankedTensorType>(getType());
  SmallVector<DimExpr> dims = dimsOf(resultType);
  SmallVector<DimExpr> lhsDims = dimsOf(getLhs().getType());
  bool lhsIsRow = lhsDims.size() == 1;
  bool rhsIsColumn = dimsOf(getRhs().getType()).size() == 1;
  size_t batchRank = dims.size() - !lhsIsRow - !rhsIsColumn;
  DimExpr inner = lhsIsRow || !getTransposeA() ? lhsDims.back()
                                               : lhsDims[lhsDims.size() - 2];

  Type element = resultType.getElementType();
  Type accumulator = computeType(element);
  Value product = buildReduce(
      builder, getLoc(), FoldKind::Add, dims, {inner}, accumulator,
      [&](BodyBuilder &body, ValueRange at) {
        ValueRange batch = at.take_front(batchRank);
        Value k = at.back();
        Value m = lhsIsRow ? Value() : at[batchRank];
        Value n = rhsIsColumn ? Value() : at[dims.size() - 1];
        SmallVector<Value> left = lhsIsRow          ? SmallVector<Value>{k}
                                  : getTransposeA() ? SmallVector<Value>{k, m}
                                                    : SmallVector<Value>{m, k};
        SmallVector<Value> right = rhsIsColumn       ? SmallVector<Value>{k}
                                   : getTransposeB() ? SmallVector<Value>{n, k}
                                                     : SmallVector<Value>{k, n};
        Value a =
            body.load(getLhs(), coordinatesOf(body, getLhs(), batch, left));
        Value b =
            body.load(getRhs(), coordinatesOf(body, getRhs(), batch, right));
        return body.mulOf(body.widen(a), body.widen(b));
      },
      "matmul");
  if (accumulator == element) {
    return SmallVector<Value>{product};
  }
  return SmallVector<Value>{
      buildElementwise(builder, getLoc(), dims, element, product,
                       [](BodyBuilder &, ValueRange x) { return x[0]; })};
}

} // namespace tilewright::tw
