//===- Context.cpp - running a module -------------------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "tilewright/Context.h"

#include "runtime/devices/Devices.h"
#include "runtime/exec/Executor.h"

#include <mutex>
#include <new>
#include <optional>

using namespace tilewright;

struct Context::Impl {
  Impl(std::shared_ptr<const Module> module, unsigned threads)
      : module(std::move(module)), pool(threads) {}

  std::shared_ptr<const Module> module;
  ThreadPool pool;
  OpenedDevice opened;
  std::optional<Executor> executor;
  mutable std::mutex mutex;
};

// More threads than any machine has; a typing error, not a wish.
static constexpr unsigned mostThreads = 4096;

static Status outOfMemory() {
  return Status(ErrorCode::OutOfMemory, "there is not enough memory for a run");
}

Context::Context(std::unique_ptr<Impl> impl) : impl(std::move(impl)) {}
Context::~Context() = default;

Result<std::unique_ptr<Context>>
Context::create(std::shared_ptr<const Module> module,
                const ContextOptions &options) {
  if (!module) {
    return Status(ErrorCode::OptionInvalid, "a context needs a module");
  }
  if (options.threads > mostThreads) {
    return Status(ErrorCode::OptionInvalid, "a context has at most " +
                                                std::to_string(mostThreads) +
                                                " threads");
  }
  try {
    auto impl = std::make_unique<Impl>(std::move(module), options.threads);
    const LoadedModule &loaded = impl->module->loaded();
    Result<OpenedDevice> opened = openDevice(loaded, options, impl->pool);
    if (!opened) {
      return opened.status();
    }
    impl->opened = std::move(*opened);
    impl->executor.emplace(loaded, *impl->opened.variant, *impl->opened.device,
                           impl->pool);
    return std::unique_ptr<Context>(new Context(std::move(impl)));
  } catch (const std::bad_alloc &) {
    return outOfMemory();
  }
}

Result<std::vector<Tensor>>
Context::run(const std::vector<TensorView> &inputs) {
  std::lock_guard<std::mutex> lock(impl->mutex);
  try {
    return impl->executor->run(inputs);
  } catch (const std::bad_alloc &) {
    return outOfMemory();
  }
}

Result<std::vector<Tensor>> Context::run(
    const std::vector<std::pair<std::string_view, TensorView>> &inputs) {
  const std::vector<Parameter> &parameters = impl->module->inputs();
  std::vector<TensorView> ordered(parameters.size());
  std::vector<bool> given(parameters.size());
  std::string names;
  for (const Parameter &parameter : parameters) {
    names += (names.empty() ? "'" : ", '") + parameter.name + "'";
  }
  for (const auto &input : inputs) {
    size_t index = 0;
    while (index < parameters.size() && parameters[index].name != input.first) {
      ++index;
    }
    if (index == parameters.size() || given[index]) {
      return Status(ErrorCode::InputName, (index == parameters.size()
                                               ? "there is no input '"
                                               : "there are two values for '") +
                                              std::string(input.first) +
                                              "'; the inputs are " + names);
    }
    given[index] = true;
    ordered[index] = input.second;
  }
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (!given[i]) {
      return Status(ErrorCode::InputName,
                    "input '" + parameters[i].name +
                        "' was not given; the inputs are " + names);
    }
  }
  return run(ordered);
}

void Context::setListener(std::function<void(const CommandEvent &)> listener) {
  std::lock_guard<std::mutex> lock(impl->mutex);
  impl->executor->listener = std::move(listener);
}

const Module &Context::module() const { return *impl->module; }
const std::string &Context::deviceName() const { return impl->opened.name; }
unsigned Context::threads() const { return impl->pool.size(); }

ContextStatistics Context::statistics() const {
  std::lock_guard<std::mutex> lock(impl->mutex);
  return impl->executor->statistics();
}
