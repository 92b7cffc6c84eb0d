//===- ProductResults.h - what follows the sums of a product ----*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "codegen/families/emit/KernelFrame.h"

namespace tilewright::families {

/// Runs the maps of a region over a sum of its reduction, or over as many
/// neighbouring ones as the builder has lanes, and writes what the region
/// yields. \param coordinates of the reduction's body; those of the result come
/// first. \param sum in the reduction's accumulator type.
Status finishSums(KernelFrame &frame, tw::ReduceOp reduce,
                  llvm::ArrayRef<Lanes> coordinates, Lanes sum);

} // namespace tilewright::families
