//===- Passes.td - passes of the fuse phase ---------------------*- tablegen -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#ifndef TILEWRIGHT_PASSES_FUSE_PASSES
#define TILEWRIGHT_PASSES_FUSE_PASSES

include "mlir/Pass/PassBase.td"

class FusePass<string name> : Pass<name, "::mlir::ModuleOp"> {
  list<Option> common = [Option<"remarks", "remarks", "bool", "false",
                                "Emit every decision as an MLIR remark">];
  let options = common;
  let dependentDialects = ["::tilewright::tw::TwDialect"];
}

def Decompose : FusePass<"tw-decompose"> {
  let summary = "Replace named operations by the primitives that they mean";
  let constructor = "::tilewright::createDecomposePass()";
}

def DropUnitAxes : FusePass<"tw-drop-unit-axes"> {
  let summary = "Drop axes of size one from maps and reductions";
  let constructor = "::tilewright::createDropUnitAxesPass()";
}

def FormAttention : FusePass<"tw-form-attention"> {
  let summary = "Group scores, softmax and values into one tw.fused region";
  let description = [{
    A contraction, maps, the softmax over its last axis and a contraction with
    the weights become a region with the attribute `attention`. A map that makes
    the queries for this region alone is computed where they are read.
  }];
  let options = common # [Option<"strict", "strict", "bool", "false",
                                 "Keep every rounding to a small float">];
  let constructor = "::tilewright::createFormAttentionPass()";
}

def FormRegions : FusePass<"tw-form-regions"> {
  let summary = "Group primitives into tw.fused regions, one per kernel";
  let description = [{
    A region is one of: maps over one domain that read each other at their own
    coordinates; a reduction, or several contractions that give the same dims,
    and maps over the results; rows (attribute `rows`, the number of leading
    axes that count them): reductions over the same inner axes and the maps
    between them; contractions, then rows of what they give; a single scan or
    scatter. A primitive that joins nothing becomes a region alone. A cost
    function decides whether reductions join contractions.
  }];
  let constructor = "::tilewright::createFormRegionsPass()";
}

def InlineProducers : FusePass<"tw-inline-producers"> {
  let summary = "Compute a map's elements where they are read";
  let description = [{
    Substitutes the body of a `tw.map` for loads of its results: views and other
    movement become addressing. A cost function decides; the legality of
    contractions (plain coordinates only) is in the code. With `strict`, f16 and
    bf16 values are rounded as before even where producer and consumer meet.
  }];
  let options = common # [Option<"strict", "strict", "bool", "false",
                                 "Keep every rounding to a small float">];
  let constructor = "::tilewright::createInlineProducersPass()";
}

def IsolateRegions : Pass<"tw-isolate-regions", "::mlir::ModuleOp"> {
  let summary = "Make every primitive a tw.fused region alone, for reference compiles";
  let constructor = "::tilewright::createIsolateRegionsPass()";
  let dependentDialects = ["::tilewright::tw::TwDialect"];
}

def MergeContractions : FusePass<"tw-merge-contractions"> {
  let summary = "Make one of contractions that differ in their constants";
  let description = [{
    Contractions that read one activation through the same coordinates become
    one over concatenated constants, with the maps behind them that differ in
    constants only. Their readers read the result at an offset. Where a result
    would lose an epilogue, its contraction stays alone.
  }];
  let constructor = "::tilewright::createMergeContractionsPass()";
}

def NarrowConstants : FusePass<"tw-narrow-constants"> {
  let summary = "Store the constants of integer products in 8 bits";
  let description = [{
    A constant of i32, a factor of a sum of products, whose elements all fit
    8 bits with a sign becomes a constant of i8 that the body widens.
  }];
  let constructor = "::tilewright::createNarrowConstantsPass()";
}

def JoinParts : FusePass<"tw-join-parts"> {
  let summary = "Let regions write the parts of a concatenation where they lie in it";
  let description = [{
    A region that only puts tensors end to end becomes `tw.join` of results of
    other regions. A part that is an input, a constant or a result of the
    function, or that lies elsewhere already, is copied by a region of its own.
  }];
  let constructor = "::tilewright::createJoinPartsPass()";
}

def SinkReshapes : FusePass<"tw-sink-reshapes"> {
  let summary = "Move maps before the reshapes that they read";
  let description = [{
    A map over merged axes, or over axes of size one more or less, moves to the
    axes of the reshape's source, so that it can be an epilogue there.
  }];
  let constructor = "::tilewright::createSinkReshapesPass()";
}

def UnitReductions : FusePass<"tw-unit-reductions"> {
  let summary = "Make maps of reductions over one element";
  let constructor = "::tilewright::createUnitReductionsPass()";
}

#endif // TILEWRIGHT_PASSES_FUSE_PASSES
