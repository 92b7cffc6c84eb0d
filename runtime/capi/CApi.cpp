//===- CApi.cpp - the runtime's C API -------------------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "tilewright/CApi.h"

#include "tilewright/Tilewright.h"

#include <new>

using namespace tilewright;

static_assert(int(TW_C128) == int(DType::C128) &&
                  int(TW_BOOL) == int(DType::Bool) &&
                  int(TW_STRING) == int(DType::String),
              "tw_dtype and DType have drifted apart");

struct tw_module {
  std::shared_ptr<const Module> module;
};

struct tw_context {
  std::unique_ptr<Context> context;
};

struct tw_result {
  std::vector<Tensor> tensors;
};

static thread_local std::string lastError;

/// Remembers an error and returns its number.
static int fail(const Status &status) {
  lastError = status.toString();
  return static_cast<int>(status.code());
}

static int failWithoutArgument() {
  return fail(
      Status(ErrorCode::OptionInvalid, "an argument is a null pointer"));
}

static int failWithoutMemory() {
  return fail(Status(ErrorCode::OutOfMemory, ""));
}

static int give(Result<std::shared_ptr<const Module>> module, tw_module **out) {
  if (!module) {
    return fail(module.status());
  }
  *out = new (std::nothrow) tw_module{std::move(*module)};
  return *out ? 0 : failWithoutMemory();
}

/// What to open for a device; null arguments are checked elsewhere.
static Result<OpenOptions> optionsFor(int device, const char *code) {
  OpenOptions options;
  std::string text = code ? code : "";
  switch (device) {
  case TW_DEVICE_ANY:
    break;
  case TW_DEVICE_CPU:
    options.device = DeviceKind::Cpu;
    options.level = cpuLevelFromName(text);
    break;
  case TW_DEVICE_CUDA:
    options.device = DeviceKind::Cuda;
    options.architecture = text;
    break;
  case TW_DEVICE_SIMULATOR:
    options.device = DeviceKind::Simulator;
    options.architecture = text;
    break;
  default:
    return Status(ErrorCode::OptionInvalid,
                  "there is no device " +
                      std::to_string(static_cast<int>(device)));
  }
  bool isGpu = device == TW_DEVICE_CUDA || device == TW_DEVICE_SIMULATOR;
  if (!text.empty() && !isGpu && !options.level) {
    return Status(ErrorCode::OptionInvalid,
                  "'" + text + "' is no level of a processor; one is 'avx2'");
  }
  return options;
}

extern "C" {

const char *tw_last_error(void) { return lastError.c_str(); }

int tw_module_open(const char *path, tw_module **module) {
  if (!path || !module) {
    return failWithoutArgument();
  }
  return give(Module::open(path), module);
}

int tw_module_from_bytes(const void *data, size_t size, tw_module **module) {
  if (!data || !module) {
    return failWithoutArgument();
  }
  return give(Module::fromBytes(data, size), module);
}

int tw_module_open_for(const char *path, int device, const char *code,
                       tw_module **module) {
  if (!path || !module) {
    return failWithoutArgument();
  }
  Result<OpenOptions> options = optionsFor(device, code);
  return options ? give(Module::open(path, *options), module)
                 : fail(options.status());
}

int tw_module_from_bytes_for(const void *data, size_t size, int device,
                             const char *code, tw_module **module) {
  if (!data || !module) {
    return failWithoutArgument();
  }
  Result<OpenOptions> options = optionsFor(device, code);
  return options ? give(Module::fromBytes(data, size, *options), module)
                 : fail(options.status());
}

void tw_module_close(tw_module *module) { delete module; }

size_t tw_module_inputs(const tw_module *module) {
  return module->module->inputs().size();
}

size_t tw_module_outputs(const tw_module *module) {
  return module->module->outputs().size();
}

const char *tw_module_input_name(const tw_module *module, size_t index) {
  const std::vector<Parameter> &list = module->module->inputs();
  return index < list.size() ? list[index].name.c_str() : nullptr;
}

const char *tw_module_output_name(const tw_module *module, size_t index) {
  const std::vector<Parameter> &list = module->module->outputs();
  return index < list.size() ? list[index].name.c_str() : nullptr;
}

const char *tw_module_summary(const tw_module *module) {
  return module->module->summary().c_str();
}

tw_device tw_module_device(const tw_module *module) {
  switch (module->module->device()) {
  case DeviceKind::Cuda:
    return TW_DEVICE_CUDA;
  case DeviceKind::Simulator:
    return TW_DEVICE_SIMULATOR;
  case DeviceKind::Cpu:
    break;
  }
  return TW_DEVICE_CPU;
}

int tw_context_create(const tw_module *module, unsigned threads,
                      tw_context **context) {
  return tw_context_create_on(module, threads, /*gpu=*/0, context);
}

int tw_context_create_on(const tw_module *module, unsigned threads, int gpu,
                         tw_context **context) {
  if (!module || !context) {
    return failWithoutArgument();
  }
  ContextOptions options;
  options.threads = threads;
  options.device = gpu;
  auto created = Context::create(module->module, options);
  if (!created) {
    return fail(created.status());
  }
  *context = new (std::nothrow) tw_context{std::move(*created)};
  return *context ? 0 : failWithoutMemory();
}

void tw_context_free(tw_context *context) { delete context; }

const char *tw_context_device(const tw_context *context) {
  return context->context->deviceName().c_str();
}

int tw_context_run(tw_context *context, const tw_tensor *inputs, size_t count,
                   tw_result **result) {
  if (!context || !result || (count > 0 && !inputs)) {
    return failWithoutArgument();
  }
  try {
    std::vector<TensorView> views;
    for (size_t i = 0; i < count; ++i) {
      if (inputs[i].rank > 0 && !inputs[i].dims) {
        return failWithoutArgument();
      }
      views.emplace_back(static_cast<DType>(inputs[i].dtype),
                         ShapeRef(inputs[i].dims, inputs[i].rank),
                         inputs[i].data);
    }
    auto outputs = context->context->run(views);
    if (!outputs) {
      return fail(outputs.status());
    }
    *result = new tw_result{std::move(*outputs)};
    return 0;
  } catch (const std::bad_alloc &) {
    return failWithoutMemory();
  }
}

size_t tw_result_count(const tw_result *result) {
  return result->tensors.size();
}

tw_tensor tw_result_tensor(const tw_result *result, size_t index) {
  if (index >= result->tensors.size()) {
    return {};
  }
  TensorView view = result->tensors[index].view();
  return {static_cast<tw_dtype>(view.dtype), view.shape.rank(),
          view.shape.begin(), view.data};
}

void tw_result_free(tw_result *result) { delete result; }

} // extern "C"
