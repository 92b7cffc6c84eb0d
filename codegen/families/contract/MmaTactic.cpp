//===- MmaTactic.cpp - contractions on matrix units -----------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "codegen/families/contract/MmaTactic.h"
#include "codegen/families/contract/MmaKernel.h"
#include "passes/tile/DroppedTiles.h"

using namespace mlir;
using namespace tilewright::tw;

namespace tilewright::families {

static bool anyTile(const MmaTile &) { return true; }

bool allowsTf32(FusedOp op) {
  auto module = op->getParentOfType<ModuleOp>();
  auto precision =
      module ? module->getAttrOfType<StringAttr>(precisionAttr) : StringAttr();
  return precision && precision.getValue() == "tf32";
}

std::optional<Refusal> MmaContract::applicable(FusedOp op,
                                               const TargetSpec &target) const {
  Result<FusedRegion> region = analyseRegion(op);
  if (!region) {
    return Refusal{"TWT100", region.status().message()};
  }
  if (region->form != Form::Reduce) {
    return Refusal{"TWT103", "it is no sum of products"};
  }
  Refusal refusal;
  std::optional<MatrixProduct> contraction =
      matchMatrixProduct(*region, refusal);
  if (!contraction) {
    return refusal;
  }
  if (contraction->a.element.isF32() && !allowsTf32(op)) {
    return Refusal{"TWT124", "factors of f32 must not be rounded to tf32"};
  }
  if (mmaRate(*target.gpu, contraction->a.element) == 0) {
    return Refusal{"TWT125", "the GPU has no matrix unit for the type"};
  }
  bool isPlane = !contraction->extentOf(contraction->rows).isConstant(1) &&
                 !contraction->extentOf(contraction->columns).isConstant(1);
  if (!isPlane) {
    return Refusal{"TWT126", "there is a single row or column"};
  }
  if (!chooseMmaTile(*contraction, *target.gpu, anyTile)) {
    return Refusal{"TWT127", "no tile fits registers and shared memory"};
  }
  return std::nullopt;
}

static Result<MatrixProduct> matrixProductOf(const FusedRegion &region) {
  Refusal refusal;
  if (auto contraction = matchMatrixProduct(region, refusal)) {
    return *contraction;
  }
  return Status(ErrorCode::Internal,
                "region '" + FusedOp(region.op).getSymName().str() +
                    "' is no contraction: " + refusal.text);
}

Result<DictionaryAttr> MmaContract::choose(FusedOp op,
                                           const TargetSpec &target) const {
  Result<FusedRegion> region = analyseRegion(op);
  TW_RETURN_IF_ERROR(region.status());
  Result<MatrixProduct> contraction = matrixProductOf(*region);
  TW_RETURN_IF_ERROR(contraction.status());
  auto parametersOf = [&](const MmaTile &tile) {
    return tile.toAttribute(op.getContext(), name());
  };
  auto mayUse = [&](const MmaTile &tile) {
    return !isDropped(op, parametersOf(tile));
  };
  std::optional<MmaTile> tile =
      chooseMmaTile(*contraction, *target.gpu, mayUse);
  if (!tile) {
    tile = chooseMmaTile(*contraction, *target.gpu, anyTile);
  }
  if (!tile) {
    return Status(ErrorCode::Internal,
                  "no tile fits region '" + op.getSymName().str() + "'");
  }
  return parametersOf(*tile);
}

static MmaTile tileOf(FusedOp op) {
  return MmaTile::fromAttribute(cast<DictionaryAttr>(*op.getTactic()));
}

Result<Launch> MmaContract::launch(FusedOp op) const {
  Result<FusedRegion> region = analyseRegion(op);
  TW_RETURN_IF_ERROR(region.status());
  Result<MatrixProduct> contraction = matrixProductOf(*region);
  TW_RETURN_IF_ERROR(contraction.status());
  return mmaLaunch(*region, *contraction, tileOf(op));
}

Result<twk::KernelOp> MmaContract::build(FusedOp op, const TargetSpec &target,
                                         StringRef kernelName,
                                         OpBuilder &builder) const {
  Result<FusedRegion> region = analyseRegion(op);
  TW_RETURN_IF_ERROR(region.status());
  Result<MatrixProduct> contraction = matrixProductOf(*region);
  TW_RETURN_IF_ERROR(contraction.status());
  return buildMma(*region, *contraction, tileOf(op), target, kernelName,
                  builder);
}

} // namespace tilewright::families
