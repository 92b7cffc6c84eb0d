//===- Arithmetic.cpp - element-wise arithmetic ---------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "frontend/ops/Families.h"
#include "frontend/ops/Scalars.h"

using namespace mlir;

namespace tilewright::frontend {

/// Sets output 0 to `body` over both operands, whose types are equal.
static Status mapBoth(NodeImport &node, ScalarBody body) {
  TW_RETURN_IF_ERROR(requireNumber(node, 0));
  TW_RETURN_IF_ERROR(requireSameElement(node, 2));
  Result<Value> second = secondOperand(node);
  if (!second) {
    return second.status();
  }
  Result<Value> result =
      broadcastMap(node, {node.input(0), *second}, node.element(0), body);
  if (!result) {
    return result.status();
  }
  node.setOutput(0, *result);
  return Status::ok();
}

static Status importAdd(NodeImport &node) {
  return mapBoth(
      node, [](BodyBuilder &b, ValueRange x) { return b.addOf(x[0], x[1]); });
}
static Status importSub(NodeImport &node) {
  return mapBoth(
      node, [](BodyBuilder &b, ValueRange x) { return b.subOf(x[0], x[1]); });
}
static Status importMul(NodeImport &node) {
  return mapBoth(
      node, [](BodyBuilder &b, ValueRange x) { return b.mulOf(x[0], x[1]); });
}
static Status importDiv(NodeImport &node) {
  return mapBoth(node, [&](BodyBuilder &b, ValueRange x) {
    return b.divOf(x[0], x[1], node.element(0));
  });
}

/// With `fmod` the result has the dividend's sign, else the divisor's.
static Status importMod(NodeImport &node) {
  bool likeDividend = node.intAttribute("fmod", 0) != 0;
  return mapBoth(node, [&](BodyBuilder &b, ValueRange x) {
    Type element = node.element(0);
    Value rest = b.remOf(x[0], x[1], element);
    if (likeDividend || tw::isUnsigned(element)) {
      return rest;
    }
    Value zero = b.constant(x[0].getType(), 0);
    Value isZero = b.equalOf(rest, zero);
    Value signsDiffer = b.create<arith::XOrIOp>(b.lessOf(rest, zero, element),
                                                b.lessOf(x[1], zero, element));
    Value moved = b.select(signsDiffer, b.addOf(rest, x[1]), rest);
    return b.select(isZero, rest, moved);
  });
}

//===----------------------------------------------------------------------===//
// Pow
//===----------------------------------------------------------------------===//

/// Integers: by repeated squaring, wrapping; a negative exponent gives the
/// reciprocal rounded toward zero.
static Value integerPower(BodyBuilder &b, Value x, Value y, Type yElement) {
  Type type = x.getType();
  unsigned bits = cast<IntegerType>(y.getType()).getWidth();
  Value one = b.integer(type, 1), minusOne = b.integer(type, -1),
        zero = b.integer(type, 0);
  Value result = one, square = x;
  auto bitOfExponent = [&](unsigned bit) {
    Value mask =
        b.integer(y.getType(), static_cast<int64_t>(uint64_t(1) << bit));
    Value masked = b.create<arith::AndIOp>(y, mask);
    return b.create<arith::CmpIOp>(arith::CmpIPredicate::ne, masked,
                                   b.integer(y.getType(), 0));
  };
  for (unsigned bit = 0; bit < bits; ++bit) {
    result = b.select(bitOfExponent(bit), b.mulOf(result, square), result);
    square = b.mulOf(square, square);
  }
  if (tw::isUnsigned(yElement)) {
    return result;
  }
  Value alternating = b.select(bitOfExponent(0), minusOne, one);
  Value reciprocal = b.select(b.equalOf(x, minusOne), alternating, zero);
  reciprocal = b.select(b.equalOf(x, one), one, reciprocal);
  Value negative = b.lessOf(y, b.integer(y.getType(), 0), yElement);
  return b.select(negative, reciprocal, result);
}

static Status importPow(NodeImport &node) {
  TW_RETURN_IF_ERROR(requireNumber(node, 0));
  TW_RETURN_IF_ERROR(requireNumber(node, 1));
  Result<Value> second = secondOperand(node);
  if (!second) {
    return second.status();
  }
  Type base = node.element(0), exponent = node.element(1);
  bool isFloatBase = isFloat(base);
  std::optional<SmallVector<double>> known = node.constantReals(1);
  std::optional<double> constant;
  if (known && known->size() == 1) {
    constant = known->front();
  }
  Result<Value> result = broadcastMap(
      node, {node.input(0), *second}, base,
      [&](BodyBuilder &b, ValueRange x) -> Value {
        if (!isFloatBase && !isFloat(exponent)) {
          return constant == 2.0 ? b.mulOf(x[0], x[0])
                                 : integerPower(b, x[0], x[1], exponent);
        }
        Type real = isFloatBase ? x[0].getType() : Type(b.getF64Type());
        Value raised = isFloatBase ? x[0] : b.cast(x[0], base, real);
        Value y = b.cast(x[1], tw::computeType(exponent), real);
        Value power = constant ? frontend::power(b, raised, *constant)
                               : frontend::power(b, raised, y);
        if (isFloatBase) {
          return power;
        }
        // A whole exponent makes the exact result whole.
        Value isWhole = b.equalOf(b.create<math::FloorOp>(y), y);
        Value result =
            b.select(isWhole, b.create<math::RoundEvenOp>(power), power);
        return b.cast(result, real, base);
      });
  if (!result) {
    return result.status();
  }
  node.setOutput(0, *result);
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// Any number of operands
//===----------------------------------------------------------------------===//

using Join = Value (*)(BodyBuilder &, Value, Value, Type);

template <Join join, bool average = false>
static Status importVariadic(NodeImport &node) {
  TW_RETURN_IF_ERROR(requireNumber(node, 0));
  SmallVector<Value> operands = node.inputs();
  TW_RETURN_IF_ERROR(requireSameElement(node, operands.size()));
  Type element = node.element(0);
  Result<Value> result = broadcastMap(
      node, operands, element, [&](BodyBuilder &b, ValueRange x) -> Value {
        Value joined = x[0];
        for (Value next : x.drop_front()) {
          joined = join(b, joined, next, element);
        }
        if (!average) {
          return joined;
        }
        return b.divOf(
            joined, b.constant(joined.getType(), static_cast<double>(x.size())),
            element);
      });
  if (!result) {
    return result.status();
  }
  node.setOutput(0, *result);
  return Status::ok();
}

static Value joinSum(BodyBuilder &b, Value x, Value y, Type) {
  return b.addOf(x, y);
}
static Value joinMax(BodyBuilder &b, Value x, Value y, Type element) {
  return b.maxOf(x, y, element);
}
static Value joinMin(BodyBuilder &b, Value x, Value y, Type element) {
  return b.minOf(x, y, element);
}

//===----------------------------------------------------------------------===//
// Clip
//===----------------------------------------------------------------------===//

/// A bound of Clip: a tensor of one element.
static Status checkBound(NodeImport &node, size_t i) {
  for (DimExpr dim : node.dims(i)) {
    if (!mayBeEqual(dim, node.constant(1))) {
      return node.error(ErrorCode::ShapeMismatch,
                        "bound " + Twine(i) +
                            " must have one element, but its shape is " +
                            textOf(node.dims(i)));
    }
  }
  return Status::ok();
}

/// Bounds are attributes before opset 11, inputs from then on.
static Status importClip(NodeImport &node) {
  TW_RETURN_IF_ERROR(requireNumber(node, 0));
  TW_RETURN_IF_ERROR(requireSameElement(node, 3));
  Type element = node.element(0);
  for (size_t i : {1, 2}) {
    if (node.hasInput(i)) {
      TW_RETURN_IF_ERROR(checkBound(node, i));
    }
  }
  auto bound = [&](BodyBuilder &b, size_t i, const char *attribute) -> Value {
    if (node.hasInput(i)) {
      SmallVector<Value> first(node.rank(i), b.index(0));
      return b.widen(b.load(node.input(i), first));
    }
    if (!node.hasAttribute(attribute)) {
      return {};
    }
    return b.constant(tw::computeType(element),
                      node.floatAttribute(attribute, 0));
  };
  return mapInput(node, [&](BodyBuilder &b, ValueRange x) {
    Value result = x[0];
    if (Value low = bound(b, 1, "min")) {
      result = b.maxOf(result, low, element);
    }
    if (Value high = bound(b, 2, "max")) {
      result = b.minOf(result, high, element);
    }
    return result;
  });
}

OperatorFamily arithmeticOperators() {
  static const OperatorEntry entries[] = {
      {"", "Add", 1, importAdd},
      {"", "Clip", 1, importClip},
      {"", "Div", 1, importDiv},
      {"", "Max", 1, importVariadic<joinMax>},
      {"", "Mean", 1, importVariadic<joinSum, true>},
      {"", "Min", 1, importVariadic<joinMin>},
      {"", "Mod", 10, importMod},
      {"", "Mul", 1, importMul},
      {"", "Pow", 1, importPow},
      {"", "Sub", 1, importSub},
      {"", "Sum", 1, importVariadic<joinSum>},
  };
  return entries;
}

} // namespace tilewright::frontend
