//===- Registration.cpp - dialects and passes -----------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "tools/driver/Registration.h"
#include "codegen/cuda/PrintCuda.h"
#include "ir/TwDialect.h"
#include "ir/twk/TwkOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Index/IR/IndexDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/Passes.h"
#include "passes/fuse/Passes.h"
#include "passes/layout/Passes.h"
#include "passes/normalize/Passes.h"
#include "passes/plan/Passes.h"

namespace tilewright {

void registerDialects(mlir::DialectRegistry &registry) {
  registry.insert<tw::TwDialect, twk::TwkDialect, mlir::arith::ArithDialect,
                  mlir::func::FuncDialect, mlir::gpu::GPUDialect,
                  mlir::index::IndexDialect, mlir::nvgpu::NVGPUDialect,
                  mlir::math::MathDialect, mlir::memref::MemRefDialect,
                  mlir::scf::SCFDialect, mlir::ub::UBDialect,
                  mlir::vector::VectorDialect>();
}

void registerPasses() {
  mlir::registerCanonicalizerPass();
  mlir::registerCSEPass();
  registerTilewrightNormalizePasses();
  registerTilewrightFusePasses();
  registerTilewrightLayoutPasses();
  registerTilewrightPlanPasses();
  registerPhasePasses();
  registerPrintCudaPass();
}

} // namespace tilewright
