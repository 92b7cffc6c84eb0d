//===- ReductionEmitter.h - the loops of one reduction ----------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// Private to Reduction.cpp (loops and folds) and GuardedReduction.cpp (what is
// decided about guards before the loops).
//
//===----------------------------------------------------------------------===//

#pragma once

#include "codegen/families/emit/BodyEmitter.h"
#include "codegen/families/nest/Reduction.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tilewright::families {

/// Emits one reduction for several copies at once.
class ReductionEmitter {
public:
  ReductionEmitter(KernelFrame &frame, const ReductionPlan &plan,
                   llvm::ArrayRef<llvm::SmallVector<Lanes>> copies,
                   mlir::Value activeLanes)
      : frame(frame), b(frame.getBuilder()), plan(plan), reduce(plan.op),
        copies(copies), activeLanes(activeLanes),
        product(productOfBody(reduce)),
        coordinates(reduce.getExtents().getSizes().size(), Lanes::index(0)) {}

  Result<llvm::SmallVector<Lanes>> run();

private:
  Status prepare();
  /// Accumulators that start at the identity, for vectors of `width` lanes.
  llvm::SmallVector<mlir::Value> initial(int64_t width);
  Result<llvm::SmallVector<mlir::Value>>
  loop(unsigned axis, llvm::ArrayRef<mlir::Value> accumulators);
  Result<llvm::SmallVector<mlir::Value>>
  innerVectorLoop(const TileAxis &axis,
                  llvm::ArrayRef<mlir::Value> accumulators);
  Result<llvm::SmallVector<mlir::Value>>
  unrolledLoops(unsigned axis, BodyEmitter &emitter,
                llvm::SmallVector<mlir::Value> accumulators);
  Result<llvm::SmallVector<mlir::Value>>
  innermostLoop(const TileAxis &axis, llvm::ArrayRef<mlir::Value> accumulators);
  Result<llvm::SmallVector<mlir::Value>>
  step(llvm::ArrayRef<mlir::Value> accumulators, mlir::Value mask);
  Result<llvm::SmallVector<mlir::Value>>
  step(BodyEmitter &emitter, llvm::ArrayRef<mlir::Value> accumulators,
       mlir::Value mask);
  BodyEmitter makeEmitter(mlir::Value lanes);

  // Guards that are decided outside of the loops (Guards.h).
  Result<mlir::Value> isTileInside(llvm::ArrayRef<mlir::Value> bounds);
  llvm::SmallVector<mlir::Value> allBounds();
  bool differsWithinLine(mlir::Value bound);
  Result<llvm::SmallVector<mlir::Value>>
  clippedLoops(llvm::ArrayRef<mlir::Value> accumulators);
  Result<llvm::SmallVector<mlir::Value>>
  existingLines(llvm::ArrayRef<mlir::Value> bounds,
                llvm::ArrayRef<mlir::Value> accumulators);
  Result<llvm::SmallVector<mlir::Value>>
  guardedRun(unsigned axis, llvm::ArrayRef<mlir::Value> accumulators);
  Result<llvm::SmallVector<mlir::Value>>
  insideLoops(unsigned axis, llvm::ArrayRef<mlir::Value> accumulators);
  template <typename Then, typename Else>
  Result<llvm::SmallVector<mlir::Value>>
  choose(mlir::Value condition, llvm::ArrayRef<mlir::Value> accumulators,
         Then then, Else otherwise);
  mlir::Value conjunction(llvm::ArrayRef<mlir::Value> conditions, bool isAny);
  bool addsZeros() const;

  mlir::Value accumulate(BodyEmitter &emitter, mlir::Value accumulator);
  mlir::Value factor(BodyEmitter &emitter, mlir::Value scalar);
  mlir::Value loadPanel();
  std::pair<mlir::Value, mlir::Value>
  accumulateArg(BodyEmitter &emitter, mlir::Value best, mlir::Value position);
  mlir::Value widen(mlir::Value value);
  mlir::Value lanesOf(const Lanes &lanes) {
    return isVector() ? b.asVector(lanes) : b.first(lanes);
  }
  bool isVector() const { return b.getWidth() > 1; }
  mlir::Value across(mlir::Value vector);
  void acrossTeam(llvm::SmallVectorImpl<mlir::Value> &values);
  Lanes finish(mlir::Value accumulator);

  template <typename Body>
  Result<llvm::SmallVector<mlir::Value>>
  forLoop(mlir::Value from, mlir::Value to, int64_t step,
          llvm::ArrayRef<mlir::Value> carried, Body body);

  KernelFrame &frame;
  LaneBuilder &b;
  const ReductionPlan &plan;
  tw::ReduceOp reduce;
  llvm::ArrayRef<llvm::SmallVector<Lanes>> copies;
  mlir::Value activeLanes;
  mlir::Operation *product;
  llvm::SmallVector<Lanes>
      coordinates; // of the reduction, as loops are entered
  mlir::Type accumulator;
  bool isUnsignedFold = false;
  mlir::Value packed; // of the step that is emitted, if panels are packed
  unsigned unrolledFrom = 0; // the loops from this one on are written out
  bool isInside = false;     // guards hold where code is emitted
  bool isDecided = false;    // guards have been looked at
  /// Where the guarded loads of each copy read, in a run that is partly
  /// outside.
  struct Source {
    Memory memory;
    mlir::Value offset;
  };
  llvm::DenseMap<std::pair<mlir::Operation *, unsigned>, Source> padded;
};

template <typename Body>
Result<llvm::SmallVector<mlir::Value>>
ReductionEmitter::forLoop(mlir::Value from, mlir::Value to, int64_t stepSize,
                          llvm::ArrayRef<mlir::Value> carried, Body body) {
  auto loop =
      b.create<mlir::scf::ForOp>(from, to, b.constantIndex(stepSize), carried);
  mlir::OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  llvm::SmallVector<mlir::Value> arguments(loop.getRegionIterArgs().begin(),
                                           loop.getRegionIterArgs().end());
  Result<llvm::SmallVector<mlir::Value>> results =
      body(loop.getInductionVar(), arguments);
  TW_RETURN_IF_ERROR(results.status());
  b.create<mlir::scf::YieldOp>(*results);
  return llvm::SmallVector<mlir::Value>(loop.getResults().begin(),
                                        loop.getResults().end());
}

template <typename Then, typename Else>
Result<llvm::SmallVector<mlir::Value>>
ReductionEmitter::choose(mlir::Value condition,
                         llvm::ArrayRef<mlir::Value> accumulators, Then then,
                         Else otherwise) {
  llvm::SmallVector<mlir::Type> types;
  for (mlir::Value value : accumulators) {
    types.push_back(value.getType());
  }
  auto branch = b.create<mlir::scf::IfOp>(types, condition, /*withElse=*/true);
  mlir::OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  Result<llvm::SmallVector<mlir::Value>> yes = then();
  TW_RETURN_IF_ERROR(yes.status());
  b.create<mlir::scf::YieldOp>(*yes);
  b.setInsertionPointToStart(branch.elseBlock());
  Result<llvm::SmallVector<mlir::Value>> no = otherwise();
  TW_RETURN_IF_ERROR(no.status());
  b.create<mlir::scf::YieldOp>(*no);
  return llvm::SmallVector<mlir::Value>(branch.getResults().begin(),
                                        branch.getResults().end());
}

} // namespace tilewright::families
