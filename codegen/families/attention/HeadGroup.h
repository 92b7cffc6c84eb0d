//===- HeadGroup.h - heads that share keys ----------------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// Several heads of queries may read the keys and values of one: where these are
// loaded, the head's coordinate is divided by the heads of a group, or does not
// appear. A tile of a block then has rows of all heads of a group, so that keys
// and values are read once for them: row = query · size + head of the group.
// That matters most to a decoder, whose single queries would leave a tile
// empty.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "passes/fuse/AttentionForm.h"

namespace tilewright::families {

struct HeadGroup {
  std::optional<unsigned> axis; ///< of the rows
  int64_t size = 1;             ///< heads of a group; divides the axis
};

/// \returns the largest group of an attention's rows, beside its queries.
HeadGroup headGroupOf(const AttentionForm &form);

/// \returns the extents of a launch's tasks: the axes of the rows, the group's
/// divided, and last all rows of a group in tiles of `rows`.
llvm::SmallVector<tw::DimExpr> tileExtents(const AttentionForm &form,
                                           llvm::ArrayRef<tw::DimExpr> parallel,
                                           int64_t rows);

/// \returns the rows of all heads of a group.
tw::DimExpr rowsOfGroup(const AttentionForm &form,
                        llvm::ArrayRef<tw::DimExpr> parallel);

} // namespace tilewright::families
