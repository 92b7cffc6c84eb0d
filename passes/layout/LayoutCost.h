//===- LayoutCost.h - what orders cost --------------------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// Cycles of one core, by how vector lanes move along each load and store. The
// figures rank orders; they do not predict time.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "passes/layout/LayoutGraph.h"

namespace tilewright {

class LayoutCost {
public:
  LayoutCost(const LayoutGraph &graph, unsigned lanes)
      : graph(graph), lanes(lanes), known(graph.getClasses().size()) {}

  /// \returns what the primitives of a class cost with the best axis for lanes,
  /// and the copies that its values need, under the present orders.
  double ofClass(unsigned number);

  /// \returns what copying into row-major order costs where `value`, stored in
  /// `order`, needs that, for itself and for what reshapes show of it.
  double ofCopies(mlir::Value value, llvm::ArrayRef<unsigned> order) const;

private:
  double compute(unsigned number) const;
  double ofNode(const LayoutNode &node, std::optional<unsigned> axis) const;
  double ofSteps(const LayoutNode &node,
                 std::optional<unsigned> argument) const;
  double vectorsOf(const LayoutNode &node, unsigned argument) const;
  double ofRead(const LayoutNode &node, const TensorRead &read,
                std::optional<unsigned> argument) const;
  double ofFactor(const LayoutNode &node, const TensorRead &read,
                  std::optional<unsigned> argument) const;
  bool isDistant(const LayoutNode &node, const TensorRead &read) const;
  double ofBrokenFusion(const LayoutNode &node) const;
  bool linesUp(const LayoutNode &node, const TensorRead &read) const;

  const LayoutGraph &graph;
  double lanes;
  /// What each class costs, by the orders that matter to it.
  std::vector<llvm::StringMap<double>> known;
};

} // namespace tilewright
