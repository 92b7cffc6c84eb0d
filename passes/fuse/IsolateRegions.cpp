//===- IsolateRegions.cpp - one region per primitive ----------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// A reference compile fuses nothing: every primitive is a region alone.
//
//===----------------------------------------------------------------------===//

#include "passes/fuse/BuildRegion.h"
#include "passes/fuse/Passes.h"

using namespace mlir;

namespace tilewright {

#define GEN_PASS_DEF_ISOLATEREGIONS
#include "passes/fuse/Passes.h.inc"

using namespace tw;

namespace {

class IsolateRegions : public impl::IsolateRegionsBase<IsolateRegions> {
public:
  void runOnOperation() override {
    SmallVector<Operation *> primitives;
    getOperation()->walk([&](Operation *op) {
      if (isPrimitive(op) && !op->getParentOfType<FusedOp>()) {
        primitives.push_back(op);
      }
    });
    RegionNames names;
    for (Operation *op : primitives) {
      OpBuilder builder(op);
      buildRegion(builder, op, shapeOf(op), names);
    }
  }
};

} // namespace

std::unique_ptr<Pass> createIsolateRegionsPass() {
  return std::make_unique<IsolateRegions>();
}

} // namespace tilewright
