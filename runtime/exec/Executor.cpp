//===- Executor.cpp - interpreting a plan ---------------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "runtime/exec/Executor.h"

#include "runtime/GuardedMemory.h"
#include "runtime/exec/CommandAccess.h"
#include "runtime/exec/Expressions.h"

#include <algorithm>
#include <chrono>

using namespace tilewright;

// Layouts kept per function; a model rarely sees more combinations of sizes.
static constexpr size_t keptLayouts = 16;

// Between buffers, on a device that finds accesses out of bounds.
static constexpr int64_t gapBytes = 256;

static uint64_t nanoseconds() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

Executor::Executor(const LoadedModule &module, const LoadedVariant &variant,
                   Device &device, ThreadPool &pool)
    : module(module), plan(variant.plan()), verified(variant.verified),
      device(device), pool(pool), blocks(device), symbols(plan.symbols.size()),
      expressions(plan.expressions.size()), slots(plan.values.size()),
      functions(plan.functions.size()) {
  for (size_t i = 0; i < plan.expressions.size(); ++i) {
    if (verified.isConstant[i]) {
      expressions[i] =
          evaluateExpression(plan.expressions[i], expressions, symbols);
    }
  }
  size_t total = 0;
  for (const auto &value : plan.values) {
    shapeOffsets.push_back(total);
    total += value->dims.size();
  }
  shapes.resize(total);
  std::vector<bool> isReturned(plan.values.size());
  for (const auto &function : plan.functions) {
    for (uint32_t result : function->results) {
      isReturned[verified.root[result]] = true;
    }
  }
  for (uint32_t i = 0; i < plan.values.size(); ++i) {
    if (plan.values[i]->storage == format::Storage_Owned &&
        verified.definer[i] != noFunction && !isReturned[i]) {
      functions[verified.definer[i]].owned.push_back(i);
    }
  }
  for (size_t i = 0; i < plan.functions.size(); ++i) {
    for (const format::Buffer &buffer : plan.functions[i]->buffers) {
      functions[i].buffers.push_back({0, buffer.first(), buffer.last()});
    }
    for (const auto &command : plan.functions[i]->commands) {
      if (const format::LoopT *loop = command->body.AsLoop()) {
        loops[loop].carried.resize(loop->carried.size());
        loops[loop].scans.resize(loop->outputs.size() - loop->carried.size());
      }
    }
  }
  findWriters();
  isRecordable = device.canRecord() && isFixed(*plan.functions[0]);
  if (device.tracksLives) {
    labelBuffers();
  }
}

/// Finds the values that hold written sizes and nothing else: a kernel may put
/// its result where they lie.
void Executor::findWriters() {
  std::unordered_map<uint32_t, unsigned> writes; // by the memory's value
  for (const auto &function : plan.functions) {
    for (const auto &command : function->commands) {
      for (uint32_t value : accessOf(*command).writes) {
        ++writes[verified.root[value]];
      }
      if (const auto *sizes = command->body.AsWriteSizes()) {
        writers[verified.root[sizes->to]] = sizes;
      }
    }
  }
  for (const auto &[root, count] : writes) {
    if (count > 1) {
      writers.erase(root);
    }
  }
}

ContextStatistics Executor::statistics() const {
  ContextStatistics statistics;
  for (const FunctionState &function : functions) {
    statistics.arenaBytes += function.arena.capacity();
  }
  statistics.poolBytes = blocks.bytes();
  statistics.commands = commandCount;
  statistics.launches = launchCount;
  statistics.replays = replayCount;
  statistics.compiledKernels = device.compiledKernels();
  statistics.libraryCalls = device.libraryCalls();
  statistics.libraryRefusal = device.libraryRefusal();
  return statistics;
}

Result<std::vector<Tensor>>
Executor::run(const std::vector<TensorView> &inputs) {
  reset();
  std::vector<Tensor> outputs;
  TW_RETURN_IF_ERROR(device.isHost ? runOnHost(inputs, outputs)
                                   : runOnDevice(inputs, outputs));
  return outputs;
}

Status Executor::runOnHost(const std::vector<TensorView> &inputs,
                           std::vector<Tensor> &outputs) {
  TW_RETURN_IF_ERROR(setInputs(inputs));
  TW_RETURN_IF_ERROR(runFunction(0));
  for (uint32_t result : plan.functions[0]->results) {
    TensorView view;
    TW_RETURN_IF_ERROR(resolve(result, view));
    Block &block = blockOf(result);
    blocks.forget(block.capacity());
    outputs.push_back(
        Tensor::adopt(view.dtype, view.shape.vec(), block.release()));
  }
  return Status::ok();
}

/// Gives back what a run that failed has left.
void Executor::reset() {
  for (Slot &slot : slots) {
    blocks.give(std::move(slot.block));
  }
  for (auto &entry : loops) {
    for (Block &block : entry.second.carried) {
      blocks.give(std::move(block));
    }
    for (Scan &scan : entry.second.scans) {
      blocks.give(std::move(scan.block));
    }
    blocks.give(std::move(entry.second.counters));
  }
  occurrences.clear();
  started = nanoseconds();
  commandCount = 0;
  launchCount = 0;
}

Status Executor::setInputs(const std::vector<TensorView> &inputs) {
  const std::vector<uint32_t> &parameters = plan.functions[0]->parameters;
  if (inputs.size() != parameters.size()) {
    return Status(ErrorCode::InputName,
                  "the model has " + std::to_string(parameters.size()) +
                      " inputs, and " + std::to_string(inputs.size()) +
                      " were given");
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    const TensorView &input = inputs[i];
    const Parameter &parameter = module.inputs[i];
    std::string subject = "input '" + parameter.name + "'";
    if (input.dtype != parameter.dtype) {
      return Status(ErrorCode::InputType,
                    subject + " has the type " + nameOf(input.dtype) +
                        ", and the model takes " + nameOf(parameter.dtype));
    }
    if (input.shape.rank() != parameter.dims.size()) {
      return Status(ErrorCode::InputShape,
                    subject + " has the shape " + input.shape.toString() +
                        ", and the model takes a tensor of rank " +
                        std::to_string(parameter.dims.size()));
    }
    int64_t bytes = input.bytes();
    if (bytes < 0 || (bytes > 0 && !input.data)) {
      return Status(ErrorCode::InputShape,
                    subject + " has the impossible shape " +
                        input.shape.toString() + " or no data");
    }
    static char nothing[memoryAlignment];
    Result<void *> data =
        device.setInput(i, bytes > 0 ? input.data : nothing, bytes);
    if (!data) {
      return data.status();
    }
    setParameter(parameters[i], *data, bytes, input.shape);
  }
  return Status::ok();
}

void Executor::setParameter(uint32_t value, void *data, int64_t capacity,
                            ShapeRef shape) {
  slots[value].data = static_cast<char *>(data);
  slots[value].capacity = capacity;
  std::copy(shape.begin(), shape.end(), shapeOf(value));
}

/// Runs a function whose parameters are set. Its results stay in their slots.
Status Executor::runFunction(uint32_t index) {
  const format::FunctionT &function = *plan.functions[index];
  TW_RETURN_IF_ERROR(enter(index));
  TW_RETURN_IF_ERROR(device.enterFunction(index));
  for (uint32_t i = 0; i < function.commands.size(); ++i) {
    TW_RETURN_IF_ERROR(execute(index, i));
  }
  TW_RETURN_IF_ERROR(device.leaveFunction(index));
  for (uint32_t value : functions[index].owned) {
    releaseOwned(value);
  }
  return Status::ok();
}

Status Executor::enter(uint32_t index) {
  const format::FunctionT &function = *plan.functions[index];
  bind(function.binds);
  evaluate(function.evaluate);
  TW_RETURN_IF_ERROR(checkParameters(index));
  return prepareArena(index);
}

Status Executor::checkParameters(uint32_t index) {
  const format::FunctionT &function = *plan.functions[index];
  auto mismatch = [&](uint32_t value, uint32_t axis, uint32_t expr) {
    const format::ValueT &entry = *plan.values[value];
    std::string subject =
        index == 0 ? "input '" + module.inputs[entry.index].name + "'"
                   : describe(value);
    std::string expected = expressionText(plan, expr);
    if (plan.expressions[expr].op() != format::ExprOp_Const) {
      expected += " = " + std::to_string(expressions[expr]);
    }
    return Status(index == 0 ? ErrorCode::InputShape : ErrorCode::DataInvalid,
                  subject + " has the shape " + actualShape(value).toString() +
                      "; the model takes " + expected + " in axis " +
                      std::to_string(axis) + ", not " +
                      std::to_string(shapeOf(value)[axis]));
  };
  for (const format::Check &check : function.checks) {
    if (shapeOf(check.value())[check.axis()] != expressions[check.expr()]) {
      return mismatch(check.value(), check.axis(), check.expr());
    }
  }
  for (uint32_t value : function.parameters) {
    const std::vector<uint32_t> &dims = plan.values[value]->dims;
    for (uint32_t axis = 0; axis < dims.size(); ++axis) {
      if (shapeOf(value)[axis] != expressions[dims[axis]]) {
        return mismatch(value, axis, dims[axis]);
      }
    }
  }
  return Status::ok();
}

/// Leaves memory without an owner behind each buffer, where an access that is
/// a little out of bounds shows.
static std::vector<ArenaBuffer> withGaps(std::vector<ArenaBuffer> buffers) {
  for (ArenaBuffer &buffer : buffers) {
    if (buffer.bytes <= INT64_MAX - gapBytes) {
      buffer.bytes += gapBytes;
    }
  }
  return buffers;
}

Status Executor::prepareArena(uint32_t index) {
  FunctionState &state = functions[index];
  const format::FunctionT &function = *plan.functions[index];
  for (size_t i = 0; i < state.buffers.size(); ++i) {
    int64_t bytes = expressions[function.buffers[i].bytes()];
    if (bytes < 0) {
      return Status(index == 0 ? ErrorCode::InputShape : ErrorCode::DataInvalid,
                    "with these inputs an intermediate value would have " +
                        (bytes == overflowedSize
                             ? std::string("more elements than memory holds")
                             : std::string("a negative size")) +
                        " (" +
                        expressionText(plan, function.buffers[i].bytes()) +
                        " bytes)");
    }
    state.buffers[i].bytes = bytes;
  }
  if (device.isHost && guardsMemory()) {
    return prepareGuarded(state);
  }
  auto isFor = [&](const CachedLayout &cached) {
    return std::equal(cached.bytes.begin(), cached.bytes.end(),
                      state.buffers.begin(),
                      [](int64_t bytes, const ArenaBuffer &buffer) {
                        return bytes == buffer.bytes;
                      });
  };
  auto &layouts = state.layouts;
  if (state.layout >= layouts.size() || !isFor(layouts[state.layout])) {
    auto found = std::find_if(layouts.begin(), layouts.end(), isFor);
    if (found == layouts.end()) {
      Result<ArenaLayout> layout = planArena(
          device.tracksLives ? withGaps(state.buffers) : state.buffers);
      if (!layout) {
        return layout.status();
      }
      if (layouts.size() == keptLayouts) {
        layouts.erase(layouts.begin());
      }
      CachedLayout cached;
      for (const ArenaBuffer &buffer : state.buffers) {
        cached.bytes.push_back(buffer.bytes);
      }
      cached.layout = std::move(*layout);
      layouts.push_back(std::move(cached));
      found = layouts.end() - 1;
    }
    state.layout = static_cast<size_t>(found - layouts.begin());
  }
  int64_t needed = layouts[state.layout].layout.bytes;
  if (!state.arena || state.arena.capacity() < needed) {
    state.arena = Block();
    Result<Block> block = device.allocate(needed);
    if (!block) {
      return block.status();
    }
    state.arena = std::move(*block);
  }
  return Status::ok();
}

/// Gives every buffer a new block of its own.
Status Executor::prepareGuarded(FunctionState &state) {
  state.guarded.resize(state.buffers.size());
  for (size_t i = 0; i < state.buffers.size(); ++i) {
    Result<Block> block = Block::allocate(state.buffers[i].bytes);
    if (!block) {
      return block.status();
    }
    state.guarded[i] = std::move(*block);
  }
  return Status::ok();
}

/// Where a buffer of the arena lies.
char *Executor::bufferData(const FunctionState &state, size_t buffer) const {
  return state.guarded.empty()
             ? state.arena.data() +
                   state.layouts[state.layout].layout.offsets[buffer]
             : state.guarded[buffer].data();
}

/// Does what the command's kind asks for.
Status Executor::perform(const format::CommandT &command) {
  switch (command.body.type) {
  case format::CommandBody_Launch:
    return launch(*command.body.AsLaunch(), command);
  case format::CommandBody_Builtin:
    return builtin(*command.body.AsBuiltin(), command);
  case format::CommandBody_Copy:
    return copy(*command.body.AsCopy());
  case format::CommandBody_ReadSizes:
    return readSizes(*command.body.AsReadSizes(), command);
  case format::CommandBody_WriteSizes:
    return writeSizes(*command.body.AsWriteSizes());
  case format::CommandBody_If:
    return branch(*command.body.AsIf());
  case format::CommandBody_Loop:
    return loop(*command.body.AsLoop(), command);
  case format::CommandBody_NONE:
    break;
  }
  return Status::ok();
}

Status Executor::execute(uint32_t function, uint32_t position) {
  const format::CommandT &command =
      *plan.functions[function]->commands[position];
  uint64_t begin = listener ? nanoseconds() : 0;
  ++commandCount;
  TW_RETURN_IF_ERROR(device.beginCommand(function, command));
  if (device.tracksLives) {
    beginLives(function, position);
  }
  TW_RETURN_IF_ERROR(perform(command));
  if (device.tracksLives) {
    endLives(function, position);
  }
  TW_RETURN_IF_ERROR(device.endCommand(function, command));
  bind(command.binds);
  evaluate(command.evaluate);
  if (const format::IfT *branch = command.body.AsIf()) {
    for (uint32_t output : branch->outputs) {
      TW_RETURN_IF_ERROR(checkShape(output));
    }
  } else if (const format::LoopT *loop = command.body.AsLoop()) {
    for (int32_t output : loop->outputs) {
      TW_RETURN_IF_ERROR(output < 0 ? Status::ok() : checkShape(output));
    }
  }
  for (uint32_t value : command.release) {
    releaseOwned(value);
  }
  if (listener && device.isHost) {
    report(command, begin - started, nanoseconds() - started);
  } else if (listener) {
    timed.push_back(&command);
  }
  return Status::ok();
}

void Executor::bind(const std::vector<format::Bind> &binds) {
  for (const format::Bind &bind : binds) {
    symbols[bind.symbol()] = shapeOf(bind.value())[bind.axis()];
  }
}

void Executor::evaluate(const std::vector<uint32_t> &list) {
  for (uint32_t index : list) {
    expressions[index] =
        evaluateExpression(plan.expressions[index], expressions, symbols);
  }
}

void Executor::releaseOwned(uint32_t value) {
  blocks.give(std::move(blockOf(value)));
}

/// Tells the listener; times since the beginning of the run.
void Executor::report(const format::CommandT &command, uint64_t begin,
                      uint64_t end) {
  static constexpr const char *kinds[] = {"",     "launch",     "builtin",
                                          "copy", "read-sizes", "write-sizes",
                                          "if",   "loop"};
  CommandEvent event;
  event.kind = kinds[command.body.type];
  if (const format::LaunchT *launch = command.body.AsLaunch()) {
    event.name = plan.kernels[launch->kernel];
  } else if (const format::BuiltinT *builtin = command.body.AsBuiltin()) {
    event.name = builtin->name;
  }
  for (uint32_t node : command.nodes) {
    event.nodes.push_back(plan.nodes[node]);
  }
  event.beginNanoseconds = begin;
  event.endNanoseconds = end;
  listener(event);
}
