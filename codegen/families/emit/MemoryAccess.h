//===- MemoryAccess.h - loads and stores of lanes ---------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "codegen/families/emit/KernelFrame.h"

namespace tilewright::families {

/// A load with this attribute walks memory from end to end and reads ahead.
constexpr llvm::StringLiteral readsAheadName = "reads_ahead";

/// Which lanes of an access happen. Null members are true.
struct Activity {
  mlir::Value lanes;     ///< the lanes that exist: a vector of i1
  mlir::Value guard;     ///< a load's guard: a scalar or a vector of i1
  mlir::Value otherwise; ///< what a false guard gives, a scalar or vector
};

/// Reads `memory` at an element offset. Uniform offsets give Uniform lanes,
/// unless the guard varies.
Lanes loadLanes(KernelFrame &frame, const Memory &memory, const Lanes &offset,
                const Activity &activity);

/// Writes a vector, or a scalar when the offset is uniform.
void storeLanes(KernelFrame &frame, const Memory &memory, const Lanes &offset,
                const Lanes &value, mlir::Value activeLanes);

/// The offset of an element of a tensor type in memory.
Lanes offsetOf(KernelFrame &frame, const Memory &memory, mlir::Type tensor,
               llvm::ArrayRef<Lanes> coordinates);

} // namespace tilewright::families
