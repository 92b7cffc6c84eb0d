//===- ContractSimt.cpp - tiles of contractions in plain arithmetic -------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "codegen/families/contract/ContractSimt.h"

using namespace mlir;
using namespace tilewright::tw;

namespace tilewright::families {

constexpr int64_t floatBytes = 4;

DictionaryAttr ContractTile::toAttribute(MLIRContext *context,
                                         StringRef tactic) const {
  Builder b(context);
  return b.getDictionaryAttr(
      {b.getNamedAttr("name", b.getStringAttr(tactic)),
       b.getNamedAttr("tile", b.getDenseI64ArrayAttr({rows, columns, step})),
       b.getNamedAttr("thread",
                      b.getDenseI64ArrayAttr({threadRows, threadColumns})),
       b.getNamedAttr("stages", b.getI64IntegerAttr(stages)),
       b.getNamedAttr("threads", b.getI64IntegerAttr(threads())),
       b.getNamedAttr("team", b.getI64IntegerAttr(threads()))});
}

ContractTile ContractTile::fromAttribute(DictionaryAttr attribute) {
  ContractTile tile;
  auto sizes = attribute.getAs<DenseI64ArrayAttr>("tile");
  auto thread = attribute.getAs<DenseI64ArrayAttr>("thread");
  auto stages = attribute.getAs<IntegerAttr>("stages");
  if (sizes && sizes.size() == 3 && thread && thread.size() == 2 && stages) {
    tile = {sizes[0],  sizes[1],  sizes[2],
            thread[0], thread[1], stages.getInt()};
  }
  return tile;
}

TileCost ContractTile::cost() const {
  int64_t stageBytes = (rows + columns) * step * floatBytes;
  // Of a step's run each thread holds its rows and columns; addresses,
  // counters.
  constexpr int64_t others = 72;
  int64_t registers =
      threadRows * threadColumns + (threadRows + threadColumns) * run + others;
  double readBytes =
      double((threadRows + threadColumns) * step * floatBytes * threads());
  return {rows,
          columns,
          step,
          stages,
          threads(),
          registers,
          stages * stageBytes,
          stageBytes,
          readBytes};
}

std::vector<ContractTile> contractTiles() {
  // Rows, columns, and those of a thread.
  constexpr int64_t shapes[][4] = {
      {128, 128, 8, 8}, {128, 64, 8, 4}, {64, 128, 4, 8}, {128, 64, 8, 8},
      {64, 128, 8, 8},  {64, 64, 4, 4},  {64, 64, 8, 8},  {64, 32, 4, 4},
      {32, 64, 4, 4},   {32, 32, 4, 4},  {16, 128, 4, 4}, {128, 16, 4, 4},
      {16, 64, 4, 4},   {64, 16, 4, 4},  {8, 128, 4, 4},  {128, 8, 4, 4}};
  constexpr int64_t steps[] = {32, 16}, stages[] = {4, 3, 2};
  std::vector<ContractTile> tiles;
  for (const auto &shape : shapes) {
    for (int64_t step : steps) {
      for (int64_t count : stages) {
        tiles.push_back({shape[0], shape[1], step, shape[2], shape[3], count});
      }
    }
  }
  return tiles;
}

/// Fewer rows or columns than this leave most of a tile without work.
constexpr int64_t fewestRows = 8;

std::optional<Refusal> refuseContractSimt(const FusedRegion &region) {
  std::optional<MatrixProduct> product = matchSumOfProducts(region);
  if (!product) {
    return Refusal{"TWT103", "it is no sum of products"};
  }
  Type type = yieldOf(region.getReduce()).getOperand(0).getType();
  if (!isa<FloatType>(type) || type.isF64() || bodyType(type) != type) {
    return Refusal{"TWT116", "it does not accumulate in f32"};
  }
  for (ArrayRef<unsigned> side : {product->rows, product->columns}) {
    if (side.empty() || product->extentOf(side).getConstant().value_or(
                            fewestRows) < fewestRows) {
      return Refusal{"TWT117", "there are too few rows or columns for a tile"};
    }
  }
  return std::nullopt;
}

static std::optional<std::pair<ContractTile, double>>
bestTile(const ProductSize &size, const GpuSpec &gpu,
         llvm::function_ref<bool(const ContractTile &)> mayUse) {
  std::optional<std::pair<ContractTile, double>> best;
  for (const ContractTile &tile : contractTiles()) {
    TileCost cost = tile.cost();
    if (cost.blocksAtOnce(gpu) == 0 || !mayUse(tile)) {
      continue;
    }
    double clocks = cost.clocksOf(size, gpu);
    if (!best || clocks < best->second) {
      best = {tile, clocks};
    }
  }
  return best;
}

std::optional<ContractTile>
chooseContractTile(const FusedRegion &region, const TargetSpec &target,
                   llvm::function_ref<bool(const ContractTile &)> mayUse) {
  MatrixProduct product = *matchSumOfProducts(region);
  auto size = ProductSize::of(product, double(target.gpu->floatOps));
  auto best = bestTile(size, *target.gpu, mayUse);
  return best ? std::optional(best->first) : std::nullopt;
}

static bool anyTile(const ContractTile &) { return true; }

std::optional<double> simtClocks(const MatrixProduct &product,
                                 const GpuSpec &gpu) {
  auto best =
      bestTile(ProductSize::of(product, double(gpu.floatOps)), gpu, anyTile);
  return best ? std::optional(best->second) : std::nullopt;
}

std::optional<DepthParts> chooseSimtParts(const MatrixProduct &product,
                                          const GpuSpec &gpu) {
  auto clocks = [&](const ProductSize &size) -> std::optional<double> {
    auto best = bestTile(size, gpu, anyTile);
    return best ? std::optional(best->second) : std::nullopt;
  };
  return chooseDepthParts(product,
                          ProductSize::of(product, double(gpu.floatOps)),
                          ContractTile::run, gpu, clocks);
}

Launch contractSimtLaunch(const FusedRegion &region, const ContractTile &tile) {
  MatrixProduct product = *matchSumOfProducts(region);
  Launch launch;
  launch.sizes = sizesOf(region.op);
  launch.tasks = product.extentOf(product.batches) *
                 product.extentOf(product.rows).ceilDiv(tile.rows) *
                 product.extentOf(product.columns).ceilDiv(tile.columns);
  launch.workspaceBytes = DimExpr::constant(region.op.getContext(), 0);
  launch.threads = tile.threads();
  launch.shared = tile.cost().sharedBytes;
  launch.inPlace = true;
  return launch;
}

} // namespace tilewright::families
