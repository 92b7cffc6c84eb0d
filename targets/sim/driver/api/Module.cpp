//===- Module.cpp - modules and functions of the driver API ---------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "targets/sim/driver/Context.h"

#include <algorithm>
#include <cstring>

using namespace tilewright;
using namespace tilewright::sim;

// Dynamic shared memory that a kernel may have without asking for more.
static constexpr int defaultShared = 48 * 1024;

/// Whether these are machine code (an ELF image, or several in one) and no
/// text.
static bool isBinary(const void *image) {
  // A text may be shorter; its end differs.
  const char *bytes = static_cast<const char *>(image);
  return std::strncmp(bytes,
                      "\x7f"
                      "ELF",
                      4) == 0 ||
         std::strncmp(bytes, "\x50\xed\x55\xba", 4) == 0;
}

/// The caller's buffer for the compiler's messages.
namespace {
class JitLog {
public:
  JitLog(unsigned count, const CUjit_option *options, void **values) {
    for (unsigned i = 0; options && values && i < count; ++i) {
      if (options[i] == CU_JIT_ERROR_LOG_BUFFER) {
        buffer = static_cast<char *>(values[i]);
      } else if (options[i] == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES) {
        size = reinterpret_cast<size_t>(values[i]);
        used = &values[i];
      }
    }
    write("");
  }

  /// Cuts what is too long.
  void write(const std::string &text) {
    if (!buffer || size == 0) {
      return;
    }
    size_t bytes = std::min(text.size(), size - 1);
    std::memcpy(buffer, text.data(), bytes);
    buffer[bytes] = '\0';
    if (used) {
      *used = reinterpret_cast<void *>(bytes);
    }
  }

private:
  char *buffer = nullptr;
  size_t size = 0;
  void **used = nullptr;
};
} // namespace

static CUresult load(Context &context, CUmodule *out, const char *text,
                     JitLog &log) {
  Result<std::shared_ptr<const Program>> program = Program::parse(text);
  if (!program) {
    log.write(program.status().message());
    return program.status().code() == ErrorCode::UnsupportedInstruction
               ? CUDA_ERROR_NOT_SUPPORTED
               : CUDA_ERROR_INVALID_PTX;
  }
  unsigned device =
      static_cast<unsigned>(context.device->major * 10 + context.device->minor);
  unsigned target = (*program)->targetArchitecture();
  if (target > device ||
      ((*program)->isArchitectureSpecific() && target != device)) {
    log.write("the PTX is for sm_" + std::to_string(target) +
              ", and the device is sm_" + std::to_string(device));
    return CUDA_ERROR_NO_BINARY_FOR_GPU;
  }
  Result<std::shared_ptr<const Instance>> instance =
      Instance::load(*program, *context.memory);
  if (!instance) {
    log.write(instance.status().message());
    return instance.status().code() == ErrorCode::OutOfMemory
               ? CUDA_ERROR_OUT_OF_MEMORY
               : CUDA_ERROR_INVALID_PTX;
  }
  auto module = std::make_unique<Module>();
  module->instance = std::move(*instance);
  *out = reinterpret_cast<CUmodule>(context.modules.add(std::move(module)));
  return CUDA_SUCCESS;
}

CUresult CUDAAPI cuModuleLoadDataEx(CUmodule *module, const void *image,
                                    unsigned count, CUjit_option *options,
                                    void **values) {
  return withContext([&](Context &context) -> CUresult {
    if (!module || !image) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    JitLog log(count, options, values);
    if (isBinary(image)) {
      return CUDA_ERROR_NO_BINARY_FOR_GPU;
    }
    return load(context, module, static_cast<const char *>(image), log);
  });
}

CUresult CUDAAPI cuModuleUnload(CUmodule module) {
  return withContextAnyway([&](Context &context) -> CUresult {
    Module *found = context.modules.find(module);
    if (!found) {
      return CUDA_ERROR_INVALID_HANDLE;
    }
    context.scheduler.runAll();
    for (const auto &entry : found->functions) {
      context.functions.erase(entry.second.get());
    }
    context.modules.remove(module);
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuModuleGetFunction(CUfunction *function, CUmodule module,
                                     const char *name) {
  return withContext([&](Context &context) -> CUresult {
    Module *found = context.modules.find(module);
    if (!found) {
      return CUDA_ERROR_INVALID_HANDLE;
    }
    if (!function || !name) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    std::unique_ptr<Function> &entry = found->functions[name];
    if (!entry) {
      const Kernel *kernel = found->instance->program().find(name);
      if (!kernel) {
        found->functions.erase(name);
        return CUDA_ERROR_NOT_FOUND;
      }
      entry = std::make_unique<Function>();
      entry->module = found;
      entry->kernel = kernel;
      entry->dynamicSharedLimit = std::max(
          0, defaultShared - static_cast<int>(kernel->staticSharedBytes));
      context.functions.insert(entry.get());
    }
    *function = reinterpret_cast<CUfunction>(entry.get());
    return CUDA_SUCCESS;
  });
}

static Function *findFunction(Context &context, CUfunction handle) {
  auto *function = reinterpret_cast<Function *>(handle);
  return context.functions.count(function) ? function : nullptr;
}

CUresult CUDAAPI cuFuncSetAttribute(CUfunction handle,
                                    CUfunction_attribute which, int value) {
  return withContext([&](Context &context) -> CUresult {
    Function *function = findFunction(context, handle);
    if (!function) {
      return CUDA_ERROR_INVALID_HANDLE;
    }
    switch (which) {
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      if (value < 0 || value + int64_t(function->kernel->staticSharedBytes) >
                           context.device->sharedPerBlock) {
        return CUDA_ERROR_INVALID_VALUE;
      }
      function->dynamicSharedLimit = value;
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
      return CUDA_SUCCESS; // A hint.
    default:
      return CUDA_ERROR_INVALID_VALUE;
    }
  });
}

CUresult CUDAAPI cuFuncGetAttribute(int *value, CUfunction_attribute which,
                                    CUfunction handle) {
  return withContext([&](Context &context) -> CUresult {
    Function *function = findFunction(context, handle);
    if (!function) {
      return CUDA_ERROR_INVALID_HANDLE;
    }
    if (!value) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    const Kernel &kernel = *function->kernel;
    const Program &program = function->module->instance->program();
    switch (which) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      *value = static_cast<int>(std::min(kernel.maxThreads, 1024u));
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
      *value = static_cast<int>(kernel.staticSharedBytes);
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
      *value = static_cast<int>(kernel.localBytes);
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
      *value = static_cast<int>(kernel.registers);
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
      *value = static_cast<int>(program.targetArchitecture());
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      *value = function->dynamicSharedLimit;
      return CUDA_SUCCESS;
    default:
      return CUDA_ERROR_NOT_SUPPORTED;
    }
  });
}
