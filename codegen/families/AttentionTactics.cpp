//===- AttentionTactics.cpp - attention in tiles of a block ---------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "codegen/families/AttentionTactics.h"
#include "codegen/families/AttentionTiles.h"
#include "codegen/families/MmaTactic.h"
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
