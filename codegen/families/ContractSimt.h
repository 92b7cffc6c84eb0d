//===- ContractSimt.h - contractions in tiles of a block --------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// A block computes a tile of rows times columns. It walks the reduction in
// steps: a step of both operands goes to shared memory, and each thread
// multiplies its rows by its columns in registers. Rows are the coordinates
// that the first factor of the product depends on alone, columns those of the
// second, batches those of both; the factors are whatever the body computes, so
// that a convolution with its padding is an implicit product of matrices.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "codegen/families/KernelFrame.h"
#include "codegen/families/TileDomain.h"
#include "passes/tile/Tactic.h"

namespace tilewright::families {

/// The sizes of a block's tile.
struct ContractTile {
  int64_t rows = 0, columns = 0; ///< of the block
  int64_t step = 0;              ///< of the reduction
  int64_t threadRows = 0, threadColumns = 0;

  int64_t threadsAcross() const { return columns / threadColumns; }
  int64_t threads() const { return rows / threadRows * threadsAcross(); }

  mlir::DictionaryAttr toAttribute(mlir::MLIRContext *context,
                                   llvm::StringRef tactic) const;
  static ContractTile fromAttribute(mlir::DictionaryAttr attribute);
};

/// \returns why a region of form Reduce is not computed in tiles.
std::optional<Refusal> refuseContractSimt(const FusedRegion &region);

/// \returns the tile that costs least on `target` of those that `mayUse`
/// admits; nothing if it admits none. \pre not refused.
std::optional<ContractTile>
chooseContractTile(const FusedRegion &region, const TargetSpec &target,
                   llvm::function_ref<bool(const ContractTile &)> mayUse);

/// \returns the tasks, sizes and shared memory.
Launch contractSimtLaunch(const FusedRegion &region, const ContractTile &tile);

Result<twk::KernelOp> buildContractSimt(const FusedRegion &region,
                                        const ContractTile &tile,
                                        const TargetSpec &target,
                                        llvm::StringRef name,
                                        mlir::OpBuilder &builder);

} // namespace tilewright::families
