//===- Random.cpp - random numbers and determinants -----------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// These run as builtins. A node without a seed gets one from its name, so that
// two nodes differ and a compile is repeatable.
//
//===----------------------------------------------------------------------===//

#include "frontend/ElementTypes.h"
#include "frontend/ops/Common.h"
#include "frontend/ops/Families.h"
#include "frontend/ops/Randomness.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;

namespace tilewright::frontend {

static int64_t seedOf(NodeImport &node) {
  if (node.hasAttribute("seed")) {
    return static_cast<int64_t>(
        llvm::bit_cast<uint64_t>(node.floatAttribute("seed", 0)));
  }
  return static_cast<int64_t>(llvm::xxh3_64bits(node.name()));
}

static Value call(NodeImport &node, llvm::StringRef callee, ValueRange inputs,
                  Type result, ArrayRef<int64_t> ints,
                  ArrayRef<double> floats = {}) {
  SmallVector<bool> present(inputs.size(), true);
  return tw::CallOp::create(node.builder(), node.loc(), TypeRange(result),
                            callee, inputs, present, ints, floats, ArrayAttr(),
                            ArrayAttr())
      .getResult(0);
}

Value randomUniform(NodeImport &node, ArrayRef<DimExpr> dims, Type element,
                    double low, double high) {
  return call(node, "random_uniform", {}, tw::tensorType(dims, element),
              seedOf(node), {low, high});
}

/// The element type that `dtype` names, or `otherwise`.
static Result<Type> resultType(NodeImport &node, Type otherwise) {
  if (!node.hasAttribute("dtype")) {
    return otherwise;
  }
  int64_t number = node.intAttribute("dtype", 0);
  Type element =
      elementTypeFromOnnx(node.context(), static_cast<int32_t>(number));
  if (!element) {
    return node.error(ErrorCode::UnsupportedType,
                      "dtype " + Twine(number) + " is not supported here");
  }
  return element;
}

/// Random numbers in `dims`; f32 ones are cast where the type is not a plain
/// float.
template <bool isNormal>
static Status importRandom(NodeImport &node, ArrayRef<DimExpr> dims,
                           Type otherwise) {
  Result<Type> element = resultType(node, otherwise);
  if (!element) {
    return element.status();
  }
  if (!isFloat(*element) || element->getIntOrFloatBitWidth() < 16) {
    return node.error(ErrorCode::TypeMismatch,
                      "random numbers must be floats, not " + textOf(*element));
  }
  double first =
      isNormal ? node.floatAttribute("mean", 0) : node.floatAttribute("low", 0);
  double second = isNormal ? node.floatAttribute("scale", 1)
                           : node.floatAttribute("high", 1);
  node.setOutput(0, call(node, isNormal ? "random_normal" : "random_uniform",
                         {}, tw::tensorType(dims, *element), seedOf(node),
                         {first, second}));
  return Status::ok();
}

template <bool isNormal> static Status importRandomOfShape(NodeImport &node) {
  Dims dims;
  for (int64_t size : node.intsAttribute("shape")) {
    if (size < 0) {
      return node.error(ErrorCode::AttributeInvalid,
                        "shape must not be negative");
    }
    dims.push_back(node.constant(size));
  }
  return importRandom<isNormal>(node, dims, node.builder().getF32Type());
}

template <bool isNormal> static Status importRandomLike(NodeImport &node) {
  return importRandom<isNormal>(node, node.dims(0), node.element(0));
}

static Status importBernoulli(NodeImport &node) {
  TW_RETURN_IF_ERROR(requireFloat(node, 0));
  Result<Type> element = resultType(node, node.element(0));
  if (!element) {
    return element.status();
  }
  node.setOutput(0, call(node, "bernoulli", node.input(0),
                         tw::tensorType(node.dims(0), *element), seedOf(node)));
  return Status::ok();
}

static Status importMultinomial(NodeImport &node) {
  TW_RETURN_IF_ERROR(requireFloat(node, 0));
  TW_RETURN_IF_ERROR(requireRank(node, 0, 2));
  Result<Type> element = resultType(node, node.builder().getI32Type());
  if (!element) {
    return element.status();
  }
  int64_t samples = node.intAttribute("sample_size", 1);
  if (samples < 0 || !(element->isInteger(32) || element->isInteger(64))) {
    return node.error(
        ErrorCode::AttributeInvalid,
        "sample_size must not be negative, and dtype must be int32 or int64");
  }
  Dims dims{node.dims(0)[0], node.constant(samples)};
  node.setOutput(0, call(node, "multinomial", node.input(0),
                         tw::tensorType(dims, *element), seedOf(node)));
  return Status::ok();
}

static Status importDet(NodeImport &node) {
  TW_RETURN_IF_ERROR(requireFloat(node, 0));
  TW_RETURN_IF_ERROR(requireRankAtLeast(node, 0, 2));
  Dims dims = node.dims(0);
  if (!mayBeEqual(dims[dims.size() - 1], dims[dims.size() - 2])) {
    return node.error(ErrorCode::ShapeMismatch,
                      "matrices must be square, not " + textOf(dims));
  }
  dims.pop_back_n(2);
  node.setOutput(0, call(node, "det", node.input(0),
                         tw::tensorType(dims, node.element(0)), {}));
  return Status::ok();
}

OperatorFamily randomOperators() {
  static const OperatorEntry entries[] = {
      {"", "Bernoulli", 15, importBernoulli},
      {"", "Det", 11, importDet},
      {"", "Multinomial", 7, importMultinomial},
      {"", "RandomNormal", 1, importRandomOfShape<true>},
      {"", "RandomNormalLike", 1, importRandomLike<true>},
      {"", "RandomUniform", 1, importRandomOfShape<false>},
      {"", "RandomUniformLike", 1, importRandomLike<false>},
  };
  return entries;
}

} // namespace tilewright::frontend
