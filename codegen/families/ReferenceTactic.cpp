//===- ReferenceTactic.cpp - plain loops over any region ------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "codegen/families/ReferenceTactic.h"
#include "codegen/families/attention/Attention.h"
#include "codegen/families/emit/Grid.h"
#include "codegen/families/nest/Nest.h"
#include "codegen/families/rows/RowBlocks.h"
#include "codegen/families/rows/Rows.h"
#include "codegen/families/sequential/Scatter.h"
#include "codegen/families/sequential/Sequential.h"

using namespace mlir;

namespace tilewright::families {

/// Threads of a block that share nothing: enough warps to choose from, few
/// enough that small launches spread over the GPU.
constexpr int64_t independentThreads = 128;

std::optional<Refusal> ReferenceTactic::applicable(tw::FusedOp op,
                                                   const TargetSpec &) const {
  Result<FusedRegion> region = analyseRegion(op);
  if (!region) {
    return Refusal{"TWT100", region.status().message()};
  }
  return std::nullopt;
}

Result<DictionaryAttr> ReferenceTactic::choose(tw::FusedOp op,
                                               const TargetSpec &target) const {
  Result<FusedRegion> region = analyseRegion(op);
  TW_RETURN_IF_ERROR(region.status());
  DictionaryAttr attribute;
  if (region->form == Form::Rows) {
    RowParameters parameters;
    parameters.wide = wide;
    attribute = parameters.toAttribute(op.getContext(), name());
  } else if (region->form == Form::Attention) {
    attribute = AttentionParameters().toAttribute(op.getContext(), name());
  } else if (region->form == Form::RowBlocks) {
    attribute =
        referenceRowBlocks(*region).toAttribute(op.getContext(), name());
  } else if (region->form == Form::Scatter) {
    attribute = ScatterParameters().toAttribute(op.getContext(), name());
  } else {
    NestParameters parameters;
    parameters.wide = wide;
    attribute = parameters.toAttribute(op.getContext(), name());
  }
  return target.isGpu()
             ? Grid::fill(target, independentThreads).addTo(attribute)
             : attribute;
}

static Launch launchOf(const FusedRegion &region, DictionaryAttr parameters) {
  switch (region.form) {
  case Form::Attention:
    return attentionLaunch(region,
                           AttentionParameters::fromAttribute(parameters));
  case Form::Rows:
    return rowsLaunch(region);
  case Form::RowBlocks:
    return rowBlocksLaunch(region, NestParameters::fromAttribute(parameters));
  case Form::Scan:
    return sequentialLaunch(region);
  case Form::Scatter:
    return scatterLaunch(region, ScatterParameters::fromAttribute(parameters));
  case Form::Pointwise:
  case Form::Reduce:
    break;
  }
  return nestLaunch(region, NestParameters::fromAttribute(parameters));
}

Result<Launch> ReferenceTactic::launch(tw::FusedOp op) const {
  Result<FusedRegion> region = analyseRegion(op);
  TW_RETURN_IF_ERROR(region.status());
  Launch launch = launchOf(*region, parametersOf(op));
  Grid grid = Grid::fromAttribute(parametersOf(op));
  return grid.exists() ? overTeams(launch, grid) : launch;
}

Result<twk::KernelOp> ReferenceTactic::build(tw::FusedOp op,
                                             const TargetSpec &target,
                                             StringRef kernelName,
                                             OpBuilder &builder) const {
  Result<FusedRegion> region = analyseRegion(op);
  TW_RETURN_IF_ERROR(region.status());
  switch (region->form) {
  case Form::Attention:
    return buildAttention(*region,
                          AttentionParameters::fromAttribute(parametersOf(op)),
                          target, kernelName, builder);
  case Form::Rows:
    return buildRows(*region, RowParameters::fromAttribute(parametersOf(op)),
                     target, kernelName, builder);
  case Form::RowBlocks:
    return buildRowBlocks(*region,
                          NestParameters::fromAttribute(parametersOf(op)),
                          target, kernelName, builder);
  case Form::Scan:
    return buildSequential(*region, target, kernelName, builder);
  case Form::Scatter:
    return buildScatter(*region,
                        ScatterParameters::fromAttribute(parametersOf(op)),
                        target, kernelName, builder);
  case Form::Pointwise:
  case Form::Reduce:
    break;
  }
  return buildNest(*region, NestParameters::fromAttribute(parametersOf(op)),
                   target, kernelName, builder);
}

} // namespace tilewright::families
