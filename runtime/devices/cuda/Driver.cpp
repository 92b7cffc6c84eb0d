//===- Driver.cpp - the CUDA driver API, opened at run time ---------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "runtime/devices/cuda/Driver.h"

#include <cstdlib>
#include <dlfcn.h>
#include <map>
#include <memory>
#include <mutex>
#include <unistd.h>
#include <vector>

using namespace tilewright;

// The oldest driver that has all functions; their signatures are those of this
// version whatever the driver's own.
static constexpr int driverVersion = 12000;

static const char *lastDlError() {
  const char *text = dlerror();
  return text ? text : "unknown reason";
}

/// Finds all functions and initialises the driver. `name` is for messages.
static Result<std::unique_ptr<Driver>> resolve(void *library,
                                               const std::string &name) {
  auto unusable = [&](const std::string &why) {
    return Status(ErrorCode::DeviceDriver,
                  "the CUDA driver '" + name + "' cannot be used: " + why);
  };
  using GetProcAddress = decltype(&::cuGetProcAddress_v2);
  auto find =
      reinterpret_cast<GetProcAddress>(dlsym(library, "cuGetProcAddress_v2"));
  if (!find) {
    return unusable("it is older than CUDA 12.0; install a newer driver");
  }
  auto driver = std::make_unique<Driver>();
  std::string missing;
  auto get = [&](const char *symbol, auto &function) {
    void *address = nullptr;
    CUdriverProcAddressQueryResult found = CU_GET_PROC_ADDRESS_SUCCESS;
    if (find(symbol, &address, driverVersion, CU_GET_PROC_ADDRESS_DEFAULT,
             &found) != CUDA_SUCCESS ||
        !address) {
      missing += (missing.empty() ? "" : ", ") + std::string(symbol);
    }
    function = reinterpret_cast<std::decay_t<decltype(function)>>(address);
  };
#define TILEWRIGHT_CUDA_GET(member, function) get(#function, driver->member);
  TILEWRIGHT_CUDA_FUNCTIONS(TILEWRIGHT_CUDA_GET)
#undef TILEWRIGHT_CUDA_GET
  if (!missing.empty()) {
    return unusable("it lacks " + missing +
                    "; install a driver of CUDA 12.0 "
                    "or newer");
  }
  CUresult result = driver->init(0);
  if (result == CUDA_ERROR_NO_DEVICE) {
    return Status(ErrorCode::DeviceMissing,
                  "this machine has no GPU that CUDA can use; run on the "
                  "processor, or on the simulator with --target sim:sm_80");
  }
  if (result != CUDA_SUCCESS) {
    return unusable(driver->describe(result));
  }
  return driver;
}

/// Opens each library once. Failures are not kept.
static Result<const Driver *> openOnce(const std::string &name,
                                       const std::vector<std::string> &paths,
                                       ErrorCode missing,
                                       const std::string &help) {
  static std::mutex mutex;
  // Never destroyed: a context may outlive what the process destroys.
  static auto &opened = *new std::map<std::string, std::unique_ptr<Driver>>;
  std::lock_guard<std::mutex> lock(mutex);
  auto found = opened.find(name);
  if (found != opened.end()) {
    return found->second.get();
  }
  std::string reason;
  for (const std::string &path : paths) {
    void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) {
      reason += (reason.empty() ? "" : "; ") + std::string(lastDlError());
      continue;
    }
    const SimulatorInterface *simulator = nullptr;
    if (missing == ErrorCode::SimulatorMissing) {
      auto entry = reinterpret_cast<SimulatorEntry>(
          dlsym(library, "tilewrightSimulator"));
      simulator = entry ? entry(simulatorInterfaceVersion) : nullptr;
      if (!simulator) {
        dlclose(library);
        return Status(missing, "'" + path +
                                   "' is not the simulator of this version "
                                   "of Tilewright");
      }
    }
    Result<std::unique_ptr<Driver>> driver = resolve(library, path);
    if (!driver) {
      dlclose(library);
      return driver.status();
    }
    (*driver)->library = library;
    (*driver)->simulator = simulator;
    return (opened[name] = std::move(*driver)).get();
  }
  return Status(missing, help + " (" + reason + ")");
}

Result<const Driver *> Driver::openNvidia() {
  return openOnce("", {"libcuda.so.1"}, ErrorCode::DeviceDriver,
                  "this machine has no CUDA driver; run on the processor, or "
                  "on the simulator with --target sim:sm_80");
}

/// \returns where the simulator may lie, in this order.
static std::vector<std::string> simulatorPaths(const std::string &path) {
  if (!path.empty()) {
    return {path};
  }
  if (const char *variable = std::getenv("TILEWRIGHT_SIM_LIBRARY")) {
    return {variable};
  }
  static constexpr const char *file = "libtilewright-sim.so";
  std::vector<std::string> paths;
  char program[4096];
  ssize_t size = readlink("/proc/self/exe", program, sizeof program);
  if (size > 0 && size < static_cast<ssize_t>(sizeof program)) {
    std::string folder(program, static_cast<size_t>(size));
    folder.resize(folder.rfind('/') + 1);
    paths.push_back(folder + file);
    paths.push_back(folder + "../lib/" + file);
  }
  paths.push_back(file);
  return paths;
}

Result<const Driver *> Driver::openSimulator(const std::string &path) {
  std::vector<std::string> paths = simulatorPaths(path);
  return openOnce("simulator " + paths[0], paths, ErrorCode::SimulatorMissing,
                  "the GPU simulator's library libtilewright-sim.so cannot be "
                  "opened; build the target TilewrightSimDriver, or say where "
                  "it is with TILEWRIGHT_SIM_LIBRARY");
}

std::string Driver::describe(CUresult result) const {
  const char *name = nullptr;
  const char *text = nullptr;
  getErrorName(result, &name);
  getErrorString(result, &text);
  std::string out = name ? name : "CUDA error " + std::to_string(result);
  if (text) {
    out += std::string(" (") + text + ")";
  }
  if (simulator && *simulator->finding()) {
    out += std::string(": ") + simulator->finding();
  }
  return out;
}

Status Driver::failure(CUresult result, const std::string &what) const {
  if (result == CUDA_ERROR_OUT_OF_MEMORY) {
    return Status(ErrorCode::DeviceMemory,
                  what + " failed: there is not enough memory on the GPU; "
                         "smaller inputs or another GPU may help");
  }
  return Status(ErrorCode::DeviceFault,
                what + " failed: " + describe(result) +
                    (simulator ? ""
                               : "; the simulator may say more: run with "
                                 "--target sim:ARCHITECTURE"));
}
