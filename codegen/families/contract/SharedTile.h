//===- SharedTile.h - a factor's tile in shared memory ----------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// The tile consists of lines of chunks of 16 bytes. A line holds neighbours
// along the depth, or along the positions (rows of the first factor, columns of
// the second). Chunks are permuted within a line by a number that depends on
// the line, such that eight lines' chunks of the same number, which is what
// ldmatrix reads, lie in all 32 banks; so do eight neighbours of a line.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "codegen/families/contract/MatrixProduct.h"
#include "codegen/families/contract/MmaTile.h"
#include "codegen/families/emit/KernelFrame.h"

namespace tilewright::families {

struct SharedTile {
  /// \param positions rows or columns, \param depth elements of a step.
  /// \param likeMemory lines lie as in memory, not as matrix units read them.
  SharedTile(const Factor &factor, llvm::ArrayRef<unsigned> coordinates,
             int64_t positions, int64_t depth, int64_t stages,
             bool likeMemory = false);

  const Factor &factor;
  llvm::ArrayRef<unsigned> coordinates; ///< the positions'
  int64_t positions, depth, stages;
  int64_t elementBytes;
  bool alongDepth;    ///< what a line's elements are
  bool isTransposed;  ///< memory has the positions side by side
  mlir::Value memory; ///< all stages

  int64_t chunkElements() const { return MmaTile::chunkBytes / elementBytes; }
  int64_t lines() const { return alongDepth ? positions : depth; }
  int64_t lineElements() const { return alongDepth ? depth : positions; }
  int64_t chunksOfLine() const { return lineElements() / chunkElements(); }
  int64_t elements() const { return positions * depth; } ///< of a stage

  /// \returns what the number of a chunk is combined with (xor) in `line`.
  mlir::Value permutationOf(LaneBuilder &b, mlir::Value line) const;
  /// \returns where a chunk begins in `memory`.
  mlir::Value offsetOf(LaneBuilder &b, mlir::Value stage, mlir::Value line,
                       mlir::Value chunk, mlir::Value permutation) const;
};

/// Fills one stage after the other. Elements outside of the factor, and those
/// whose guard is false, are zero.
class TileCopy {
public:
  /// \param first coordinates of the block: batches are set.
  TileCopy(KernelFrame &frame, const MatrixProduct &contraction,
           const SharedTile &tile, mlir::Value thread, int64_t threads,
           mlir::Value firstPosition, llvm::ArrayRef<Lanes> batch);

  /// Decides what does not change between steps.
  void prepare();
  /// Emits the copy of step number `step` into `stage`.
  Status emit(mlir::Value step, mlir::Value stage);

private:
  struct Address {
    mlir::Value offset;
    mlir::Value inside; ///< null: always
  };
  Result<Address> addressOf(mlir::Value position, mlir::Value depth);
  Status copyChunks(mlir::Value step, mlir::Value stage);
  Status copyElements(mlir::Value step, mlir::Value stage);
  Status copySingles(mlir::Value step, mlir::Value stage);
  void copyAsync(const Address &from, mlir::Value to, int64_t elements);
  /// Emits a loop of the block's threads over `count` things.
  Status overThreads(int64_t count,
                     llvm::function_ref<Status(mlir::Value)> body);

  KernelFrame &frame;
  LaneBuilder &b;
  const MatrixProduct &contraction;
  const SharedTile &tile;
  mlir::Value thread;
  int64_t threads;
  mlir::Value firstPosition;
  llvm::SmallVector<Lanes> batch;
  bool mayBeAligned = false;
  mlir::Value isAligned; ///< where that depends on sizes of the launch
};

/// \returns when chunks of `elements` elements along the factor's contiguous
/// coordinate begin at multiples of 16 bytes, wherever the other coordinates
/// stand, and none is partly outside `extent`, the coordinate's own. A null
/// condition is always true. Nothing if that is never so.
std::optional<mlir::Value> whenChunksAreWhole(KernelFrame &frame,
                                              const Factor &factor,
                                              tw::DimExpr extent,
                                              int64_t elements);

/// Copies `elements` elements at `from` to `to` in the background; zeros where
/// `inside` is false. Null is true. Whole chunks pass the first cache by.
void copyChunk(LaneBuilder &b, mlir::Value shared, mlir::Value to,
               const Memory &memory, mlir::Value from, mlir::Value inside,
               int64_t elements, bool isWhole = true);

/// \returns the attribute `unroll` of a loop in which `threads` threads do
/// `count` copies.
mlir::Attribute unrollOfCopies(LaneBuilder &b, int64_t count, int64_t threads);

/// \returns the positions' coordinates for the number `index` in the row-major
/// order of `group`, into `coordinates`.
void splitIndex(KernelFrame &frame, const MatrixProduct &contraction,
                llvm::ArrayRef<unsigned> group, mlir::Value index,
                llvm::MutableArrayRef<Lanes> coordinates);

} // namespace tilewright::families
