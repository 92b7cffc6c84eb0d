//===- Passes.td - passes of the layout phase -------------------*- tablegen -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#ifndef TILEWRIGHT_PASSES_LAYOUT_PASSES
#define TILEWRIGHT_PASSES_LAYOUT_PASSES

include "mlir/Pass/PassBase.td"

def SelectLayouts : Pass<"tw-select-layouts", "::mlir::ModuleOp"> {
  let summary = "Store every value in the axis order that costs least over the graph";
  let description = [{
    A layout is an order of a tensor type's axes. The results of maps and
    reductions may take any; maps that read each other at their own coordinates
    take one together. A reshape hands an order on where it moves whole groups
    of axes; elsewhere, and where a value leaves the graph's primitives, a map
    copies it into row-major order. The orders are chosen by a static cost:
    what vector lanes make of each load and store, times the elements.
  }];
  let constructor = "::tilewright::createSelectLayoutsPass()";
  let options = [
    Option<"remarks", "remarks", "bool", "false",
           "Emit every decision as an MLIR remark">,
    Option<"lanes", "lanes", "unsigned", "16",
           "Elements of a vector register">
  ];
  let dependentDialects = ["::tilewright::tw::TwDialect"];
}

#endif // TILEWRIGHT_PASSES_LAYOUT_PASSES
