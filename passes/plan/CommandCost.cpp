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

std::vector<double> estimateCommands(const BuiltPlan &built, uint32_t number,
                                     const GpuSpec &gpu) {
  const format::PlanT &plan = built.plan;
  std::vector<int64_t> sizes = assumedSizes(plan);
  double bytesPerMicrosecond = gpu.memoryGBPerSecond * 1e3;
  double stepsPerMicrosecond =
      double(gpu.multiprocessors) * gpu.floatOps * gpu.clockMHz;
  std::vector<double> result;
  const format::FunctionT &function = *plan.functions[number];
  for (uint32_t i = 0; i < function.commands.size(); ++i) {
    CommandAccess access = accessOf(*function.commands[i]);
    double bytes = 0;
    for (uint32_t value : llvm::concat<uint32_t>(access.reads, access.writes)) {
      bytes += bytesOf(*plan.values[value], sizes);
    }
    double steps = 0;
    if (DimExpr own = built.steps.lookup({number, i})) {
      steps = static_cast<double>(own.evaluate([](llvm::StringRef) {
                                       return std::optional(assumedSize);
                                     })
                                      .value_or(0));
    }
    result.push_back(
        launchMicroseconds +
        std::max(bytes / bytesPerMicrosecond, steps / stepsPerMicrosecond));
  }
  return result;
}

void scheduleOnStreams(BuiltPlan &built, const GpuSpec &gpu) {
  for (uint32_t i = 0; i < built.plan.functions.size(); ++i) {
    format::FunctionT &function = *built.plan.functions[i];
    std::vector<double> costs = estimateCommands(built, i, gpu);
    assignStreams(built.plan, function, costs);
    for (auto [command, cost] : llvm::zip(function.commands, costs)) {
      command->microseconds = static_cast<float>(cost);
    }
  }
}

} // namespace tilewright::plan
