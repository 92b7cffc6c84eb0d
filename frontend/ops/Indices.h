//===- Indices.h - coordinates that are data --------------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "frontend/ops/Common.h"

namespace tilewright::frontend {

/// Reads a coordinate of an axis of size `bound` from input `input`; negative
/// ones count from the end, others outside are reported at run time.
Value loadIndex(NodeImport &node, BodyBuilder &body, size_t input,
                ValueRange position, DimExpr bound);

/// Reads `source` at a position that holds coordinates made by loadIndex();
/// nothing where one of their `bounds` is zero, since no index fits then.
Value loadIndexed(BodyBuilder &body, Value source, ValueRange position,
                  ArrayRef<DimExpr> bounds);

/// Sizes `inner` must not exceed `outer`, except on axis `except`.
Status checkInside(NodeImport &node, ArrayRef<DimExpr> inner,
                   ArrayRef<DimExpr> outer, int64_t except);

/// The attribute `axis` of GatherElements and ScatterElements, whose indices
/// (input 1) have the data's rank, after checks of ranks and types.
Result<int64_t> elementsAxis(NodeImport &node);

/// The last size of the indices (input 1) of GatherND and ScatterND, after
/// checks of ranks and types.
Result<int64_t> tupleLength(NodeImport &node, int64_t batchDims);

/// A size that input `input` holds as its one element, of any numeric type.
Result<Dims> readDepth(NodeImport &node, size_t input);

} // namespace tilewright::frontend
