//===- AttentionTile.h - tiles of attention on GPUs -------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// A block of threads has a tile of queries, and walks the keys in tiles, of
// which `stages` lie in shared memory at once. Each of its warps has some of
// the queries and some of a tile's keys, their scores and the sums of their
// values. Warps that share queries add their sums in the end.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "codegen/families/contract/MmaTile.h"
#include "passes/fuse/AttentionForm.h"

namespace tilewright::families {

struct AttentionTile {
  int64_t rowWarps = 1, keyWarps = 1; ///< along the queries, along the keys
  int64_t rowUnits = 1;               ///< units of 16 queries of a warp
  int64_t warpKeys = 32;              ///< keys of a warp
  int64_t stages = 2;

  int64_t rows() const { return rowWarps * rowUnits * MmaTile::unitRows; }
  int64_t keys() const { return keyWarps * warpKeys; }
  int64_t warps() const { return rowWarps * keyWarps; }
  int64_t threads() const { return warps() * GpuSpec::warpSize; }

  mlir::DictionaryAttr toAttribute(mlir::MLIRContext *context,
                                   llvm::StringRef tactic) const;
  static AttentionTile fromAttribute(mlir::DictionaryAttr attribute);
};

/// A query sees keys up to, or from, `offset + slope · query`, of a part as far
/// as `partSlope · part` more.
struct KeyLine {
  bool isUpper = true;
  double slope = 0, offset = 0, partSlope = 0;
};

/// Tiles of keys that blocks walk, and the keys in them.
struct AttentionSteps {
  double average = 0, most = 0; ///< of a block
  double keys = 0;              ///< on average
};

/// What has few queries and any number of keys is a decoder, whose cache grows:
/// so many keys are taken for usual.
constexpr int64_t usualCache = 1024;

/// What the model knows of an attention. Extents that are unknown are guessed.
struct AttentionProblem {
  double heads = 1;              ///< of keys, of all batches and parts
  double parts = 1;              ///< of the keys
  double queries = 1, keys = 1;  ///< of a head
  double group = 1;              ///< heads of queries for one of keys
  int64_t depth = 0, values = 0; ///< elements of a key, of values
  mlir::Type element;            ///< of the products' factors
  bool usesMatrixUnits = false;
  int64_t operandBytes[3] = {}; ///< of an element of queries, keys, values
  int64_t resultBytes = 0;
  int64_t rowBytes = 0; ///< of a row's maximum and sum, if they are results
  llvm::SmallVector<KeyLine> lines; ///< that bound the keys of a query
  bool mayRevisit = false; ///< hidden keys have no weight in most rows only

  /// Rows that share keys.
  double rows() const { return queries * group; }
  /// Elements of lines in shared memory: whole units of the products.
  int64_t depthElements() const;
  int64_t valueElements() const;
};

/// \returns the problem, or nothing if a head's sizes are unknown.
std::optional<AttentionProblem> attentionProblem(const AttentionForm &form,
                                                 mlir::Type element,
                                                 bool usesMatrixUnits);

/// \returns what the blocks of all queries walk, hidden keys left out.
AttentionSteps attentionSteps(const AttentionTile &tile,
                              const AttentionProblem &problem);

/// Shared memory of the lines of a block: the queries and the stages.
int64_t attentionLineBytes(const AttentionTile &tile,
                           const AttentionProblem &problem);

/// Shared memory of the sums of a block.
int64_t attentionSumBytes(const AttentionTile &tile,
                          const AttentionProblem &problem);

/// Shared memory of a block: the lines and what a second walk is decided by,
/// later in their place the sums and what warps that share queries tell each
/// other of each.
int64_t attentionSharedBytes(const AttentionTile &tile,
                             const AttentionProblem &problem);

/// Bytes between a GPU's caches and its multiprocessors: queries and results
/// once, keys and values once for each tile of queries that may see them.
double attentionTraffic(const AttentionTile &tile,
                        const AttentionProblem &problem);

/// \returns the tile that should take least time, of those that `mayUse`
/// admits; nothing if none fits.
std::optional<AttentionTile>
chooseAttentionTile(const AttentionProblem &problem, const GpuSpec &gpu,
                    llvm::function_ref<bool(const AttentionTile &)> mayUse);

/// \returns the clocks that the best tile should take; nothing if none fits.
std::optional<double> attentionClocks(const AttentionProblem &problem,
                                      const GpuSpec &gpu);

} // namespace tilewright::families
