//===- LoopBuilder.h - building tw.loop -------------------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// The sizes of carried values may change from one iteration to the next. The
// body is imported for the sizes that the loop starts with; where it yields
// others, again with symbols in their place, until it yields what it takes.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "frontend/GraphImport.h"

namespace tilewright::frontend {

class LoopBuilder {
public:
  /// Imports the body at the builder's position. Arguments: iteration number,
  /// condition, carried values. \returns the condition, the carried values and
  /// the values to stack.
  using Body = llvm::function_ref<Result<Values>(
      llvm::ArrayRef<ImportedValue> arguments)>;

  explicit LoopBuilder(NodeImport &node) : node(node) {}

  /// A tensor of one integer, and its value if it is known.
  void setTripCount(mlir::Value tensor, std::optional<Dims> known);
  /// A tensor of one bool, and its value if it is known.
  void setCondition(mlir::Value tensor,
                    std::optional<llvm::SmallVector<int64_t>> known);
  void carry(mlir::Value initial) { carried.push_back(initial); }

  /// \returns the final carried values, then `stacks` stacked values, axis 0 of
  /// which is the number of iterations.
  Result<llvm::SmallVector<mlir::Value>> build(size_t stacks, Body importBody);

private:
  Result<Values> tryBody(mlir::Region &region, Body importBody);
  Result<bool> adaptTypes(llvm::ArrayRef<ImportedValue> yielded);
  llvm::SmallVector<mlir::Type>
  resultTypes(llvm::ArrayRef<ImportedValue> yielded);
  mlir::Value scalar(mlir::Value tensor);
  DimExpr define();

  NodeImport &node;
  mlir::Value tripCount, condition;
  DimExpr knownTrips;     // null if they are known only at run time
  bool startsTrue = true; // the condition is left out or constant
  bool staysTrue = false; // so is what the body yields
  llvm::SmallVector<mlir::Value> carried;
  llvm::SmallVector<mlir::Type> argumentTypes;
  llvm::SmallVector<llvm::StringRef> defines;
  unsigned firstInnerSymbol = 0;
};

} // namespace tilewright::frontend
