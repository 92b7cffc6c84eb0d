//===- Common.cpp - what import functions share ---------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "frontend/ops/Common.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace tilewright::frontend {

std::string textOf(Type element) {
  if (element.isInteger(1)) {
    return "bool";
  }
  std::string text;
  llvm::raw_string_ostream(text) << element;
  return text;
}

std::string textOf(ArrayRef<DimExpr> dims) {
  std::string text = "[";
  for (DimExpr dim : dims) {
    text += (text.size() > 1 ? ", " : "") + dim.toString();
  }
  return text + "]";
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

static Status requireInput(NodeImport &node, size_t i) {
  if (!node.hasInput(i)) {
    return node.error(ErrorCode::ModelInvalid,
                      "input " + Twine(i) + " is missing");
  }
  return Status::ok();
}

static Status requireKind(NodeImport &node, size_t i, bool (*accepts)(Type),
                          const char *kind) {
  TW_RETURN_IF_ERROR(requireInput(node, i));
  if (!accepts(node.element(i))) {
    return node.error(ErrorCode::TypeMismatch,
                      "input " + Twine(i) + " must be " + kind +
                          ", but its elements are " + textOf(node.element(i)));
  }
  return Status::ok();
}

Status requireFloat(NodeImport &node, size_t i) {
  return requireKind(node, i, isFloat, "a float tensor");
}
Status requireBool(NodeImport &node, size_t i) {
  return requireKind(node, i, isBool, "a bool tensor");
}
Status requireInteger(NodeImport &node, size_t i) {
  return requireKind(node, i, isInteger, "an integer tensor");
}
Status requireNumber(NodeImport &node, size_t i) {
  return requireKind(
      node, i, [](Type element) { return !isBool(element); },
      "a tensor of numbers");
}

Status requireRank(NodeImport &node, size_t i, size_t rank) {
  TW_RETURN_IF_ERROR(requireInput(node, i));
  if (node.rank(i) != rank) {
    return node.error(ErrorCode::ShapeMismatch,
                      "input " + Twine(i) + " must have rank " + Twine(rank) +
                          ", but its shape is " + textOf(node.dims(i)));
  }
  return Status::ok();
}

Status requireRankAtLeast(NodeImport &node, size_t i, size_t rank) {
  TW_RETURN_IF_ERROR(requireInput(node, i));
  if (node.rank(i) < rank) {
    return node.error(ErrorCode::ShapeMismatch,
                      "input " + Twine(i) + " must have rank " + Twine(rank) +
                          " or more, but its shape is " + textOf(node.dims(i)));
  }
  return Status::ok();
}

Status requireSameElement(NodeImport &node, size_t count) {
  TW_RETURN_IF_ERROR(requireInput(node, 0));
  Type first = node.element(0);
  for (size_t i = 1; i < std::min(count, node.numInputs()); ++i) {
    if (node.hasInput(i) && node.element(i) != first) {
      return node.error(ErrorCode::TypeMismatch,
                        "inputs 0 and " + Twine(i) +
                            " must have one element type, but are " +
                            textOf(first) + " and " + textOf(node.element(i)));
    }
  }
  return Status::ok();
}

bool mayBeEqual(DimExpr a, DimExpr b) {
  std::optional<int64_t> left = a.getConstant(), right = b.getConstant();
  return !left || !right || *left == *right;
}

Status requireDims(NodeImport &node, size_t i, llvm::StringRef what,
                   ArrayRef<DimExpr> dims) {
  TW_RETURN_IF_ERROR(requireInput(node, i));
  Dims found = node.dims(i);
  bool fits = found.size() == dims.size();
  for (size_t k = 0; fits && k < dims.size(); ++k) {
    fits = mayBeEqual(found[k], dims[k]);
  }
  if (!fits) {
    return node.error(ErrorCode::ShapeMismatch,
                      Twine(what) + " must have the shape " + textOf(dims) +
                          ", not " + textOf(found));
  }
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// Element-wise
//===----------------------------------------------------------------------===//

Result<Value> broadcastMap(NodeImport &node, ArrayRef<Value> operands,
                           Type element, ScalarBody body) {
  SmallVector<Dims> shapes;
  for (Value operand : operands) {
    shapes.push_back(tw::dimsOf(operand.getType()));
  }
  Result<Dims> dims = node.broadcastDims(shapes);
  if (!dims) {
    return dims.status();
  }
  return tw::buildElementwise(node.builder(), node.loc(), *dims, element,
                              ValueRange(operands), body);
}

Status mapInput(NodeImport &node, ScalarBody body) {
  TW_RETURN_IF_ERROR(requireInput(node, 0));
  node.setOutput(0,
                 tw::buildElementwise(node.builder(), node.loc(), node.dims(0),
                                      node.element(0), node.input(0), body));
  return Status::ok();
}

Result<Value> secondOperand(NodeImport &node) {
  TW_RETURN_IF_ERROR(requireInput(node, 0));
  TW_RETURN_IF_ERROR(requireInput(node, 1));
  if (!node.hasAttribute("axis")) {
    return node.input(1);
  }
  int64_t rank = node.rank(0);
  Dims dims = node.dims(1);
  Result<int64_t> axis = node.normalizeAxis(node.intAttribute("axis", 0), rank);
  if (!axis) {
    return axis.status();
  }
  if (*axis + static_cast<int64_t>(dims.size()) > rank) {
    return node.error(ErrorCode::ShapeMismatch,
                      "the second operand, of shape " + textOf(dims) +
                          ", does not fit into the first one's, " +
                          textOf(node.dims(0)) + ", from axis " + Twine(*axis) +
                          " on");
  }
  dims.resize(rank - *axis, node.constant(1));
  return tw::buildReshape(node.builder(), node.loc(), node.input(1), dims);
}

Value castTensor(NodeImport &node, Value tensor, Type element) {
  Type from = tw::elementTypeOf(tensor.getType());
  if (from == element) {
    return tensor;
  }
  return tw::buildMap(node.builder(), node.loc(), tw::dimsOf(tensor.getType()),
                      element, [&](BodyBuilder &body, ValueRange at) {
                        return body.cast(body.load(tensor, at), from, element);
                      });
}

//===----------------------------------------------------------------------===//
// Sizes and coordinates
//===----------------------------------------------------------------------===//

Result<std::optional<SmallVector<int64_t>>>
constantAxes(NodeImport &node, std::optional<size_t> i, int64_t rank) {
  SmallVector<int64_t> raw;
  if (i && node.hasInput(*i)) {
    std::optional<SmallVector<int64_t>> elements = node.constantElements(*i);
    if (!elements) {
      return node.unsupported("axes (input " + Twine(*i) +
                              ") must be known at compile time");
    }
    raw = *elements;
  } else if (node.hasAttribute("axes")) {
    raw = node.intsAttribute("axes");
  } else {
    return std::optional<SmallVector<int64_t>>();
  }
  SmallVector<int64_t> axes;
  for (int64_t value : raw) {
    Result<int64_t> axis = node.normalizeAxis(value, rank);
    if (!axis) {
      return axis.status();
    }
    if (llvm::is_contained(axes, *axis)) {
      return node.error(ErrorCode::AttributeInvalid,
                        "axes names axis " + Twine(*axis) + " twice");
    }
    axes.push_back(*axis);
  }
  return std::optional<SmallVector<int64_t>>(axes);
}

Value toScalar(BodyBuilder &body, Value index, Type type) {
  Value integer =
      body.createOrFold<arith::IndexCastOp>(body.getI64Type(), index);
  return body.cast(integer, body.getI64Type(), type);
}

} // namespace tilewright::frontend
