//===- Decompose.cpp - named operations become primitives -----------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// The meaning of a named operation is written once, in its `decompose`; from
// here on only primitives are left. Their attribute `root` keeps the name.
//
//===----------------------------------------------------------------------===//

#include "passes/ReasonCodes.h"
#include "passes/fuse/Passes.h"

using namespace mlir;

namespace tilewright {

#define GEN_PASS_DEF_DECOMPOSE
#include "passes/fuse/Passes.h.inc"

using namespace tw;

/// Replaces `op` by its primitives.
static LogicalResult decompose(DecomposeInterface op) {
  OpBuilder builder(op);
  FailureOr<SmallVector<Value>> values = op.decompose(builder);
  if (failed(values)) {
    return op->emitError("cannot be decomposed into primitives");
  }
  op->replaceAllUsesWith(*values);
  op->erase();
  return success();
}

namespace {

class Decompose : public impl::DecomposeBase<Decompose> {
public:
  explicit Decompose(DecisionLog *log) : log(log) {}

  void runOnOperation() override {
    Decisions decisions(log, remarks);
    SmallVector<DecomposeInterface> named;
    getOperation()->walk([&](DecomposeInterface op) { named.push_back(op); });
    for (DecomposeInterface op : named) {
      decisions.did(reasons::decomposed, op->getLoc(),
                    op->getName().getStringRef());
      if (failed(decompose(op))) {
        return signalPassFailure();
      }
    }
  }

private:
  DecisionLog *log;
};

} // namespace

std::unique_ptr<Pass> createDecomposePass(DecisionLog *log) {
  return std::make_unique<Decompose>(log);
}

} // namespace tilewright
