//===- SelectLayouts.cpp - an order of axes for every value ---------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// A body reads operands by coordinates, so a layout is nothing but the order of
// a tensor type's axes: permuting them in the type, in the producer's
// coordinates and in every load changes no element. Which orders to take is a
// question of cost over the whole graph (LayoutCost.h). Convolutions come out
// channels-last, where vector lanes run along output channels and store whole
// vectors; attention's transposes meet the order of what they read.
//
//===----------------------------------------------------------------------===//

#include "passes/fuse/Access.h"
#include "passes/layout/ApplyOrders.h"
#include "passes/layout/ChooseOrders.h"
#include "passes/layout/Passes.h"

using namespace mlir;

namespace tilewright {

#define GEN_PASS_DEF_SELECTLAYOUTS
#include "passes/layout/Passes.h.inc"

using namespace tw;

static std::string nameOf(Operation *primitive) {
  auto root = primitive->getAttrOfType<StringAttr>("root");
  return root ? root.str() : isa<MapOp>(primitive) ? "map" : "reduction";
}

namespace {

class SelectLayouts : public impl::SelectLayoutsBase<SelectLayouts> {
public:
  SelectLayouts(DecisionLog *log, unsigned vectorLanes) : log(log) {
    lanes = vectorLanes;
  }

  void runOnOperation() override {
    Decisions decisions(log, remarks);
    LayoutGraph graph(getOperation(), lanes);
    LayoutCost cost(graph, lanes);
    chooseOrders(graph, cost);
    for (const LayoutNode &node : graph.getNodes()) {
      const OrderClass &own = graph.getClasses()[node.orderClass];
      if (!isIdentity(own.order)) {
        decisions.did(reasons::orderChosen, node.op->getLoc(),
                      nameOf(node.op) + " " + describe(own.order));
        applyOrder(node.op, own.order, decisions);
      } else if (own.mayMove && node.isContraction) {
        decisions.refused(reasons::orderKept, node.op->getLoc(),
                          nameOf(node.op) + " stored row-major");
      }
    }
    for (Block *block : graphBlocks(getOperation())) {
      removeCopies(*block);
    }
  }

private:
  DecisionLog *log;
};

} // namespace

std::unique_ptr<Pass> createSelectLayoutsPass(DecisionLog *log,
                                              unsigned vectorLanes) {
  return std::make_unique<SelectLayouts>(log, vectorLanes);
}

} // namespace tilewright
