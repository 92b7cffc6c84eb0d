//===- Access.h - how bodies read tensors -----------------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "ir/TwOps.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace tilewright {

/// What a body does, counted.
struct BodyCost {
  unsigned flops = 0; // arithmetic on elements; divisions and roots count more
  unsigned conversions = 0;    // between element types
  bool transcendental = false; // exp, tanh, pow, …
  unsigned loads = 0;
  bool guarded = false; // some load has a guard
  bool gathers = false; // some coordinate depends on data
  unsigned operations = 0;

  /// True for loads, index arithmetic, selections and conversions alone.
  bool isMovement() const { return flops == 0 && !transcendental; }
};

BodyCost costOf(mlir::Operation *primitive);

/// \returns the primitive whose body holds `load`.
mlir::Operation *primitiveOf(tw::LoadOp load);

/// \returns true if `indices` into a tensor of type `tensor` are the values
/// `at`. The coordinate of an axis of size one does not matter.
bool indicesAre(mlir::ValueRange indices, mlir::Type tensor,
                mlir::ValueRange at);

/// \returns true if the load is without a guard and its coordinates are the
/// first of its primitive's, in order.
bool readsAtOwnCoordinates(tw::LoadOp load);

/// \returns, for an unguarded load whose coordinates are a permutation of all
/// of its map's, the map's axis for each axis of the tensor.
std::optional<llvm::SmallVector<unsigned>> permutationOf(tw::LoadOp load);

/// \returns true if a map's body is one load through plain coordinates: sums of
/// coordinates times sizes, no guard, no gather. Coordinates that are divided
/// by constants are added to `divided`, by axis of the map.
bool isPlainMovement(tw::MapOp map,
                     llvm::SmallVectorImpl<unsigned> *divided = nullptr);

/// \returns true if a map reads through such coordinates and does nothing to
/// the elements but arithmetic. Adds to `divided` as above.
bool hasPlainCoordinates(tw::MapOp map,
                         llvm::SmallVectorImpl<unsigned> &divided);

/// \returns true if all coordinates of an unguarded load are constants.
bool readsOneElement(tw::LoadOp load);

/// \returns the coordinates of its primitive that a scalar depends on.
llvm::SmallPtrSet<mlir::Value, 8> coordinatesOf(mlir::Value scalar);

/// \returns true if `coordinate` is a result coordinate of a contraction that
/// both factors depend on: an outer loop, where divisions cost nothing. The
/// channel of a depthwise convolution is none, for lanes run along it.
bool isBatchCoordinate(tw::ReduceOp contraction, mlir::Value coordinate);

/// \returns true for a sum of products of elements of two tensors, of which
/// each element is read many times.
bool isContraction(mlir::Operation *op);

/// \returns true if a map reads a reduction's result, or another epilogue's, at
/// its own coordinates over the same dims.
bool isEpilogue(tw::MapOp map);

/// \returns the number of operations that read results of `op`, each counted
/// once; loads stand for their primitive.
unsigned countReaders(mlir::Operation *op);

/// \returns the bytes of a tensor, nullopt where its size is symbolic.
std::optional<int64_t> staticBytes(mlir::Type tensor);

/// \returns the blocks that hold graph operations below `root`: functions' and
/// control flow's, not bodies or fused regions.
llvm::SmallVector<mlir::Block *> graphBlocks(mlir::Operation *root);

} // namespace tilewright
