//===- Evaluator.cpp - folding constants by running them ------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "tools/driver/Evaluator.h"
#include "codegen/families/Tactics.h"
#include "mlir/IR/Builders.h"
#include "tilewright/Context.h"
#include "tools/driver/Backend.h"
#include "tools/driver/ModuleAssembly.h"
#include "tools/driver/Pipeline.h"

using namespace mlir;

namespace tilewright {

Result<std::vector<std::vector<char>>>
Evaluator::evaluate(func::FuncOp function) {
  const TargetSpec &lowest = allTargets().front();
  DecisionLog ignored;
  PipelineOptions options;
  options.target = &lowest;
  options.tactics = &familyTactics();
  options.log = &ignored;

  OwningOpRef<ModuleOp> module = ModuleOp::create(function.getLoc());
  auto main = cast<func::FuncOp>(function->clone());
  main.setName("main");
  module->push_back(main);
  for (Phase phase : {Phase::Layout, Phase::Fuse, Phase::Tile}) {
    TW_RETURN_IF_ERROR(runPhase(phase, *module, options));
  }

  BackendOptions backend;
  backend.target = &lowest;
  backend.tactics = options.tactics;
  backend.threads = threads;
  backend.keepDenormals = true;
  Result<BackendResult> code = generateCode(*module, backend, &ignored);
  if (!code) {
    return code.status();
  }
  ModuleParts parts;
  VariantParts variant;
  variant.plan = &code->plan;
  variant.code = code->image.bytes;
  variant.target = &lowest;
  parts.variants.push_back(variant);
  parts.modelName = "constants";
  Result<std::vector<std::byte>> bytes = assembleModule(parts);
  if (!bytes) {
    return bytes.status();
  }
  OpenOptions open;
  open.threads = threads;
  open.level = CpuLevel::V2;
  Result<std::shared_ptr<const Module>> loaded =
      Module::fromBytes(*bytes, open);
  if (!loaded) {
    return loaded.status();
  }
  Result<std::unique_ptr<Context>> context =
      Context::create(*loaded, {threads});
  if (!context) {
    return context.status();
  }
  Result<std::vector<Tensor>> outputs =
      (*context)->run(std::vector<TensorView>());
  if (!outputs) {
    return outputs.status();
  }
  std::vector<std::vector<char>> results;
  for (const Tensor &output : *outputs) {
    const char *data = static_cast<const char *>(output.data());
    results.emplace_back(data, data + output.bytes());
  }
  return results;
}

} // namespace tilewright
