//===- BodyEmitter.h - scalar bodies, lane-wise -----------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "codegen/families/emit/KernelFrame.h"
#include "llvm/ADT/SmallPtrSet.h"
#include <functional>

namespace tilewright::families {

/// Where an emitter departs from the body.
struct BodyVariant {
  /// The operations to emit; empty: all of them.
  llvm::SmallPtrSet<mlir::Operation *, 16> only;
  /// Guards are known to be true.
  bool isInside = false;
  /// What a load gives for a copy, where it is not what the body says.
  std::function<std::optional<Lanes>(tw::LoadOp, unsigned copy)> load;
};

/// Evaluates the body of a primitive at several positions of a register tile
/// ("copies"), each for all lanes. What two copies have in common is emitted
/// once. One emitter serves one body in one block of the kernel.
class BodyEmitter {
public:
  /// `activeLanes` is the mask of the lanes that exist, null for all of them.
  BodyEmitter(KernelFrame &frame, mlir::Block &body, mlir::Value activeLanes,
              BodyVariant variant = BodyVariant())
      : frame(frame), b(frame.getBuilder()), body(body),
        activeLanes(activeLanes), variant(std::move(variant)) {}

  /// Evaluates the body for one copy at the given coordinates, all but its
  /// terminator and the operation `skip`.
  Status emit(unsigned copy, llvm::ArrayRef<Lanes> coordinates,
              mlir::Operation *skip = nullptr);

  /// The same for what `wanted`, a scalar of the body, depends on alone.
  /// \returns its lanes.
  Result<Lanes> emitFor(unsigned copy, llvm::ArrayRef<Lanes> coordinates,
                        mlir::Value wanted);

  /// \returns a value of the body for the copy emitted last.
  Lanes get(mlir::Value value) const { return values.lookup(value); }

private:
  struct Emitted {
    llvm::SmallVector<Lanes> operands;
    llvm::SmallVector<Lanes> results;
  };

  Status emitAll(unsigned copy, llvm::ArrayRef<Lanes> coordinates,
                 llvm::function_ref<bool(mlir::Operation *)> isWanted);
  Result<Lanes> emitOp(mlir::Operation *op, llvm::ArrayRef<Lanes> operands);
  std::optional<Lanes> emitIndexOp(mlir::Operation *op,
                                   llvm::ArrayRef<Lanes> operands);
  Result<Lanes> emitLoad(tw::LoadOp load, llvm::ArrayRef<Lanes> operands);
  Lanes emitClamp(llvm::ArrayRef<Lanes> operands);
  Lanes emitClone(mlir::Operation *op, llvm::ArrayRef<Lanes> operands);

  KernelFrame &frame;
  LaneBuilder &b;
  mlir::Block &body;
  mlir::Value activeLanes;
  BodyVariant variant;
  unsigned copy = 0;
  llvm::DenseMap<mlir::Value, Lanes> values;
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<Emitted, 1>> earlier;
};

} // namespace tilewright::families
