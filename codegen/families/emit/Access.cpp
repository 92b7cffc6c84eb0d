//===- Access.cpp - how loads move along a coordinate ---------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "codegen/families/emit/Access.h"
#include "passes/fuse/Slopes.h"

using namespace mlir;
using namespace tilewright::tw;

namespace tilewright::families {

Movement movementOf(LoadOp load, BlockArgument coordinate, int64_t width) {
  ValueRange indices = load.getIndices();
  SmallVector<DimExpr> strides =
      stridesOf(load.getContext(), dimsOf(load.getSource().getType()));
  int64_t total = 0;
  bool isFixed = false;
  SlopeAnalysis slopes(coordinate, width);
  for (auto [index, stride] : llvm::zip(indices, strides)) {
    Slope slope = slopes.of(index);
    if (slope.isZero()) {
      continue;
    }
    if (slope.kind == Slope::Unknown) {
      return Movement::Irregular;
    }
    if (slope.kind == Slope::Fixed || !stride.getConstant()) {
      isFixed = true;
      continue;
    }
    total += slope.value * *stride.getConstant();
  }
  if (isFixed) {
    return Movement::Strided;
  }
  return total == 0   ? Movement::None
         : total == 1 ? Movement::Contiguous
                      : Movement::Strided;
}

} // namespace tilewright::families
