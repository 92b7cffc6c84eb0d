//===- TaskSpace.h - the order of the tiles of a nest -----------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// Tasks are numbered; neighbours run one after the other on one thread. So
// their order is the blocking for caches. A contraction multiplies rows by
// panels (what changes along the lanes). When all panels together exceed half
// of a core's second cache, rows go in blocks that fit there, and each panel
// runs over a whole block:
//
//   batches, blocks of rows, panels, rows of the block
//
//===----------------------------------------------------------------------===//

#pragma once

#include "codegen/families/nest/Nest.h"

namespace tilewright::families {

/// What the digits of a task number stand for, outermost first.
struct TaskSpace {
  struct Digit {
    unsigned axis; ///< of the domain
    int64_t step;  ///< elements of the axis from one value to the next
    int64_t count; ///< how many values; 0: as many as the axis has
  };
  llvm::SmallVector<Digit> digits;

  /// \returns how many values `digit` has.
  static tw::DimExpr countOf(const Digit &digit, const TileDomain &domain);
  /// True if some tasks lie beyond the end of the axis of `digit`.
  bool mayExceed(const Digit &digit, const TileDomain &domain) const;
};

TaskSpace taskSpaceOf(const FusedRegion &region, const TileDomain &domain,
                      const NestParameters &parameters);

/// \returns the bytes of one batch of a contraction's panels.
double panelOperandBytes(const FusedRegion &region, const TileDomain &domain,
                         unsigned vectorAxis);

/// \returns elements of the split axis in one block for a contraction with
/// these parameters: the entry `block` of a tactic; and the axis. A block of 0
/// elements: rows are not blocked.
std::pair<unsigned, int64_t> rowBlock(const FusedRegion &region,
                                      const TileDomain &domain,
                                      const NestParameters &parameters,
                                      const TargetSpec &target);

} // namespace tilewright::families
