//===- CommandCost.cpp - about how long commands take on a GPU ------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "passes/plan/CommandCost.h"
#include "passes/plan/Dependences.h"
#include "passes/plan/Streams.h"
#include "runtime/exec/Expressions.h"
#include "tilewright/DType.h"

using namespace tilewright::tw;

namespace tilewright::plan {

// About what a launch takes before its first block runs.
static constexpr double launchMicroseconds = 3;

// What an open size counts as.
static constexpr int64_t assumedSize = 128;

/// The value of every expression of the plan, open sizes assumed.
static std::vector<int64_t> assumedSizes(const format::PlanT &plan) {
  std::vector<int64_t> symbols(plan.symbols.size(), assumedSize), sizes;
  for (const format::Expr &expr : plan.expressions) {
    sizes.push_back(evaluateExpression(expr, sizes, symbols));
  }
  return sizes;
}

static double bytesOf(const format::ValueT &value,
                      const std::vector<int64_t> &sizes) {
  double bytes = sizeOf(static_cast<DType>(value.dtype));
  for (uint32_t dim : value.dims) {
    bytes *= static_cast<double>(std::max<int64_t>(sizes[dim], 0));
  }
  return bytes;
}

static double valueOf(DimExpr size) {
  auto assumed = [](llvm::StringRef) { return std::optional(assumedSize); };
  return static_cast<double>(
      std::max<int64_t>(size.evaluate(assumed).value_or(0), 0));
}

std::vector<CommandEstimate>
estimateCommands(const BuiltPlan &built, uint32_t number, const GpuSpec &gpu) {
  const format::PlanT &plan = built.plan;
  std::vector<int64_t> sizes = assumedSizes(plan);
  double bytesPerMicrosecond = gpu.memoryGBPerSecond * 1e3;
  // What blocks read again comes from the second cache.
  constexpr double cacheOverMemory = 3;
  double stepsPerMicrosecond =
      double(gpu.multiprocessors) * gpu.floatOps * gpu.clockMHz;
  std::vector<CommandEstimate> result;
  const format::FunctionT &function = *plan.functions[number];
  for (uint32_t i = 0; i < function.commands.size(); ++i) {
    CommandAccess access = accessOf(*function.commands[i]);
    double bytes = 0;
    for (uint32_t value : llvm::concat<uint32_t>(access.reads, access.writes)) {
      bytes += bytesOf(*plan.values[value], sizes);
    }
    CommandEstimate estimate;
    double microseconds = bytes / bytesPerMicrosecond;
    auto work = built.work.find({number, i});
    if (work != built.work.end()) {
      estimate.loadBytes = valueOf(work->second.loadBytes);
      estimate.storeBytes = valueOf(work->second.storeBytes);
      microseconds =
          std::max({microseconds,
                    (estimate.loadBytes + estimate.storeBytes) /
                        (cacheOverMemory * bytesPerMicrosecond),
                    valueOf(work->second.steps) / stepsPerMicrosecond});
    }
    estimate.microseconds = launchMicroseconds + microseconds;
    result.push_back(estimate);
  }
  return result;
}

void scheduleOnStreams(BuiltPlan &built, const GpuSpec &gpu) {
  for (uint32_t i = 0; i < built.plan.functions.size(); ++i) {
    format::FunctionT &function = *built.plan.functions[i];
    std::vector<double> costs;
    for (auto [command, estimate] :
         llvm::zip(function.commands, estimateCommands(built, i, gpu))) {
      command->microseconds = static_cast<float>(estimate.microseconds);
      command->load_bytes = static_cast<uint64_t>(estimate.loadBytes);
      command->store_bytes = static_cast<uint64_t>(estimate.storeBytes);
      costs.push_back(estimate.microseconds);
    }
    assignStreams(built.plan, function, costs);
  }
}

} // namespace tilewright::plan
