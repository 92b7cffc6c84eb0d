//===- AttentionTactics.cpp - attention in tiles of a block ---------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "codegen/families/attention/AttentionTactics.h"
#include "codegen/families/attention/AttentionTiles.h"
#include "codegen/families/contract/MmaTactic.h"
#include "passes/tile/DroppedTiles.h"

using namespace mlir;
using namespace tilewright::tw;

namespace tilewright::families {

static bool anyTile(const AttentionTile &) { return true; }

/// What is multiplied: plain arithmetic computes in f32, whatever the operands
/// are.
static std::optional<AttentionProblem> problemOf(const FusedRegion &region,
                                                 bool usesMatrixUnits) {
  AttentionForm form = attentionOf(region);
  Type element = usesMatrixUnits ? attentionElement(form)
                                 : Float32Type::get(region.op.getContext());
  return attentionProblem(form, element, usesMatrixUnits);
}

std::optional<Refusal>
TiledAttention::applicable(FusedOp op, const TargetSpec &target) const {
  Result<FusedRegion> region = analyseRegion(op);
  if (!region) {
    return Refusal{"TWT100", region.status().message()};
  }
  std::optional<AttentionProblem> problem = problemOf(*region, usesMatrixUnits);
  if (!problem) {
    return Refusal{"TWT130", "the sizes of attention's heads are not known"};
  }
  if (usesMatrixUnits && problem->element.isF32() && !allowsTf32(op)) {
    return Refusal{"TWT124", "factors of f32 must not be rounded to tf32"};
  }
  if (usesMatrixUnits && mmaRate(*target.gpu, problem->element) == 0) {
    return Refusal{"TWT125", "the GPU has no matrix unit for the type"};
  }
  if (!chooseAttentionTile(*problem, *target.gpu, anyTile)) {
    return Refusal{"TWT127", "no tile fits registers and shared memory"};
  }
  return std::nullopt;
}

static Status noTile(FusedOp op) {
  return Status(ErrorCode::Internal,
                "no tile fits the attention '" + op.getSymName().str() + "'");
}

Result<DictionaryAttr> TiledAttention::choose(FusedOp op,
                                              const TargetSpec &target) const {
  Result<FusedRegion> region = analyseRegion(op);
  TW_RETURN_IF_ERROR(region.status());
  std::optional<AttentionProblem> problem = problemOf(*region, usesMatrixUnits);
  if (!problem) {
    return noTile(op);
  }
  auto parametersOf = [&](const AttentionTile &tile) {
    return tile.toAttribute(op.getContext(), name());
  };
  std::optional<AttentionTile> tile = chooseAttentionTile(
      *problem, *target.gpu, [&](const AttentionTile &tile) {
        return !isDropped(op, parametersOf(tile));
      });
  if (!tile) {
    tile = chooseAttentionTile(*problem, *target.gpu, anyTile);
  }
  return tile ? parametersOf(*tile) : Result<DictionaryAttr>(noTile(op));
}

static AttentionTile tileOf(FusedOp op) {
  return AttentionTile::fromAttribute(cast<DictionaryAttr>(*op.getTactic()));
}

std::optional<double> tiledAttentionTraffic(FusedOp op) {
  auto tactic = cast<DictionaryAttr>(*op.getTactic()).getAs<StringAttr>("name");
  bool usesMatrixUnits = tactic == TiledAttention(true).name();
  Result<FusedRegion> region = analyseRegion(op);
  if (!region || (!usesMatrixUnits && tactic != TiledAttention(false).name())) {
    return std::nullopt;
  }
  std::optional<AttentionProblem> problem = problemOf(*region, usesMatrixUnits);
  return problem ? std::optional(attentionTraffic(tileOf(op), *problem))
                 : std::nullopt;
}

std::optional<int64_t> chooseKeyParts(FusedOp op, const TargetSpec &target) {
  bool usesMatrixUnits = !TiledAttention(true).applicable(op, target);
  if (!usesMatrixUnits && TiledAttention(false).applicable(op, target)) {
    return std::nullopt;
  }
  Result<FusedRegion> region = analyseRegion(op);
  AttentionForm form = attentionOf(*region);
  std::optional<int64_t> keys =
      ReduceOp(form.max).getExtents().getDims().front().getConstant();
  std::optional<AttentionProblem> problem = problemOf(*region, usesMatrixUnits);
  // What has few queries and any number of keys is a decoder, whose cache
  // grows.
  constexpr int64_t usualCache = 1024;
  if (!keys) {
    if (form.queryAxis && !region->parallel[*form.queryAxis].getConstant()) {
      return std::nullopt;
    }
    keys = usualCache;
    problem->keys = usualCache;
  }
  std::optional<double> least = attentionClocks(*problem, *target.gpu);
  if (form.isPart() || !least) {
    return std::nullopt;
  }
  const GpuSpec &gpu = *target.gpu;
  // The model is not exact enough for a launch that gains less than a tenth.
  least = *least * 0.9;
  std::optional<int64_t> best;
  constexpr int64_t mostParts = 32, fewKeys = 64;
  for (int64_t parts = 2; parts <= mostParts && *keys >= parts * fewKeys;
       ++parts) {
    AttentionProblem divided = *problem;
    divided.heads *= double(parts);
    divided.keys = std::ceil(double(*keys) / double(parts));
    divided.parts = double(parts);
    for (KeyLine &line : divided.lines) {
      line.partSlope = -divided.keys;
    }
    divided.resultBytes = sizeof(float);
    divided.rowBytes = 2 * sizeof(float);
    std::optional<double> ofParts = attentionClocks(divided, gpu);
    if (!ofParts) {
      continue;
    }
    // The sums of the parts are written and read, by a launch of its own.
    constexpr double launchMicroseconds = 3;
    double bytes =
        2 * divided.heads * divided.rows() *
        double(divided.values * divided.resultBytes + divided.rowBytes);
    double microseconds =
        launchMicroseconds + bytes / (double(gpu.memoryGBPerSecond) * 1000);
    double total = *ofParts + double(gpu.clockMHz) * microseconds;
    if (total < *least) {
      least = total;
      best = parts;
    }
  }
  return best;
}

Result<Launch> TiledAttention::launch(FusedOp op) const {
  Result<FusedRegion> region = analyseRegion(op);
  TW_RETURN_IF_ERROR(region.status());
  std::optional<AttentionProblem> problem = problemOf(*region, usesMatrixUnits);
  if (!problem) {
    return noTile(op);
  }
  return attentionTilesLaunch(*region, tileOf(op), *problem);
}

Result<twk::KernelOp> TiledAttention::build(FusedOp op,
                                            const TargetSpec &target,
                                            StringRef kernelName,
                                            OpBuilder &builder) const {
  Result<FusedRegion> region = analyseRegion(op);
  TW_RETURN_IF_ERROR(region.status());
  std::optional<AttentionProblem> problem = problemOf(*region, usesMatrixUnits);
  if (!problem) {
    return noTile(op);
  }
  return buildAttentionTiles(*region, tileOf(op), *problem, target, kernelName,
                             builder);
}

} // namespace tilewright::families
