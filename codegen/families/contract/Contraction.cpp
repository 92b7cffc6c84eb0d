//===- Contraction.cpp - rows, columns and batches ------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "codegen/families/contract/Contraction.h"
#include "codegen/families/emit/Access.h"
#include "codegen/families/emit/Guards.h"

using namespace mlir;
using namespace tilewright::tw;

namespace tilewright::families {

std::optional<Contraction> contractionOf(const FusedRegion &region) {
  ReduceOp reduce = region.getReduce();
  Operation *product = productOfBody(reduce);
  if (!product) {
    return std::nullopt;
  }
  Block &body = reduce.getBody().front();
  TileDomain domain = tileDomainOf(region);
  Contraction result;
  result.rows.factor = product->getOperand(0);
  result.columns.factor = product->getOperand(1);
  result.reduction = domain.reductions.front();
  for (const TileAxis &axis : domain.parallel) {
    BlockArgument coordinate = body.getArgument(axis.last);
    bool isRow = dependsOn(result.rows.factor, coordinate);
    bool isColumn = dependsOn(result.columns.factor, coordinate);
    (isRow == isColumn ? result.batches
     : isRow           ? result.rows.axes
                       : result.columns.axes)
        .push_back(axis);
  }
  if (!domain.reductions.front().empty()) {
    BlockArgument along = body.getArgument(
        reduce.getParallelRank() + domain.reductions.front().back().last);
    for (Contraction::Side *side : {&result.rows, &result.columns}) {
      auto needed = neededFor(side->factor);
      for (LoadOp load : body.getOps<LoadOp>()) {
        side->isContiguous |=
            needed.contains(load) &&
            movementOf(load, along, 1) == Movement::Contiguous;
      }
    }
  }
  return result;
}

} // namespace tilewright::families
