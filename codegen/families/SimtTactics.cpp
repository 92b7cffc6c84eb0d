//===- SimtTactics.cpp - the tactics for GPUs -----------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "codegen/families/SimtTactics.h"
#include "codegen/families/ReferenceTactic.h"
#include "codegen/families/attention/AttentionTactics.h"
#include "codegen/families/contract/ContractSimt.h"
#include "codegen/families/contract/FewRows.h"
#include "codegen/families/contract/MmaTactic.h"
#include "codegen/families/emit/Access.h"
#include "codegen/families/emit/Grid.h"
#include "codegen/families/emit/VectorAccess.h"
#include "codegen/families/nest/Nest.h"
#include "codegen/families/nest/NestSchedule.h"
#include "codegen/families/nest/NestSimt.h"
#include "codegen/families/nest/TransposeSimt.h"
#include "codegen/families/rows/RowPasses.h"
#include "codegen/families/rows/Rows.h"
#include "codegen/families/rows/RowsSimt.h"
#include "codegen/families/rows/Team.h"
#include "codegen/families/sequential/ScanSimt.h"
#include "codegen/families/sequential/ScatterSimt.h"
#include "passes/tile/DroppedTiles.h"

using namespace mlir;
using namespace tilewright::tw;

namespace tilewright::families {

namespace {

constexpr int64_t warpSize = GpuSpec::warpSize;
constexpr int64_t usualThreads = 128, manyThreads = 256;

/// Contractions in tiles of a block.
class TiledContraction : public ReferenceTactic {
public:
  TiledContraction() : ReferenceTactic("contract.simt") {}

  std::optional<Refusal> applicable(FusedOp op,
                                    const TargetSpec &target) const override {
    if (auto refusal = ReferenceTactic::applicable(op, target)) {
      return refusal;
    }
    return refuseContractSimt(*analyseRegion(op));
  }

  Result<DictionaryAttr> choose(FusedOp op,
                                const TargetSpec &target) const override {
    Result<FusedRegion> region = analyseRegion(op);
    TW_RETURN_IF_ERROR(region.status());
    auto parametersOf = [&](const ContractTile &tile) {
      return tile.toAttribute(op.getContext(), name());
    };
    auto tile =
        chooseContractTile(*region, target, [&](const ContractTile &tile) {
          return !isDropped(op, parametersOf(tile));
        });
    if (!tile) {
      tile = chooseContractTile(*region, target,
                                [](const ContractTile &) { return true; });
    }
    return parametersOf(*tile);
  }

  Result<Launch> launch(FusedOp op) const override {
    Result<FusedRegion> region = analyseRegion(op);
    TW_RETURN_IF_ERROR(region.status());
    return contractSimtLaunch(*region,
                              ContractTile::fromAttribute(parametersOf(op)));
  }

  Result<twk::KernelOp> build(FusedOp op, const TargetSpec &target,
                              StringRef kernelName,
                              OpBuilder &builder) const override {
    Result<FusedRegion> region = analyseRegion(op);
    TW_RETURN_IF_ERROR(region.status());
    return buildContractSimt(*region,
                             ContractTile::fromAttribute(parametersOf(op)),
                             target, kernelName, builder);
  }
};

/// A warp or a block for each result of a reduction.
class TeamReduce : public ReferenceTactic {
public:
  TeamReduce() : ReferenceTactic("reduce.team") {}

  std::optional<Refusal> applicable(FusedOp op,
                                    const TargetSpec &target) const override {
    if (auto refusal = ReferenceTactic::applicable(op, target)) {
      return refusal;
    }
    FusedRegion region = *analyseRegion(op);
    ReduceOp reduce = region.getReduce();
    if (reduce.isArg()) {
      return Refusal{"TWT112", "a position is not folded across threads"};
    }
    SmallVector<TileAxis> axes = tileDomainOf(region).reductions.front();
    if (axes.empty() || guessedExtent(axes.back().extent, false) < warpSize) {
      return Refusal{"TWT114", "there is too little to fold for a warp"};
    }
    Block &body = reduce.getBody().front();
    auto along = body.getArgument(reduce.getParallelRank() + axes.back().last);
    bool isContiguous = llvm::all_of(body.getOps<LoadOp>(), [&](LoadOp load) {
      Movement movement = movementOf(load, along, 1);
      return movement == Movement::Contiguous || movement == Movement::None;
    });
    if (!isContiguous && results(region) >= fewResults) {
      return Refusal{"TWT115", "neighbours along the fold lie far apart"};
    }
    return std::nullopt;
  }

  Result<DictionaryAttr> choose(FusedOp op,
                                const TargetSpec &target) const override {
    Result<FusedRegion> region = analyseRegion(op);
    TW_RETURN_IF_ERROR(region.status());
    int64_t steps = 1;
    for (DimExpr extent : region->getReduce().getExtents().getDims()) {
      steps *= guessedExtent(extent, false);
    }
    bool isLong = results(*region) < fewResults && steps > longReduction;
    Grid grid = isLong ? Grid::fill(target, manyThreads, manyThreads)
                       : Grid::fill(target, usualThreads, warpSize);
    const TileAxis &along = tileDomainOf(*region).reductions.front().back();
    NestParameters parameters;
    parameters.width = foldWidth(*region, along);
    parameters.innerVector = parameters.width > 1;
    return grid.addTo(parameters.toAttribute(op.getContext(), name()));
  }

  Result<Launch> launch(FusedOp op) const override {
    Result<Launch> launch = ReferenceTactic::launch(op);
    if (launch) {
      int64_t team = Grid::fromAttribute(parametersOf(op)).team;
      launch->shared = teamSharedBytes(team, 1);
    }
    return launch;
  }

private:
  /// Fewer results than this leave most of a GPU idle with a thread for each.
  static constexpr int64_t fewResults = 8192;
  static constexpr int64_t longReduction = 1024;

  static int64_t results(const FusedRegion &region) {
    int64_t count = 1;
    for (auto [axis, extent] : llvm::enumerate(region.parallel)) {
      count *= guessedExtent(extent, axis == 0);
    }
    return count;
  }
};

/// A row in the registers of a warp or a block.
class RegisterRows : public ReferenceTactic {
public:
  RegisterRows() : ReferenceTactic("rows.registers") {}

  std::optional<Refusal> applicable(FusedOp op,
                                    const TargetSpec &target) const override {
    if (auto refusal = ReferenceTactic::applicable(op, target)) {
      return refusal;
    }
    return refuseRowsSimt(*analyseRegion(op));
  }

  Result<DictionaryAttr> choose(FusedOp op,
                                const TargetSpec &target) const override {
    Result<FusedRegion> region = analyseRegion(op);
    TW_RETURN_IF_ERROR(region.status());
    return chooseRowsSimt(*region, target, name());
  }

  Result<Launch> launch(FusedOp op) const override {
    Result<FusedRegion> region = analyseRegion(op);
    TW_RETURN_IF_ERROR(region.status());
    return rowsSimtLaunch(*region, parametersOf(op));
  }

  Result<twk::KernelOp> build(FusedOp op, const TargetSpec &target,
                              StringRef kernelName,
                              OpBuilder &builder) const override {
    Result<FusedRegion> region = analyseRegion(op);
    TW_RETURN_IF_ERROR(region.status());
    return buildRowsSimt(*region, target, kernelName, builder);
  }
};

/// A row of any length for a block, which walks it for each primitive.
class BlockRows : public ReferenceTactic {
public:
  BlockRows() : ReferenceTactic("rows.block") {}

  std::optional<Refusal> applicable(FusedOp op,
                                    const TargetSpec &target) const override {
    if (auto refusal = ReferenceTactic::applicable(op, target)) {
      return refusal;
    }
    FusedRegion region = *analyseRegion(op);
    for (Operation *primitive : region.primitives) {
      auto reduce = dyn_cast<ReduceOp>(primitive);
      if (!reduce) {
        continue;
      }
      if (reduce.isArg()) {
        return Refusal{"TWT112", "a position is not folded across threads"};
      }
      SmallVector<TileAxis> axes = plainAxes(reduce.getExtents().getDims());
      if (!axes.empty() &&
          guessedExtent(axes.back().extent, false) < warpSize) {
        return Refusal{"TWT114", "there is too little to fold for a warp"};
      }
    }
    return std::nullopt;
  }

  Result<DictionaryAttr> choose(FusedOp op,
                                const TargetSpec &target) const override {
    Grid grid = Grid::fill(target, usualThreads, usualThreads);
    return grid.addTo(RowParameters().toAttribute(op.getContext(), name()));
  }

  Result<Launch> launch(FusedOp op) const override {
    Result<Launch> launch = ReferenceTactic::launch(op);
    TW_RETURN_IF_ERROR(launch.status());
    int64_t folds =
        llvm::count_if(analyseRegion(op)->primitives,
                       [](Operation *op) { return isa<ReduceOp>(op); });
    launch->shared =
        teamSharedBytes(Grid::fromAttribute(parametersOf(op)).team, folds);
    return launch;
  }
};

struct Tactics {
  MmaContract mma;
  TiledAttention attentionMma{/*usesMatrixUnits=*/true};
  TiledAttention attentionTiles{/*usesMatrixUnits=*/false};
  TiledContraction contraction;
  TeamReduce teamReduce;
  RegisterRows registerRows;
  RowPasses rowPasses;
  BlockRows blockRows;
  VectorMaps vectorMaps;
  TransposedMaps transposedMaps;
  OwnedScatter scatter;
  TeamScan scan;
  SlidingWindow window;
  FewRows fewRows;
  ReferenceTactic reference{"reference.simt", /*wide=*/false};

  std::vector<const Tactic *> forReduce = {&mma,    &contraction, &fewRows,
                                           &window, &teamReduce,  &reference};
  std::vector<const Tactic *> forRows = {&registerRows, &rowPasses, &blockRows,
                                         &reference};
  std::vector<const Tactic *> forAttention = {&attentionMma, &attentionTiles,
                                              &reference};
  std::vector<const Tactic *> forMaps = {&vectorMaps, &transposedMaps,
                                         &reference};
  std::vector<const Tactic *> forScatters = {&scatter, &reference};
  std::vector<const Tactic *> forScans = {&scan, &reference};
  std::vector<const Tactic *> forOthers = {&reference};
  std::vector<const Tactic *> all = {
      &mma,       &contraction,  &teamReduce,     &registerRows,
      &rowPasses, &blockRows,    &vectorMaps,     &window,
      &fewRows,   &attentionMma, &attentionTiles, &transposedMaps,
      &scatter,   &scan,         &reference};
};

} // namespace

static const Tactics &tactics() {
  static const Tactics instance;
  return instance;
}

ArrayRef<const Tactic *> simtTacticsFor(Form form) {
  switch (form) {
  case Form::Reduce:
    return tactics().forReduce;
  case Form::Rows:
    return tactics().forRows;
  case Form::Pointwise:
    return tactics().forMaps;
  case Form::Attention:
    return tactics().forAttention;
  case Form::Scatter:
    return tactics().forScatters;
  case Form::Scan:
    return tactics().forScans;
  case Form::RowBlocks:
    break;
  }
  return tactics().forOthers;
}

ArrayRef<const Tactic *> allSimtTactics() { return tactics().all; }

} // namespace tilewright::families
