//===- SizeTable.h - size expressions of a plan -----------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// Numbers the expressions and symbols of a plan, and knows for each symbol
// where it is bound, hence for each expression where it can be evaluated.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "ir/DimExpr.h"
#include "runtime/format/module_generated.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"

namespace tilewright::plan {

/// A place in the plan: after a command of a function; command -1 is the
/// function's entry.
struct Point {
  uint32_t function = 0;
  int64_t command = -1;
};

class SizeTable {
public:
  explicit SizeTable(format::PlanT &plan) : plan(plan) {}

  /// Notes that `symbol` gets its value at `point`. \returns its number.
  uint32_t bind(llvm::StringRef symbol, Point point);
  bool isBound(llvm::StringRef symbol) const {
    return symbols.contains(symbol);
  }

  /// Says that function `inner` is called by command `call` of `outer`.
  void nest(uint32_t inner, Point call) { callers[inner] = call; }

  /// \returns the number of the expression; a symbol that is not bound makes it
  /// nullopt.
  std::optional<uint32_t> number(tw::DimExpr expr);

  /// \returns where the expression can first be evaluated: the innermost, then
  /// the last, of its symbols' points.
  Point readyPoint(tw::DimExpr expr) const;

  /// \returns true if the expression can be evaluated at the entry of
  /// `function`.
  bool isKnownAtEntry(tw::DimExpr expr, uint32_t function) const;

  /// Writes each expression into the `evaluate` list of its point. Call once,
  /// at the end.
  void placeEvaluations();

private:
  struct SymbolInfo {
    uint32_t number;
    Point point;
  };

  uint32_t append(format::ExprOp op, int64_t value, uint32_t a, uint32_t b,
                  uint32_t c, Point ready);
  unsigned depth(uint32_t function) const;
  Point later(Point a, Point b) const;

  format::PlanT &plan;
  llvm::StringMap<SymbolInfo> symbols;
  llvm::DenseMap<tw::DimExpr, uint32_t> numbers;
  llvm::DenseMap<uint32_t, Point> callers;
  std::vector<Point> ready; // by expression
};

} // namespace tilewright::plan
