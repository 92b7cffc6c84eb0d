//===- LayoutGraph.h - what ties layouts together ---------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// The maps and reductions of a module, in classes that share one axis order,
// and their loads with what decides how those move: by how much each axis of
// the tensor grows along each coordinate.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "passes/fuse/Slopes.h"
#include "passes/layout/AxisOrder.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSet.h"

namespace tilewright {

/// One load of a primitive.
struct TensorRead {
  tw::LoadOp load;
  mlir::Value source;                                 // what it loads
  llvm::SmallVector<llvm::SmallVector<Slope>> slopes; // by argument, by axis
  llvm::SmallVector<bool> guardMoves;                 // by argument
  llvm::SmallVector<double> extents;                  // of the tensor
  /// The argument that each axis is, where every axis is another argument and
  /// nothing guards the load.
  std::optional<llvm::SmallVector<unsigned>> arguments;
  /// The primitive behind the source and its reshapes; none: row-major.
  std::optional<unsigned> sourceNode, sourceClass;
  bool isConstant = false;
  bool staysInside = false; // of the class: the same region, or at least order
};

/// A map or a reduction.
struct LayoutNode {
  mlir::Operation *op;
  unsigned orderClass = 0;
  std::vector<TensorRead> reads;
  llvm::SmallVector<double> extents; // of the domain
  unsigned rank = 0;                 // of the results
  double arithmetic = 0;             // cycles of a vector step
  bool isContraction = false;
  bool isStored = false; // something outside of its class reads it
  bool isCopy = false;   // a map that yields what it loads
  bool hasOneReader = false;

  bool isReduce() const { return extents.size() > rank; }
};

/// Primitives whose results share an order.
struct OrderClass {
  llvm::SmallVector<unsigned> nodes;
  unsigned rank = 0;
  bool mayMove = false; // all sizes are known expressions
  AxisOrder order;
  llvm::SetVector<unsigned> readers; // classes that read it, itself included
  llvm::SetVector<unsigned> sources; // classes that it reads
};

class LayoutGraph {
public:
  /// \p lanes is the number of elements in a vector register.
  LayoutGraph(mlir::Operation *root, unsigned lanes);

  llvm::ArrayRef<LayoutNode> getNodes() const { return nodes; }
  llvm::MutableArrayRef<OrderClass> getClasses() { return classes; }
  llvm::ArrayRef<OrderClass> getClasses() const { return classes; }

  /// \returns the order of a value under the classes' present orders.
  AxisOrder orderOf(mlir::Value value) const;
  /// \returns the groups of axes that a reshape keeps together.
  llvm::ArrayRef<ReshapeGroup> groupsOf(tw::ReshapeOp reshape) const;
  /// \returns what a tensor's elements are guessed to be.
  double elementsOf(mlir::Type tensor) const;

private:
  void addNode(mlir::Operation *op, unsigned lanes);
  void formClasses();
  void connectReads();
  double extentOf(tw::DimExpr dim) const;

  std::vector<LayoutNode> nodes;
  std::vector<OrderClass> classes;
  llvm::DenseMap<mlir::Operation *, unsigned> nodeOf;
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<ReshapeGroup>> groups;
  llvm::StringSet<> batches; // symbols that count as one
};

/// \returns the arguments of a primitive in the order of its loops: the
/// results' axes in the present order of its class, then the reduction's.
llvm::SmallVector<unsigned> walkOf(const LayoutGraph &graph,
                                   const LayoutNode &node);

/// \returns true if every size of the tensor type is an expression.
bool hasKnownDims(mlir::Type tensor);

} // namespace tilewright
