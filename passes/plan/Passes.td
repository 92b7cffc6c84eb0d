//===- Passes.td - the plan phase --------------------------*- tablegen -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#ifndef TILEWRIGHT_PASSES_PLAN_PASSES
#define TILEWRIGHT_PASSES_PLAN_PASSES

include "mlir/Pass/PassBase.td"

def PrintPlan : Pass<"tw-print-plan", "::mlir::ModuleOp"> {
  let summary = "Print the plan of @main";
  let description = [{
    Plans the module and prints commands, storage and lifetimes on standard
    error. A region without a tactic is launched as one task of a kernel of the
    region's name.
  }];
  let constructor = "::tilewright::createPrintPlanPass()";
  let options = [Option<"remarks", "remarks", "bool", "false",
                        "Emit every decision as an MLIR remark">,
                 Option<"inPlace", "in-place", "bool", "false",
                        "Let regions write results over operands">];
}

#endif // TILEWRIGHT_PASSES_PLAN_PASSES
