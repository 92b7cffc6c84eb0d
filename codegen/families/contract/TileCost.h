//===- TileCost.h - how long tiles of a product take ------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// A model of a launch whose blocks compute tiles of a product of matrices, in
// steps that come through shared memory: for matrix units and for plain
// arithmetic.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "codegen/families/contract/MatrixProduct.h"
#include "targets/TargetSpec.h"

namespace tilewright::families {

/// A product of matrices; extents that are not known are guessed.
struct ProductSize {
  double batches, rows, columns, depth;
  double rate; ///< multiply-adds per multiprocessor and clock

  static ProductSize of(const MatrixProduct &product, double rate);
};

/// What a tile asks of a multiprocessor.
struct TileCost {
  int64_t rows, columns, depth; ///< of a block's step
  int64_t stages;               ///< steps that shared memory holds
  int64_t threads, registers;   ///< of a block, of a thread
  int64_t sharedBytes;          ///< of a block
  int64_t stageBytes;           ///< that a step brings
  double readBytes;             ///< from shared memory in a step

  /// Blocks that a multiprocessor holds at once; 0: not a single one.
  int64_t blocksAtOnce(const GpuSpec &gpu) const;
  /// Clocks of a launch: arithmetic and memory work at the same time.
  double clocksOf(const ProductSize &size, const GpuSpec &gpu) const;
};

} // namespace tilewright::families
