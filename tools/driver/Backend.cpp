//===- Backend.cpp - from regions to a module file ------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "tools/driver/Backend.h"
#include "codegen/families/GlobalTraffic.h"
#include "codegen/families/KernelLibrary.h"
#include "codegen/library/LeaveToLibrary.h"
#include "mlir/IR/BuiltinOps.h"
#include "passes/plan/CommandCost.h"
#include "passes/tile/DroppedTiles.h"
#include "tools/driver/Dumps.h"
#include "tools/driver/FileCache.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;
using namespace tilewright::tw;

namespace tilewright {

static plan::GpuWork workOf(FusedOp region) {
  DimExpr steps = DimExpr::constant(region.getContext(), 0);
  for (Operation &op : region.getBody().front()) {
    if (isPrimitive(&op)) {
      steps = steps + productOf(region.getContext(), domainOf(&op));
    }
  }
  families::GlobalTraffic traffic = families::globalTrafficOf(region);
  return {steps, traffic.loads, traffic.stores};
}

Result<plan::BuiltPlan> planModule(ModuleOp module, ModuleOp kernels,
                                   const BackendOptions &options,
                                   DecisionLog *log) {
  KernelLibrary library(*options.tactics, *options.target);
  auto launchOf = [&](FusedOp region) -> Result<plan::KernelLaunch> {
    const Tactic *tactic = options.tactics->find(region);
    if (!tactic) {
      return Status(ErrorCode::Internal,
                    "region @" + region.getSymName().str() +
                        " has no tactic; run the tile phase first");
    }
    Result<Launch> launch = tactic->launch(region);
    if (!launch) {
      return launch.status();
    }
    Result<std::string> kernel = library.add(region, kernels);
    if (!kernel) {
      return kernel.status();
    }
    std::optional<plan::ProductCall> product;
    if (region->hasAttr(libraryAttr)) {
      Result<plan::ProductCall> call = productCallOf(region);
      TW_RETURN_IF_ERROR(call.status());
      product = std::move(*call);
    }
    return plan::KernelLaunch{
        *kernel,
        launch->sizes,
        launch->tasks,
        launch->workspaceBytes,
        launch->grain,
        launch->threads,
        launch->shared,
        launch->inPlace,
        options.target->isGpu() ? std::optional(workOf(region)) : std::nullopt,
        std::move(product)};
  };
  Result<plan::BuiltPlan> built =
      plan::buildPlan(module, launchOf, Decisions(log, /*remarks=*/false));
  if (built && options.target->isGpu()) {
    plan::scheduleOnStreams(*built, *options.target->gpu);
  }
  return built;
}

static Status dumpKernels(ModuleOp kernels, const std::string &folder) {
  for (auto kernel : kernels.getOps<twk::KernelOp>()) {
    std::string text;
    llvm::raw_string_ostream os(text);
    kernel->print(os);
    TW_RETURN_IF_ERROR(
        writeFile(folder, kernel.getSymName().str() + ".mlir", text));
  }
  return Status::ok();
}

/// Keeps NVRTC's work beside the object code for processors.
static CudaCache cudaCache(const FileCache &cache) {
  CudaCache result;
  result.find = [cache](const std::string &key) -> std::optional<std::string> {
    std::optional<std::filesystem::path> file = cache.find(key);
    auto bytes =
        file ? llvm::MemoryBuffer::getFile(file->string(),
                                           /*IsText=*/false)
             : std::make_error_code(std::errc::no_such_file_or_directory);
    return bytes ? std::optional((*bytes)->getBuffer().str()) : std::nullopt;
  };
  result.store = [cache](const std::string &key, const std::string &bytes) {
    cache.store(key, bytes);
  };
  return result;
}

static Result<std::vector<CudaKernel>>
compileAllCuda(ModuleOp kernels, const BackendOptions &options) {
  CudaOptions cuda;
  cuda.threads = options.threads;
  constexpr uint64_t cacheLimit = uint64_t(256) << 20;
  FileCache cache(options.objectFolder, ".cubin", cacheLimit);
  cuda.cache = cudaCache(cache);
  cuda.overrides = options.kernelSources;
  const std::string &folder = options.kernelFolder;
  if (!folder.empty()) {
    TW_RETURN_IF_ERROR(dumpKernels(kernels, folder));
    cuda.dump = [&](const std::string &kernel, const std::string &source) {
      return writeFile(folder, kernel + ".cu", source);
    };
  }
  Result<std::vector<CudaKernel>> compiled =
      compileCuda(kernels, *options.target, cuda);
  cache.evict();
  if (compiled && !folder.empty()) {
    for (const CudaKernel &kernel : *compiled) {
      TW_RETURN_IF_ERROR(
          writeFile(folder, kernel.name + ".ptx", kernel.binary.ptx));
    }
  }
  return compiled;
}

/// Drops the tiles of regions whose kernels spill; those of the user stay.
/// \returns whether a region changed.
static Result<bool> dropSpillingTiles(ModuleOp module,
                                      ArrayRef<CudaKernel> compiled,
                                      const BackendOptions &options,
                                      DecisionLog &log) {
  llvm::StringMap<uint32_t> spills;
  for (const CudaKernel &kernel : compiled) {
    if (kernel.binary.spillBytes != 0 &&
        options.kernelSources.count(kernel.name) == 0) {
      spills[kernel.name] = kernel.binary.spillBytes;
    }
  }
  if (spills.empty()) {
    return false;
  }
  KernelLibrary library(*options.tactics, *options.target);
  Status status;
  bool changed = false;
  module.walk([&](FusedOp region) {
    auto spill = spills.find(library.nameOf(region));
    if (spill == spills.end()) {
      return WalkResult::advance();
    }
    Result<bool> dropped =
        dropTile(region, *options.target, *options.tactics, spill->second, log);
    status = dropped.status();
    changed |= dropped && *dropped;
    return status ? WalkResult::advance() : WalkResult::interrupt();
  });
  TW_RETURN_IF_ERROR(status);
  return changed;
}

Result<std::vector<CudaKernel>>
compilePlannedCuda(ModuleOp module, ModuleOp kernels, plan::BuiltPlan &planned,
                   const BackendOptions &options, DecisionLog &log,
                   DecisionLog &planLog) {
  llvm::StringMap<double> spent; // what the next round takes from the cache
  while (true) {
    Result<std::vector<CudaKernel>> compiled = compileAllCuda(kernels, options);
    TW_RETURN_IF_ERROR(compiled.status());
    for (CudaKernel &kernel : *compiled) {
      kernel.milliseconds = spent[kernel.name] += kernel.milliseconds;
    }
    Result<bool> changed = dropSpillingTiles(module, *compiled, options, log);
    TW_RETURN_IF_ERROR(changed.status());
    if (!*changed) {
      return compiled;
    }
    kernels.getBody()->clear();
    planLog = DecisionLog();
    Result<plan::BuiltPlan> again =
        planModule(module, kernels, options, &planLog);
    TW_RETURN_IF_ERROR(again.status());
    planned = std::move(*again);
  }
}

Result<CpuImage> compilePlanned(ModuleOp kernels,
                                const BackendOptions &options) {
  if (kernels.getBody()->empty()) {
    return CpuImage();
  }
  CpuOptions cpu;
  cpu.threads = options.threads;
  cpu.keepDenormals = options.keepDenormals;
  cpu.objects = options.objects;
  Status dumped;
  if (!options.kernelFolder.empty()) {
    cpu.dump = [&](StringRef kernel, CpuDump kind, StringRef text) {
      StringRef suffix = kind == CpuDump::LlvmIr ? ".ll" : ".s";
      if (Status status =
              writeFile(options.kernelFolder, (kernel + suffix).str(), text);
          !status) {
        dumped = status;
      }
    };
    TW_RETURN_IF_ERROR(dumpKernels(kernels, options.kernelFolder));
  }
  Result<CpuImage> image = compileKernels(kernels, *options.target, cpu);
  if (image && !dumped) {
    return dumped;
  }
  return image;
}

Result<BackendResult>
generateCode(ModuleOp module, const BackendOptions &options, DecisionLog *log) {
  OwningOpRef<ModuleOp> kernels = ModuleOp::create(module.getLoc());
  Result<plan::BuiltPlan> planned = planModule(module, *kernels, options, log);
  if (!planned) {
    return planned.status();
  }
  Result<CpuImage> image = compilePlanned(*kernels, options);
  if (!image) {
    return image.status();
  }
  return BackendResult{std::move(*planned), std::move(*image)};
}

} // namespace tilewright
