//===- ElementArithmetic.cpp - arithmetic on known elements ---------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "frontend/ElementArithmetic.h"

#include <cmath>

using namespace mlir;

namespace tilewright::frontend {
namespace {

/// One operand's elements, read with broadcasting from length one.
template <typename Element> struct Operand {
  SmallVector<Element> elements;
  Element at(int64_t i) const { return elements[elements.size() == 1 ? 0 : i]; }
};

/// Integers as expressions; a null operand gives a null result.
class IntegerRules {
public:
  IntegerRules(NodeImport &node, IntegerType type) : node(node), type(type) {}

  DimExpr binary(StringRef op, DimExpr a, DimExpr b) const;
  DimExpr unary(StringRef op, DimExpr a) const;
  static bool hasBinary(StringRef op);
  static bool hasUnary(StringRef op);

private:
  DimExpr truth(bool value) const { return node.constant(value); }
  DimExpr divide(DimExpr a, DimExpr b) const;
  DimExpr modulo(DimExpr a, DimExpr b) const;
  DimExpr compare(StringRef op, DimExpr a, DimExpr b) const;
  /// Constants wrap around as the run-time type does.
  DimExpr wrap(DimExpr value) const;

  NodeImport &node;
  IntegerType type;
};

} // namespace

/// \returns whether a < b always holds (1), never (0), or neither.
static std::optional<bool> isLess(DimExpr a, DimExpr b) {
  if ((b - a - 1).isNonNegative()) {
    return true;
  }
  if ((a - b).isNonNegative()) {
    return false;
  }
  return std::nullopt;
}

DimExpr IntegerRules::wrap(DimExpr value) const {
  std::optional<int64_t> number = value ? value.getConstant() : std::nullopt;
  if (!number || type.getWidth() >= 64) {
    return value;
  }
  APInt bits = APInt(64, *number).trunc(type.getWidth());
  bool zeroExtend = type.isUnsigned() || type.getWidth() == 1;
  return node.constant(zeroExtend ? bits.getZExtValue() : bits.getSExtValue());
}

DimExpr IntegerRules::divide(DimExpr a, DimExpr b) const {
  std::optional<int64_t> x = a.getConstant(), y = b.getConstant();
  if (x && y) {
    bool isSpecial = *y == 0 || *y == -1;
    return *y == 0     ? node.constant(0)
           : isSpecial ? node.constant(0) - a
                       : node.constant(*x / *y);
  }
  // Rounding toward zero is rounding down for what is not negative.
  return a.isNonNegative() && b.isNonNegative() ? a.floorDiv(b) : DimExpr();
}

DimExpr IntegerRules::modulo(DimExpr a, DimExpr b) const {
  if (node.intAttribute("fmod", 0) != 0 &&
      !(a.isNonNegative() && b.isNonNegative())) {
    return {};
  }
  return a.mod(b);
}

DimExpr IntegerRules::compare(StringRef op, DimExpr a, DimExpr b) const {
  if (op == "Equal") {
    if (a == b) {
      return truth(true);
    }
    bool differ = isLess(a, b) == true || isLess(b, a) == true;
    return differ ? truth(false)
                  : DimExpr::select(a - b, truth(false), truth(true));
  }
  bool swapped = op == "Greater" || op == "LessOrEqual";
  std::optional<bool> less = swapped ? isLess(b, a) : isLess(a, b);
  if (!less) {
    return {};
  }
  bool negated = op == "LessOrEqual" || op == "GreaterOrEqual";
  return truth(*less != negated);
}

static constexpr StringRef comparisons[] = {"Equal", "Less", "Greater",
                                            "LessOrEqual", "GreaterOrEqual"};
static constexpr StringRef arithmetic[] = {"Add", "Sub", "Mul", "Div", "Mod",
                                           "Min", "Max", "And", "Or"};
static constexpr StringRef unaries[] = {"Neg", "Abs", "Not"};

bool IntegerRules::hasBinary(StringRef op) {
  return llvm::is_contained(comparisons, op) ||
         llvm::is_contained(arithmetic, op);
}

bool IntegerRules::hasUnary(StringRef op) {
  return llvm::is_contained(unaries, op);
}

DimExpr IntegerRules::binary(StringRef op, DimExpr a, DimExpr b) const {
  if (op == "And" || op == "Or") {
    DimExpr decisive = truth(op == "Or");
    if (a == decisive || b == decisive) {
      return decisive;
    }
    return a && b ? truth(op == "And") : DimExpr();
  }
  if (op == "Mul" && ((a && a.isConstant(0)) || (b && b.isConstant(0)))) {
    return node.constant(0);
  }
  if (!a || !b) {
    return {};
  }
  if (llvm::is_contained(comparisons, op)) {
    return compare(op, a, b);
  }
  DimExpr value = op == "Add"   ? a + b
                  : op == "Sub" ? a - b
                  : op == "Mul" ? a * b
                  : op == "Div" ? divide(a, b)
                  : op == "Mod" ? modulo(a, b)
                  : op == "Min" ? a.min(b)
                                : a.max(b);
  return wrap(value);
}

DimExpr IntegerRules::unary(StringRef op, DimExpr a) const {
  if (!a) {
    return {};
  }
  if (op == "Not") {
    if (std::optional<int64_t> value = a.getConstant()) {
      return truth(*value == 0);
    }
    return DimExpr::select(a, truth(false), truth(true));
  }
  DimExpr negated = node.constant(0) - a;
  if (op == "Neg") {
    return wrap(negated);
  }
  return a.isNonNegative()         ? a
         : negated.isNonNegative() ? wrap(negated)
                                   : DimExpr();
}

//===----------------------------------------------------------------------===//
// Operators
//===----------------------------------------------------------------------===//

/// The elements of a broadcastable vector or scalar input; all null where
/// nothing is known of it.
static std::optional<Operand<DimExpr>> operand(NodeImport &node, size_t i,
                                               int64_t length) {
  if (!node.hasInput(i) || node.rank(i) > 1) {
    return std::nullopt;
  }
  Dims known = node.wholeElements(i).value_or(Dims(1));
  if (known.size() != 1 && static_cast<int64_t>(known.size()) != length) {
    return std::nullopt;
  }
  return Operand<DimExpr>{std::move(known)};
}

static std::optional<Dims> computeWhere(NodeImport &node, int64_t length) {
  auto condition = operand(node, 0, length), ifTrue = operand(node, 1, length),
       ifFalse = operand(node, 2, length);
  if (!condition || !ifTrue || !ifFalse) {
    return std::nullopt;
  }
  Dims result;
  for (int64_t i = 0; i < length; ++i) {
    DimExpr chosen = condition->at(i);
    if (!chosen || !chosen.getConstant()) {
      // Either way the same, or not known.
      result.push_back(ifTrue->at(i) == ifFalse->at(i) ? ifTrue->at(i)
                                                       : DimExpr());
    } else {
      result.push_back(chosen.isConstant(0) ? ifFalse->at(i) : ifTrue->at(i));
    }
  }
  return result;
}

static std::optional<Dims> computeCast(NodeImport &node, int64_t length,
                                       IntegerType type) {
  if (isa<FloatType>(node.element(0))) {
    if (type.getWidth() < 32 || type.isUnsigned()) {
      return std::nullopt;
    }
    std::optional<SmallVector<double>> reals = node.constantReals(0);
    if (!reals) {
      return node.wholeElements(0);
    }
    double limit = std::ldexp(1.0, type.getWidth() - 1);
    Dims result;
    for (double real : *reals) {
      bool fits = real > -limit && real < limit;
      result.push_back(fits ? node.constant(static_cast<int64_t>(real))
                            : DimExpr());
    }
    return result;
  }
  auto source = operand(node, 0, length);
  if (!source) {
    return std::nullopt;
  }
  Dims result;
  for (int64_t i = 0; i < length; ++i) {
    DimExpr element = source->at(i);
    std::optional<int64_t> value =
        element ? element.getConstant() : std::nullopt;
    if (value && type.getWidth() == 1) {
      element = node.constant(*value != 0);
    } else if (value && type.getWidth() < 64) {
      APInt bits = APInt(64, *value).trunc(type.getWidth());
      element = node.constant(type.isUnsigned() ? bits.getZExtValue()
                                                : bits.getSExtValue());
    } else if (!value && type.getWidth() < 32 &&
               !node.element(0).isInteger(1)) {
      element = DimExpr();
    }
    result.push_back(element);
  }
  return result;
}

static std::optional<Dims> computeReduction(NodeImport &node, StringRef op,
                                            IntegerType type) {
  if (node.rank(0) != 1) {
    return std::nullopt;
  }
  std::optional<Dims> known = node.wholeElements(0);
  if (!known || known->empty()) {
    return std::nullopt;
  }
  IntegerRules rules(node, type);
  DimExpr result = known->front();
  for (DimExpr element : llvm::drop_begin(*known)) {
    result = rules.binary(op, result, element);
  }
  return Dims{result};
}

/// The operators that give whole floats for whole operands, and that rounding
/// does not touch.
static bool keepsWholeFloats(StringRef op) {
  return op == "Add" || op == "Sub" || op == "Mul" || op == "Neg" ||
         op == "Min" || op == "Max";
}

/// The operators that do nothing to whole floats.
static bool isIdentityOnWholeFloats(StringRef op) {
  return op == "Cast" || op == "Floor" || op == "Ceil" || op == "Round";
}

std::optional<Dims> computeWholeNumbers(NodeImport &node, int64_t length,
                                        Type outputType) {
  StringRef op = node.proto().op_type();
  if (op == "Where") {
    return computeWhere(node, length);
  }
  auto type = dyn_cast<IntegerType>(outputType);
  if (!type) {
    if (!outputType.isF32() && !outputType.isF64()) {
      return std::nullopt;
    }
    if (isIdentityOnWholeFloats(op)) {
      return node.rank(0) <= 1 ? node.wholeElements(0) : std::nullopt;
    }
    if (!keepsWholeFloats(op)) {
      return std::nullopt;
    }
    type = IntegerType::get(node.context(), 64);
  } else if (type.getWidth() > 64) {
    return std::nullopt;
  }
  if (op == "Cast") {
    return computeCast(node, length, type);
  }
  StringRef fold = op == "ReduceProd"  ? "Mul"
                   : op == "ReduceSum" ? "Add"
                   : op == "ReduceMax" ? "Max"
                   : op == "ReduceMin" ? "Min"
                                       : "";
  if (!fold.empty() && length == 1) {
    return computeReduction(node, fold, type);
  }
  bool isUnary = IntegerRules::hasUnary(op),
       isBinary = IntegerRules::hasBinary(op);
  if ((!isUnary && !isBinary) || node.numInputs() == 0) {
    return std::nullopt;
  }
  IntegerRules rules(node, type);
  std::optional<Operand<DimExpr>> left = operand(node, 0, length);
  Dims result;
  for (size_t input = isUnary ? 0 : 1; left && input < node.numInputs();
       ++input) {
    std::optional<Operand<DimExpr>> right = operand(node, input, length);
    if (!right) {
      return std::nullopt;
    }
    result.clear();
    for (int64_t i = 0; i < length; ++i) {
      result.push_back(isUnary ? rules.unary(op, left->at(i))
                               : rules.binary(op, left->at(i), right->at(i)));
    }
    left->elements = result;
  }
  return left && !result.empty() ? std::optional(result) : std::nullopt;
}

static std::optional<double> realOf(StringRef op, double a, double b) {
  if (op == "Add") {
    return a + b;
  }
  if (op == "Sub") {
    return a - b;
  }
  if (op == "Mul") {
    return a * b;
  }
  return op == "Div" ? std::optional(a / b) : std::nullopt;
}

static std::optional<double> realOf(StringRef op, double a) {
  return op == "Floor"  ? std::optional(std::floor(a))
         : op == "Ceil" ? std::optional(std::ceil(a))
         : op == "Cast" ? std::optional(a)
         : op == "Neg"  ? std::optional(-a)
                        : std::nullopt;
}

std::optional<SmallVector<double>>
computeReals(NodeImport &node, int64_t length, FloatType type) {
  StringRef op = node.proto().op_type();
  bool isUnary = realOf(op, 1.0).has_value();
  if (!isUnary && !realOf(op, 1.0, 1.0)) {
    return std::nullopt;
  }
  // One operation in f64, rounded once to f32, is the operation in f32.
  if (!type.isF32() && !type.isF64()) {
    return std::nullopt;
  }
  SmallVector<Operand<double>> operands;
  for (size_t i = 0; i < node.numInputs(); ++i) {
    std::optional<SmallVector<double>> known = node.constantReals(i);
    if (!known ||
        (known->size() != 1 && static_cast<int64_t>(known->size()) != length)) {
      return std::nullopt;
    }
    operands.push_back({std::move(*known)});
  }
  SmallVector<double> result;
  for (int64_t i = 0; i < length; ++i) {
    double value = isUnary ? *realOf(op, operands[0].at(i))
                           : *realOf(op, operands[0].at(i), operands[1].at(i));
    result.push_back(type.isF32() ? static_cast<float>(value) : value);
  }
  return result;
}

} // namespace tilewright::frontend
