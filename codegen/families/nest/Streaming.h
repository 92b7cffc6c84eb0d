//===- Streaming.h - stores past the caches ---------------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// An ordinary store reads its cache line from memory first. A kernel whose
// results exceed the caches writes whole lines with non-temporal stores
// instead, which saves a third of the traffic of a kernel that reads as much as
// it writes.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "codegen/families/emit/KernelFrame.h"

namespace tilewright::families {

/// Emits `body`; where `results` may exceed the caches, twice: with streaming
/// stores to their outputs, and without, behind a test of their bytes and of
/// where the outputs lie. `results` are values of the region that the kernel
/// writes once and does not read.
Status emitStreaming(KernelFrame &frame, llvm::ArrayRef<mlir::Value> results,
                     llvm::function_ref<Status()> body);

} // namespace tilewright::families
