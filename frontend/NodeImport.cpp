//===- NodeImport.cpp - a node's attributes, results and sizes ------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "frontend/NodeImport.h"

#include "frontend/GraphImport.h"
#include "ir/Locations.h"

using namespace mlir;

namespace tilewright::frontend {

NodeImport::NodeImport(GraphImport &graph, const onnx::NodeProto &node,
                       int64_t sinceVersion)
    : graphImport(graph), node(node), sinceVersion(sinceVersion) {}

std::string NodeImport::name() const { return nodeName(node); }

Location NodeImport::loc() const {
  return tw::nodeLocation(graphImport.context(), name());
}

OpBuilder &NodeImport::builder() { return graphImport.builder(); }

MLIRContext *NodeImport::context() { return graphImport.context(); }

Status NodeImport::error(ErrorCode code, const Twine &message) const {
  return Status(code, describe(node) + ": " + message.str());
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

static const onnx::AttributeProto *findAttribute(const onnx::NodeProto &node,
                                                 StringRef name) {
  for (const onnx::AttributeProto &attribute : node.attribute()) {
    if (attribute.name() == name) {
      return &attribute;
    }
  }
  return nullptr;
}

bool NodeImport::hasAttribute(StringRef name) const {
  return findAttribute(node, name);
}

int64_t NodeImport::intAttribute(StringRef name, int64_t otherwise) const {
  const onnx::AttributeProto *attribute = findAttribute(node, name);
  return attribute ? attribute->i() : otherwise;
}

double NodeImport::floatAttribute(StringRef name, double otherwise) const {
  const onnx::AttributeProto *attribute = findAttribute(node, name);
  return attribute ? attribute->f() : otherwise;
}

std::string NodeImport::stringAttribute(StringRef name,
                                        StringRef otherwise) const {
  const onnx::AttributeProto *attribute = findAttribute(node, name);
  return attribute ? attribute->s() : otherwise.str();
}

SmallVector<int64_t>
NodeImport::intsAttribute(StringRef name, ArrayRef<int64_t> otherwise) const {
  const onnx::AttributeProto *attribute = findAttribute(node, name);
  return attribute ? SmallVector<int64_t>(attribute->ints().begin(),
                                          attribute->ints().end())
                   : SmallVector<int64_t>(otherwise);
}

std::vector<std::string> NodeImport::stringsAttribute(StringRef name) const {
  const onnx::AttributeProto *attribute = findAttribute(node, name);
  return attribute ? std::vector<std::string>(attribute->strings().begin(),
                                              attribute->strings().end())
                   : std::vector<std::string>();
}

SmallVector<double> NodeImport::floatsAttribute(StringRef name) const {
  const onnx::AttributeProto *attribute = findAttribute(node, name);
  return attribute ? SmallVector<double>(attribute->floats().begin(),
                                         attribute->floats().end())
                   : SmallVector<double>();
}

Result<Value> NodeImport::tensorAttribute(StringRef name) {
  const onnx::AttributeProto *attribute = findAttribute(node, name);
  if (!attribute) {
    return Value();
  }
  Result<Value> tensor = graphImport.constant(attribute->t());
  if (!tensor) {
    return error(tensor.status().code(), tensor.status().message());
  }
  return tensor;
}

const onnx::GraphProto *NodeImport::graphAttribute(StringRef name) const {
  const onnx::AttributeProto *attribute = findAttribute(node, name);
  return attribute ? &attribute->g() : nullptr;
}

//===----------------------------------------------------------------------===//
// Results and sizes
//===----------------------------------------------------------------------===//

void NodeImport::setOutput(size_t i, Value tensor,
                           std::optional<Dims> elements) {
  if (wantsOutput(i)) {
    graphImport.define(node.output(i), {tensor, std::move(elements)});
  }
}

DimExpr NodeImport::constant(int64_t value) {
  return DimExpr::constant(context(), value);
}

DimExpr NodeImport::freshSymbol() { return graphImport.freshSymbol(); }

void NodeImport::requireZero(DimExpr value) {
  graphImport.requireZero(value, loc());
}

DimExpr NodeImport::unify(DimExpr a, DimExpr b) {
  return graphImport.unify(a, b, loc());
}

/// A size that a caller chooses, or the broadcast of some.
static bool mayBroadcast(DimExpr size) {
  return size.kind() == DimExpr::Kind::Symbol ||
         size.kind() == DimExpr::Kind::Select;
}

/// \returns whether `size` is what broadcasting `part` and something else gave.
static bool isBroadcastOf(DimExpr size, DimExpr part) {
  if (size.kind() != DimExpr::Kind::Select) {
    return false;
  }
  SmallVector<DimExpr, 4> operands = size.operands();
  return operands[0] == operands[1] - 1 &&
         (operands[1] == part || operands[2] == part);
}

/// The size of an axis that two operands share by broadcasting; null if the
/// sizes cannot fit. What only the run can tell is checked there.
static DimExpr broadcastDim(NodeImport &node, DimExpr a, DimExpr b) {
  a = node.graph().simplify(a);
  b = node.graph().simplify(b);
  if (a == b || b.isConstant(1)) {
    return a;
  }
  if (a.isConstant(1)) {
    return b;
  }
  if (a.getConstant() && b.getConstant()) {
    return {};
  }
  if (a.getConstant()) {
    std::swap(a, b);
  }
  if (mayBroadcast(a) && b.getConstant()) {
    node.requireZero((a - b) * (a - 1));
    return b;
  }
  if (mayBroadcast(a) && mayBroadcast(b)) {
    if (isBroadcastOf(a, b) || isBroadcastOf(b, a)) {
      return a.kind() == DimExpr::Kind::Select ? a : b;
    }
    node.requireZero((a - b) * (a - 1) * (b - 1));
    return DimExpr::select(a - 1, a, b);
  }
  // Computed sizes that are meant to broadcast are constants.
  return node.unify(a, b);
}

static std::string textOf(ArrayRef<DimExpr> dims) {
  std::string text = "[";
  for (DimExpr dim : dims) {
    text += (text.size() > 1 ? ", " : "") + dim.toString();
  }
  return text + "]";
}

Result<Dims> NodeImport::broadcastDims(ArrayRef<Dims> operands) {
  Dims result;
  for (const Dims &dims : operands) {
    if (dims.size() > result.size()) {
      result.insert(result.begin(), dims.size() - result.size(), constant(1));
    }
    size_t offset = result.size() - dims.size();
    for (auto [i, dim] : llvm::enumerate(dims)) {
      DimExpr joined = broadcastDim(*this, result[offset + i], dim);
      if (!joined) {
        return error(ErrorCode::ShapeMismatch,
                     "operands of sizes " + textOf(result) + " and " +
                         textOf(dims) + " cannot be broadcast to each other");
      }
      result[offset + i] = joined;
    }
  }
  return result;
}

Result<int64_t> NodeImport::normalizeAxis(int64_t axis, int64_t rank) {
  if (axis < -rank || axis >= rank) {
    return error(ErrorCode::AttributeInvalid,
                 "axis " + Twine(axis) + " is outside a tensor of rank " +
                     Twine(rank));
  }
  return axis < 0 ? axis + rank : axis;
}

} // namespace tilewright::frontend
