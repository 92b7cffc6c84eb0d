//===- MmaCases.h - products of matrices to test ----------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "codegen/families/contract/ContractSimt.h"
#include "codegen/families/contract/MmaTile.h"
#include "codegen/families/test/SimtRegion.h"

namespace tilewright::test {

struct MmaShape {
  int64_t batch, m, n, k;

  /// Whole units of the matrix unit, and rows of whole chunks.
  bool isAligned() const { return m % 16 == 0 && n % 16 == 0 && k % 32 == 0; }
};

/// What follows the product: nothing but the conversion to the result's type,
/// a bias and ReLU, or a residual and a sigmoid.
enum class Epilogue { None, BiasRelu, ResidualSigmoid };

struct MmaCase {
  std::string a, b; ///< element types as in tw
  bool transposeA = false, transposeB = false;
  Epilogue epilogue = Epilogue::None;
  /// The tile; none: what the tactic chooses.
  std::optional<families::MmaTile> tile = std::nullopt;
  bool isStatic = false; ///< sizes of the only shape are known to the compiler
  std::vector<MmaShape> shapes;
  /// Factors of f32 stay what they are: plain arithmetic, in this tile (none:
  /// what the tactic chooses).
  bool isPlain = false;
  std::optional<families::ContractTile> plainTile = std::nullopt;

  std::string name() const;
};

std::vector<MmaCase> allMmaCases();

/// \returns seeded numbers in [-1, 1), integers of any value, as they lie in
/// memory.
std::vector<uint8_t> randomNumbers(const std::string &type, size_t count,
                                   unsigned seed);

/// \returns one of them.
double numberAt(const std::string &type, const std::vector<uint8_t> &bytes,
                int64_t index);

/// \returns null after a failure.
std::unique_ptr<SimtRegion> compileCase(const MmaCase &test,
                                        const TargetSpec *target = nullptr);

/// Runs a shape and compares with double precision, within what rounding to the
/// types explains.
void checkCase(SimtRegion &region, const MmaCase &test, const MmaShape &shape);

} // namespace tilewright::test
