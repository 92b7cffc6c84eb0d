//===- Activation.cpp - activation functions ------------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "frontend/ops/Families.h"
#include "frontend/ops/Scalars.h"

using namespace mlir;

namespace tilewright::frontend {

/// A function of one float scalar.
static Status mapFloat(NodeImport &node,
                       llvm::function_ref<Value(BodyBuilder &, Value)> body) {
  TW_RETURN_IF_ERROR(requireFloat(node, 0));
  return mapInput(node,
                  [&](BodyBuilder &b, ValueRange x) { return body(b, x[0]); });
}

template <Value (*function)(BodyBuilder &, Value)>
static Status importPlain(NodeImport &node) {
  return mapFloat(node, function);
}

//===----------------------------------------------------------------------===//
// Rectifiers
//===----------------------------------------------------------------------===//

static Status importRelu(NodeImport &node) {
  TW_RETURN_IF_ERROR(requireNumber(node, 0));
  return mapInput(node, [&](BodyBuilder &b, ValueRange x) {
    return b.maxOf(x[0], b.constant(x[0].getType(), 0), node.element(0));
  });
}

static Status importLeakyRelu(NodeImport &node) {
  double alpha = node.floatAttribute("alpha", 0.01);
  return mapFloat(node, [&](BodyBuilder &b, Value x) {
    Value negative = lower(b, x, literal(b, x, 0.0));
    return b.select(negative, b.mulOf(x, literal(b, x, alpha)), x);
  });
}

static Status importPRelu(NodeImport &node) {
  TW_RETURN_IF_ERROR(requireNumber(node, 0));
  TW_RETURN_IF_ERROR(requireSameElement(node, 2));
  Value slope = node.input(1);
  Dims slopeDims = node.dims(1), dims = node.dims(0);
  // Before opset 7 a vector has one slope for each channel (axis 1).
  if (node.version() < 7 && slopeDims.size() == 1 &&
      !slopeDims[0].isConstant(1) && dims.size() > 2) {
    slopeDims.resize(dims.size() - 1, node.constant(1));
    slope = tw::buildReshape(node.builder(), node.loc(), slope, slopeDims);
  }
  Result<Value> result =
      broadcastMap(node, {node.input(0), slope}, node.element(0),
                   [&](BodyBuilder &b, ValueRange x) {
                     Value zero = b.constant(x[0].getType(), 0);
                     return b.select(b.lessOf(x[0], zero, node.element(0)),
                                     b.mulOf(x[0], x[1]), x[0]);
                   });
  if (!result) {
    return result.status();
  }
  node.setOutput(0, *result);
  return Status::ok();
}

static Status importThresholdedRelu(NodeImport &node) {
  double alpha = node.floatAttribute("alpha", 1.0);
  return mapFloat(node, [&](BodyBuilder &b, Value x) {
    return b.select(greater(b, x, literal(b, x, alpha)), x, literal(b, x, 0.0));
  });
}

static Status importShrink(NodeImport &node) {
  TW_RETURN_IF_ERROR(requireNumber(node, 0));
  double bias = node.floatAttribute("bias", 0.0),
         lambda = node.floatAttribute("lambd", 0.5);
  Type element = node.element(0);
  return mapInput(node, [&](BodyBuilder &b, ValueRange operands) {
    Type real = isFloat(element) ? operands[0].getType() : Type(b.getF32Type());
    Value x =
        isFloat(element) ? operands[0] : b.cast(operands[0], element, real);
    Value low = lower(b, x, literal(b, x, -lambda));
    Value high = greater(b, x, literal(b, x, lambda));
    Value shift = literal(b, x, bias);
    Value result =
        b.select(low, b.addOf(x, shift),
                 b.select(high, b.subOf(x, shift), literal(b, x, 0.0)));
    return isFloat(element) ? result : b.cast(result, real, element);
  });
}

//===----------------------------------------------------------------------===//
// Exponential units
//===----------------------------------------------------------------------===//

static Status importElu(NodeImport &node) {
  double alpha = node.floatAttribute("alpha", 1.0);
  return mapFloat(node,
                  [&](BodyBuilder &b, Value x) { return elu(b, x, alpha); });
}

static Status importSelu(NodeImport &node) {
  double alpha = node.floatAttribute("alpha", 1.67326319217681884765625);
  double gamma = node.floatAttribute("gamma", 1.05070102214813232421875);
  return mapFloat(node, [&](BodyBuilder &b, Value x) {
    return b.mulOf(literal(b, x, gamma), elu(b, x, alpha));
  });
}

static Status importCelu(NodeImport &node) {
  double alpha = node.floatAttribute("alpha", 1.0);
  if (alpha == 0.0) {
    return node.error(ErrorCode::AttributeInvalid, "alpha must not be zero");
  }
  return mapFloat(node, [&](BodyBuilder &b, Value x) {
    Value zero = literal(b, x, 0.0), scale = literal(b, x, alpha);
    Value curve = b.mulOf(scale, b.create<math::ExpM1Op>(divide(b, x, scale)));
    return b.addOf(b.create<arith::MaximumFOp>(zero, x),
                   b.create<arith::MinimumFOp>(zero, curve));
  });
}

//===----------------------------------------------------------------------===//
// Gates
//===----------------------------------------------------------------------===//

static Status importHardSigmoid(NodeImport &node) {
  double alpha = node.floatAttribute("alpha", 0.2),
         beta = node.floatAttribute("beta", 0.5);
  return mapFloat(node, [&](BodyBuilder &b, Value x) {
    return hardSigmoid(b, x, alpha, beta);
  });
}

static Value hardSwish(BodyBuilder &b, Value x) {
  return b.mulOf(x, hardSigmoid(b, x, 1.0 / 6.0, 0.5));
}

static Status importSwish(NodeImport &node) {
  double alpha = node.floatAttribute("alpha", 1.0);
  return mapFloat(node, [&](BodyBuilder &b, Value x) {
    Value scaled = alpha == 1.0 ? x : b.mulOf(x, literal(b, x, alpha));
    return b.mulOf(x, sigmoid(b, scaled));
  });
}

static Value mish(BodyBuilder &b, Value x) {
  return b.mulOf(x, b.create<math::TanhOp>(softplus(b, x)));
}

static Status importGelu(NodeImport &node) {
  std::string approximate = node.stringAttribute("approximate", "none");
  if (approximate != "none" && approximate != "tanh") {
    return node.error(ErrorCode::AttributeInvalid,
                      "approximate must be 'none' or 'tanh', not '" +
                          approximate + "'");
  }
  return mapFloat(node, [&](BodyBuilder &b, Value x) -> Value {
    Value half = b.mulOf(literal(b, x, 0.5), x);
    Value curve;
    if (approximate == "none") {
      curve = b.create<math::ErfOp>(
          b.mulOf(x, literal(b, x, 0.70710678118654752440)));
    } else {
      Value cube = b.mulOf(b.mulOf(x, x), x);
      Value inner = b.addOf(x, b.mulOf(literal(b, x, 0.044715), cube));
      // sqrt(2 / pi)
      curve = b.create<math::TanhOp>(
          b.mulOf(literal(b, x, 0.79788456080286535588), inner));
    }
    return b.mulOf(half, b.addOf(literal(b, x, 1.0), curve));
  });
}

OperatorFamily activationOperators() {
  static const OperatorEntry entries[] = {
      {"", "Celu", 12, importCelu},
      {"", "Elu", 1, importElu},
      {"", "Gelu", 20, importGelu},
      {"", "HardSigmoid", 1, importHardSigmoid},
      {"", "HardSwish", 14, importPlain<hardSwish>},
      {"", "LeakyRelu", 1, importLeakyRelu},
      {"", "Mish", 18, importPlain<mish>},
      {"", "PRelu", 1, importPRelu},
      {"", "Relu", 1, importRelu},
      {"", "Selu", 1, importSelu},
      {"", "Shrink", 9, importShrink},
      {"", "Sigmoid", 1, importPlain<sigmoid>},
      {"", "Softplus", 1, importPlain<softplus>},
      {"", "Softsign", 1, importPlain<softsign>},
      {"", "Swish", 24, importSwish},
      {"", "ThresholdedRelu", 10, importThresholdedRelu},
  };
  return entries;
}

} // namespace tilewright::frontend
