//===- SharedLines.h - lines of elements in shared memory -------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// Queries, keys and values lie in shared memory as lines, one for each query or
// key, of chunks of 16 bytes. Chunks are permuted within a line by the line's
// number, as in SharedTile.h, so that eight lines' chunks of the same number
// lie in all 32 banks.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "codegen/families/emit/KernelFrame.h"
#include <functional>

namespace tilewright::families {

struct SharedLines {
  mlir::Type element;   ///< f16, bf16 or f32
  int64_t lines = 0;    ///< of a stage
  int64_t elements = 0; ///< of a line; whole chunks
  mlir::Value memory;   ///< all stages

  int64_t elementBytes() const { return storageBytes(element); }
  int64_t chunkElements() const;
  int64_t chunks() const { return elements / chunkElements(); } ///< of a line
  /// The place of a line: a power of two, or a multiple of eight chunks.
  int64_t lineChunks() const;
  int64_t stageElements() const {
    return lines * lineChunks() * chunkElements();
  }
  int64_t stageBytes() const { return stageElements() * elementBytes(); }

  /// \returns where a chunk begins in `memory`. \param stage null: the first.
  mlir::Value chunkAt(LaneBuilder &b, mlir::Value stage, mlir::Value line,
                      mlir::Value chunk) const;
};

/// Lines side by side may differ in two coordinates: the number of a line is
/// that of `lineAxis` times `size`, and that of `axis` less `first`.
struct LineGroup {
  std::optional<unsigned> axis;
  mlir::Value first;
  int64_t size = 1;
};

/// What a line's elements are: a scalar of a primitive's body.
struct LineSource {
  mlir::Operation *primitive;
  mlir::Value scalar;
  unsigned lineAxis, elementAxis; ///< arguments of the body
  /// The arguments, those two excepted.
  llvm::SmallVector<Lanes> coordinates;
  tw::DimExpr lines, elements; ///< their extents
  LineGroup group = {};
};

/// Fills stages with lines. What is outside of the extents is zero.
class LineCopy {
public:
  /// \param threads of the block, \param thread this one.
  LineCopy(KernelFrame &frame, LineSource source, const SharedLines &lines,
           mlir::Value thread, int64_t threads);

  /// Emits the copy of the lines from `firstLine` on into `stage`.
  Status emit(mlir::Value firstLine, mlir::Value stage);

private:
  Status copyChunks(mlir::Value firstLine, mlir::Value stage);
  Status copyElements(mlir::Value firstLine, mlir::Value stage);
  Status eachChunk(bool linesFirst, bool isUnrolled,
                   llvm::function_ref<Status(mlir::Value, mlir::Value)> body);
  bool isWhole(tw::LoadOp load);
  llvm::SmallVector<Lanes> place(mlir::Value line, mlir::Value element);
  Result<mlir::Value> loadWhole(tw::LoadOp load, mlir::Value line,
                                mlir::Value first);
  Result<mlir::Value> elementsOf(mlir::Value line, mlir::Value first);
  mlir::Value isInside(mlir::Value line, mlir::Value firstElement);

  KernelFrame &frame;
  LaneBuilder &b;
  LineSource source;
  const SharedLines &lines;
  mlir::Value thread;
  int64_t threads;
  bool isTransposed = false; ///< memory has the lines side by side
  bool mayBeWhole = false;
  mlir::Value areWhole; ///< chunks can be copied as such
};

} // namespace tilewright::families
