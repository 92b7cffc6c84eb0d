//===- Passes.td - passes of the normalize phase ----------------*- tablegen -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#ifndef TILEWRIGHT_PASSES_NORMALIZE_PASSES
#define TILEWRIGHT_PASSES_NORMALIZE_PASSES

include "mlir/Pass/PassBase.td"

class NormalizePass<string name> : Pass<name, "::mlir::ModuleOp"> {
  let options = [Option<"remarks", "remarks", "bool", "false",
                        "Emit every decision as an MLIR remark">];
}

def CanonicalizeGraph : NormalizePass<"tw-canonicalize-graph"> {
  let summary = "Canonicalise, merge equal operations, and drop what nobody uses";
  let description = [{
    Runs MLIR's canonicaliser and common-subexpression elimination, drops
    `tw.read_sizes` whose symbols no type and no operation mentions, and drops
    unused results of `tw.if`.
  }];
  let constructor = "::tilewright::createCanonicalizeGraphPass()";
}

def FoldBatchNorm : NormalizePass<"tw-fold-batch-norm"> {
  let summary = "Fold batch normalisation into convolutions or into one multiply-add";
  let description = [{
    A `tw.conv` whose only user is a `tw.batch_norm` gets scaled weights and a
    new bias, as maps over constants that `tw-fold-constants` evaluates. A
    batch normalisation that stands alone becomes `x * factor + offset` with
    both folded.
  }];
  let constructor = "::tilewright::createFoldBatchNormPass()";
}

def FoldConstants : NormalizePass<"tw-fold-constants"> {
  let summary = "Evaluate what depends on constants alone";
  let description = [{
    Cuts every maximal subgraph without run-time inputs into one function,
    which the ConstantEvaluator compiles and runs. A result larger than
    max(1 MiB, twice the constants that it is made of) stays, unless its map is
    a packing (`root = "pack"`). Reshapes of constants, `tw.sizes` of constants
    and branches with a constant condition need no evaluator.
  }];
  let constructor = "::tilewright::createFoldConstantsPass()";
}

#endif // TILEWRIGHT_PASSES_NORMALIZE_PASSES
