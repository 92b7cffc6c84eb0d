//===- AxisOrder.h - the order in which axes lie in memory ------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "ir/TwOps.h"
#include "passes/fuse/ReshapeCoordinates.h"
#include <string>

namespace tilewright {

/// For each position, outermost first, the axis of the original type there.
using AxisOrder = llvm::SmallVector<unsigned>;

AxisOrder identityOrder(unsigned rank);
bool isIdentity(llvm::ArrayRef<unsigned> order);

/// The axes in their order, but for `last`, which come at the end.
AxisOrder moveToEnd(unsigned rank, llvm::ArrayRef<unsigned> last);

/// What `items`, by axis, are by position.
template <typename Range>
auto permuted(const Range &items, llvm::ArrayRef<unsigned> order) {
  return llvm::map_to_vector(order, [&](unsigned axis) { return items[axis]; });
}

/// \returns the order that a reshape's result has where its source has `order`
/// and no element moves; nullopt where there is none.
std::optional<AxisOrder> orderBehindReshape(llvm::ArrayRef<ReshapeGroup> groups,
                                            llvm::ArrayRef<unsigned> order);

/// \returns the order of the source that gives the result `order`, likewise.
std::optional<AxisOrder> orderBeforeReshape(llvm::ArrayRef<ReshapeGroup> groups,
                                            llvm::ArrayRef<unsigned> order);

/// "stored channels-last", or the order in words.
std::string describe(llvm::ArrayRef<unsigned> order);

} // namespace tilewright
