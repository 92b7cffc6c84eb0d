//===- ReshapeCoordinates.h - coordinates across a reshape ------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "codegen/families/emit/KernelFrame.h"

namespace tilewright::families {

/// \returns the coordinates in a tensor of dims `to` of the element that has
/// the given coordinates in a tensor of dims `from`, at the same place in
/// memory. Axes that both have stay as they are.
llvm::SmallVector<Lanes> reshapeCoordinates(KernelFrame &frame,
                                            llvm::ArrayRef<tw::DimExpr> from,
                                            llvm::ArrayRef<tw::DimExpr> to,
                                            llvm::ArrayRef<Lanes> coordinates);

} // namespace tilewright::families
