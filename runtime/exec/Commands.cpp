//===- Commands.cpp - launches, builtins and copies -----------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "runtime/builtins/Builtins.h"
#include "runtime/exec/Executor.h"
#include "runtime/exec/Expressions.h"

#include <algorithm>

using namespace tilewright;

// Beyond any launch that ends; keeps the thread pool's counter from wrapping.
static constexpr int64_t mostTasks = int64_t(1) << 60;

Status Executor::launch(const format::LaunchT &launch,
                        const format::CommandT &command) {
  ++launchCount;
  buffers.clear();
  sizes.clear();
  for (uint32_t value : launch.args) {
    TensorView view;
    TW_RETURN_IF_ERROR(define(value, view));
    buffers.push_back(view.data);
  }
  for (uint32_t expr : launch.sizes) {
    sizes.push_back(expressions[expr]);
  }
  productSizes.clear();
  if (launch.product) {
    for (uint32_t expr : launch.product->sizes) {
      productSizes.push_back(expressions[expr]);
    }
  }
  int64_t tasks = expressions[launch.tasks];
  int64_t scratch = alignUp(expressions[launch.workspace]);
  if (tasks < 0 || tasks > mostTasks || scratch < 0 ||
      std::find(sizes.begin(), sizes.end(), overflowedSize) != sizes.end()) {
    return Status(ErrorCode::DataInvalid,
                  describe(command) + " would have an impossible amount of "
                                      "work: a size is negative or too large");
  }
  if (tasks == 0) {
    return Status::ok();
  }
  Result<KernelReport> report = device.launch(
      {launch, command, buffers, sizes, productSizes, tasks, scratch});
  return report ? kernelError(*report) : report.status();
}

/// The error for what a kernel has reported.
Status Executor::kernelError(const KernelReport &report) const {
  if (report.status == KernelOk) {
    return Status::ok();
  }
  return Status(ErrorCode::DataInvalid,
                (report.status == KernelIndexOutOfRange
                     ? std::string("an index is out of range")
                     : "a value is invalid (code " +
                           std::to_string(report.status) + ")") +
                    " in " + describe(*report.command));
}

namespace tilewright {

/// A builtin's view of the executor.
class PlanBuiltinCall final : public BuiltinCall {
public:
  PlanBuiltinCall(Executor &executor, const format::BuiltinT &builtin,
                  const format::CommandT &command)
      : executor(executor), command(command) {
    plan = &builtin;
  }

  Status begin() {
    inputViews.resize(plan->inputs.size());
    outputViews.resize(plan->outputs.size());
    for (size_t i = 0; i < plan->inputs.size(); ++i) {
      if (plan->inputs[i] >= 0) {
        TW_RETURN_IF_ERROR(executor.readOnHost(plan->inputs[i], inputViews[i]));
      }
    }
    return Status::ok();
  }

  Status allocate(std::initializer_list<int64_t> sizes) override {
    if (sizes.size() < plan->defines.size()) {
      return planError("builtin '" + plan->name +
                       "' does not give so many "
                       "sizes");
    }
    for (size_t i = 0; i < plan->defines.size(); ++i) {
      executor.symbols[plan->defines[i]] = sizes.begin()[i];
    }
    if (!plan->defines.empty()) {
      executor.evaluate(command.evaluate);
    }
    for (size_t i = 0; i < plan->outputs.size(); ++i) {
      if (plan->outputs[i] >= 0) {
        TW_RETURN_IF_ERROR(executor.define(plan->outputs[i], outputViews[i]));
        TW_RETURN_IF_ERROR(executor.device.writeOnHost(outputViews[i]));
      }
    }
    return Status::ok();
  }

  uint64_t occurrence() override { return executor.occurrences[plan]++; }
  ThreadPool &threads() override { return executor.pool; }

private:
  Executor &executor;
  const format::CommandT &command;
};

} // namespace tilewright

Status Executor::builtin(const format::BuiltinT &builtin,
                         const format::CommandT &command) {
  PlanBuiltinCall call(*this, builtin, command);
  TW_RETURN_IF_ERROR(call.begin());
  Status status = findBuiltin(builtin.name)->run(call);
  if (!status.isOk()) {
    return Status(status.code(), status.message() + " in " + describe(command));
  }
  return device.endHostAccess();
}

Status Executor::copy(const format::CopyT &copy) {
  TensorView from;
  TensorView to;
  TW_RETURN_IF_ERROR(resolve(copy.from, from));
  TW_RETURN_IF_ERROR(define(copy.to, to));
  int64_t bytes = from.bytes();
  if (bytes != to.bytes()) {
    return Status(ErrorCode::DataInvalid,
                  describe(copy.from) + " of shape " + from.shape.toString() +
                      " does not have the elements of " + describe(copy.to) +
                      " of shape " + to.shape.toString());
  }
  if (bytes == 0 || from.data == to.data) {
    return Status::ok();
  }
  return device.copy(to.data, from.data, bytes);
}

static int64_t readInteger(const TensorView &view, size_t index) {
  switch (view.dtype) {
  case DType::I8:
    return view.as<int8_t>()[index];
  case DType::I16:
    return view.as<int16_t>()[index];
  case DType::I32:
    return view.as<int32_t>()[index];
  case DType::U8:
    return view.as<uint8_t>()[index];
  case DType::U16:
    return view.as<uint16_t>()[index];
  case DType::U32:
    return view.as<uint32_t>()[index];
  case DType::U64:
    return static_cast<int64_t>(
        std::min<uint64_t>(view.as<uint64_t>()[index], INT64_MAX));
  default:
    return view.as<int64_t>()[index];
  }
}

Status Executor::readSizes(const format::ReadSizesT &read,
                           const format::CommandT &command) {
  TensorView from;
  TW_RETURN_IF_ERROR(readOnHost(read.from, from));
  int64_t count = from.elements();
  for (size_t i = 0; i < read.elements.size(); ++i) {
    if (read.elements[i] >= count) {
      return Status(ErrorCode::DataInvalid,
                    describe(read.from) + " has " + std::to_string(count) +
                        " elements, and " + describe(command) +
                        " reads element " + std::to_string(read.elements[i]));
    }
    int64_t size = readInteger(from, read.elements[i]);
    if (size < read.minimum) {
      return Status(ErrorCode::DataInvalid,
                    "element " + std::to_string(read.elements[i]) + " of " +
                        describe(read.from) + " is " + std::to_string(size) +
                        "; " + describe(command) + " takes at least " +
                        std::to_string(read.minimum));
    }
    symbols[read.symbols[i]] = size;
  }
  return device.endHostAccess();
}

Status Executor::writeSizes(const format::WriteSizesT &write) {
  TensorView to;
  TW_RETURN_IF_ERROR(define(write.to, to));
  if (to.elements() != static_cast<int64_t>(write.sizes.size())) {
    return planError(describe(write.to) + " gets " +
                     std::to_string(write.sizes.size()) + " sizes");
  }
  TW_RETURN_IF_ERROR(device.writeOnHost(to));
  for (size_t i = 0; i < write.sizes.size(); ++i) {
    int64_t size = expressions[write.sizes[i]];
    if (size == overflowedSize) {
      return Status(ErrorCode::DataInvalid,
                    describe(write.to) + " would hold a size that does not "
                                         "fit into 64 bits");
    }
    to.as<int64_t>()[i] = size;
  }
  return device.endHostAccess();
}
