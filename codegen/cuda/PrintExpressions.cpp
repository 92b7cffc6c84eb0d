//===- PrintExpressions.cpp - conversions, functions, memory --------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "codegen/cuda/KernelPrinter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tilewright::cuda {

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

/// The bits of a value as those of another type.
static std::optional<Expression> bitcast(const Expression &value, Type from,
                                         Type to) {
  auto as = [&](StringRef function) {
    return Expression{(function + "(" + value.text + ")").str()};
  };
  if (from.isF32() && to.isInteger(32)) {
    return as("__float_as_int");
  }
  if (from.isInteger(32) && to.isF32()) {
    return as("__int_as_float");
  }
  if (from.isF64() && to.isInteger(64)) {
    return as("__double_as_longlong");
  }
  if (from.isInteger(64) && to.isF64()) {
    return as("__longlong_as_double");
  }
  bool isShort = from.getIntOrFloatBitWidth() == 16 && from != to;
  if (from == to) {
    return value;
  }
  return isShort ? std::optional(as(typeName(to))) : std::nullopt;
}

/// An integer as one of `to`'s width, extended by its sign.
static Expression extendSigned(const Expression &value, Type from, Type to) {
  std::string name = typeName(to);
  if (from.isInteger(1)) {
    return {name + "(" + value.within(LogicalOr) + " ? -1 : 0)"};
  }
  if (!from.isIndex() && from.getIntOrFloatBitWidth() < 8) {
    std::string shift = std::to_string(32 - from.getIntOrFloatBitWidth());
    return {name + "(int(unsigned(" + value.text + ") << " + shift + ") >> " +
            shift + ")"};
  }
  return {name + "(" + value.text + ")"};
}

static bool isBelowByte(Type type) {
  return !type.isIndex() && type.getIntOrFloatBitWidth() < 8;
}

/// … by zeros.
static Expression extendUnsigned(const Expression &value, Type from, Type to) {
  std::string inner = isBelowByte(from)
                          ? value.text
                          : unsignedTypeName(from) + "(" + value.text + ")";
  return {typeName(to) + "(" + inner + ")"};
}

static Expression truncateInteger(const Expression &value, Type to) {
  if (to.isInteger(1)) {
    return {"(" + value.within(Unary) + " & 1) != 0", Equality};
  }
  if (isBelowByte(to)) {
    std::string mask = std::to_string((1 << to.getIntOrFloatBitWidth()) - 1);
    return {"u8(" + value.within(Unary) + " & " + mask + ")"};
  }
  return {typeName(to) + "(" + value.text + ")"};
}

std::optional<Expression> KernelPrinter::conversion(Operation *op) {
  if (op->getNumOperands() != 1 || op->getNumResults() != 1) {
    return std::nullopt;
  }
  Value operand = op->getOperand(0);
  Type from = operand.getType(), to = op->getResult(0).getType();
  // Through f64 to a small float: a 32-bit integer would be rounded twice.
  std::string floatName = isSmallFloat(to) ? "double" : typeName(to);
  auto toFloat = [&](Expression value) {
    return rounded({floatName + "(" + value.text + ")"}, to);
  };
  return llvm::TypeSwitch<Operation *, std::optional<Expression>>(op)
      .Case([&](arith::ExtFOp) {
        Expression value = asFloat(operand);
        return to.isF64() ? Expression{"double(" + value.text + ")"} : value;
      })
      .Case([&](arith::TruncFOp) {
        Expression value = asFloat(operand);
        return isSmallFloat(to) ? rounded(value, to)
                                : Expression{"float(" + value.text + ")"};
      })
      .Case([&](arith::SIToFPOp) {
        Expression value = use(operand);
        bool isPlain = !isBelowByte(from);
        return toFloat(
            isPlain ? value
                    : extendSigned(value, from,
                                   IntegerType::get(op->getContext(), 32)));
      })
      .Case([&](arith::UIToFPOp) {
        Expression value = use(operand);
        return toFloat(isBelowByte(from) ? value
                                         : Expression{unsignedTypeName(from) +
                                                      "(" + value.text + ")"});
      })
      .Case([&](arith::FPToSIOp) {
        return Expression{typeName(to) + "(" + asFloat(operand).text + ")"};
      })
      .Case([&](arith::FPToUIOp) {
        return Expression{typeName(to) + "(" + unsignedTypeName(to) + "(" +
                          asFloat(operand).text + "))"};
      })
      .Case<arith::ExtSIOp, arith::IndexCastOp>([&](auto) {
        Expression value = use(operand);
        bool isNarrower =
            from.isIndex() || (!to.isIndex() && from.getIntOrFloatBitWidth() >
                                                    to.getIntOrFloatBitWidth());
        return isNarrower ? truncateInteger(value, to)
                          : extendSigned(value, from, to);
      })
      .Case([&](arith::ExtUIOp) {
        return extendUnsigned(use(operand), from, to);
      })
      .Case([&](arith::IndexCastUIOp) {
        return from.isIndex() ? truncateInteger(use(operand), to)
                              : extendUnsigned(use(operand), from, to);
      })
      .Case([&](arith::TruncIOp) { return truncateInteger(use(operand), to); })
      .Case([&](arith::BitcastOp) { return bitcast(use(operand), from, to); })
      .Default([](Operation *) { return std::nullopt; });
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

Expression KernelPrinter::floatCall(Operation *op, StringRef name) {
  Type type = op->getResult(0).getType();
  std::string text = name.str() + (type.isF64() ? "(" : "f(");
  for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
    text += (i ? ", " : "") + asFloat(operand).text;
  }
  return rounded({text + ")"}, type);
}

/// CUDA's function for an operation, without the `f` of the one for f32. Their
/// errors are in the CUDA Programming Guide's table of mathematical functions:
/// at most 2 ulp for what is used most (exp, log, tanh, erf), 4 for pow and
/// tan.
static StringRef functionFor(Operation *op) {
  return llvm::TypeSwitch<Operation *, StringRef>(op)
      .Case([](math::AbsFOp) { return "fabs"; })
      .Case([](math::AcosOp) { return "acos"; })
      .Case([](math::AcoshOp) { return "acosh"; })
      .Case([](math::AsinOp) { return "asin"; })
      .Case([](math::AsinhOp) { return "asinh"; })
      .Case([](math::AtanOp) { return "atan"; })
      .Case([](math::Atan2Op) { return "atan2"; })
      .Case([](math::AtanhOp) { return "atanh"; })
      .Case([](math::CbrtOp) { return "cbrt"; })
      .Case([](math::CeilOp) { return "ceil"; })
      .Case([](math::CopySignOp) { return "copysign"; })
      .Case([](math::CosOp) { return "cos"; })
      .Case([](math::CoshOp) { return "cosh"; })
      .Case([](math::ErfOp) { return "erf"; })
      .Case([](math::ErfcOp) { return "erfc"; })
      .Case([](math::ExpOp) { return "exp"; })
      .Case([](math::Exp2Op) { return "exp2"; })
      .Case([](math::ExpM1Op) { return "expm1"; })
      .Case([](math::FloorOp) { return "floor"; })
      .Case([](math::FmaOp) { return "fma"; })
      .Case([](math::LogOp) { return "log"; })
      .Case([](math::Log10Op) { return "log10"; })
      .Case([](math::Log1pOp) { return "log1p"; })
      .Case([](math::Log2Op) { return "log2"; })
      .Case([](math::PowFOp) { return "pow"; })
      .Case([](math::RoundOp) { return "round"; })
      .Case([](math::RoundEvenOp) { return "rint"; })
      .Case([](math::RsqrtOp) { return "rsqrt"; })
      .Case([](math::SinOp) { return "sin"; })
      .Case([](math::SinhOp) { return "sinh"; })
      .Case([](math::SqrtOp) { return "sqrt"; })
      .Case([](math::TanOp) { return "tan"; })
      .Case([](math::TanhOp) { return "tanh"; })
      .Case([](math::TruncOp) { return "trunc"; })
      .Default([](Operation *) { return ""; });
}

std::optional<Expression> KernelPrinter::mathFunction(Operation *op) {
  if (StringRef function = functionFor(op); !function.empty()) {
    return floatCall(op, function);
  }
  auto question = [&](const char *function) {
    return Expression{std::string(function) + "(" +
                      asFloat(op->getOperand(0)).text + ")"};
  };
  if (isa<math::IsNaNOp>(op)) {
    return question("isnan");
  }
  if (isa<math::IsInfOp>(op)) {
    return question("isinf");
  }
  if (isa<math::IsFiniteOp>(op)) {
    return question("isfinite");
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

std::string KernelPrinter::element(Value memory, Value index) {
  return use(memory, Primary) + "[" + use(index).text + "]";
}

std::string KernelPrinter::vectorAt(Value memory, Value index, VectorType type,
                                    bool isConst) {
  needs("Vec");
  std::string name = typeName(type);
  std::string base = use(memory, Additive);
  std::string position = use(index, Multiplicative);
  return "*reinterpret_cast<" + std::string(isConst ? "const " : "") + name +
         " *>(" + base + " + " + position + ")";
}

std::optional<Expression> KernelPrinter::memoryAccess(Operation *op) {
  return llvm::TypeSwitch<Operation *, std::optional<Expression>>(op)
      .Case([&](memref::LoadOp load) {
        return Expression{element(load.getMemRef(), load.getIndices().front()),
                          Primary, /*readsMemory=*/true};
      })
      .Case([&](vector::LoadOp load) {
        return Expression{vectorAt(load.getBase(), load.getIndices().front(),
                                   load.getVectorType(), /*isConst=*/true),
                          Unary, /*readsMemory=*/true};
      })
      .Case([&](vector::ExtractOp extract) -> std::optional<Expression> {
        auto shape = extract.getSourceVectorType().getShape();
        if (extract.getStaticPosition().size() != shape.size() ||
            !extract.getDynamicPosition().empty()) {
          return std::nullopt;
        }
        int64_t position = 0;
        for (auto [at, extent] :
             llvm::zip(extract.getStaticPosition(), shape)) {
          position = position * extent + at;
        }
        std::string lane = std::to_string(position);
        return Expression{use(extract.getSource(), Primary) + ".at[" + lane +
                          "]"};
      })
      .Case([&](vector::FromElementsOp vector) {
        needs("Vec");
        std::string text = typeName(vector.getType()) + "{";
        for (auto [i, lane] : llvm::enumerate(vector.getElements())) {
          text += (i ? ", " : "") + use(lane).text;
        }
        return Expression{text + "}"};
      })
      .Case([](gpu::ThreadIdOp) { return Expression{"threadIdx.x"}; })
      .Case([](gpu::BlockIdOp) { return Expression{"blockIdx.x"}; })
      .Default([](Operation *) { return std::nullopt; });
}

std::optional<Expression> KernelPrinter::expression(Operation *op) {
  if (auto shuffle = dyn_cast<gpu::ShuffleOp>(op)) {
    bool isPlain = shuffle.getMode() == gpu::ShuffleMode::XOR &&
                   shuffle.getValid().use_empty();
    if (!isPlain) {
      return std::nullopt;
    }
    std::string value = use(shuffle.getValue()).text;
    return Expression{"__shfl_xor_sync(0xffffffff, " + value + ", " +
                      use(shuffle.getOffset()).text + ")"};
  }
  if (op->getNumResults() != 1) {
    return std::nullopt;
  }
  if (auto select = dyn_cast<arith::SelectOp>(op)) {
    std::string condition = use(select.getCondition(), LogicalOr);
    std::string yes = use(select.getTrueValue(), LogicalOr);
    std::string no = use(select.getFalseValue(), LogicalOr);
    // Of two literals, the result would be an int.
    Type type = select.getType();
    bool isWide = type.isIndex() || type.isInteger(64);
    if (isWide && !StringRef(yes).ends_with(")") &&
        matchPattern(select.getTrueValue(), m_Constant()) &&
        matchPattern(select.getFalseValue(), m_Constant())) {
      yes += "ll";
    }
    return Expression{condition + " ? " + yes + " : " + no, Conditional};
  }
  for (auto print :
       {&KernelPrinter::integerArithmetic, &KernelPrinter::floatArithmetic,
        &KernelPrinter::comparison, &KernelPrinter::conversion,
        &KernelPrinter::mathFunction, &KernelPrinter::memoryAccess,
        &KernelPrinter::matrix}) {
    if (std::optional<Expression> found = (this->*print)(op)) {
      return found;
    }
  }
  return std::nullopt;
}

} // namespace tilewright::cuda
