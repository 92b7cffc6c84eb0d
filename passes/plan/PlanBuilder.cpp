//===- PlanBuilder.cpp - from regions to commands -------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// One walk numbers values and writes commands. Storage is decided when a value
// is defined, after SharedStorage has said which values lie in others' memory;
// lifetimes follow from the uses that MLIR already keeps: the last command, in
// the defining function, that uses the memory.
//
//===----------------------------------------------------------------------===//

#include "passes/plan/PlanBuilder.h"
#include "ir/Slices.h"
#include "passes/plan/SharedStorage.h"
#include "passes/plan/SizeTable.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tilewright::tw;

namespace tilewright::plan {

namespace {

Status internal(Operation *op, const Twine &message) {
  std::string nodes = llvm::join(nodeNames(op->getLoc()), ", ");
  return Status(ErrorCode::Internal,
                ("planning " + op->getName().getStringRef() + " of " + nodes +
                 ": " + message)
                    .str());
}

class Builder {
public:
  Builder(LaunchOf launchOf, BuiltPlan &built, Decisions decisions)
      : launchOf(launchOf), built(built), plan(built.plan), sizes(plan),
        decisions(decisions) {}

  Status run(func::FuncOp main);

private:
  //===--- Functions ------------------------------------------------------===//
  /// Plans a block as a new function. \returns its number.
  Result<uint32_t> function(StringRef name, Block &block,
                            std::optional<Point> call);
  Status parameters(Block &block, uint32_t number);
  Status results(Operation *terminator, uint32_t number);
  Status operation(Operation *op, uint32_t number);

  //===--- Commands -------------------------------------------------------===//
  /// Asks for the launches of a block's regions, in order.
  Status launches(Block &block);
  /// A join's parts are written; nothing is left to do.
  Status joined(JoinOp op);
  Status fused(FusedOp op, uint32_t number);
  /// \returns null if a size is not defined.
  std::unique_ptr<format::ProductT> product(const ProductCall &call);
  Status call(CallOp op, uint32_t number);
  Status readSizes(ReadSizesOp op, uint32_t number);
  Status writeSizes(SizesOp op, uint32_t number);
  Status ifOp(IfOp op, uint32_t number);
  Status loop(LoopOp op, uint32_t number);
  /// Appends a command. \returns its place.
  Point append(uint32_t function, Location loc, format::CommandBodyUnion body);
  Point next(uint32_t function) {
    return {function,
            static_cast<int64_t>(plan.functions[function]->commands.size())};
  }
  template <typename Body> static format::CommandBodyUnion bodyOf(Body body) {
    format::CommandBodyUnion result;
    result.Set(std::move(body));
    return result;
  }

  //===--- Values ---------------------------------------------------------===//
  Result<uint32_t> newValue(Type type, format::Storage storage, uint32_t index);
  /// A value computed by the next command of `function`: in the arena if its
  /// size is known at entry and nobody takes it away, owned otherwise.
  Result<uint32_t> define(Value value, uint32_t function, bool mustBeOwned);
  uint32_t use(Value value) { return ids.lookup(value); }
  Status constant(ConstantOp op);
  /// Makes `value`, a part of the join `root`, the join's memory: kernels know
  /// where it lies in there. The first part defines it.
  Result<uint32_t> part(Value value, Value root, uint32_t function);
  /// Makes `value` the memory of `root`.
  Result<uint32_t> alias(Value value, Value root);
  /// Defines what an If or Loop at `point` gives, and binds those symbols of
  /// `defines` that stand alone as dims of it.
  Result<std::vector<uint32_t>> controlOutputs(ValueRange results,
                                               std::optional<ArrayAttr> defines,
                                               Point point);
  format::CommandT &commandAt(Point point) {
    return *plan.functions[point.function]->commands[point.command];
  }
  uint32_t nodeNumber(const std::string &name);
  void placeLifetimes();

  LaunchOf launchOf;
  BuiltPlan &built;
  format::PlanT &plan;
  SizeTable sizes;
  Decisions decisions;
  SharedStorage storage;
  DenseMap<Operation *, KernelLaunch> launchesOf;
  DenseMap<Value, uint32_t> ids;
  llvm::StringMap<uint32_t> kernels, nodes;
  DenseMap<Attribute, uint32_t> constants;
  /// Roots whose block their function's caller takes.
  DenseSet<Value> returned;
  /// Blocks that are functions, and the place of the command that each
  /// operation became.
  DenseMap<Block *, uint32_t> functionOf;
  DenseMap<Operation *, Point> commandOf;
};

} // namespace

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

Result<uint32_t> Builder::newValue(Type type, format::Storage storage,
                                   uint32_t index) {
  auto value = std::make_unique<format::ValueT>();
  std::optional<DType> dtype = dtypeOf(elementTypeOf(type));
  if (!dtype) {
    return Status(ErrorCode::Internal,
                  "a value has an element type without a DType");
  }
  value->dtype = static_cast<format::DType>(*dtype);
  value->storage = storage;
  value->index = index;
  for (DimExpr dim : dimsOf(type)) {
    std::optional<uint32_t> number = dim ? sizes.number(dim) : std::nullopt;
    if (!number) {
      return Status(ErrorCode::Internal, "the size '" +
                                             (dim ? dim.toString() : "?") +
                                             "' of a value is not defined");
    }
    value->dims.push_back(*number);
  }
  plan.values.push_back(std::move(value));
  return static_cast<uint32_t>(plan.values.size() - 1);
}

Result<uint32_t> Builder::define(Value value, uint32_t function,
                                 bool mustBeOwned) {
  Type type = value.getType();
  if (Value root = storage.rootOf(value); root != value) {
    return root.getDefiningOp<JoinOp>() ? part(value, root, function)
                                        : alias(value, root);
  }
  DimExpr count = elementCount(type);
  bool inArena = !mustBeOwned && !returned.contains(value) &&
                 sizes.isKnownAtEntry(count, function);
  if (!inArena) {
    if (!mustBeOwned && !returned.contains(value)) {
      decisions.did(reasons::sizedAtRunTime, value.getLoc(), "plan");
    }
    Result<uint32_t> id = newValue(type, format::Storage_Owned, 0);
    if (id) {
      ids[value] = *id;
    }
    return id;
  }
  std::optional<DType> dtype = dtypeOf(elementTypeOf(type));
  if (!dtype) {
    return Status(ErrorCode::Internal,
                  "a value has an element type without a DType");
  }
  std::optional<uint32_t> bytes =
      sizes.number(count * static_cast<int64_t>(sizeOf(*dtype)));
  if (!bytes) {
    return Status(ErrorCode::Internal, "the size '" + count.toString() +
                                           "' of a value is not defined");
  }
  auto &buffers = plan.functions[function]->buffers;
  uint32_t command = next(function).command;
  buffers.emplace_back(*bytes, command, command);
  Result<uint32_t> id =
      newValue(type, format::Storage_Arena, buffers.size() - 1);
  if (id) {
    ids[value] = *id;
  }
  return id;
}

Status Builder::constant(ConstantOp op) {
  auto key = ArrayAttr::get(op.getContext(),
                            {op.getValue(), TypeAttr::get(op.getType())});
  auto [it, isNew] = constants.try_emplace(key, built.constants.size());
  if (isNew) {
    built.constants.push_back(op);
  }
  Result<uint32_t> id =
      newValue(op.getType(), format::Storage_Constant, it->second);
  if (!id) {
    return id.status();
  }
  ids[op.getResult()] = *id;
  return Status::ok();
}

Result<uint32_t> Builder::part(Value value, Value root, uint32_t function) {
  if (!ids.contains(root)) {
    TW_RETURN_IF_ERROR(define(root, function, /*mustBeOwned=*/false).status());
  }
  ids[value] = use(root);
  return use(root);
}

Result<uint32_t> Builder::alias(Value value, Value root) {
  Result<uint32_t> id =
      newValue(value.getType(), format::Storage_Alias, use(root));
  if (id) {
    ids[value] = *id;
  }
  return id;
}

Result<std::vector<uint32_t>>
Builder::controlOutputs(ValueRange results, std::optional<ArrayAttr> defines,
                        Point point) {
  // Symbols first: the results' dims mention them.
  SmallVector<std::tuple<unsigned, unsigned, uint32_t>> binds;
  ArrayRef<Attribute> names =
      defines ? defines->getValue() : ArrayRef<Attribute>();
  for (auto name : llvm::map_range(names, llvm::CastTo<StringAttr>)) {
    if (sizes.isBound(name.getValue())) {
      continue; // by the body's parameters
    }
    for (auto [number, result] : llvm::enumerate(results)) {
      SmallVector<DimExpr> dims = dimsOf(result.getType());
      auto *it = llvm::find_if(dims, [&](DimExpr dim) {
        return dim && dim.symbolName() == name.getValue();
      });
      if (it != dims.end()) {
        binds.emplace_back(number, static_cast<unsigned>(it - dims.begin()),
                           sizes.bind(name.getValue(), point));
        break;
      }
    }
  }
  std::vector<uint32_t> outputs;
  for (Value result : results) {
    Result<uint32_t> id = define(result, point.function, /*mustBeOwned=*/true);
    if (!id) {
      return id.status();
    }
    outputs.push_back(*id);
  }
  for (auto [number, axis, symbol] : binds) {
    commandAt(point).binds.emplace_back(outputs[number], axis, symbol);
  }
  return outputs;
}

uint32_t Builder::nodeNumber(const std::string &name) {
  auto [it, isNew] = nodes.try_emplace(name, plan.nodes.size());
  if (isNew) {
    plan.nodes.push_back(name);
  }
  return it->second;
}

Point Builder::append(uint32_t function, Location loc,
                      format::CommandBodyUnion body) {
  auto command = std::make_unique<format::CommandT>();
  command->body = std::move(body);
  for (const std::string &name : nodeNames(loc)) {
    command->nodes.push_back(nodeNumber(name));
  }
  Point point = next(function);
  plan.functions[function]->commands.push_back(std::move(command));
  return point;
}

//===----------------------------------------------------------------------===//
// Commands
//===----------------------------------------------------------------------===//

Status Builder::launches(Block &block) {
  for (FusedOp op : block.getOps<FusedOp>()) {
    Result<KernelLaunch> launch = launchOf(op);
    TW_RETURN_IF_ERROR(launch.status());
    launchesOf[op] = std::move(*launch);
  }
  return Status::ok();
}

Status Builder::joined(JoinOp op) {
  for (Value part : op.getParts()) {
    if (!isa_and_nonnull<FusedOp, JoinOp>(part.getDefiningOp()) ||
        joinOf(part) != op || part.getParentBlock() != op->getBlock() ||
        llvm::count(op.getParts(), part) != 1) {
      return internal(op, "a part is not computed where it lies");
    }
  }
  ids[op.getResult()] = use(storage.rootOf(op.getResult()));
  return Status::ok();
}

std::unique_ptr<format::ProductT> Builder::product(const ProductCall &call) {
  auto result = std::make_unique<format::ProductT>();
  result->a = call.a;
  result->b = call.b;
  result->c = call.c;
  result->bias = call.bias;
  result->transposed_a = call.transposedA;
  result->transposed_b = call.transposedB;
  result->tf32 = call.tf32;
  result->activation = call.activation;
  result->alpha = call.alpha;
  for (DimExpr size : call.sizes) {
    std::optional<uint32_t> id = sizes.number(size);
    if (!id) {
      return nullptr;
    }
    result->sizes.push_back(*id);
  }
  return result;
}

Status Builder::fused(FusedOp op, uint32_t number) {
  const KernelLaunch *launch = &launchesOf.find(op)->second;
  format::LaunchT body;
  auto [it, isNew] = kernels.try_emplace(launch->kernel, plan.kernels.size());
  if (isNew) {
    plan.kernels.push_back(launch->kernel);
  }
  body.kernel = it->second;
  for (Value input : op.getInputs()) {
    body.args.push_back(use(input));
  }
  for (Value result : op.getResults()) {
    Result<uint32_t> id = define(result, number, /*mustBeOwned=*/false);
    if (!id) {
      return id.status();
    }
    body.args.push_back(*id);
  }
  body.results = op->getNumResults();
  for (DimExpr size : launch->sizes) {
    std::optional<uint32_t> id = sizes.number(size);
    if (!id) {
      return internal(op, "the size '" + size.toString() + "' is not defined");
    }
    body.sizes.push_back(*id);
  }
  std::optional<uint32_t> tasks = sizes.number(launch->tasks);
  std::optional<uint32_t> workspace = sizes.number(launch->workspace);
  if (!tasks || !workspace) {
    return internal(op, "its task count or workspace is not defined");
  }
  body.tasks = *tasks;
  body.workspace = *workspace;
  body.grain =
      static_cast<uint32_t>(std::clamp<int64_t>(launch->grain, 1, UINT32_MAX));
  body.threads = static_cast<uint32_t>(launch->threads);
  body.shared = static_cast<uint32_t>(launch->shared);
  if (launch->product) {
    body.product = product(*launch->product);
    if (!body.product) {
      return internal(op, "a size of its product is not defined");
    }
  }
  Point point = append(number, op.getLoc(), bodyOf(std::move(body)));
  commandOf[op] = point;
  if (launch->work) {
    built.work[{point.function, static_cast<uint32_t>(point.command)}] =
        *launch->work;
  }
  return Status::ok();
}

Status Builder::call(CallOp op, uint32_t number) {
  format::BuiltinT body;
  body.name = op.getCallee().str();
  unsigned operand = 0;
  for (bool present : op.getOperandsPresent()) {
    body.inputs.push_back(
        present ? static_cast<int32_t>(use(op.getInputs()[operand++])) : -1);
  }
  llvm::append_range(body.ints, op.getInts());
  llvm::append_range(body.floats, op.getFloats());
  if (std::optional<ArrayAttr> strings = op.getStrings()) {
    for (auto text : strings->getAsRange<StringAttr>()) {
      body.strings.push_back(text.getValue().str());
    }
  }
  bool dataSized = false;
  if (std::optional<ArrayAttr> defines = op.getDefines()) {
    for (auto name : defines->getAsRange<StringAttr>()) {
      body.defines.push_back(sizes.bind(name.getValue(), next(number)));
      dataSized = true;
    }
  }
  for (Value result : op.getResults()) {
    Result<uint32_t> id = define(result, number, /*mustBeOwned=*/dataSized);
    if (!id) {
      return id.status();
    }
    body.outputs.push_back(*id);
  }
  commandOf[op] = append(number, op.getLoc(), bodyOf(std::move(body)));
  return Status::ok();
}

Status Builder::readSizes(ReadSizesOp op, uint32_t number) {
  format::ReadSizesT body;
  body.from = use(op.getSource());
  body.minimum = op.getMinimum();
  for (int64_t element : op.getElements()) {
    body.elements.push_back(element);
  }
  for (auto name : op.getDefines().getAsRange<StringAttr>()) {
    body.symbols.push_back(sizes.bind(name.getValue(), next(number)));
  }
  commandOf[op] = append(number, op.getLoc(), bodyOf(std::move(body)));
  return Status::ok();
}

Status Builder::writeSizes(SizesOp op, uint32_t number) {
  format::WriteSizesT body;
  for (DimExpr size : op.getSizes().getDims()) {
    std::optional<uint32_t> id = sizes.number(size);
    if (!id) {
      return internal(op, "the size '" + size.toString() + "' is not defined");
    }
    body.sizes.push_back(*id);
  }
  Result<uint32_t> to = define(op.getResult(), number, /*mustBeOwned=*/false);
  if (!to) {
    return to.status();
  }
  body.to = *to;
  commandOf[op] = append(number, op.getLoc(), bodyOf(std::move(body)));
  return Status::ok();
}

Status Builder::ifOp(IfOp op, uint32_t number) {
  // The command's place must be known while the branches are planned.
  Point point = append(number, op.getLoc(), {});
  commandOf[op] = point;
  Result<uint32_t> thenFunction =
      function("then", op.getThenRegion().front(), point);
  if (!thenFunction) {
    return thenFunction.status();
  }
  Result<uint32_t> elseFunction =
      function("else", op.getElseRegion().front(), point);
  if (!elseFunction) {
    return elseFunction.status();
  }
  format::IfT body;
  body.condition = use(op.getCondition());
  body.then = *thenFunction;
  body.otherwise = *elseFunction;
  Result<std::vector<uint32_t>> outputs =
      controlOutputs(op->getResults(), op.getDefines(), point);
  if (!outputs) {
    return outputs.status();
  }
  body.outputs.assign(outputs->begin(), outputs->end());
  commandAt(point).body.Set(std::move(body));
  return Status::ok();
}

Status Builder::loop(LoopOp op, uint32_t number) {
  Point point = append(number, op.getLoc(), {});
  commandOf[op] = point;
  Result<uint32_t> bodyFunction = function("body", op.getBody().front(), point);
  if (!bodyFunction) {
    return bodyFunction.status();
  }
  format::LoopT body;
  body.trip_count =
      op.getTripCount() ? static_cast<int32_t>(use(op.getTripCount())) : -1;
  body.condition =
      op.getCondition() ? static_cast<int32_t>(use(op.getCondition())) : -1;
  body.body = *bodyFunction;
  for (Value carried : op.getCarried()) {
    body.carried.push_back(use(carried));
  }
  Result<std::vector<uint32_t>> outputs =
      controlOutputs(op->getResults(), op.getDefines(), point);
  if (!outputs) {
    return outputs.status();
  }
  body.outputs.assign(outputs->begin(), outputs->end());
  commandAt(point).body.Set(std::move(body));
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

Status Builder::parameters(Block &block, uint32_t number) {
  format::FunctionT &function = *plan.functions[number];
  SmallVector<Value> arguments(block.getArguments());
  Point entry{number, -1};
  // Symbols first: a dim may be an expression of another parameter's symbol.
  SmallVector<std::tuple<unsigned, unsigned, uint32_t>> binds;
  for (auto [index, argument] : llvm::enumerate(arguments)) {
    for (auto [axis, dim] : llvm::enumerate(dimsOf(argument.getType()))) {
      if (dim && !dim.symbolName().empty() &&
          !sizes.isBound(dim.symbolName())) {
        binds.emplace_back(index, axis, sizes.bind(dim.symbolName(), entry));
      }
    }
  }
  for (auto [index, argument] : llvm::enumerate(arguments)) {
    Result<uint32_t> id =
        newValue(argument.getType(), format::Storage_Parameter, index);
    if (!id) {
      return id.status();
    }
    ids[argument] = *id;
    function.parameters.push_back(*id);
  }
  for (auto [index, axis, symbol] : binds) {
    function.binds.emplace_back(function.parameters[index], axis, symbol);
  }
  for (auto [index, argument] : llvm::enumerate(arguments)) {
    for (auto [axis, dim] : llvm::enumerate(dimsOf(argument.getType()))) {
      bool isBind = llvm::any_of(binds, [&](auto &bind) {
        return std::get<0>(bind) == index && std::get<1>(bind) == axis;
      });
      if (!isBind) {
        uint32_t id = function.parameters[index];
        function.checks.emplace_back(id, axis, plan.values[id]->dims[axis]);
      }
    }
  }
  return Status::ok();
}

Status Builder::results(Operation *terminator, uint32_t number) {
  format::FunctionT &function = *plan.functions[number];
  DenseSet<Value> taken;
  for (Value value : terminator->getOperands()) {
    uint32_t id = use(value);
    Value root = storage.rootOf(value);
    bool isOwned = plan.values[use(root)]->storage == format::Storage_Owned &&
                   root.getParentBlock() == terminator->getBlock();
    if (!isOwned || !taken.insert(root).second) {
      decisions.did(reasons::resultCopied, value.getLoc(), "plan");
      Result<uint32_t> copy =
          newValue(value.getType(), format::Storage_Owned, 0);
      if (!copy) {
        return copy.status();
      }
      format::CopyT body;
      body.from = id;
      body.to = *copy;
      append(number, terminator->getLoc(), bodyOf(std::move(body)));
      id = *copy;
    }
    function.results.push_back(id);
  }
  return Status::ok();
}

Status Builder::operation(Operation *op, uint32_t number) {
  return llvm::TypeSwitch<Operation *, Status>(op)
      .Case([&](ConstantOp o) { return constant(o); })
      .Case([&](ReshapeOp o) {
        return alias(o.getResult(), storage.rootOf(o.getResult())).status();
      })
      .Case([&](JoinOp o) { return joined(o); })
      .Case([&](FusedOp o) { return fused(o, number); })
      .Case([&](CallOp o) { return call(o, number); })
      .Case([&](ReadSizesOp o) { return readSizes(o, number); })
      .Case([&](SizesOp o) { return writeSizes(o, number); })
      .Case([&](IfOp o) { return ifOp(o, number); })
      .Case([&](LoopOp o) { return loop(o, number); })
      .Default([&](Operation *o) {
        return internal(o, "it should have been lowered before");
      });
}

Result<uint32_t> Builder::function(StringRef name, Block &block,
                                   std::optional<Point> call) {
  uint32_t number = plan.functions.size();
  plan.functions.push_back(std::make_unique<format::FunctionT>());
  plan.functions[number]->name = name.str();
  functionOf[&block] = number;
  if (call) {
    sizes.nest(number, *call);
  }
  TW_RETURN_IF_ERROR(launches(block));
  storage.place(
      block, [&](FusedOp op) { return launchesOf.find(op)->second.inPlace; },
      decisions);
  for (Value value : block.getTerminator()->getOperands()) {
    if (Value root = storage.rootOf(value); root.getParentBlock() == &block) {
      returned.insert(root);
    }
  }
  TW_RETURN_IF_ERROR(parameters(block, number));
  for (Operation &op : block.without_terminator()) {
    TW_RETURN_IF_ERROR(operation(&op, number));
  }
  TW_RETURN_IF_ERROR(results(block.getTerminator(), number));
  return number;
}

//===----------------------------------------------------------------------===//
// Lifetimes
//===----------------------------------------------------------------------===//

/// Extends the life of every arena buffer and releases every owned value at the
/// last command, in the function that defines it, that uses it.
void Builder::placeLifetimes() {
  // Each root → the last command of its own function that needs it.
  DenseMap<Value, int64_t> lastUse;
  auto needs = [&](Value root, Operation *op) {
    auto it = commandOf.find(op);
    int64_t command;
    if (it != commandOf.end()) {
      command = it->second.command;
    } else if (op->hasTrait<OpTrait::IsTerminator>()) {
      // Results are copied at the end, if at all.
      auto &commands =
          plan.functions[functionOf.lookup(op->getBlock())]->commands;
      command = static_cast<int64_t>(commands.size()) - 1;
    } else {
      return; // a reshape: its own uses count
    }
    auto [last, isNew] = lastUse.try_emplace(root, command);
    last->second = std::max(last->second, command);
  };
  for (auto &[value, id] : ids) {
    Value root = storage.rootOf(value);
    Block *home = root.getParentBlock();
    if (Operation *definer = value.getDefiningOp();
        definer && definer->getBlock() == home) {
      needs(root, definer);
    }
    for (Operation *user : value.getUsers()) {
      if (Operation *ancestor = home->findAncestorOpInBlock(*user)) {
        needs(root, ancestor);
      }
    }
  }
  // In the order of definition, so that the plan is deterministic.
  SmallVector<std::pair<uint32_t, Value>> byId;
  for (auto &[value, id] : ids) {
    byId.emplace_back(id, value);
  }
  llvm::sort(byId, [](auto &a, auto &b) { return a.first < b.first; });
  for (auto &[id, value] : byId) {
    const format::ValueT &info = *plan.values[id];
    auto it = functionOf.find(value.getParentBlock());
    if (it == functionOf.end() || storage.rootOf(value) != value) {
      continue;
    }
    format::FunctionT &function = *plan.functions[it->second];
    auto last = lastUse.find(value);
    if (info.storage == format::Storage_Arena) {
      format::Buffer &buffer = function.buffers[info.index];
      buffer = format::Buffer(buffer.bytes(), buffer.first(),
                              static_cast<uint32_t>(last->second));
    } else if (info.storage == format::Storage_Owned &&
               !returned.contains(value)) {
      function.commands[last->second]->release.push_back(id);
    }
  }
}

static format::ParameterT describe(Type type, StringRef name) {
  format::ParameterT parameter;
  parameter.name = name.str();
  if (std::optional<DType> dtype = dtypeOf(elementTypeOf(type))) {
    parameter.dtype = static_cast<format::DType>(*dtype);
  }
  for (DimExpr dim : dimsOf(type)) {
    parameter.dims.push_back(dim ? dim.toString() : "?");
  }
  return parameter;
}

Status Builder::run(func::FuncOp main) {
  Result<uint32_t> number =
      function("main", main.getBody().front(), std::nullopt);
  if (!number) {
    return number.status();
  }
  sizes.placeEvaluations();
  placeLifetimes();
  auto nameOf = [](DictionaryAttr attributes) -> StringRef {
    auto name =
        attributes ? attributes.getAs<StringAttr>("tw.name") : StringAttr();
    return name ? name.getValue() : StringRef();
  };
  for (unsigned i = 0; i < main.getNumArguments(); ++i) {
    StringRef name = nameOf(main.getArgAttrDict(i));
    built.inputs.push_back(describe(main.getArgumentTypes()[i], name));
    plan.values[plan.functions[0]->parameters[i]]->name = name.str();
  }
  for (unsigned i = 0; i < main.getNumResults(); ++i) {
    StringRef name = nameOf(main.getResultAttrDict(i));
    built.outputs.push_back(describe(main.getResultTypes()[i], name));
    plan.values[plan.functions[0]->results[i]]->name = name.str();
  }
  return Status::ok();
}

Result<BuiltPlan> buildPlan(ModuleOp module, LaunchOf launchOf,
                            Decisions decisions) {
  auto main = module.lookupSymbol<func::FuncOp>("main");
  if (!main || !main.getBody().hasOneBlock()) {
    return Status(ErrorCode::Internal,
                  "there is no @main of one block to plan");
  }
  BuiltPlan built;
  Builder builder(launchOf, built, decisions);
  TW_RETURN_IF_ERROR(builder.run(main));
  return built;
}

} // namespace tilewright::plan
