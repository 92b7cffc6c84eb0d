//===- NestEmitter.h - the tiles of a nest ----------------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// Private to Nest.cpp (nests that are kernels) and RowBlocks.cpp (nests that
// come before rows).
//
//===----------------------------------------------------------------------===//

#pragma once

#include "codegen/families/contract/PanelPack.h"
#include "codegen/families/nest/Nest.h"
#include "codegen/families/nest/TaskSpace.h"

namespace tilewright::families {

class NestEmitter {
public:
  /// `region` is that of the frame, or a part of it.
  NestEmitter(KernelFrame &frame, const FusedRegion &region,
              const NestParameters &parameters)
      : frame(frame), b(frame.getBuilder()), region(region),
        parameters(parameters), domain(tileDomainOf(region)) {}

  /// Emits all tasks of a kernel.
  Status run();

  /// Fills the start of the workspace with padding. \returns the bytes that it
  /// takes.
  Lanes makePads();
  /// Emits the tile at an element of each axis of the domain.
  Status tilesAt(llvm::ArrayRef<Lanes> at);
  const TileDomain &getDomain() const { return domain; }

private:
  Status task(llvm::ArrayRef<mlir::Value> digits);
  Status tiles();
  using TileBody = llvm::function_ref<Status()>;
  Status vectorTiles(mlir::Value from, TileBody body);
  Status vectorTail(mlir::Value from, mlir::Value end, TileBody body);
  void preparePanel(const Lanes &workspaceBegin);
  Status refreshPanel(llvm::ArrayRef<mlir::Value> digits);
  Status packAtPosition();
  Status unrolled(unsigned number, llvm::SmallVector<int64_t> counts);
  Status shortAxis(unsigned number, llvm::SmallVector<int64_t> counts,
                   int64_t count);
  Status tile(llvm::ArrayRef<int64_t> counts);
  Status reduction(tw::ReduceOp reduce, llvm::ArrayRef<TileAxis> axes,
                   llvm::ArrayRef<llvm::SmallVector<Lanes>> copies);
  Status finishMap(tw::MapOp map,
                   llvm::ArrayRef<llvm::SmallVector<Lanes>> copies);
  void store(mlir::Value value,
             llvm::ArrayRef<llvm::SmallVector<Lanes>> copies);
  llvm::SmallVector<llvm::SmallVector<Lanes>>
  copiesOf(llvm::ArrayRef<int64_t> counts);

  KernelFrame &frame;
  LaneBuilder &b;
  const FusedRegion &region;
  const NestParameters &parameters;
  TileDomain domain;
  TaskSpace space;                   // of `run`
  llvm::SmallVector<Lanes> counts;   // of its digits
  std::optional<PackedPanel> panel;  // packed for the tasks of one panel
  mlir::Value panelNumber;           // memory of the number of that panel
  llvm::SmallVector<Lanes> position; // of the tile, by axis
  mlir::Value activeLanes;
  llvm::DenseMap<mlir::Operation *, Memory> pads;
};

} // namespace tilewright::families
