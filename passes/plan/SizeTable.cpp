//===- SizeTable.cpp - size expressions of a plan -------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "passes/plan/SizeTable.h"

using tilewright::tw::DimExpr;
using Kind = DimExpr::Kind;

namespace tilewright::plan {

uint32_t SizeTable::bind(llvm::StringRef symbol, Point point) {
  auto [it, isNew] = symbols.try_emplace(
      symbol, SymbolInfo{static_cast<uint32_t>(plan.symbols.size()), point});
  if (isNew) {
    plan.symbols.push_back(symbol.str());
  }
  return it->second.number;
}

unsigned SizeTable::depth(uint32_t function) const {
  unsigned levels = 0;
  for (auto it = callers.find(function); it != callers.end();
       it = callers.find(it->second.function)) {
    ++levels;
  }
  return levels;
}

Point SizeTable::later(Point a, Point b) const {
  unsigned depthA = depth(a.function), depthB = depth(b.function);
  if (depthA != depthB) {
    return depthA > depthB ? a : b;
  }
  return a.command >= b.command ? a : b;
}

uint32_t SizeTable::append(format::ExprOp op, int64_t value, uint32_t a,
                           uint32_t b, uint32_t c, Point point) {
  plan.expressions.emplace_back(value, a, b, c, op);
  ready.push_back(point);
  return plan.expressions.size() - 1;
}

static format::ExprOp opOf(Kind kind) {
  switch (kind) {
  case Kind::Add:
    return format::ExprOp_Add;
  case Kind::Mul:
    return format::ExprOp_Mul;
  case Kind::FloorDiv:
    return format::ExprOp_FloorDiv;
  case Kind::Mod:
    return format::ExprOp_Mod;
  case Kind::Min:
    return format::ExprOp_Min;
  case Kind::Max:
    return format::ExprOp_Max;
  default:
    return format::ExprOp_Select;
  }
}

std::optional<uint32_t> SizeTable::number(DimExpr expr) {
  if (auto it = numbers.find(expr); it != numbers.end()) {
    return it->second;
  }
  std::optional<uint32_t> result;
  if (std::optional<int64_t> value = expr.getConstant()) {
    result = append(format::ExprOp_Const, *value, 0, 0, 0, Point());
  } else if (expr.kind() == Kind::Symbol) {
    auto it = symbols.find(expr.symbolName());
    if (it == symbols.end()) {
      return std::nullopt;
    }
    result = append(format::ExprOp_Symbol, it->second.number, 0, 0, 0,
                    it->second.point);
  } else {
    llvm::SmallVector<uint32_t> operands;
    for (DimExpr operand : expr.operands()) {
      std::optional<uint32_t> id = number(operand);
      if (!id) {
        return std::nullopt;
      }
      operands.push_back(*id);
    }
    auto joined = [&](uint32_t a, uint32_t b) {
      return later(ready[a], ready[b]);
    };
    if (expr.kind() == Kind::Select) {
      Point point = later(joined(operands[0], operands[1]), ready[operands[2]]);
      result = append(format::ExprOp_Select, 0, operands[0], operands[1],
                      operands[2], point);
    } else {
      result = operands[0];
      for (uint32_t operand : llvm::ArrayRef(operands).drop_front()) {
        result = append(opOf(expr.kind()), 0, *result, operand, 0,
                        joined(*result, operand));
      }
    }
  }
  numbers[expr] = *result;
  return result;
}

Point SizeTable::readyPoint(DimExpr expr) const {
  Point point;
  expr.forEachSymbol([&](llvm::StringRef name) {
    auto it = symbols.find(name);
    if (it != symbols.end()) {
      point = later(point, it->second.point);
    }
  });
  return point;
}

bool SizeTable::isKnownAtEntry(DimExpr expr, uint32_t function) const {
  Point point = readyPoint(expr);
  if (point.function == function) {
    return point.command < 0;
  }
  // Otherwise it is bound in a function that calls this one, before the call.
  return depth(point.function) < depth(function);
}

void SizeTable::placeEvaluations() {
  for (uint32_t id = 0; id < ready.size(); ++id) {
    format::FunctionT &function = *plan.functions[ready[id].function];
    if (ready[id].command < 0) {
      function.evaluate.push_back(id);
    } else {
      function.commands[ready[id].command]->evaluate.push_back(id);
    }
  }
}

} // namespace tilewright::plan
