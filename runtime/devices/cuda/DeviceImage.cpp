//===- DeviceImage.cpp - a module's kernels and constants on a GPU --------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "runtime/devices/cuda/DeviceImage.h"

#include "runtime/devices/cuda/Staging.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>

using namespace tilewright;

// Constants begin at multiples of this, like allocations of their own.
static constexpr uint64_t constantAlignment = 256;

// Constants are copied in pieces, two at a time.
static constexpr uint64_t copyPiece = uint64_t(4) << 20;

// Of what the driver says about PTX that it does not take.
static constexpr size_t logBytes = 4096;

bool tilewright::runsOn(const LoadedVariant &variant,
                        const GpuArchitecture &device) {
  bool machineCode = variant.architecture.machineCodeRunsOn(device);
  bool ptx = variant.architecture.ptxRunsOn(device);
  return std::all_of(variant.deviceKernels.begin(), variant.deviceKernels.end(),
                     [&](const LoadedDeviceKernel &kernel) {
                       return (machineCode && !kernel.cubin.empty()) ||
                              (ptx && !kernel.ptx.empty());
                     });
}

Result<std::shared_ptr<const DeviceImage>>
DeviceImage::get(std::shared_ptr<const Gpu> gpu, const LoadedModule &module,
                 const LoadedVariant &variant) {
  using Key = std::pair<const LoadedVariant *, CUcontext>;
  static std::mutex mutex;
  static auto &images = *new std::map<Key, std::weak_ptr<const DeviceImage>>;
  std::lock_guard<std::mutex> lock(mutex);
  for (auto it = images.begin(); it != images.end();) {
    it = it->second.expired() ? images.erase(it) : std::next(it);
  }
  std::weak_ptr<const DeviceImage> &entry = images[{&variant, gpu->context}];
  if (std::shared_ptr<const DeviceImage> image = entry.lock()) {
    return image;
  }
  std::shared_ptr<DeviceImage> image(new DeviceImage(std::move(gpu)));
  TW_RETURN_IF_ERROR(image->loadKernels(variant));
  TW_RETURN_IF_ERROR(image->allowShared(variant.plan()));
  TW_RETURN_IF_ERROR(image->copyConstants(module, variant.plan()));
  entry = image;
  return std::shared_ptr<const DeviceImage>(std::move(image));
}

DeviceImage::~DeviceImage() {
  if (!gpu->makeCurrent().isOk()) {
    return;
  }
  for (CUmodule module : modules) {
    gpu->driver.moduleUnload(module);
  }
  if (constantMemory) {
    gpu->driver.memFree(constantMemory);
  }
}

Status DeviceImage::loadKernels(const LoadedVariant &variant) {
  bool machineCode = variant.architecture.machineCodeRunsOn(gpu->architecture);
  bool ptx = variant.architecture.ptxRunsOn(gpu->architecture);
  for (size_t i = 0; i < variant.deviceKernels.size(); ++i) {
    const std::string &name = variant.plan().kernels[i];
    const LoadedDeviceKernel &code = variant.deviceKernels[i];
    CUmodule module = nullptr;
    TW_RETURN_IF_ERROR(loadKernel(code, name,
                                  machineCode && !code.cubin.empty(),
                                  ptx && !code.ptx.empty(), module));
    modules.push_back(module);
    CUfunction function = nullptr;
    CUresult result =
        gpu->driver.moduleGetFunction(&function, module, name.c_str());
    if (result == CUDA_ERROR_NOT_FOUND) {
      return Status(ErrorCode::ModuleDamaged,
                    "the module contradicts itself: its code lacks the kernel "
                    "'" +
                        name + "'; compile the model again");
    }
    TW_RETURN_IF_ERROR(
        gpu->driver.check(result, "finding the kernel '" + name + "'"));
    kernels.push_back(function);
  }
  return Status::ok();
}

/// Loads machine code, or has the driver compile PTX where there is none that
/// the GPU takes.
Status DeviceImage::loadKernel(const LoadedDeviceKernel &code,
                               const std::string &name, bool hasMachineCode,
                               bool hasPtx, CUmodule &module) {
  const Driver &driver = gpu->driver;
  CUresult result = CUDA_ERROR_NO_BINARY_FOR_GPU;
  if (hasMachineCode) {
    result = driver.moduleLoadDataEx(&module, code.cubin.data(), 0, nullptr,
                                     nullptr);
  }
  if (result == CUDA_ERROR_NO_BINARY_FOR_GPU && !hasPtx) {
    return Status(ErrorCode::DeviceArchitecture,
                  "the GPU '" + gpu->name +
                      "' does not take the machine code of kernel '" + name +
                      "', and the module has no PTX of it; compile the model "
                      "with --target cuda:" +
                      gpu->architecture.name());
  }
  if (result != CUDA_ERROR_NO_BINARY_FOR_GPU) {
    return driver.check(result, "loading the kernel '" + name + "'");
  }
  std::string text(code.ptx); // The driver wants its end marked.
  std::string log(logBytes, '\0');
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER,
                            CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void *values[] = {log.data(), reinterpret_cast<void *>(log.size())};
  result = driver.moduleLoadDataEx(&module, text.c_str(), 2, options, values);
  log.resize(strnlen(log.data(), log.size()));
  if (result == CUDA_SUCCESS) {
    ++compiled;
    return Status::ok();
  }
  std::string message = "the PTX of kernel '" + name +
                        "' was refused: " + driver.describe(result) +
                        (log.empty() ? "" : ": " + log);
  switch (result) {
  case CUDA_ERROR_INVALID_PTX:
    return Status(ErrorCode::ModuleDamaged, message);
  case CUDA_ERROR_UNSUPPORTED_PTX_VERSION:
    return Status(ErrorCode::DeviceDriver,
                  message + "; install a newer driver");
  case CUDA_ERROR_NOT_SUPPORTED:
    return Status(ErrorCode::UnsupportedInstruction, message);
  default:
    return driver.failure(result, message);
  }
}

/// Lets each kernel have as much dynamic shared memory as its launches ask for.
Status DeviceImage::allowShared(const format::PlanT &plan) {
  std::vector<uint32_t> most(kernels.size());
  for (const auto &function : plan.functions) {
    for (const auto &command : function->commands) {
      if (const format::LaunchT *launch = command->body.AsLaunch()) {
        most[launch->kernel] = std::max(most[launch->kernel], launch->shared);
      }
    }
  }
  for (size_t i = 0; i < kernels.size(); ++i) {
    if (most[i] > 0) {
      TW_RETURN_IF_ERROR(gpu->driver.check(
          gpu->driver.funcSetAttribute(
              kernels[i], CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
              static_cast<int>(most[i])),
          "giving the kernel '" + plan.kernels[i] + "' " +
              std::to_string(most[i]) + " bytes of shared memory"));
    }
  }
  return Status::ok();
}

namespace {
/// Copies to the GPU through two pieces of page-locked memory in turn.
class Uploader {
public:
  explicit Uploader(const std::shared_ptr<const Gpu> &gpu)
      : gpu(gpu), staging(gpu) {}
  ~Uploader() {
    for (Piece &piece : pieces) {
      if (piece.event) {
        gpu->driver.eventDestroy(piece.event);
      }
    }
    if (stream) {
      gpu->driver.streamDestroy(stream);
    }
  }

  Status open() {
    const Driver &driver = gpu->driver;
    TW_RETURN_IF_ERROR(driver.check(
        driver.streamCreate(&stream, CU_STREAM_NON_BLOCKING), "a stream"));
    for (Piece &piece : pieces) {
      TW_RETURN_IF_ERROR(driver.check(
          driver.eventCreate(&piece.event, CU_EVENT_DISABLE_TIMING),
          "an event"));
      Result<char *> data = staging.take(copyPiece);
      if (!data) {
        return data.status();
      }
      piece.data = *data;
    }
    return Status::ok();
  }

  Status copy(CUdeviceptr to, const char *from, uint64_t bytes) {
    const Driver &driver = gpu->driver;
    while (bytes > 0) {
      Piece &piece = pieces[turn++ % 2];
      uint64_t size = std::min(bytes, copyPiece);
      TW_RETURN_IF_ERROR(driver.check(driver.eventSynchronize(piece.event),
                                      "copying constants"));
      std::memcpy(piece.data, from, size);
      TW_RETURN_IF_ERROR(
          driver.check(driver.memcpyHtoDAsync(to, piece.data, size, stream),
                       "copying constants"));
      TW_RETURN_IF_ERROR(driver.check(driver.eventRecord(piece.event, stream),
                                      "copying constants"));
      to += size;
      from += size;
      bytes -= size;
    }
    return Status::ok();
  }

  Status label(CUdeviceptr data, uint64_t bytes, const std::string &name) {
    const SimulatorInterface *simulator = gpu->driver.simulator;
    return simulator ? gpu->driver.check(simulator->beginLife(
                                             data, bytes, name.c_str(), stream),
                                         "placing constants")
                     : Status::ok();
  }

  Status finish() {
    return gpu->driver.check(gpu->driver.streamSynchronize(stream),
                             "copying constants");
  }

private:
  struct Piece {
    char *data = nullptr;
    CUevent event = nullptr;
  };
  const std::shared_ptr<const Gpu> &gpu;
  Staging staging;
  CUstream stream = nullptr;
  Piece pieces[2];
  unsigned turn = 0;
};
} // namespace

/// Copies the constants that values of the plan need.
Status DeviceImage::copyConstants(const LoadedModule &module,
                                  const format::PlanT &plan) {
  std::vector<std::string> names(module.constants.size());
  std::vector<bool> needed(module.constants.size());
  for (const auto &value : plan.values) {
    if (value->storage == format::Storage_Constant) {
      needed[value->index] = true;
      names[value->index] = "constant '" + value->name + "'";
    }
  }
  std::vector<uint64_t> offsets;
  uint64_t total = 0;
  for (size_t i = 0; i < needed.size(); ++i) {
    offsets.push_back(total);
    uint64_t bytes = needed[i] ? module.constants[i].bytes : 0;
    total +=
        (bytes + constantAlignment - 1) / constantAlignment * constantAlignment;
    // The simulator finds accesses to what lies between constants.
    total += gpu->driver.simulator ? constantAlignment : 0;
  }
  constantList.resize(needed.size());
  // An empty constant needs an address too.
  const Driver &driver = gpu->driver;
  if (std::count(needed.begin(), needed.end(), true) == 0) {
    return Status::ok();
  }
  TW_RETURN_IF_ERROR(driver.check(
      driver.memAlloc(&constantMemory, std::max(total, constantAlignment)),
      "placing " + std::to_string(total) + " bytes of constants"));
  Uploader uploader(gpu);
  TW_RETURN_IF_ERROR(uploader.open());
  for (size_t i = 0; i < needed.size(); ++i) {
    if (needed[i]) {
      const LoadedConstant &constant = module.constants[i];
      CUdeviceptr place = constantMemory + offsets[i];
      if (constant.bytes > 0) {
        TW_RETURN_IF_ERROR(uploader.label(place, constant.bytes, names[i]));
      }
      TW_RETURN_IF_ERROR(uploader.copy(place, constant.data, constant.bytes));
      constantList[i] = {reinterpret_cast<const char *>(place), constant.bytes};
    }
  }
  return uploader.finish();
}
