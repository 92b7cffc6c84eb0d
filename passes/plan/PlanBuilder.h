//===- PlanBuilder.h - from regions to commands -----------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "ir/TwOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "passes/ReasonCodes.h"
#include "runtime/format/module_generated.h"
#include "tilewright/Status.h"

namespace tilewright::plan {

/// What a launch on a GPU does.
struct GpuWork {
  tw::DimExpr steps;                 // evaluations of its bodies
  tw::DimExpr loadBytes, storeBytes; // of global memory, tile by tile
};

/// A region as a product of matrices: format::Product. Matrices are operands of
/// the region.
struct ProductCall {
  unsigned a = 0, b = 0;
  int c = -1, bias = -1;
  bool transposedA = false, transposedB = false, tf32 = false;
  format::Activation activation = format::Activation_None;
  float alpha = 1;
  llvm::SmallVector<tw::DimExpr> sizes;
};

/// How a region is launched: what its tactic declares.
struct KernelLaunch {
  std::string kernel;                   // exported name
  llvm::SmallVector<tw::DimExpr> sizes; // in the kernel's order
  tw::DimExpr tasks;                    // independent tasks
  tw::DimExpr workspace;                // bytes per worker; GPU: of the launch
  int64_t grain = 1;                    // fewest tasks worth another thread
  int64_t threads = 0;                  // GPU: threads of a block
  int64_t shared = 0;                   // GPU: bytes of dynamic shared memory
  bool inPlace = false;                 // see tilewright::Launch
  std::optional<GpuWork> work;          // GPU: what its time is estimated from
  std::optional<ProductCall> product;   // GPU: what a library may compute
};

/// \returns the launch of a region.
using LaunchOf = llvm::function_ref<Result<KernelLaunch>(tw::FusedOp)>;

/// A plan and the constants that it refers to by number.
struct BuiltPlan {
  format::PlanT plan;
  llvm::SmallVector<tw::ConstantOp>
      constants; // by constant number, equal ones once
  /// GPU: the work of launches, by function and command.
  llvm::DenseMap<std::pair<uint32_t, uint32_t>, GpuWork> work;
  std::vector<format::ParameterT> inputs, outputs;
};

/// Plans `@main` of `module`, whose operations are regions, calls, control
/// flow, constants, reshapes and sizes. Every value gets its storage:
///
/// - a reshape is the same memory as its operand, and so is what a region may
///   write over an operand that nobody needs any more (SharedStorage.h);
/// - what a function returns is an owned block, copied where it is not computed
///   into one (an input, a constant, or memory that is returned already);
/// - what is sized by the function's parameters lies in the function's arena;
/// - everything else is an owned block, released after its last use.
///
/// Errors: Internal, when the IR holds what should have been lowered before.
Result<BuiltPlan> buildPlan(mlir::ModuleOp module, LaunchOf launchOf,
                            Decisions decisions);

/// Prints a plan as text, one command a line; for inspect, dumps and lit.
void printPlan(const format::PlanT &plan, llvm::raw_ostream &os);

} // namespace tilewright::plan
