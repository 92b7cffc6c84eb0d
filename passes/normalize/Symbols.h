//===- Symbols.h - where size symbols come from and go to -------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "ir/TwOps.h"
#include "llvm/ADT/StringSet.h"

namespace tilewright {

/// \returns the symbols that an operation gives a value (its `defines`).
llvm::SmallVector<llvm::StringRef> symbolsDefinedBy(mlir::Operation *op);

/// Adds the symbols that `op` itself mentions in its types, its attributes and
/// its regions' arguments; with `nested`, also what its regions hold.
void collectSymbolsUsedBy(mlir::Operation *op, bool nested,
                          llvm::StringSet<> &symbols);

/// Replaces symbols in every type and attribute of `op` and below.
void substituteSymbols(
    mlir::Operation *op,
    llvm::function_ref<tw::DimExpr(llvm::StringRef)> replacement);

} // namespace tilewright
