//===- GraphImport.cpp - scopes, constants and the import of nodes --------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "frontend/GraphImport.h"

#include "frontend/ElementTypes.h"
#include "frontend/Elements.h"
#include "frontend/OperatorTable.h"
#include "ir/Locations.h"

#include "onnx/defs/schema.h"

using namespace mlir;

namespace tilewright::frontend {

/// Calls of functions in functions; the loader refuses recursion, this bounds
/// what hostile models make us nest.
static constexpr unsigned maxFunctionDepth = 64;

/// A scope for as long as its graph is imported.
class GraphImport::ScopeGuard {
public:
  explicit ScopeGuard(GraphImport &graph) : graph(graph) {
    graph.scopes.emplace_back();
  }
  ~ScopeGuard() { graph.scopes.pop_back(); }
  ScopeGuard(const ScopeGuard &) = delete;

private:
  GraphImport &graph;
};

GraphImport::GraphImport(std::shared_ptr<const LoadedModel> model, Block &body)
    : keepAlive(std::make_shared<KeepAlive>()),
      opBuilder(OpBuilder::atBlockEnd(&body)), entry(&body) {
  keepAlive->model = std::move(model);
  opsets = &keepAlive->model->opsets();
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

void GraphImport::define(StringRef name, ImportedValue value) {
  if (!name.empty()) {
    scopes.back().values[name] = std::move(value);
  }
}

ImportedValue GraphImport::find(StringRef name) const {
  for (const Scope &scope : llvm::reverse(scopes)) {
    auto it = scope.values.find(name);
    if (it != scope.values.end()) {
      return it->second;
    }
  }
  return {};
}

Result<ImportedValue> GraphImport::resolve(StringRef name) {
  for (Scope &scope : llvm::reverse(scopes)) {
    auto it = scope.values.find(name);
    if (it != scope.values.end()) {
      return it->second;
    }
    auto pending = scope.initializers.find(name);
    if (pending != scope.initializers.end()) {
      Result<Value> tensor = constant(*pending->second);
      if (!tensor) {
        return tensor.status();
      }
      ImportedValue value{*tensor, {}};
      scope.values[name] = value;
      return value;
    }
  }
  return Status(ErrorCode::ModelInvalid,
                "nothing defines the value '" + name.str() + "'");
}

Result<Value> GraphImport::constant(const onnx::TensorProto &tensor) {
  Type element = elementTypeFromOnnx(context(), tensor.data_type());
  if (!element) {
    return Status(ErrorCode::UnsupportedType,
                  "the constant '" + tensor.name() + "' has elements of type " +
                      elementTypeName(tensor.data_type()));
  }
  Result<ConstantBytes> bytes = model().data(tensor);
  if (!bytes) {
    return bytes.status();
  }
  auto type = RankedTensorType::get(
      SmallVector<int64_t>(tensor.dims().begin(), tensor.dims().end()),
      element);
  std::shared_ptr<const void> owner = bytes->owner;
  if (!owner) {
    owner = keepAlive;
  }
  ArrayRef<char> data(reinterpret_cast<const char *>(bytes->data), bytes->size);
  OpBuilder::InsertionGuard guard(opBuilder);
  if (lastConstant) {
    opBuilder.setInsertionPointAfter(lastConstant);
  } else {
    opBuilder.setInsertionPointToStart(entry);
  }
  Value value = tw::buildConstant(opBuilder, opBuilder.getUnknownLoc(), type,
                                  data, std::move(owner));
  lastConstant = value.getDefiningOp();
  return value;
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

DimExpr GraphImport::freshSymbol() {
  std::string name;
  do {
    name = "u" + std::to_string(symbolCount++);
  } while (!usedSymbols.insert(name).second);
  freshSymbols[name] = symbolCount;
  return DimExpr::symbol(context(), name);
}

bool GraphImport::isSymbolAfter(StringRef name, unsigned mark) const {
  auto it = freshSymbols.find(name);
  return it != freshSymbols.end() && it->second > mark;
}

void GraphImport::requireZero(DimExpr value, Location loc) {
  if (value.isConstant(0)) {
    return;
  }
  for (const Scope &scope : scopes) {
    if (scope.required.contains(value)) {
      return;
    }
  }
  scopes.back().required.insert(value);
  DimExpr zero = DimExpr::constant(context(), 0);
  DimExpr flag = DimExpr::select(value, DimExpr::constant(context(), -1), zero);
  auto type = RankedTensorType::get({1}, opBuilder.getI64Type());
  Value sizes = tw::SizesOp::create(opBuilder, loc, type,
                                    tw::DimsAttr::get(context(), flag));
  StringRef symbol = freshSymbol().symbolName();
  tw::ReadSizesOp::create(
      opBuilder, loc, sizes, opBuilder.getDenseI64ArrayAttr({0}),
      opBuilder.getStrArrayAttr({symbol}), opBuilder.getI64IntegerAttr(0));
}

DimExpr GraphImport::simplify(DimExpr size) const {
  for (bool changed = true; changed;) {
    changed = false;
    for (const Scope &scope : scopes) {
      auto it = scope.simpler.find(size);
      if (it != scope.simpler.end()) {
        size = it->second;
        changed = true;
      }
    }
  }
  return size;
}

/// How much there is to read in an expression.
static size_t complexity(DimExpr size) {
  size_t count = 1;
  for (DimExpr operand : size.operands()) {
    count += complexity(operand);
  }
  return count;
}

DimExpr GraphImport::unify(DimExpr a, DimExpr b, Location loc) {
  a = simplify(a);
  b = simplify(b);
  if (a == b) {
    return a;
  }
  if (complexity(b) < complexity(a) || (b.getConstant() && !a.getConstant())) {
    std::swap(a, b);
  }
  requireZero(a - b, loc);
  if (!b.getConstant()) {
    scopes.back().simpler[b] = a;
  }
  return a;
}

ImportedValue GraphImport::simplified(StringRef name, ImportedValue value,
                                      Location loc) {
  Dims dims = tw::dimsOf(value.tensor.getType()), simple;
  for (DimExpr dim : dims) {
    simple.push_back(simplify(dim));
  }
  if (simple != dims) {
    value.tensor = tw::buildReshape(opBuilder, loc, value.tensor, simple);
    define(name, value);
  }
  return value;
}

//===----------------------------------------------------------------------===//
// Graphs
//===----------------------------------------------------------------------===//

Result<Values> GraphImport::importGraph(const onnx::GraphProto &graph,
                                        ArrayRef<ImportedValue> arguments,
                                        const OpsetImports &sets) {
  const OpsetImports *outer = std::exchange(opsets, &sets);
  Result<Values> results = importGraph(graph, arguments);
  opsets = outer;
  return results;
}

Result<Values> GraphImport::importGraph(const onnx::GraphProto &graph,
                                        ArrayRef<ImportedValue> arguments) {
  ScopeGuard guard(*this);
  for (const onnx::TensorProto &tensor : graph.initializer()) {
    scopes.back().initializers[tensor.name()] = &tensor;
  }
  if (graph.sparse_initializer_size() != 0) {
    return Status(ErrorCode::UnsupportedType,
                  "the sparse initializer '" +
                      graph.sparse_initializer(0).values().name() +
                      "' is not supported: store it as a dense tensor");
  }
  size_t next = 0;
  for (const onnx::ValueInfoProto &input : graph.input()) {
    if (scopes.back().initializers.contains(input.name())) {
      continue; // a default, which nobody overrides
    }
    if (next >= arguments.size()) {
      return Status(ErrorCode::ModelInvalid,
                    "graph '" + graph.name() +
                        "' has more inputs than it gets");
    }
    define(input.name(), arguments[next++]);
  }
  for (const onnx::NodeProto &node : graph.node()) {
    TW_RETURN_IF_ERROR(importNode(node));
  }
  Values results;
  for (const onnx::ValueInfoProto &output : graph.output()) {
    Result<ImportedValue> value = resolve(output.name());
    if (!value) {
      return value.status();
    }
    results.push_back(*value);
  }
  return results;
}

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

Status GraphImport::resolveInputs(const onnx::NodeProto &node,
                                  const onnx::OpSchema *schema) {
  for (int i = 0; i < node.input_size(); ++i) {
    if (node.input(i).empty()) {
      bool isDeclared =
          schema != nullptr && i < static_cast<int>(schema->inputs().size());
      if (isDeclared &&
          schema->inputs()[i].GetOption() != onnx::OpSchema::Optional) {
        return Status(ErrorCode::ModelInvalid,
                      describe(node) + ": input " + std::to_string(i) + " ('" +
                          schema->inputs()[i].GetName() +
                          "') must not be left out");
      }
      continue;
    }
    Result<ImportedValue> value = resolve(node.input(i));
    if (!value) {
      return Status(value.status().code(),
                    describe(node) + ": " + value.status().message());
    }
    if (!value->tensor) {
      return Status(ErrorCode::UnsupportedType,
                    describe(node) + ": '" + node.input(i) +
                        "' is a sequence, optional or map");
    }
    simplified(node.input(i), *value,
               tw::nodeLocation(context(), nodeName(node)));
  }
  return Status::ok();
}

/// \returns an error that names the node, unless `status` does so already.
static Status atNode(const onnx::NodeProto &node, Status status) {
  if (status.isOk() || StringRef(status.message()).starts_with("node '")) {
    return status;
  }
  return Status(status.code(), describe(node) + ": " + status.message());
}

Status GraphImport::importByEntry(const onnx::NodeProto &node,
                                  const OperatorEntry &entry, int64_t version) {
  NodeImport import(*this, node, version);
  TW_RETURN_IF_ERROR(atNode(node, entry.import(import)));
  for (int i = 0; i < node.output_size(); ++i) {
    if (!node.output(i).empty() &&
        !scopes.back().values.contains(node.output(i))) {
      return import.error(ErrorCode::UnsupportedAttribute,
                          "output " + llvm::Twine(i) + " ('" + node.output(i) +
                              "') is not supported");
    }
  }
  inferElements(import);
  return Status::ok();
}

Status GraphImport::importByFunction(const onnx::NodeProto &node) {
  if (functionDepth >= maxFunctionDepth) {
    return Status(ErrorCode::ModelInvalid,
                  describe(node) + ": functions nest too deeply");
  }
  std::vector<onnx::TypeProto> types;
  for (const std::string &input : node.input()) {
    ImportedValue value = find(input);
    types.push_back(value.tensor ? onnxTypeOf(value.tensor.getType())
                                 : onnx::TypeProto());
  }
  Result<ExpandedFunction> expanded =
      model().expandFunction(node, *opsets, types);
  if (!expanded) {
    return expanded.status();
  }
  keepAlive->functions.push_back(
      std::make_unique<ExpandedFunction>(std::move(*expanded)));
  const ExpandedFunction &function = *keepAlive->functions.back();
  const OpsetImports *outer = std::exchange(opsets, &function.opsets);
  ++functionDepth;
  Status status;
  for (const onnx::NodeProto &inner : function.nodes) {
    status = importNode(inner);
    if (!status) {
      break;
    }
  }
  --functionDepth;
  opsets = outer;
  return status;
}

Status GraphImport::importNode(const onnx::NodeProto &node) {
  const onnx::OpSchema *schema = schemaOf(node, *opsets);
  TW_RETURN_IF_ERROR(resolveInputs(node, schema));
  if (model().function(node)) {
    return importByFunction(node);
  }
  std::string domain = canonicalDomain(node.domain());
  auto imported = opsets->find(domain);
  int64_t version = schema                      ? schema->since_version()
                    : imported != opsets->end() ? imported->second
                                                : 1;
  if (const OperatorEntry *entry =
          findOperator(domain, node.op_type(), version)) {
    return importByEntry(node, *entry, version);
  }
  if (model().hasFunction(node, *opsets)) {
    return importByFunction(node);
  }
  return Status(ErrorCode::UnsupportedOperator,
                describe(node) + ": the operator " + operatorName(node) +
                    " of domain '" + (domain.empty() ? "ai.onnx" : domain) +
                    "', version " + std::to_string(version) +
                    ", is not supported");
}

} // namespace tilewright::frontend
