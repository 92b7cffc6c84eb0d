//===- MmaTile.h - tiles of the matrix units --------------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// A block of threads computes a tile of the result. It walks the depth in steps
// whose parts of both factors lie in shared memory, `stages` of them at once.
// Its warps share the tile as a grid of smaller ones, which consist of the
// matrix units' 16 rows, 8 columns and 32 bytes of depth.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "codegen/families/contract/DepthParts.h"

namespace tilewright::families {

struct MmaTile {
  int64_t rows = 0, columns = 0, depth = 0; ///< of a block's step
  int64_t warpsAlongRows = 1, warpsAlongColumns = 1;
  int64_t stages = 2;

  static constexpr int64_t unitRows = 16, unitColumns = 8, unitBytes = 32;
  /// What a thread copies at once.
  static constexpr int64_t chunkBytes = 16;
  /// Unused columns of the sums in shared memory: rows begin in other banks.
  static constexpr int64_t sumPadding = 8;

  int64_t threads() const {
    return warpsAlongRows * warpsAlongColumns * GpuSpec::warpSize;
  }
  int64_t warpRows() const { return rows / warpsAlongRows; }
  int64_t warpColumns() const { return columns / warpsAlongColumns; }
  /// Of a stage, both factors. \param elementBytes of a factor.
  int64_t stageBytes(int64_t elementBytes) const {
    return (rows + columns) * depth * elementBytes;
  }
  /// Shared memory: the stages, and later in their place the sums.
  int64_t sharedBytes(int64_t elementBytes) const;
  /// Of a thread: sums, fragments and addresses.
  int64_t registers() const;

  mlir::DictionaryAttr toAttribute(mlir::MLIRContext *context,
                                   llvm::StringRef tactic) const;
  static MmaTile fromAttribute(mlir::DictionaryAttr attribute);
};

/// Multiply-adds per multiprocessor and clock for factors of type `element`; 0:
/// the GPU has no such matrix unit. The second is what `mma.sync` reaches.
int64_t mmaRate(const GpuSpec &gpu, mlir::Type element);
double mmaSyncRate(const GpuSpec &gpu, mlir::Type element);

/// \returns the clocks of a launch that computes the product in the best of
/// mmaTiles() at `rate` multiply-adds per multiprocessor and clock; nothing if
/// none fits.
std::optional<double> mmaClocks(const MatrixProduct &contraction,
                                const GpuSpec &gpu, double rate);

/// \returns the tiles to choose from, for factors of `elementBytes`. Some may
/// be too large for a GPU.
std::vector<MmaTile> mmaTiles(int64_t elementBytes);

/// \returns the tile that should take least time, by the time that its blocks
/// need for arithmetic and for memory, of those that `mayUse` admits; nothing
/// if none fits.
std::optional<MmaTile>
chooseMmaTile(const MatrixProduct &contraction, const GpuSpec &gpu,
              llvm::function_ref<bool(const MmaTile &)> mayUse);

/// \returns the parts of the depth with which matrix units should take least
/// time; nothing if that is one part.
std::optional<DepthParts> chooseMmaParts(const MatrixProduct &contraction,
                                         const GpuSpec &gpu);

} // namespace tilewright::families
