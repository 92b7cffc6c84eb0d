//===- TaskLoop.h - tasks of a kernel ---------------------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "codegen/families/emit/KernelFrame.h"

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

/// Emits `body` under a condition.
Status emitIf(LaneBuilder &b, mlir::Value condition,
              llvm::function_ref<Status()> body);

} // namespace tilewright::families
