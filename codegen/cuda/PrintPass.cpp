//===- PrintPass.cpp - --tw-print-cuda ------------------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "codegen/cuda/PrintCuda.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;

namespace tilewright {

namespace {

/// For tilewright-opt and its tests: the kernels' CUDA C++ on standard output,
/// in place of the module.
class PrintCudaPass
    : public PassWrapper<PrintCudaPass, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(PrintCudaPass)
  StringRef getArgument() const final { return "tw-print-cuda"; }
  StringRef getDescription() const final {
    return "Print the kernels as CUDA C++ and leave an empty module";
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(prepareForCuda(module))) {
      return signalPassFailure();
    }
    for (auto kernel :
         llvm::make_early_inc_range(module.getOps<twk::KernelOp>())) {
      Result<CudaSource> source = printCuda(kernel);
      if (!source) {
        kernel.emitOpError(source.status().message());
        return signalPassFailure();
      }
      llvm::outs() << source->text() << "\n";
      kernel.erase();
    }
  }
};

} // namespace

void registerPrintCudaPass() { PassRegistration<PrintCudaPass>(); }

} // namespace tilewright
