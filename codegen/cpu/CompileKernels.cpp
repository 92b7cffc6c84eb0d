//===- CompileKernels.cpp - kernels to a native code image ----------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/CompileKernels.h"

#include "codegen/cpu/Diagnostics.h"
#include "codegen/cpu/LinkImage.h"
#include "codegen/cpu/Lowering.h"
#include "codegen/cpu/ObjectCode.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Index/IR/IndexDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"

#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>

using namespace mlir;

namespace tilewright {

namespace {
double millisecondsSince(std::chrono::steady_clock::time_point start) {
  std::chrono::duration<double, std::milli> passed =
      std::chrono::steady_clock::now() - start;
  return passed.count();
}

Status inKernel(twk::KernelOp kernel, const std::string &message) {
  return Status(ErrorCode::Internal,
                "kernel '" + kernel.getSymName().str() + "': " + message);
}

/// Compiles the kernels of one module; `run` may execute in several threads.
class KernelCompiler {
public:
  KernelCompiler(ArrayRef<twk::KernelOp> kernels, const TargetSpec &target,
                 const CpuOptions &options)
      : kernels(kernels), target(target), options(options),
        objects(kernels.size()), reports(kernels.size()),
        statuses(kernels.size()) {}

  /// Takes kernel after kernel until none is left.
  void run() {
    for (size_t i = next++; i < kernels.size(); i = next++) {
      auto start = std::chrono::steady_clock::now();
      twk::KernelOp kernel = kernels[i];
      statuses[i] = obtain(kernel, objects[i]);
      reports[i] = {kernel.getSymName().str(), millisecondsSince(start),
                    objects[i].size()};
    }
  }

  /// \returns the first failure in the module's order.
  Status status() const {
    for (const Status &status : statuses) {
      TW_RETURN_IF_ERROR(status);
    }
    return Status::ok();
  }
  ArrayRef<llvm::SmallVector<char, 0>> getObjects() const { return objects; }
  std::vector<CpuKernel> takeReports() { return std::move(reports); }

private:
  /// Takes the object code from the cache, or compiles and keeps it.
  Status obtain(twk::KernelOp kernel, llvm::SmallVector<char, 0> &object) {
    if (!options.objects || options.dump) {
      return compile(kernel, object);
    }
    std::string fingerprint =
        fingerprintOf(kernel, target, options.keepDenormals);
    if (auto found = options.objects->find(fingerprint)) {
      object = std::move(*found);
      return Status::ok();
    }
    TW_RETURN_IF_ERROR(compile(kernel, object));
    options.objects->store(fingerprint, object);
    return Status::ok();
  }

  Status compile(twk::KernelOp kernel, llvm::SmallVector<char, 0> &object) {
    DiagnosticCollector diagnostics(kernel.getContext());
    Result<std::unique_ptr<llvm::TargetMachine>> machine =
        createTargetMachine(target);
    TW_RETURN_IF_ERROR(machine.status());
    OwningOpRef<ModuleOp> module = ModuleOp::create(kernel.getLoc());
    module->push_back(kernel->clone());
    std::string layout =
        (*machine)->createDataLayout().getStringRepresentation();
    if (failed(lowerKernel(*module, target, layout, options.keepDenormals))) {
      return inKernel(kernel, diagnostics.message("it cannot be lowered"));
    }
    Result<ObjectCode> code =
        emitObjectCode(*module, target, **machine, bool(options.dump));
    if (!code) {
      return inKernel(kernel,
                      diagnostics.message("") + code.status().message());
    }
    if (options.dump) {
      std::lock_guard<std::mutex> lock(dumpMutex);
      options.dump(kernel.getSymName(), CpuDump::LlvmIr, code->llvmIr);
      options.dump(kernel.getSymName(), CpuDump::Assembly, code->assembly);
    }
    object = std::move(code->bytes);
    return Status::ok();
  }

  ArrayRef<twk::KernelOp> kernels;
  const TargetSpec &target;
  const CpuOptions &options;
  std::atomic<size_t> next{0};
  std::mutex dumpMutex;
  std::vector<llvm::SmallVector<char, 0>> objects;
  std::vector<CpuKernel> reports;
  std::vector<Status> statuses;
};

/// Dialects are loaded before the threads start: loading is not thread-safe,
/// and an operation of a dialect that is not loaded crashes.
void loadDialects(MLIRContext *context) {
  DialectRegistry registry;
  registerCpuDialects(registry);
  context->appendDialectRegistry(registry);
  for (StringRef name : registry.getDialectNames()) {
    context->getOrLoadDialect(name);
  }
}
} // namespace

void registerCpuDialects(DialectRegistry &registry) {
  registry.insert<twk::TwkDialect, arith::ArithDialect, cf::ControlFlowDialect,
                  index::IndexDialect, LLVM::LLVMDialect, math::MathDialect,
                  memref::MemRefDialect, scf::SCFDialect, ub::UBDialect,
                  vector::VectorDialect>();
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
}

Result<CpuImage> compileKernels(ModuleOp module, const TargetSpec &target,
                                const CpuOptions &options) {
  MLIRContext *context = module.getContext();
  loadDialects(context);
  {
    DiagnosticCollector diagnostics(context);
    if (failed(verify(module))) {
      return Status(ErrorCode::Internal,
                    "a kernel is invalid: " +
                        diagnostics.message("the verifier failed"));
    }
  }
  SmallVector<twk::KernelOp> kernels(module.getOps<twk::KernelOp>());
  KernelCompiler compiler(kernels, target, options);
  unsigned threads = context->isMultithreadingEnabled() ? options.threads : 1;
  std::vector<std::thread> helpers;
  for (unsigned i = 1; i < threads && i < kernels.size(); ++i) {
    helpers.emplace_back([&] { compiler.run(); });
  }
  compiler.run();
  for (std::thread &helper : helpers) {
    helper.join();
  }
  TW_RETURN_IF_ERROR(compiler.status());

  auto start = std::chrono::steady_clock::now();
  Result<std::vector<uint8_t>> bytes = linkImage(compiler.getObjects());
  TW_RETURN_IF_ERROR(bytes.status());
  CpuImage image;
  image.bytes = std::move(*bytes);
  image.kernels = compiler.takeReports();
  image.linkMilliseconds = millisecondsSince(start);
  return image;
}

} // namespace tilewright
