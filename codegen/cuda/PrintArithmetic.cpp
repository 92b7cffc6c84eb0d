//===- PrintArithmetic.cpp - integers and floats --------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// Integers wrap in kernels, and C++ leaves a signed overflow undefined: sums
// and products are computed without signs. Indices do not overflow. What is
// undefined in kernels too (a division by zero, a shift by the width) is
// guarded by the bodies.
//
//===----------------------------------------------------------------------===//

#include "codegen/cuda/KernelPrinter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tilewright::cuda {

Expression KernelPrinter::binary(Operation *op, const char *symbol,
                                 Precedence precedence) {
  auto tighter = static_cast<Precedence>(precedence - 1);
  std::string left = use(op->getOperand(0), precedence);
  std::string right = use(op->getOperand(1), tighter);
  return {left + " " + symbol + " " + right, precedence};
}

Expression KernelPrinter::asUnsigned(Value value) {
  APInt constant;
  if (!names.contains(value) && matchPattern(value, m_ConstantInt(&constant)) &&
      constant.isNonNegative() && constant.getActiveBits() < 31) {
    return {std::to_string(constant.getZExtValue()) + "u"};
  }
  return {unsignedTypeName(value.getType()) + "(" + use(value).text + ")"};
}

Expression KernelPrinter::wrapping(Operation *op, const char *symbol,
                                   Precedence precedence) {
  Type type = op->getResult(0).getType();
  if (type.isIndex()) {
    return binary(op, symbol, precedence);
  }
  std::string left = asUnsigned(op->getOperand(0)).text;
  std::string right = asUnsigned(op->getOperand(1)).text;
  return {typeName(type) + "(" + left + " " + symbol + " " + right + ")"};
}

Expression KernelPrinter::call(StringRef function, ArrayRef<Value> operands,
                               bool isUnsigned) {
  std::string text = function.str() + "(";
  for (auto [i, operand] : llvm::enumerate(operands)) {
    text += i ? ", " : "";
    text += isUnsigned ? asUnsigned(operand).text
                       : use(operand, /*isArgument=*/true).text;
  }
  return {text + ")"};
}

/// Sums, products and bits of i1.
static const char *logicalSymbol(Operation *op) {
  return isa<arith::AndIOp, arith::MulIOp>(op)   ? "&&"
         : isa<arith::OrIOp>(op)                 ? "||"
         : isa<arith::XOrIOp, arith::AddIOp>(op) ? "!="
                                                 : nullptr;
}

std::optional<Expression> KernelPrinter::integerArithmetic(Operation *op) {
  Type type = op->getResult(0).getType();
  if (!type.isIntOrIndex()) {
    return std::nullopt;
  }
  std::string name = typeName(type);
  bool isIndex = type.isIndex();
  if (type.isInteger(1)) {
    const char *symbol = logicalSymbol(op);
    if (!symbol) {
      return std::nullopt;
    }
    Precedence precedence = *symbol == '&'   ? LogicalAnd
                            : *symbol == '|' ? LogicalOr
                                             : Equality;
    std::string left = use(op->getOperand(0), Relational);
    std::string right = use(op->getOperand(1), Relational);
    return Expression{left + " " + symbol + " " + right, precedence};
  }
  auto narrowed = [&](Expression value) -> Expression {
    // C++ computes what is narrower than int as int.
    bool isNarrow = !isIndex && type.getIntOrFloatBitWidth() < 32;
    return isNarrow ? Expression{name + "(" + value.text + ")"} : value;
  };
  auto bits = [&](const char *symbol, Precedence precedence) {
    std::string left = use(op->getOperand(0), Unary);
    std::string right = use(op->getOperand(1), Unary);
    return narrowed({left + " " + symbol + " " + right, precedence});
  };
  auto unsignedBinary = [&](const char *symbol) -> Expression {
    std::string left = unsignedTypeName(op->getOperand(0).getType()) + "(" +
                       use(op->getOperand(0)).text + ")";
    std::string right = asUnsigned(op->getOperand(1)).text;
    std::string text = left + " " + symbol + " " + right;
    return {name + "(" + text + ")", Primary, false, text};
  };
  auto function = [&](const char *called, bool isUnsigned = false) {
    if (!isIndex && type.getIntOrFloatBitWidth() < 32) {
      Expression value =
          call(called, llvm::to_vector(op->getOperands()), isUnsigned);
      return Expression{name + "(" + value.text + ")"};
    }
    Expression value =
        call(called, llvm::to_vector(op->getOperands()), isUnsigned);
    return isUnsigned ? Expression{name + "(" + value.text + ")"} : value;
  };
  return llvm::TypeSwitch<Operation *, std::optional<Expression>>(op)
      .Case([&](arith::AddIOp) { return wrapping(op, "+", Additive); })
      .Case([&](arith::SubIOp) { return wrapping(op, "-", Additive); })
      .Case([&](arith::MulIOp) { return wrapping(op, "*", Multiplicative); })
      .Case([&](arith::DivSIOp) {
        return narrowed(binary(op, "/", Multiplicative));
      })
      .Case([&](arith::RemSIOp) {
        return narrowed(binary(op, "%", Multiplicative));
      })
      .Case([&](arith::DivUIOp) { return unsignedBinary("/"); })
      .Case([&](arith::RemUIOp) { return unsignedBinary("%"); })
      .Case([&](arith::FloorDivSIOp) {
        needs("floorDiv");
        return function("floorDiv");
      })
      .Case([&](arith::CeilDivSIOp) {
        needs("ceilDiv");
        return function("ceilDiv");
      })
      .Case([&](arith::MinSIOp) { return function("min"); })
      .Case([&](arith::MaxSIOp) { return function("max"); })
      .Case([&](arith::MinUIOp) { return function("min", true); })
      .Case([&](arith::MaxUIOp) { return function("max", true); })
      .Case([&](arith::AndIOp) { return bits("&", BitAnd); })
      .Case([&](arith::OrIOp) { return bits("|", BitOr); })
      .Case([&](arith::XOrIOp) { return bits("^", BitXor); })
      .Case([&](arith::ShRSIOp) { return bits(">>", Shift); })
      .Case([&](arith::ShRUIOp) { return unsignedBinary(">>"); })
      .Case([&](arith::ShLIOp) { return unsignedBinary("<<"); })
      .Default([](Operation *) { return std::nullopt; });
}

Expression KernelPrinter::asFloat(Value value) {
  Expression text = use(value);
  if (!isSmallFloat(value.getType())) {
    return text;
  }
  needs("toFloat");
  const char *function =
      value.getType().isF16() ? "f16ToFloat(" : "bf16ToFloat(";
  return {function + text.text + ")"};
}

Expression KernelPrinter::rounded(Expression value, Type type) {
  if (!isSmallFloat(type)) {
    return value;
  }
  const char *function = type.isF16() ? "toF16" : "toBf16";
  needs(function);
  return {function + ("(" + value.text + ")")};
}

std::optional<Expression> KernelPrinter::floatArithmetic(Operation *op) {
  Type type = op->getResult(0).getType();
  if (!isa<FloatType>(type)) {
    return std::nullopt;
  }
  auto infix = [&](const char *symbol, Precedence precedence) {
    auto tighter = static_cast<Precedence>(precedence - 1);
    std::string left = asFloat(op->getOperand(0)).within(precedence);
    std::string right = asFloat(op->getOperand(1)).within(tighter);
    return rounded({left + " " + symbol + " " + right, precedence}, type);
  };
  auto function = [&](const char *called) {
    std::string left = asFloat(op->getOperand(0)).text;
    std::string right = asFloat(op->getOperand(1)).text;
    return rounded({std::string(called) + "(" + left + ", " + right + ")"},
                   type);
  };
  return llvm::TypeSwitch<Operation *, std::optional<Expression>>(op)
      .Case([&](arith::AddFOp) { return infix("+", Additive); })
      .Case([&](arith::SubFOp) { return infix("-", Additive); })
      .Case([&](arith::MulFOp) { return infix("*", Multiplicative); })
      .Case([&](arith::DivFOp) { return infix("/", Multiplicative); })
      .Case([&](arith::NegFOp) {
        std::string operand = asFloat(op->getOperand(0)).within(Primary);
        return rounded({"-" + operand, Unary}, type);
      })
      .Case([&](arith::MaximumFOp) {
        needs("maximum");
        return function("maximum");
      })
      .Case([&](arith::MinimumFOp) {
        needs("minimum");
        return function("minimum");
      })
      .Case([&](arith::MaxNumFOp) { return floatCall(op, "fmax"); })
      .Case([&](arith::MinNumFOp) { return floatCall(op, "fmin"); })
      .Case([&](arith::RemFOp) { return floatCall(op, "fmod"); })
      .Default([](Operation *) { return std::nullopt; });
}

static Expression compareFloats(arith::CmpFPredicate predicate,
                                const Expression &x, const Expression &y) {
  using P = arith::CmpFPredicate;
  auto relation = [&](const char *symbol, Precedence precedence) -> Expression {
    return {x.within(Additive) + " " + symbol + " " + y.within(Additive),
            precedence};
  };
  auto unless = [&](const char *symbol) -> Expression {
    return {"!(" + relation(symbol, Relational).text + ")", Unary};
  };
  switch (predicate) {
  case P::OEQ:
    return relation("==", Equality);
  case P::UNE:
    return relation("!=", Equality);
  case P::OLT:
    return relation("<", Relational);
  case P::OLE:
    return relation("<=", Relational);
  case P::OGT:
    return relation(">", Relational);
  case P::OGE:
    return relation(">=", Relational);
  case P::ULT:
    return unless(">=");
  case P::ULE:
    return unless(">");
  case P::UGT:
    return unless("<=");
  case P::UGE:
    return unless("<");
  case P::ORD:
    return {"ordered(" + x.text + ", " + y.text + ")"};
  case P::UNO:
    return {"!ordered(" + x.text + ", " + y.text + ")", Unary};
  case P::ONE:
    return {"(ordered(" + x.text + ", " + y.text + ") && " +
            relation("!=", Equality).text + ")"};
  case P::UEQ:
    return {"(!ordered(" + x.text + ", " + y.text + ") || " +
            relation("==", Equality).text + ")"};
  case P::AlwaysTrue:
    return {"true"};
  case P::AlwaysFalse:
    return {"false"};
  }
  return {"false"};
}

std::optional<Expression> KernelPrinter::comparison(Operation *op) {
  if (auto compare = dyn_cast<arith::CmpFOp>(op)) {
    using P = arith::CmpFPredicate;
    P predicate = compare.getPredicate();
    if (llvm::is_contained({P::ORD, P::UNO, P::ONE, P::UEQ}, predicate)) {
      needs("ordered");
    }
    Expression x = asFloat(compare.getLhs()), y = asFloat(compare.getRhs());
    return compareFloats(predicate, x, y);
  }
  auto compare = dyn_cast<arith::CmpIOp>(op);
  if (!compare) {
    return std::nullopt;
  }
  using P = arith::CmpIPredicate;
  P predicate = compare.getPredicate();
  bool isUnsigned = predicate == P::ult || predicate == P::ule ||
                    predicate == P::ugt || predicate == P::uge;
  const char *symbol = predicate == P::eq                           ? "=="
                       : predicate == P::ne                         ? "!="
                       : predicate == P::slt || predicate == P::ult ? "<"
                       : predicate == P::sle || predicate == P::ule ? "<="
                       : predicate == P::sgt || predicate == P::ugt ? ">"
                                                                    : ">=";
  bool isEquality = predicate == P::eq || predicate == P::ne;
  bool hasSigns = !compare.getLhs().getType().isInteger(1);
  auto operand = [&](Value value) {
    return isUnsigned && hasSigns ? asUnsigned(value).text
                                  : use(value, Additive);
  };
  std::string left = operand(compare.getLhs()),
              right = operand(compare.getRhs());
  if (!hasSigns && !isUnsigned && !isEquality) {
    std::swap(left, right); // the true of one bit is -1
  }
  return Expression{left + " " + symbol + " " + right,
                    isEquality ? Equality : Relational};
}

} // namespace tilewright::cuda
