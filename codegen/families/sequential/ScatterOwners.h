//===- ScatterOwners.h - the kernel of scatters by owners -----*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// Private to ScatterSimt.cpp, which says what it does.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "codegen/families/emit/IndexMath.h"
#include "codegen/families/sequential/Scatter.h"

namespace tilewright::families {

/// The axes of the result that are not shared.
llvm::SmallVector<unsigned> scatteredAxes(const ScatterForm &form);

/// Shared memory of a block that walks updates together: where each goes.
int64_t placesBytes(int64_t threads);

class OwnerEmitter {
public:
  /// \param owners of each place on shared axes, a power of two.
  OwnerEmitter(KernelFrame &frame, int64_t owners);

  Status run();

private:
  using Value = mlir::Value;

  Status task(Value number, Value exists);
  void takePlace(Value number);
  llvm::SmallVector<Lanes> updateAt(Value number);
  Status copy(const Memory &output);
  Status walk(const Memory &output);
  Status walkTogether(const Memory &output, Value mayWrite);
  Status write(const Memory &output, Value update,
               llvm::ArrayRef<Lanes> places);
  Value updatesExist();
  Value numberOf(llvm::ArrayRef<Lanes> places);
  Value isOwn(Value number);
  Value countOf(llvm::ArrayRef<tw::DimExpr> extents,
                llvm::ArrayRef<unsigned> axes);
  void place(Value number, llvm::ArrayRef<tw::DimExpr> extents,
             llvm::ArrayRef<unsigned> axes, llvm::SmallVectorImpl<Lanes> &at);

  /// Loads that are on their way at once.
  static constexpr int64_t atOnce = 2;

  KernelFrame &frame;
  LaneBuilder &b;
  IndexMath math;
  int64_t owners;
  ScatterForm form;
  tw::ScatterOp scatter;
  llvm::SmallVector<tw::DimExpr> dims, domain;
  llvm::SmallVector<unsigned> scattered;
  Value slots; ///< where updates go, in shared memory
  // Of a task:
  llvm::SmallVector<Lanes> shared; ///< on the result's axes; others unset
  Value owner;                     ///< its number among those of its place
};

} // namespace tilewright::families
