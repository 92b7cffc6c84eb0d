//===- Compiler.cpp - the compiler as a library ---------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "tools/driver/Compiler.h"
#include "codegen/families/Tactics.h"
#include "codegen/families/contract/MmaTactic.h"
#include "frontend/Importer.h"
#include "mlir/Parser/Parser.h"
#include "runtime/Arena.h"
#include "tools/driver/Backend.h"
#include "tools/driver/Diagnostics.h"
#include "tools/driver/Dumps.h"
#include "tools/driver/Evaluator.h"
#include "tools/driver/LoneKernels.h"
#include "tools/driver/ModuleAssembly.h"
#include "tools/driver/ModuleCache.h"
#include "tools/driver/ObjectFolder.h"
#include "tools/driver/Pipeline.h"
#include "tools/driver/Registration.h"
#include "tools/driver/Summary.h"
#include "tools/driver/Traffic.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/ThreadPool.h"
#include <chrono>

using namespace mlir;

namespace tilewright {

namespace {

using Clock = std::chrono::steady_clock;

double millisecondsSince(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start)
      .count();
}

/// Compiled kernels of earlier compiles, or null where none are to be taken.
std::unique_ptr<ObjectFolder> openObjects(const CompileOptions &options) {
  if (options.objectFolder.empty()) {
    return nullptr;
  }
  Result<std::string> compiler = compilerFingerprint();
  return compiler ? std::make_unique<ObjectFolder>(options.objectFolder,
                                                   std::move(*compiler))
                  : nullptr;
}

/// One compile, phase by phase.
class Compile {
public:
  Compile(const std::string &path, const CompileOptions &options)
      : path(path), options(options),
        target(options.target ? options.target : hostTarget()),
        threads(options.threads
                    ? options.threads
                    : llvm::hardware_concurrency().compute_thread_count()),
        objects(openObjects(options)), evaluator(threads, objects.get()) {
    registerDialects(registry);
    registerCpuDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  Result<CompileResult> run();

private:
  Status load();
  Status import();
  Status loadDump();
  Status phase(Phase which);
  Status finishPhase(Phase which, Clock::time_point start);
  PipelineOptions pipelineOptions();
  BackendOptions backendOptions();
  Status codegen();
  Result<plan::BuiltPlan> compileForAll(std::vector<CudaKernel> &compiled);

  const std::string &path;
  const CompileOptions &options;
  const TargetSpec *target;
  unsigned threads;
  DialectRegistry registry;
  MLIRContext context;
  std::unique_ptr<ObjectFolder> objects;
  Evaluator evaluator;
  DecisionLog log;
  DecisionLog planLog; ///< of the last plan; follows `log`
  std::string modelName;
  OwningOpRef<ModuleOp> module;
  OwningOpRef<ModuleOp> kernels;
  /// What the tile phase begins with, for code that runs on every GPU; null
  /// where the target's own code does.
  OwningOpRef<ModuleOp> untiled;
  plan::BuiltPlan planned;
  CompileResult result;
};

} // namespace

Status Compile::loadDump() {
  if (!llvm::sys::fs::is_regular_file(path)) {
    return Status(ErrorCode::ModelUnreadable,
                  "'" + path + "' is not a file; --start-from takes the dump " +
                      "of the phase before it");
  }
  CollectedDiagnostics diagnostics(&context);
  module = parseSourceFile<ModuleOp>(path, &context);
  if (!module) {
    return diagnostics.status(ErrorCode::ModelMalformed,
                              "cannot read '" + path + "' as IR");
  }
  auto main = module->lookupSymbol<func::FuncOp>("main");
  if (!main || !main.getBody().hasOneBlock()) {
    return Status(ErrorCode::ModelInvalid,
                  "'" + path + "' has no function @main of one block; " +
                      "--start-from takes the dump of the phase before it");
  }
  return readConstants(path, context);
}

Status Compile::load() {
  TW_RETURN_IF_ERROR(options.startFrom == Phase::Import ? import()
                                                        : loadDump());
  if (options.tf32) {
    (*module)->setAttr(families::precisionAttr,
                       StringAttr::get(&context, "tf32"));
  }
  return Status::ok();
}

Status Compile::import() {
  Result<LoadedModel> model = loadModel(path);
  if (!model) {
    return model.status();
  }
  modelName = model->graph().name();
  result.summary.onnxNodes = countNodes(model->graph());
  auto shared = std::make_shared<const LoadedModel>(std::move(*model));
  frontend::ImportOptions importing;
  importing.shapes = options.shapes;
  Result<OwningOpRef<ModuleOp>> imported =
      frontend::importModel(context, shared, importing);
  if (!imported) {
    return imported.status();
  }
  module = std::move(*imported);
  Traffic traffic = trafficOfNodes(*module);
  result.summary.nodeKernels = traffic.kernels;
  result.summary.nodeTrafficBytes = traffic.bytes();
  return Status::ok();
}

Status Compile::finishPhase(Phase which, Clock::time_point start) {
  result.summary.phaseMilliseconds[nameOf(which).str()] =
      millisecondsSince(start);
  std::string text;
  bool isLast = which == options.stopAfter;
  if (!isLast && options.dumpFolder.empty()) {
    return Status::ok();
  }
  if (which <= Phase::Plan) {
    llvm::raw_string_ostream os(text);
    module->print(os, OpPrintingFlags().enableDebugInfo(true));
  }
  if (which == Phase::Plan) {
    text = planAsComment(planned.plan) + text;
  }
  if (which == Phase::Codegen) {
    llvm::raw_string_ostream os(text);
    kernels->print(os);
  }
  if (!options.dumpFolder.empty()) {
    TW_RETURN_IF_ERROR(writeDump(options.dumpFolder, which, text));
  }
  if (isLast) {
    result.text = std::move(text);
  }
  return Status::ok();
}

PipelineOptions Compile::pipelineOptions() {
  PipelineOptions pipeline;
  pipeline.target = target;
  pipeline.tactics = &familyTactics();
  pipeline.evaluator = &evaluator;
  pipeline.log = &log;
  pipeline.reference = options.reference;
  pipeline.strict = options.strict;
  pipeline.library = options.library;
  return pipeline;
}

BackendOptions Compile::backendOptions() {
  BackendOptions backend;
  backend.target = target;
  backend.tactics = &familyTactics();
  backend.threads = threads;
  backend.keepDenormals = options.strict || options.reference;
  backend.kernelFolder = options.kernelFolder;
  backend.kernelSources = options.kernelSources;
  backend.objects = objects.get();
  backend.objectFolder = options.objectFolder;
  return backend;
}

/// Plans and compiles the module a second time, for the oldest GPU: code for
/// one architecture alone runs on no other, this runs on all.
Result<plan::BuiltPlan>
Compile::compileForAll(std::vector<CudaKernel> &compiled) {
  DecisionLog ignored;
  PipelineOptions pipeline = pipelineOptions();
  pipeline.target = &gpuTargets().front();
  pipeline.log = &ignored;
  TW_RETURN_IF_ERROR(runPhase(Phase::Tile, *untiled, pipeline));
  BackendOptions backend = backendOptions();
  backend.target = pipeline.target;
  backend.kernelSources.clear();
  OwningOpRef<ModuleOp> own = ModuleOp::create(UnknownLoc::get(&context));
  Result<plan::BuiltPlan> built = planModule(*untiled, *own, backend, &ignored);
  TW_RETURN_IF_ERROR(built.status());
  Result<std::vector<CudaKernel>> cuda =
      compilePlannedCuda(*untiled, *own, *built, backend, ignored, ignored);
  TW_RETURN_IF_ERROR(cuda.status());
  compiled = std::move(*cuda);
  return built;
}

Status Compile::codegen() {
  ModuleParts parts;
  VariantParts own;
  own.plan = &planned;
  own.target = target;
  Result<CpuImage> image = CpuImage();
  Result<std::vector<CudaKernel>> cuda = std::vector<CudaKernel>();
  std::vector<CudaKernel> forAll;
  Result<plan::BuiltPlan> plannedForAll = plan::BuiltPlan();
  if (target->isGpu()) {
    cuda = compilePlannedCuda(*module, *kernels, planned, backendOptions(), log,
                              planLog);
    TW_RETURN_IF_ERROR(cuda.status());
    own.cuda = *cuda;
  } else {
    image = compilePlanned(*kernels, backendOptions());
    TW_RETURN_IF_ERROR(image.status());
    own.code = image->bytes;
  }
  summarize(planned, result.summary);
  parts.variants.push_back(own);
  if (untiled) {
    plannedForAll = compileForAll(forAll);
    TW_RETURN_IF_ERROR(plannedForAll.status());
    VariantParts second;
    second.plan = &*plannedForAll;
    second.target = &gpuTargets().front();
    second.cuda = forAll;
    parts.variants.push_back(second);
  }
  for (const auto *compiled : {&*cuda, &forAll}) {
    for (const CudaKernel &kernel : *compiled) {
      if (kernel.milliseconds > 0) {
        result.summary.nvrtcMilliseconds.push_back(kernel.milliseconds);
      }
    }
  }
  parts.modelName = modelName;
  log.append(planLog);
  parts.decisions = toJson(log);
  parts.summary = toJson(result.summary);
  Result<std::vector<std::byte>> bytes = assembleModule(parts);
  TW_RETURN_IF_ERROR(bytes.status());
  result.module = std::move(*bytes);
  return Status::ok();
}

Status Compile::phase(Phase which) {
  switch (which) {
  case Phase::Import:
    return load();
  case Phase::Tile:
    if (target->isGpu() && target->gpu->isSpecific()) {
      untiled = module->clone();
    }
    return runPhase(which, *module, pipelineOptions());
  case Phase::Plan: {
    result.summary.kernelTrafficBytes = trafficOfRegions(*module).bytes();
    if (!options.reference) {
      recordLoneKernels(*module, log);
    }
    kernels = ModuleOp::create(UnknownLoc::get(&context));
    Result<plan::BuiltPlan> built =
        planModule(*module, *kernels, backendOptions(), &planLog);
    TW_RETURN_IF_ERROR(built.status());
    planned = std::move(*built);
    return Status::ok();
  }
  case Phase::Codegen:
    return codegen();
  default:
    return runPhase(which, *module, pipelineOptions());
  }
}

Result<CompileResult> Compile::run() {
  if (!target) {
    return Status(ErrorCode::ModuleTarget,
                  "this processor lacks x86-64-v2, the lowest level that "
                  "code is generated for");
  }
  Clock::time_point begin = Clock::now();
  if (options.startFrom != Phase::Import) {
    TW_RETURN_IF_ERROR(load());
  }
  for (size_t i = static_cast<size_t>(options.startFrom);
       i <= static_cast<size_t>(options.stopAfter); ++i) {
    Clock::time_point start = Clock::now();
    TW_RETURN_IF_ERROR(phase(static_cast<Phase>(i)));
    TW_RETURN_IF_ERROR(finishPhase(static_cast<Phase>(i), start));
  }
  if (!options.dumpFolder.empty()) {
    TW_RETURN_IF_ERROR(writeConstants(options.dumpFolder, context));
  }
  result.summary.milliseconds = millisecondsSince(begin);
  return std::move(result);
}

Result<CompileResult> compileModel(const std::string &path,
                                   const CompileOptions &options) {
  Compile compile(path, options);
  return compile.run();
}

} // namespace tilewright
