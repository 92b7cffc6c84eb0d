//===- Products.h - matrix products and convolutions ------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// What the float and the integer forms of an operator share.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "frontend/ops/Common.h"

namespace tilewright::frontend {

/// The shape of numpy's matmul; ShapeMismatch where the operands do not fit.
Result<Dims> matmulDims(NodeImport &node, ArrayRef<DimExpr> lhs,
                        ArrayRef<DimExpr> rhs);

/// `tw.matmul` with results of type `element`.
Result<Value> matmul(NodeImport &node, Value lhs, Value rhs, Type element);

/// `tw.conv` by the node's attributes, with results of type `element`; `bias`
/// may be null.
Result<Value> convolution(NodeImport &node, Value input, Value weights,
                          Value bias, Type element);

} // namespace tilewright::frontend
