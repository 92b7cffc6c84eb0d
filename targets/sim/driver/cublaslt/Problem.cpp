//===- Problem.cpp - what the library takes -------------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "targets/sim/driver/cublaslt/Problem.h"

#include <algorithm>

using namespace tilewright::cublaslt;

namespace tilewright::sim {

size_t bytesOf(DataType type) {
  switch (type) {
  case Real32F:
  case Real32I:
    return 4;
  case Real16F:
  case Real16BF:
    return 2;
  case Real8I:
  case Real8FE4M3:
  case Real8FE5M2:
    return 1;
  }
  return 0;
}

static bool isFloat8(DataType type) {
  return type == Real8FE4M3 || type == Real8FE5M2;
}

static bool lies(const MatrixLayout &matrix) {
  return bytesOf(matrix.type) > 0 && matrix.rows > 0 && matrix.columns > 0 &&
         matrix.leading >= 0 &&
         static_cast<uint64_t>(matrix.leading) >= matrix.rows &&
         matrix.batches > 0;
}

bool MatmulProblem::isConsistent() const {
  bool isA = description.transposeA == Transposed,
       isB = description.transposeB == Transposed;
  return lies(a) && lies(b) && lies(c) && lies(d) &&
         depth() == (isB ? b.columns : b.rows) &&
         d.rows == (isA ? a.columns : a.rows) &&
         d.columns == (isB ? b.rows : b.columns) && c.rows == d.rows &&
         c.columns == d.columns && c.type == d.type && a.batches == d.batches &&
         b.batches == d.batches && c.batches == d.batches;
}

bool MatmulProblem::isSupported(const PlayedDevice &device,
                                const MatmulPreference &preference) const {
  bool isTransposedFirst = description.transposeA == Transposed &&
                           description.transposeB == NotTransposed;
  auto areMultiples = [&](uint64_t bytes) {
    for (const MatrixLayout *matrix : {&a, &b, &c, &d}) {
      uint64_t leading =
          static_cast<uint64_t>(matrix->leading) * bytesOf(matrix->type);
      if (leading % bytes != 0 ||
          matrix->rows * bytesOf(matrix->type) % bytes) {
        return false;
      }
    }
    return *std::min_element(std::begin(preference.alignment),
                             std::end(preference.alignment)) >= bytes;
  };
  if (description.compute == Compute32I) {
    return description.scale == Real32I && a.type == Real8I &&
           b.type == Real8I && d.type == Real32I && isTransposedFirst &&
           description.epilogue == NoEpilogue && areMultiples(4);
  }
  if (description.scale != Real32F) {
    return false;
  }
  if (isFloat8(a.type) && isFloat8(b.type)) {
    constexpr int firstWithFloat8 = 89;
    bool isE5M2 = a.type == Real8FE5M2 && b.type == Real8FE5M2;
    return device.major * 10 + device.minor >= firstWithFloat8 && !isE5M2 &&
           description.compute == Compute32F && isTransposedFirst &&
           (d.type == Real32F || d.type == Real16F || d.type == Real16BF) &&
           areMultiples(16);
  }
  bool isNarrow = a.type == Real16F || a.type == Real16BF;
  return a.type == b.type && (isNarrow || a.type == Real32F) &&
         (d.type == Real32F || d.type == a.type) &&
         (description.compute == Compute32F || a.type == Real32F) &&
         (description.biasType == -1 || description.biasType == d.type);
}

uint64_t MatmulProblem::workspaceBytes() const {
  // As of an algorithm that divides the depth.
  constexpr uint64_t deep = 1024;
  return depth() >= deep ? d.rows * d.columns * sizeof(float) : 0;
}

uint64_t MatmulProblem::fingerprint() const {
  uint64_t hash = 0xCBF29CE484222325; // FNV-1a
  auto add = [&](uint64_t value) { hash = (hash ^ value) * 0x100000001B3; };
  for (const MatrixLayout *matrix : {&a, &b, &c, &d}) {
    add(matrix->type);
    add(matrix->rows);
    add(matrix->columns);
    add(static_cast<uint64_t>(matrix->leading));
    add(static_cast<uint64_t>(matrix->batches));
    add(static_cast<uint64_t>(matrix->batchStride));
  }
  add(description.compute);
  add(static_cast<uint64_t>(description.transposeA));
  add(static_cast<uint64_t>(description.transposeB));
  add(static_cast<uint64_t>(description.epilogue));
  return hash;
}

} // namespace tilewright::sim
