//===- NodeImport.h - importing one ONNX node -------------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// An import function gets a NodeImport: the node's operands as tensors with
// known dims, its attributes, and a builder. It builds `tw` operations and sets
// the node's outputs. Dims must come out right: no later pass infers shapes.
//
// Integer tensors whose elements are known as size expressions (what Shape,
// Concat, Gather, … compute) carry them along, so that a Reshape by such a
// tensor has exact symbolic dims.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "frontend/model/Model.h"
#include "ir/BodyBuilder.h"
#include "tilewright/Status.h"
#include "llvm/ADT/Twine.h"
#include <optional>
#include <string>
#include <vector>

namespace tilewright::frontend {

using tw::DimExpr;
using Dims = llvm::SmallVector<DimExpr>;

/// What the importer knows of an ONNX value.
struct ImportedValue {
  mlir::Value tensor; // null: an optional input that is left out
  /// The elements of a small tensor, in row-major order, where something is
  /// known of them; null for an element that is not known. Those of a float
  /// tensor are there only if they are integers.
  std::optional<Dims> elements;
};

class GraphImport;

/// One node on its way into `tw`.
class NodeImport {
public:
  NodeImport(GraphImport &graph, const onnx::NodeProto &node,
             int64_t sinceVersion);

  //===--- The node -------------------------------------------------------===//
  const onnx::NodeProto &proto() const { return node; }
  /// The operator's since-version in the node's opset.
  int64_t version() const { return sinceVersion; }
  std::string name() const;
  mlir::Location loc() const;
  mlir::OpBuilder &builder();
  mlir::MLIRContext *context();
  GraphImport &graph() { return graphImport; }

  //===--- Operands -------------------------------------------------------===//
  /// The number of inputs written, left-out optional ones included.
  size_t numInputs() const;
  size_t numOutputs() const;
  bool hasInput(size_t i) const;
  /// True if the output is written and used by name.
  bool wantsOutput(size_t i) const;
  mlir::Value input(size_t i);
  /// All inputs, none left out.
  llvm::SmallVector<mlir::Value> inputs();
  Dims dims(size_t i);
  size_t rank(size_t i);
  mlir::Type element(size_t i);
  /// The elements of an integer input (rank 0 or 1), if all are known.
  std::optional<Dims> elements(size_t i);
  /// As above, with null for elements that are not known.
  std::optional<Dims> partialElements(size_t i);
  /// As above, for any rank, and for floats whose values are integers.
  std::optional<Dims> wholeElements(size_t i);
  /// As elements(), and all are constants.
  std::optional<llvm::SmallVector<int64_t>> constantElements(size_t i);
  /// The elements of an integer input of known length; where they are not
  /// known, `tw.read_sizes` defines a fresh symbol for each at run time (each
  /// at least `minimum`).
  Result<Dims> elementsOrRead(size_t i, int64_t minimum = 0);
  /// The elements of a constant float or integer input as double.
  std::optional<llvm::SmallVector<double>> constantReals(size_t i);

  //===--- Attributes -----------------------------------------------------===//
  bool hasAttribute(llvm::StringRef name) const;
  int64_t intAttribute(llvm::StringRef name, int64_t otherwise) const;
  double floatAttribute(llvm::StringRef name, double otherwise) const;
  std::string stringAttribute(llvm::StringRef name,
                              llvm::StringRef otherwise) const;
  llvm::SmallVector<int64_t>
  intsAttribute(llvm::StringRef name,
                llvm::ArrayRef<int64_t> otherwise = {}) const;
  std::vector<std::string> stringsAttribute(llvm::StringRef name) const;
  llvm::SmallVector<double> floatsAttribute(llvm::StringRef name) const;
  /// A tensor attribute as a `tw.constant`; null Value when absent.
  Result<mlir::Value> tensorAttribute(llvm::StringRef name);
  const onnx::GraphProto *graphAttribute(llvm::StringRef name) const;

  //===--- Results --------------------------------------------------------===//
  void setOutput(size_t i, mlir::Value tensor,
                 std::optional<Dims> elements = std::nullopt);

  //===--- Sizes ----------------------------------------------------------===//
  DimExpr constant(int64_t value);
  /// A symbol that no other size has, for a size known only at run time.
  DimExpr freshSymbol();
  /// Fresh symbols for the elements of a vector or scalar of integers (known
  /// length) that is computed at run time; each at least `minimum`, which the
  /// runtime checks.
  Result<Dims> readSizes(mlir::Value tensor, int64_t minimum = 0);
  /// Checks at run time that a size expression is zero.
  void requireZero(DimExpr value);
  /// Two sizes that must be equal: checked at run time, unless it is known.
  /// \returns the simpler one. \pre they are not different constants.
  DimExpr unify(DimExpr a, DimExpr b);
  /// numpy's broadcasting of the dims of all `operands`; ShapeMismatch if they
  /// do not fit. Two unrelated symbols broadcast to the one that is not 1 at
  /// run time; other sizes that are not known to be equal must be so, which the
  /// run checks.
  Result<Dims> broadcastDims(llvm::ArrayRef<Dims> operands);
  /// `axis` counted from the end if negative; AttributeInvalid outside.
  Result<int64_t> normalizeAxis(int64_t axis, int64_t rank);

  //===--- Errors ---------------------------------------------------------===//
  /// "node 'conv1' (Conv): message".
  Status error(ErrorCode code, const llvm::Twine &message) const;
  Status unsupported(const llvm::Twine &message) const {
    return error(ErrorCode::UnsupportedAttribute, message);
  }

private:
  GraphImport &graphImport;
  const onnx::NodeProto &node;
  int64_t sinceVersion;
};

using ImportFunction = Status (*)(NodeImport &);

/// One row of the operator table.
struct OperatorEntry {
  const char *domain; // "" for ONNX's own
  const char *name;
  int64_t since; // lowest since-version that the function reads
  ImportFunction import;
};

/// The rows of a family; `OperatorTable.cpp` joins them. The highest `since`
/// not above the node's since-version is taken. An operator without a row is
/// expanded through its ONNX function body, or is an UnsupportedOperator.
using OperatorFamily = llvm::ArrayRef<OperatorEntry>;

} // namespace tilewright::frontend
