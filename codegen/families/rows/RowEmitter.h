//===- RowEmitter.h - the primitives of one row -----------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// Private to Rows.cpp (a task is a row) and RowBlocks.cpp (rows of what a nest
// has just computed).
//
//===----------------------------------------------------------------------===//

#pragma once

#include "codegen/families/nest/TileDomain.h"
#include "codegen/families/rows/Rows.h"

namespace tilewright::families {

class RowEmitter {
public:
  /// `region` has the form Rows; it is that of the frame, or a part of it.
  RowEmitter(KernelFrame &frame, const FusedRegion &region,
             const RowParameters &parameters)
      : frame(frame), b(frame.getBuilder()), region(region),
        parameters(parameters) {}

  /// Emits all tasks of a kernel.
  Status run();

  /// Carves the buffers out of the workspace from `offset` on. \returns where
  /// they end.
  Lanes makeBuffers(Lanes offset);
  /// Emits the row at the first coordinates `at`.
  Status row(llvm::ArrayRef<mlir::Value> at);

private:
  llvm::SmallVector<mlir::Value> finalResults();
  Status reduction(tw::ReduceOp reduce);
  bool isReadInRow(tw::MapOp map);
  Status keepScalar(mlir::Value value, const Lanes &lanes);
  Status map(tw::MapOp map);
  Status mapLoops(tw::MapOp map, llvm::ArrayRef<TileAxis> axes,
                  llvm::SmallVector<Lanes> coordinates);
  Status mapVectors(tw::MapOp map, const TileAxis &axis,
                    llvm::SmallVector<Lanes> coordinates);
  Status mapPoint(tw::MapOp map, llvm::ArrayRef<Lanes> coordinates,
                  mlir::Value activeLanes);
  Status maskedVector(tw::MapOp map, const TileAxis &axis,
                      llvm::SmallVector<Lanes> coordinates, mlir::Value from,
                      mlir::Value end);
  mlir::Value unalignedHead(tw::MapOp map, const TileAxis &axis,
                            llvm::ArrayRef<Lanes> coordinates);
  void prefetchNextRow(tw::MapOp map, llvm::ArrayRef<Lanes> coordinates);

  KernelFrame &frame;
  LaneBuilder &b;
  const FusedRegion &region;
  const RowParameters &parameters;
  llvm::SmallVector<Lanes> rowAt;
  /// The last map that reads operands element by element.
  tw::MapOp prefetching;
  bool linesUp = false; // stores of the loop that is emitted
};

} // namespace tilewright::families
