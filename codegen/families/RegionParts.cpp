//===- RegionParts.cpp - a region becomes several -------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "codegen/families/RegionParts.h"

using namespace mlir;
using namespace tilewright::tw;

namespace tilewright::families {

/// Drops operands that the region does not read.
static void dropUnused(FusedOp op) {
  Block &block = op.getBody().front();
  for (unsigned i = block.getNumArguments(); i-- > 0;) {
    if (block.getArgument(i).use_empty()) {
      block.eraseArgument(i);
      op.getInputsMutable().erase(i);
    }
  }
}

FusedOp buildRegionLike(
    OpBuilder &builder, FusedOp like, const Twine &name, ValueRange inputs,
    TypeRange results,
    llvm::function_ref<SmallVector<Value>(OpBuilder &, Block &)> build) {
  auto region =
      FusedOp::create(builder, like.getLoc(), results,
                      builder.getStringAttr(name), inputs, Attribute());
  Block *block = builder.createBlock(&region.getBody());
  for (Value input : inputs) {
    block->addArgument(input.getType(), input.getLoc());
  }
  SmallVector<Value> values = build(builder, *block);
  YieldOp::create(builder, like.getLoc(), values);
  builder.setInsertionPointAfter(region);
  dropUnused(region);
  return region;
}

} // namespace tilewright::families
