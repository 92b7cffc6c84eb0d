//===- GraphImport.h - the values of a model while it is imported -*- C++
//-*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// One GraphImport turns one model into one function. Graphs nest (If, Loop,
// Scan): each has a scope of names, and sees those around it. Initializers
// become constants at the function's entry when something first uses them.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "frontend/NodeImport.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include <memory>

namespace tilewright::frontend {

using Values = llvm::SmallVector<ImportedValue>;

class GraphImport {
public:
  /// Builds into `body`, the body of a function; `model` stays alive as long as
  /// a constant points into it.
  GraphImport(std::shared_ptr<const LoadedModel> model, mlir::Block &body);

  mlir::OpBuilder &builder() { return opBuilder; }
  mlir::MLIRContext *context() { return opBuilder.getContext(); }
  const LoadedModel &model() const { return *keepAlive->model; }

  //===--- Values ---------------------------------------------------------===//
  /// Makes `name` known in the innermost scope.
  void define(llvm::StringRef name, ImportedValue value);
  /// \returns what `name` stands for, from the innermost scope outwards; makes
  /// the constant of an initializer that had no use before. ModelInvalid for a
  /// name that nobody defines.
  Result<ImportedValue> resolve(llvm::StringRef name);
  /// As resolve(), for a name that has been resolved before.
  ImportedValue find(llvm::StringRef name) const;
  /// \returns a constant at the function's entry with the elements of `tensor`,
  /// which must live as long as the model. Errors: UnsupportedType.
  Result<mlir::Value> constant(const onnx::TensorProto &tensor);

  //===--- Graphs ---------------------------------------------------------===//
  /// Imports a whole graph at the builder's position, in a scope of its own.
  /// `arguments` become its inputs, in order. \returns its outputs.
  Result<Values> importGraph(const onnx::GraphProto &graph,
                             llvm::ArrayRef<ImportedValue> arguments);
  /// Imports a graph as above, its operators in the sets `opsets`.
  Result<Values> importGraph(const onnx::GraphProto &graph,
                             llvm::ArrayRef<ImportedValue> arguments,
                             const OpsetImports &opsets);

  //===--- Sizes ----------------------------------------------------------===//
  /// No fresh symbol will have the name.
  void reserveSymbol(llvm::StringRef name) { usedSymbols.insert(name); }
  /// A symbol that no other size has.
  DimExpr freshSymbol();
  /// Fresh symbols made from now on are after this mark.
  unsigned symbolMark() const { return symbolCount; }
  bool isSymbolAfter(llvm::StringRef name, unsigned mark) const;
  /// Checks at run time, and reports as the error of the node at `loc`, that
  /// `value` is zero.
  void requireZero(DimExpr value, mlir::Location loc);
  /// Two sizes that must be equal, which only the run can tell: checks it
  /// there, and takes them as equal from now on. \returns the simpler one.
  DimExpr unify(DimExpr a, DimExpr b, mlir::Location loc);
  /// \returns the simplest size that is known to be equal to `size`.
  DimExpr simplify(DimExpr size) const;

private:
  struct Scope {
    llvm::StringMap<ImportedValue> values;
    llvm::StringMap<const onnx::TensorProto *> initializers;
    llvm::DenseSet<DimExpr> required;
    llvm::DenseMap<DimExpr, DimExpr> simpler;
  };
  /// What constants point into.
  struct KeepAlive {
    std::shared_ptr<const LoadedModel> model;
    std::vector<std::unique_ptr<ExpandedFunction>> functions;
  };
  class ScopeGuard;

  Status importNode(const onnx::NodeProto &node);
  Status importByFunction(const onnx::NodeProto &node);
  Status importByEntry(const onnx::NodeProto &node, const OperatorEntry &entry,
                       int64_t version);
  ImportedValue simplified(llvm::StringRef name, ImportedValue value,
                           mlir::Location loc);
  Status resolveInputs(const onnx::NodeProto &node,
                       const onnx::OpSchema *schema);

  std::shared_ptr<KeepAlive> keepAlive;
  mlir::OpBuilder opBuilder;
  mlir::Block *entry;
  mlir::Operation *lastConstant = nullptr; // at the entry
  const OpsetImports *opsets = nullptr;
  std::vector<Scope> scopes;
  llvm::StringSet<> usedSymbols;
  llvm::StringMap<unsigned> freshSymbols; // by number
  unsigned symbolCount = 0;
  unsigned functionDepth = 0;
};

} // namespace tilewright::frontend
