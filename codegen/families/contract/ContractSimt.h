//===- ContractSimt.h - contractions in tiles of a block --------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// A block computes a tile of a product of matrices in plain arithmetic: steps
// of both factors come to shared memory while the one before is multiplied, and
// each thread has a tile of sums in registers. Rows, columns, batches and depth
// are those of MatrixProduct.h; a factor is whatever the body computes, so that
// a convolution with its padding is an implicit product of matrices.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "codegen/families/contract/DepthParts.h"
#include "codegen/families/emit/KernelFrame.h"
#include "passes/tile/Tactic.h"

namespace tilewright::families {

/// The sizes of a block's tile.
struct ContractTile {
  int64_t rows = 0, columns = 0;             ///< of the block
  int64_t step = 0;                          ///< of the depth
  int64_t threadRows = 0, threadColumns = 0; ///< multiples of `run`
  int64_t stages = 2;

  /// Elements of f32 that a thread reads from shared memory at once.
  static constexpr int64_t run = 4;

  int64_t threadsDown() const { return rows / threadRows; }
  int64_t threadsAcross() const { return columns / threadColumns; }
  int64_t threads() const { return threadsDown() * threadsAcross(); }
  TileCost cost() const;

  mlir::DictionaryAttr toAttribute(mlir::MLIRContext *context,
                                   llvm::StringRef tactic) const;
  static ContractTile fromAttribute(mlir::DictionaryAttr attribute);
};

/// \returns the tiles to choose from.
std::vector<ContractTile> contractTiles();

/// \returns why a region of form Reduce is not computed in tiles.
std::optional<Refusal> refuseContractSimt(const FusedRegion &region);

/// \returns the tile that should take least time on `target` of those that
/// `mayUse` admits; nothing if it admits none. \pre not refused.
std::optional<ContractTile>
chooseContractTile(const FusedRegion &region, const TargetSpec &target,
                   llvm::function_ref<bool(const ContractTile &)> mayUse);

/// \returns the clocks of a launch that computes the product in the best tile.
std::optional<double> simtClocks(const MatrixProduct &product,
                                 const GpuSpec &gpu);

/// \returns the parts of the depth with which tiles should take least time;
/// nothing if that is one part.
std::optional<DepthParts> chooseSimtParts(const MatrixProduct &product,
                                          const GpuSpec &gpu);

/// \returns the tasks, sizes and shared memory.
Launch contractSimtLaunch(const FusedRegion &region, const ContractTile &tile);

Result<twk::KernelOp> buildContractSimt(const FusedRegion &region,
                                        const ContractTile &tile,
                                        const TargetSpec &target,
                                        llvm::StringRef name,
                                        mlir::OpBuilder &builder);

} // namespace tilewright::families
