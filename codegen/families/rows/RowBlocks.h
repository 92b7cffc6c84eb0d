//===- RowBlocks.h - contractions before rows -------------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// A norm behind a projection: contractions and maps give the elements of rows,
// reductions and maps work on the rows. A task is a block of rows. All tiles of
// the block are computed into a buffer or a result, then its rows are done
// while they are in the caches. The last block overlaps the one before it, so
// that no tile leaves its block.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "codegen/families/nest/Nest.h"

namespace tilewright::families {

/// The two parts of a region of form RowBlocks: a nest and what is behind it.
struct RowBlockParts {
  FusedRegion nest; ///< of form Reduce
  FusedRegion rows; ///< of form Rows
};

RowBlockParts partsOf(const FusedRegion &region);

/// \returns the axis of a nest's domain that tasks take blocks of, if there is
/// more than one row.
std::optional<unsigned> rowAxisOf(const FusedRegion &nest,
                                  const TileDomain &domain);

/// \returns that axis and how many of its elements are in a task: whole tiles
/// whose operands and results fit the first cache, at least one. A block of 0
/// elements: there is one row.
std::pair<unsigned, int64_t> rowsOfTask(const FusedRegion &nest,
                                        const TileDomain &domain,
                                        const NestParameters &parameters,
                                        const TargetSpec &target);

/// \returns the parameters of row after row, accumulated in f64.
NestParameters referenceRowBlocks(const FusedRegion &region);

/// \returns the tasks, sizes and workspace of a region of form RowBlocks.
Launch rowBlocksLaunch(const FusedRegion &region,
                       const NestParameters &parameters);

/// Builds the kernel of a region of form RowBlocks.
Result<twk::KernelOp> buildRowBlocks(const FusedRegion &region,
                                     const NestParameters &parameters,
                                     const TargetSpec &target,
                                     llvm::StringRef name,
                                     mlir::OpBuilder &builder);

} // namespace tilewright::families
