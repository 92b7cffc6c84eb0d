//===- Slices.cpp - values that lie within others -------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "ir/Slices.h"

using namespace mlir;

namespace tilewright::tw {

JoinOp joinOf(Value value) {
  for (Operation *user : value.getUsers()) {
    if (auto join = dyn_cast<JoinOp>(user)) {
      return join;
    }
  }
  return {};
}

std::optional<Slice> sliceOf(Value value) {
  std::optional<Slice> slice;
  while (JoinOp join = joinOf(value)) {
    unsigned axis = join.getAxis();
    if (!slice) {
      slice = Slice{Type(), axis, DimExpr::constant(value.getContext(), 0)};
    }
    for (Value part : join.getParts()) {
      if (part == value) {
        break;
      }
      slice->offset = slice->offset + dimsOf(part.getType())[axis];
    }
    slice->whole = join.getType();
    value = join.getResult();
  }
  return slice;
}

std::optional<Slice> sliceOfArgument(BlockArgument argument) {
  auto fused = dyn_cast<FusedOp>(argument.getOwner()->getParentOp());
  return fused ? sliceOf(fused.getInputs()[argument.getArgNumber()])
               : std::nullopt;
}

std::optional<Slice> sliceOfResult(FusedOp op, unsigned result) {
  return sliceOf(op.getResults()[result]);
}

} // namespace tilewright::tw
