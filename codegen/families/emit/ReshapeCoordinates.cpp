//===- ReshapeCoordinates.cpp - coordinates across a reshape --------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "codegen/families/emit/ReshapeCoordinates.h"
#include "passes/fuse/ReshapeCoordinates.h"

using namespace mlir;
using namespace tilewright::tw;

namespace tilewright::families {

SmallVector<Lanes> reshapeCoordinates(KernelFrame &frame,
                                      ArrayRef<DimExpr> from,
                                      ArrayRef<DimExpr> to,
                                      ArrayRef<Lanes> coordinates) {
  if (from == to) {
    return SmallVector<Lanes>(coordinates);
  }
  LaneBuilder &b = frame.getBuilder();
  SmallVector<Lanes> result(to.size(), Lanes::index(0));
  for (const ReshapeGroup &group : groupAxes(from, to)) {
    Lanes linear = Lanes::index(0);
    for (unsigned i : group.from) {
      linear = b.add(b.mul(linear, frame.size(from[i])), coordinates[i]);
    }
    for (unsigned j : llvm::reverse(group.to)) {
      if (j == group.to.front()) {
        result[j] = linear;
        break;
      }
      Lanes extent = b.max(frame.size(to[j]), Lanes::index(1));
      result[j] = b.mod(linear, extent);
      linear = b.floorDiv(linear, extent);
    }
  }
  return result;
}

} // namespace tilewright::families
