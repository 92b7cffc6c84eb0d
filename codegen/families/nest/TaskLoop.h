//===- TaskLoop.h - tasks of a kernel ---------------------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "codegen/families/emit/KernelFrame.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tilewright::families {

/// Emits the loop over the kernel's task numbers, on a GPU over those of a
/// team: it starts at its own number and strides over the grid. `counts` are
/// the extents of the task space, outermost first; `body` gets a task's
/// coordinates.
Status
emitTaskLoop(KernelFrame &frame, llvm::ArrayRef<Lanes> counts,
             llvm::function_ref<Status(llvm::ArrayRef<mlir::Value>)> body);

/// Emits a loop without carried values.
Status emitLoop(LaneBuilder &b, mlir::Value from, mlir::Value to, int64_t step,
                llvm::function_ref<Status(mlir::Value)> body);

/// Emits a loop in which the `threads` of a GPU's block share the numbers below
/// `count`, `together` of each thread at once, so that their accesses to memory
/// overlap. `body` gets a number, which may be `count` or more. \returns the
/// loop.
Result<mlir::scf::ForOp>
emitSharedLoop(LaneBuilder &b, mlir::Value thread, int64_t count,
               int64_t threads, int64_t together,
               llvm::function_ref<Status(mlir::Value)> body);

/// Emits `body` under a condition.
Status emitIf(LaneBuilder &b, mlir::Value condition,
              llvm::function_ref<Status()> body);

} // namespace tilewright::families
