//===- Sequential.h - scans -------------------------------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "codegen/families/emit/KernelFrame.h"
#include "passes/tile/Tactic.h"

namespace tilewright::families {

/// How a scan folds. Long sums lose less in f64: a prefix is rounded once.
class ScanFold {
public:
  explicit ScanFold(KernelFrame &frame);

  /// Error: UnsupportedType.
  Status check() const;
  tw::ScanOp getScan() const { return scan; }
  mlir::Type getAccumulator() const { return accumulator; }
  /// The fold of nothing.
  mlir::Value initial();
  mlir::Value both(mlir::Value x, mlir::Value y);
  /// An element as an accumulator, and back.
  mlir::Value fromElement(mlir::Value value);
  mlir::Value toElement(mlir::Value value);
  /// The extents of the other axes.
  llvm::SmallVector<Lanes> lines();
  /// The coordinates of an element of a line.
  llvm::SmallVector<Lanes> at(llvm::ArrayRef<mlir::Value> line,
                              const Lanes &number) const;

private:
  KernelFrame &frame;
  LaneBuilder &b;
  mutable tw::ScanOp scan;
  mlir::Type scalar, accumulator;
  bool isUnsigned;
};

/// \returns the launch of a scan: a task per line along its axis.
Launch sequentialLaunch(const FusedRegion &region);

/// Builds the kernel of a region of form Scan, in scalar loops.
Result<twk::KernelOp> buildSequential(const FusedRegion &region,
                                      const TargetSpec &target,
                                      llvm::StringRef name,
                                      mlir::OpBuilder &builder);

} // namespace tilewright::families
