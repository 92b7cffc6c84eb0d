//===- PrintPlanPass.cpp - print the plan of @main ------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "passes/plan/Passes.h"
#include "passes/plan/PlanBuilder.h"

using namespace mlir;
using namespace tilewright::tw;

namespace tilewright {

#define GEN_PASS_DEF_PRINTPLAN
#include "passes/plan/Passes.h.inc"

namespace {

class PrintPlan : public impl::PrintPlanBase<PrintPlan> {
public:
  void runOnOperation() override {
    MLIRContext *context = &getContext();
    auto launchOf = [&](FusedOp region) -> Result<plan::KernelLaunch> {
      plan::KernelLaunch launch;
      launch.kernel = region.getSymName().str();
      launch.tasks = DimExpr::constant(context, 1);
      launch.workspace = DimExpr::constant(context, 0);
      launch.inPlace = inPlace;
      return launch;
    };
    Result<plan::BuiltPlan> built =
        plan::buildPlan(getOperation(), launchOf, Decisions(nullptr, remarks));
    if (!built) {
      getOperation().emitError(built.status().message());
      return signalPassFailure();
    }
    plan::printPlan(built->plan, llvm::errs());
  }
};

} // namespace

std::unique_ptr<Pass> createPrintPlanPass() {
  return std::make_unique<PrintPlan>();
}

} // namespace tilewright
