//===- BlockOrder.h - what must come before what ----------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "mlir/IR/Block.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"

namespace tilewright {

/// The dependences among a block's operations, without its terminator: through
/// values, through size symbols, and the order of random numbers. Operations
/// are named by their position, and belong to groups that become one.
class BlockOrder {
public:
  explicit BlockOrder(mlir::Block &block);

  unsigned size() const { return operations.size(); }
  mlir::Operation *at(unsigned position) const { return operations[position]; }
  unsigned positionOf(mlir::Operation *op) const {
    return positions.lookup(op);
  }
  bool holds(mlir::Operation *op) const { return positions.contains(op); }

  /// \returns the group of an operation, named by one of its members.
  unsigned groupOf(unsigned position) const { return groups[position]; }
  llvm::ArrayRef<unsigned> membersOf(unsigned group) const {
    return members[group];
  }

  /// \returns true if making one group of the two would close a cycle.
  bool wouldCycle(unsigned a, unsigned b) const;
  /// Makes one group of two. \returns its name.
  unsigned merge(unsigned a, unsigned b);

  /// \returns the groups in an order that respects every dependence, as close
  /// to program order as it can be.
  llvm::SmallVector<unsigned> sortedGroups() const;

private:
  llvm::SmallVector<unsigned> dependencesOf(unsigned group) const;

  llvm::SmallVector<mlir::Operation *> operations;
  llvm::DenseMap<mlir::Operation *, unsigned> positions;
  llvm::SmallVector<llvm::SmallVector<unsigned>> dependences; // by position
  llvm::SmallVector<unsigned> groups;                         // by position
  llvm::SmallVector<llvm::SmallVector<unsigned>> members; // by group, sorted
};

} // namespace tilewright
