//===- Grid.h - tasks over the threads of a GPU -----------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// A kernel of the model `simt` whose tasks are independent gives each of them
// to a thread, or to a team of threads; those of a grid stride over all tasks.
// The grid is no larger than what the GPU holds at once, so that scratch memory
// of each is bounded.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "passes/tile/Tactic.h"

namespace tilewright::families {

/// Entries `threads`, `blocks` and `team` of a tactic's attribute.
struct Grid {
  int64_t threads = 0; ///< of a block; 0: not for a GPU
  int64_t blocks = 0;  ///< the most of a launch
  int64_t team = 1;    ///< threads of a task: 1, a warp, or the block

  bool exists() const { return threads > 0; }

  /// \returns as many blocks of `threads` as `target` holds at once.
  static Grid fill(const TargetSpec &target, int64_t threads, int64_t team = 1);
  static Grid fromAttribute(mlir::DictionaryAttr attribute);
  /// \returns `attribute` with the entries.
  mlir::DictionaryAttr addTo(mlir::DictionaryAttr attribute) const;
};

/// \returns the launch of a kernel whose teams stride over the tasks of
/// `launch`; its workspace is for one team.
Launch overTeams(Launch launch, const Grid &grid);

} // namespace tilewright::families
