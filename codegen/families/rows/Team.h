//===- Team.h - threads that compute a task together ------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// On a GPU a task may be that of a warp or of a whole block: its threads take
// every n-th step of a loop, and fold what they have got by shuffles and,
// across warps, through shared memory. All of them end up with the same bits.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "codegen/families/emit/KernelFrame.h"

namespace tilewright::families {

/// Folds each of `values` over the threads of the team, or over those that have
/// the same place across it (KernelFrame.h). All threads must come here.
/// \param fold combines two values of a type, which has 32 or 64 bits.
llvm::SmallVector<mlir::Value>
foldTeam(KernelFrame &frame, llvm::ArrayRef<mlir::Value> values,
         llvm::function_ref<mlir::Value(mlir::Value, mlir::Value)> fold);

/// \returns the shared memory that `folds` folds of a team of `threads` need,
/// of whom `across` fold apart.
int64_t teamSharedBytes(int64_t threads, int64_t folds, int64_t across = 1);

/// Emits `body` for one thread of the team, or of each place across it.
Status emitForOne(KernelFrame &frame, llvm::function_ref<Status()> body);

/// Writes what all threads of the team have computed of `value` at `at` to its
/// outputs, if it has any, once.
Status storeForOne(KernelFrame &frame, mlir::Value value,
                   llvm::ArrayRef<Lanes> at, const Lanes &lanes);

} // namespace tilewright::families
