//===- RegionParts.h - a region becomes several -----------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "ir/TwOps.h"

namespace tilewright::families {

/// A region that holds what `build` makes of `inputs`, less those that it does
/// not read: \returns it, after the insertion point. \param like gives the
/// location.
tw::FusedOp buildRegionLike(mlir::OpBuilder &builder, tw::FusedOp like,
                            const llvm::Twine &name, mlir::ValueRange inputs,
                            mlir::TypeRange results,
                            llvm::function_ref<llvm::SmallVector<mlir::Value>(
                                mlir::OpBuilder &, mlir::Block &)>
                                build);

} // namespace tilewright::families
