//===- OperatorTable.cpp - which function imports an operator -------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "frontend/OperatorTable.h"

#include "frontend/ops/Families.h"
#include "llvm/ADT/STLExtras.h"
#include <tuple>

namespace tilewright::frontend {

static constexpr OperatorFamily (*families[])() = {
    activationOperators,    argScanOperators,
    arithmeticOperators,    batchNormOperators,
    castOperators,          controlFlowOperators,
    convOperators,          convTransposeOperators,
    createOperators,        deformConvOperators,
    dropoutOperators,       einsumOperators,
    fourierOperators,       gatherOperators,
    gridSampleOperators,    integerProductOperators,
    irregularOperators,     logicOperators,
    matmulOperators,        movementOperators,
    normalizationOperators, padOperators,
    poolOperators,          quantizeOperators,
    randomOperators,        recurrentOperators,
    reduceOperators,        resizeOperators,
    roiAlignOperators,      scanOperators,
    scatterOperators,       shapeOperators,
    sliceOperators,         unaryOperators,
    unpoolOperators,
};

using Key = std::tuple<llvm::StringRef, llvm::StringRef, int64_t>;

static Key keyOf(const OperatorEntry &entry) {
  return {entry.domain, entry.name, entry.since};
}

llvm::ArrayRef<OperatorEntry> allOperators() {
  static const std::vector<OperatorEntry> table = [] {
    std::vector<OperatorEntry> rows;
    for (auto family : families) {
      llvm::append_range(rows, family());
    }
    llvm::sort(
        rows, [](const auto &a, const auto &b) { return keyOf(a) < keyOf(b); });
    return rows;
  }();
  return table;
}

const OperatorEntry *findOperator(llvm::StringRef domain, llvm::StringRef name,
                                  int64_t version) {
  llvm::ArrayRef<OperatorEntry> table = allOperators();
  // The last row that is not above the wanted one.
  auto it = llvm::upper_bound(table, Key(domain, name, version),
                              [](const Key &key, const OperatorEntry &entry) {
                                return key < keyOf(entry);
                              });
  if (it == table.begin()) {
    return nullptr;
  }
  const OperatorEntry &entry = *std::prev(it);
  return domain == entry.domain && name == entry.name ? &entry : nullptr;
}

} // namespace tilewright::frontend
