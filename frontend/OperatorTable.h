//===- OperatorTable.h - which function imports an operator -----*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "frontend/NodeImport.h"

namespace tilewright::frontend {

/// \returns the row for an operator at a since-version, or null. `domain` is in
/// canonical form.
const OperatorEntry *findOperator(llvm::StringRef domain, llvm::StringRef name,
                                  int64_t version);

/// \returns all rows, sorted by domain, name and version.
llvm::ArrayRef<OperatorEntry> allOperators();

} // namespace tilewright::frontend
