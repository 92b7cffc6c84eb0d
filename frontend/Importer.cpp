//===- Importer.cpp - an ONNX model as a module of `tw` -------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "frontend/Importer.h"

#include "frontend/ElementTypes.h"
#include "frontend/GraphImport.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Iterators.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace tilewright::frontend {
namespace {

/// The inputs' types: declared sizes, and those that the caller fixes.
class Signature {
public:
  Signature(MLIRContext &context, const LoadedModel &model,
            const ImportOptions &options)
      : context(context), model(model), options(options) {}

  Status read();
  ArrayRef<const onnx::ValueInfoProto *> inputs() const { return parameters; }
  ArrayRef<Type> types() const { return parameterTypes; }
  ArrayRef<StringRef> defaulted() const { return defaults; }
  const llvm::StringSet<> &symbols() const { return symbolNames; }

private:
  Status checkNames() const;
  Status fixSymbols(const onnx::ValueInfoProto &input);
  Status addInput(const onnx::ValueInfoProto &input);
  Status mismatch(StringRef input, size_t axis, int64_t declared,
                  int64_t given) const;
  DimExpr dim(const onnx::ValueInfoProto &input, size_t axis);
  std::optional<int64_t> given(const std::string &input, size_t axis) const;

  MLIRContext &context;
  const LoadedModel &model;
  const ImportOptions &options;
  SmallVector<const onnx::ValueInfoProto *> parameters;
  SmallVector<Type> parameterTypes;
  SmallVector<StringRef> defaults;
  llvm::StringMap<int64_t> fixed;
  llvm::StringSet<> symbolNames;
};

Status Signature::checkNames() const {
  for (const auto &[name, shape] : options.shapes) {
    bool isKnown = false;
    std::string names;
    for (const onnx::ValueInfoProto *input : parameters) {
      isKnown |= input->name() == name;
      names += (names.empty() ? "'" : ", '") + input->name() + "'";
    }
    if (!isKnown) {
      return Status(ErrorCode::InputName,
                    "there is no input '" + name +
                        "' to fix the shape of; the inputs are " + names);
    }
  }
  return Status::ok();
}

Status Signature::mismatch(StringRef input, size_t axis, int64_t declared,
                           int64_t given) const {
  return Status(ErrorCode::InputShape,
                "input '" + input.str() + "': the size of axis " +
                    std::to_string(axis) + " is " + std::to_string(declared) +
                    ", and cannot be fixed to " + std::to_string(given));
}

std::optional<int64_t> Signature::given(const std::string &input,
                                        size_t axis) const {
  auto shape = options.shapes.find(input);
  if (shape == options.shapes.end() || shape->second[axis] < 0) {
    return std::nullopt;
  }
  return shape->second[axis];
}

Status Signature::fixSymbols(const onnx::ValueInfoProto &input) {
  const onnx::TensorShapeProto &shape = input.type().tensor_type().shape();
  auto wanted = options.shapes.find(input.name());
  if (wanted != options.shapes.end() &&
      wanted->second.size() != static_cast<size_t>(shape.dim_size())) {
    return Status(ErrorCode::InputShape,
                  "input '" + input.name() + "' has rank " +
                      std::to_string(shape.dim_size()) +
                      ", but a shape of rank " +
                      std::to_string(wanted->second.size()) + " is given");
  }
  for (int axis = 0; axis < shape.dim_size(); ++axis) {
    DeclaredDim declared = declaredDim(shape.dim(axis));
    std::optional<int64_t> size = given(input.name(), axis);
    if (auto *symbol = std::get_if<std::string>(&declared)) {
      symbolNames.insert(*symbol);
      if (size && fixed.try_emplace(*symbol, *size).first->second != *size) {
        return mismatch(input.name(), axis, fixed[*symbol], *size);
      }
    } else if (auto *number = std::get_if<int64_t>(&declared);
               number && size && *number != *size) {
      return mismatch(input.name(), axis, *number, *size);
    }
  }
  return Status::ok();
}

DimExpr Signature::dim(const onnx::ValueInfoProto &input, size_t axis) {
  DeclaredDim declared =
      declaredDim(input.type().tensor_type().shape().dim(axis));
  if (auto *number = std::get_if<int64_t>(&declared)) {
    return DimExpr::constant(&context, *number);
  }
  if (auto *symbol = std::get_if<std::string>(&declared)) {
    auto size = fixed.find(*symbol);
    return size != fixed.end() ? DimExpr::constant(&context, size->second)
                               : DimExpr::symbol(&context, *symbol);
  }
  if (std::optional<int64_t> size = given(input.name(), axis)) {
    return DimExpr::constant(&context, *size);
  }
  std::string name = input.name() + "_" + std::to_string(axis);
  while (!symbolNames.insert(name).second) {
    name += "_";
  }
  return DimExpr::symbol(&context, name);
}

Status Signature::addInput(const onnx::ValueInfoProto &input) {
  if (!input.type().has_tensor_type()) {
    return Status(ErrorCode::UnsupportedType,
                  "input '" + input.name() +
                      "' is not a tensor: sequences, optionals and maps "
                      "are not supported as inputs");
  }
  const onnx::TypeProto::Tensor &tensor = input.type().tensor_type();
  Type element = elementTypeFromOnnx(&context, tensor.elem_type());
  if (!element) {
    return Status(ErrorCode::UnsupportedType,
                  "input '" + input.name() + "' has elements of type " +
                      elementTypeName(tensor.elem_type()));
  }
  Dims dims;
  for (int axis = 0; axis < tensor.shape().dim_size(); ++axis) {
    dims.push_back(dim(input, axis));
  }
  parameterTypes.push_back(tw::tensorType(dims, element));
  return Status::ok();
}

Status Signature::read() {
  llvm::StringSet<> initialized;
  for (const onnx::TensorProto &tensor : model.graph().initializer()) {
    initialized.insert(tensor.name());
  }
  for (const onnx::ValueInfoProto &input : model.graph().input()) {
    if (!initialized.contains(input.name())) {
      parameters.push_back(&input);
    } else if (model.hasDefault(input.name())) {
      defaults.push_back(input.name());
    }
  }
  TW_RETURN_IF_ERROR(checkNames());
  for (const onnx::ValueInfoProto *input : parameters) {
    TW_RETURN_IF_ERROR(fixSymbols(*input));
  }
  for (const onnx::ValueInfoProto *input : parameters) {
    TW_RETURN_IF_ERROR(addInput(*input));
  }
  return Status::ok();
}

} // namespace

/// Erases what nobody uses. An operation that defines sizes stays: types refer
/// to them.
static void eraseDeadOperations(func::FuncOp function) {
  function->walk<WalkOrder::PostOrder, ReverseIterator>([](Operation *op) {
    if (isOpTriviallyDead(op) && !op->hasAttr("defines")) {
      op->erase();
    }
  });
}

/// Runs MLIR's verifier; what it finds is our fault.
static Status checkModule(ModuleOp module) {
  std::string messages;
  ScopedDiagnosticHandler handler(
      module.getContext(), [&](Diagnostic &diagnostic) {
        llvm::raw_string_ostream stream(messages);
        stream << (messages.empty() ? "" : "; ") << diagnostic.getLocation()
               << ": " << diagnostic;
        return success();
      });
  if (failed(verify(module))) {
    return Status(ErrorCode::Internal,
                  "the importer built invalid operations: " + messages);
  }
  return Status::ok();
}

static Status returnResults(GraphImport &import, func::FuncOp function,
                            const onnx::GraphProto &graph,
                            ArrayRef<ImportedValue> results) {
  OpBuilder &builder = import.builder();
  SmallVector<Value> operands;
  for (auto [output, value] : llvm::zip(graph.output(), results)) {
    if (!value.tensor) {
      return Status(ErrorCode::UnsupportedType,
                    "output '" + output.name() +
                        "' is not a tensor: sequences, optionals and "
                        "maps are not supported as outputs");
    }
    operands.push_back(value.tensor);
  }
  func::ReturnOp::create(builder, builder.getUnknownLoc(), operands);
  function.setType(builder.getFunctionType(function.getArgumentTypes(),
                                           TypeRange(operands)));
  for (auto [i, output] : llvm::enumerate(graph.output())) {
    function.setResultAttr(i, "tw.name", builder.getStringAttr(output.name()));
  }
  return Status::ok();
}

Result<OwningOpRef<ModuleOp>>
importModel(MLIRContext &context, std::shared_ptr<const LoadedModel> model,
            const ImportOptions &options) {
  context.loadDialect<tw::TwDialect, func::FuncDialect, arith::ArithDialect,
                      math::MathDialect>();
  Signature signature(context, *model, options);
  TW_RETURN_IF_ERROR(signature.read());

  Location loc = UnknownLoc::get(&context);
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  OpBuilder builder = OpBuilder::atBlockEnd(module->getBody());
  auto function = func::FuncOp::create(
      builder, loc, "main", builder.getFunctionType(signature.types(), {}));
  Block *body = function.addEntryBlock();
  Values arguments;
  for (auto [i, input] : llvm::enumerate(signature.inputs())) {
    function.setArgAttr(i, "tw.name", builder.getStringAttr(input->name()));
    arguments.push_back({function.getArgument(i), {}});
  }
  if (!signature.defaulted().empty()) {
    function->setAttr("tw.defaulted",
                      builder.getStrArrayAttr(signature.defaulted()));
  }

  GraphImport import(model, *body);
  for (StringRef symbol : signature.symbols().keys()) {
    import.reserveSymbol(symbol);
  }
  Result<Values> results = import.importGraph(model->graph(), arguments);
  if (!results) {
    return results.status();
  }
  TW_RETURN_IF_ERROR(returnResults(import, function, model->graph(), *results));
  TW_RETURN_IF_ERROR(checkModule(*module));
  eraseDeadOperations(function);
  return module;
}

} // namespace tilewright::frontend
