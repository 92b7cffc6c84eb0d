//===- Matmul.cpp - matrix products ---------------------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "frontend/ops/Families.h"
#include "frontend/ops/Products.h"
#include "frontend/ops/Scalars.h"

using namespace mlir;

namespace tilewright::frontend {

Result<Dims> matmulDims(NodeImport &node, ArrayRef<DimExpr> lhs,
                        ArrayRef<DimExpr> rhs) {
  if (lhs.empty() || rhs.empty()) {
    return node.error(ErrorCode::ShapeMismatch,
                      "a matrix product needs operands of rank 1 or more");
  }
  DimExpr left = lhs.back(),
          right = rhs.size() == 1 ? rhs.back() : rhs[rhs.size() - 2];
  if (!mayBeEqual(left, right)) {
    return node.error(ErrorCode::ShapeMismatch,
                      "the inner sizes of " + textOf(lhs) + " and " +
                          textOf(rhs) + " differ: " + left.toString() +
                          " and " + right.toString());
  }
  auto batchOf = [](ArrayRef<DimExpr> dims) {
    return Dims(dims.size() > 2 ? dims.drop_back(2) : ArrayRef<DimExpr>());
  };
  Result<Dims> dims = node.broadcastDims({batchOf(lhs), batchOf(rhs)});
  if (!dims) {
    return dims;
  }
  if (lhs.size() > 1) {
    dims->push_back(lhs[lhs.size() - 2]);
  }
  if (rhs.size() > 1) {
    dims->push_back(rhs.back());
  }
  return dims;
}

Result<Value> matmul(NodeImport &node, Value lhs, Value rhs, Type element) {
  Result<Dims> dims =
      matmulDims(node, tw::dimsOf(lhs.getType()), tw::dimsOf(rhs.getType()));
  if (!dims) {
    return dims.status();
  }
  return Value(tw::MatmulOp::create(
      node.builder(), node.loc(), tw::tensorType(*dims, element), lhs, rhs,
      /*transposeA=*/false, /*transposeB=*/false));
}

static Status importMatMul(NodeImport &node) {
  TW_RETURN_IF_ERROR(requireNumber(node, 0));
  TW_RETURN_IF_ERROR(requireSameElement(node, 2));
  Result<Value> result =
      matmul(node, node.input(0), node.input(1), node.element(0));
  if (!result) {
    return result.status();
  }
  node.setOutput(0, *result);
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// Gemm
//===----------------------------------------------------------------------===//

/// alpha * product + beta * C. Integers are scaled as reals where the factors
/// are not whole.
static Value combine(BodyBuilder &b, ValueRange x, Type element, double alpha,
                     double beta) {
  auto scaled = [&](Value scalar, double factor) -> Value {
    if (factor == 1.0) {
      return scalar;
    }
    if (isFloat(element) ||
        factor == static_cast<double>(static_cast<int64_t>(factor))) {
      return b.mulOf(scalar, b.constant(scalar.getType(), factor));
    }
    Type real = b.getF64Type();
    Value wide = b.cast(scalar, element, real);
    return b.cast(b.mulOf(wide, b.constant(real, factor)), real, element);
  };
  Value result = scaled(x[0], alpha);
  return x.size() > 1 ? b.addOf(result, scaled(x[1], beta)) : result;
}

static Status importGemm(NodeImport &node) {
  TW_RETURN_IF_ERROR(requireNumber(node, 0));
  TW_RETURN_IF_ERROR(requireSameElement(node, 3));
  TW_RETURN_IF_ERROR(requireRank(node, 0, 2));
  TW_RETURN_IF_ERROR(requireRank(node, 1, 2));
  bool transposeA = node.intAttribute("transA", 0) != 0;
  bool transposeB = node.intAttribute("transB", 0) != 0;
  double alpha = node.floatAttribute("alpha", 1.0),
         beta = node.floatAttribute("beta", 1.0);
  Dims a = node.dims(0), b = node.dims(1);
  if (transposeA) {
    std::swap(a[0], a[1]);
  }
  if (transposeB) {
    std::swap(b[0], b[1]);
  }
  Result<Dims> dims = matmulDims(node, a, b);
  if (!dims) {
    return dims.status();
  }
  Type element = node.element(0), wide = tw::computeType(element);
  bool hasC = node.hasInput(2) && beta != 0.0;
  bool needsMap = hasC || alpha != 1.0;
  Value product = tw::MatmulOp::create(
      node.builder(), node.loc(),
      tw::tensorType(*dims, needsMap ? wide : element), node.input(0),
      node.input(1), transposeA, transposeB);
  if (!needsMap) {
    node.setOutput(0, product);
    return Status::ok();
  }
  SmallVector<Value> operands{product};
  if (hasC) {
    Dims c = node.dims(2);
    bool fits = c.size() <= 2;
    for (size_t i = 0; fits && i < c.size(); ++i) {
      fits = c[i].isConstant(1) || mayBeEqual(c[i], (*dims)[2 - c.size() + i]);
    }
    if (!fits) {
      return node.error(ErrorCode::ShapeMismatch,
                        "C of shape " + textOf(c) + " does not broadcast to " +
                            textOf(*dims));
    }
    operands.push_back(node.input(2));
  }
  node.setOutput(
      0, tw::buildElementwise(node.builder(), node.loc(), *dims, element,
                              operands, [&](BodyBuilder &body, ValueRange x) {
                                return combine(body, x, element, alpha, beta);
                              }));
  return Status::ok();
}

OperatorFamily matmulOperators() {
  static const OperatorEntry entries[] = {
      {"", "Gemm", 1, importGemm},
      {"", "MatMul", 1, importMatMul},
  };
  return entries;
}

} // namespace tilewright::frontend
