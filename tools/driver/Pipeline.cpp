//===- Pipeline.cpp - the phases between import and code ------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// Each phase is a list of passes, to be read from top to bottom. A reference
// compile runs nothing but decomposition and one region per operation.
//
//===----------------------------------------------------------------------===//

#include "tools/driver/Pipeline.h"
#include "codegen/families/contract/Packing.h"
#include "codegen/families/contract/SplitDepth.h"
#include "mlir/Pass/PassManager.h"
#include "passes/fuse/Passes.h"
#include "passes/layout/Passes.h"
#include "passes/normalize/Passes.h"
#include "passes/tile/SelectTactic.h"
#include "tools/driver/Diagnostics.h"

using namespace mlir;

namespace tilewright {

static void normalize(OpPassManager &passes, const PipelineOptions &options) {
  passes.addPass(createCanonicalizeGraphPass(options.log));
  passes.addPass(createFoldConstantsPass(options.evaluator, options.log));
  passes.addPass(createFoldBatchNormPass(options.log));
  passes.addPass(createFoldConstantsPass(options.evaluator, options.log));
  passes.addPass(createCanonicalizeGraphPass(options.log));
}

/// Orders are chosen where bodies read values directly: after reshapes and
/// movement have become addressing.
static void layout(OpPassManager &passes, const PipelineOptions &options) {
  passes.addPass(createDecomposePass(options.log));
  passes.addPass(createDropUnitAxesPass(options.log));
  passes.addPass(createUnitReductionsPass(options.log));
  passes.addPass(createSinkReshapesPass(options.log));
  passes.addPass(createInlineProducersPass(
      options.log, options.strict,
      options.target->isGpu() ? inlineProfitForGpu : inlineProfit));
  passes.addPass(createNarrowConstantsPass(options.log));
  passes.addPass(createCanonicalizeGraphPass(options.log));
  if (options.evaluator) { // which concatenates the constants
    passes.addPass(createMergeContractionsPass(options.log));
    passes.addPass(createFoldConstantsPass(options.evaluator, options.log));
    passes.addPass(createCanonicalizeGraphPass(options.log));
  }
  // What reads side by side: the lanes of a vector, the threads of a warp.
  const TargetSpec &target = *options.target;
  unsigned lanes = target.isGpu() ? GpuSpec::warpSize : target.lanes(4);
  passes.addPass(createSelectLayoutsPass(options.log, lanes));
}

static void fuse(OpPassManager &passes, const PipelineOptions &options) {
  passes.addPass(createCanonicalizeGraphPass(options.log));
  passes.addPass(createFormAttentionPass(options.log, options.strict));
  passes.addPass(createFormRegionsPass(
      options.log, options.target->isGpu()
                       ? JoinProfit(joinNothing)
                       : joinProfit(options.target->l2Bytes)));
  passes.addPass(createJoinPartsPass(options.log));
}

static void fuseNothing(OpPassManager &passes, const PipelineOptions &options) {
  passes.addPass(createDecomposePass(options.log));
  passes.addPass(createIsolateRegionsPass());
}

static Status run(ModuleOp module, Phase phase,
                  llvm::function_ref<void(OpPassManager &)> build) {
  PassManager passes(module.getContext(), ModuleOp::getOperationName());
  build(passes);
  CollectedDiagnostics diagnostics(module.getContext());
  if (failed(passes.run(module))) {
    return diagnostics.status(ErrorCode::Internal,
                              "phase " + nameOf(phase).str() + " failed");
  }
  return Status::ok();
}

/// Leaves products to a library, packs constant weights for vector lanes or
/// threads side by side, divides deep products for a GPU's multiprocessors, and
/// chooses tactics. Packing leaves operations behind that are constants to
/// fold.
static Status tile(ModuleOp module, const PipelineOptions &options) {
  if (!options.reference && options.target->isGpu()) {
    TW_RETURN_IF_ERROR(leaveToLibrary(module, *options.target, options.library,
                                      options.strict, *options.log));
  }
  bool packs = !options.reference && options.evaluator;
  if (packs) {
    TW_RETURN_IF_ERROR(packConstants(module, *options.target, *options.log));
  }
  if (!options.reference && options.target->isGpu()) {
    TW_RETURN_IF_ERROR(splitDepth(module, *options.target, *options.log));
  }
  TW_RETURN_IF_ERROR(selectTactics(module, *options.target, *options.tactics,
                                   options.reference, *options.log));
  if (!packs) {
    return Status::ok();
  }
  return run(module, Phase::Tile, [&](OpPassManager &passes) {
    passes.addPass(createFoldConstantsPass(options.evaluator, options.log));
    passes.addPass(createCanonicalizeGraphPass(options.log));
  });
}

Status runPhase(Phase phase, ModuleOp module, const PipelineOptions &options) {
  switch (phase) {
  case Phase::Normalize:
    return options.reference ? Status::ok()
                             : run(module, phase, [&](OpPassManager &passes) {
                                 normalize(passes, options);
                               });
  case Phase::Layout:
    return options.reference ? Status::ok()
                             : run(module, phase, [&](OpPassManager &passes) {
                                 layout(passes, options);
                               });
  case Phase::Fuse:
    return run(module, phase, [&](OpPassManager &passes) {
      options.reference ? fuseNothing(passes, options) : fuse(passes, options);
    });
  case Phase::Tile:
    return tile(module, options);
  case Phase::Import:
  case Phase::Quantize: // nothing is quantised yet: all of it runs as it is
                        // written
  case Phase::Plan:
  case Phase::Codegen:
    return Status::ok();
  }
  return Status::ok();
}

} // namespace tilewright
