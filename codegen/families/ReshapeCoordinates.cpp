//===- ReshapeCoordinates.cpp - coordinates across a reshape --------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "codegen/families/ReshapeCoordinates.h"

using namespace mlir;
using namespace tilewright::tw;

namespace tilewright::families {

namespace {

/// A run of axes on each side with the same number of elements.
struct Group {
  unsigned fromBegin, fromEnd, toBegin, toEnd;
};

} // namespace

/// Splits both shapes into the shortest runs of equal size; what cannot be told
/// apart ends up in one run.
static SmallVector<Group> groupsOf(MLIRContext *context, ArrayRef<DimExpr> from,
                                   ArrayRef<DimExpr> to) {
  SmallVector<Group> groups;
  unsigned i = 0, j = 0;
  while (i < from.size() || j < to.size()) {
    Group group{i, i, j, j};
    bool isClosed = false;
    // The shortest equal run, shorter ones on the left first.
    for (unsigned length = 1;
         !isClosed && length <= from.size() - i + to.size() - j; ++length) {
      for (unsigned left = 0;
           left <= std::min<unsigned>(length, from.size() - i); ++left) {
        unsigned right = length - left;
        if (right > to.size() - j) {
          continue;
        }
        if (productOf(context, from.slice(i, left)) ==
            productOf(context, to.slice(j, right))) {
          group.fromEnd = i + left;
          group.toEnd = j + right;
          isClosed = true;
          break;
        }
      }
    }
    if (!isClosed) {
      group.fromEnd = from.size();
      group.toEnd = to.size();
    }
    groups.push_back(group);
    i = group.fromEnd;
    j = group.toEnd;
  }
  return groups;
}

SmallVector<Lanes> reshapeCoordinates(KernelFrame &frame,
                                      ArrayRef<DimExpr> from,
                                      ArrayRef<DimExpr> to,
                                      ArrayRef<Lanes> coordinates) {
  if (from == to) {
    return SmallVector<Lanes>(coordinates);
  }
  LaneBuilder &b = frame.getBuilder();
  SmallVector<Lanes> result(to.size(), Lanes::index(0));
  for (const Group &group :
       groupsOf(frame.getRegion().op.getContext(), from, to)) {
    Lanes linear = Lanes::index(0);
    for (unsigned i = group.fromBegin; i < group.fromEnd; ++i) {
      linear = b.add(b.mul(linear, frame.size(from[i])), coordinates[i]);
    }
    for (unsigned j = group.toEnd; j-- > group.toBegin;) {
      if (j == group.toBegin) {
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
