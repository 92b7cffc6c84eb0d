//===- ObtainModule.cpp - a module from a file of either kind -------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "tools/tilewright/ObtainModule.h"

#include "runtime/module/FileLayout.h"
#include "tools/driver/ModuleCache.h"
#include "tools/driver/ObjectFolder.h"
#include "tools/tilewright/Report.h"
#include "tools/tilewright/Reproducer.h"

#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace tilewright {

using Clock = std::chrono::steady_clock;

static double millisecondsSince(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start)
      .count();
}

bool isModuleFile(const std::string &path) {
  std::filesystem::path file(path);
  if (file.extension() == ".twm") {
    return true;
  }
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error)) {
    return false;
  }
  char magic[sizeof moduleMagic] = {};
  std::ifstream(file, std::ios::binary).read(magic, sizeof magic);
  return std::memcmp(magic, moduleMagic, sizeof magic) == 0;
}

Result<CompileResult> compileOrExplain(const std::string &path,
                                       const CompileOptions &options) {
  Result<CompileResult> result = compileModel(path, options);
  if (!result && result.status().kind() == ErrorKind::Internal) {
    return writeReproducer(path, options, result.status());
  }
  return result;
}

static OpenOptions openOptions(const CompileOptions &options) {
  OpenOptions open;
  if (options.target && options.target->isGpu()) {
    open.device = options.simulated ? DeviceKind::Simulator : DeviceKind::Cuda;
    open.architecture = options.target->name;
  } else if (options.target) {
    open.device = DeviceKind::Cpu;
    open.level = cpuLevelFromName(options.target->name);
  }
  return open;
}

static Result<ObtainedModule> openFile(const std::string &path,
                                       const CompileOptions &options) {
  Clock::time_point start = Clock::now();
  auto module = Module::open(path, openOptions(options));
  if (!module) {
    return module.status();
  }
  ObtainedModule obtained;
  obtained.module = std::move(*module);
  obtained.file = path;
  obtained.milliseconds = millisecondsSince(start);
  return obtained;
}

static Result<ObtainedModule> compileNow(const ModuleRequest &request) {
  Clock::time_point start = Clock::now();
  CompileOptions options = request.compile;
  if (request.lookUp) {
    options.objectFolder = ObjectFolder::userFolder();
  }
  Result<CompileResult> compiled = compileOrExplain(request.path, options);
  if (!compiled) {
    return compiled.status();
  }
  ObtainedModule obtained;
  obtained.milliseconds = millisecondsSince(start);
  auto module =
      Module::fromBytes(compiled->module, openOptions(request.compile));
  if (!module) {
    return module.status();
  }
  obtained.module = std::move(*module);
  obtained.bytes = std::move(compiled->module);
  return obtained;
}

static Status checkRunsHere(const CompileOptions &options) {
  if (!options.target || options.target->isGpu() ||
      runsOnHost(*options.target)) {
    return Status::ok();
  }
  const TargetSpec *host = hostTarget();
  return Status(ErrorCode::ModuleTarget,
                "this processor does not run code for cpu:" +
                    std::string(options.target->name) + "; it runs up to " +
                    (host ? "cpu:" + std::string(host->name) : "no level"));
}

/// When a file last changed, or nothing.
static std::optional<std::filesystem::file_time_type>
timeOf(const std::string &path) {
  std::error_code error;
  auto time = std::filesystem::last_write_time(path, error);
  return error ? std::nullopt : std::make_optional(time);
}

Result<ObtainedModule> obtainModule(const ModuleRequest &request) {
  if (isModuleFile(request.path)) {
    Result<ObtainedModule> opened = openFile(request.path, request.compile);
    if (opened) {
      opened->wasModule = true;
    }
    return opened;
  }
  TW_RETURN_IF_ERROR(checkRunsHere(request.compile));
  if (!request.lookUp && !request.keep) {
    return compileNow(request);
  }
  ModuleCache cache(ModuleCache::userFolder());
  auto changed = timeOf(request.path);
  Result<std::string> key = cacheKey(request.path, request.compile);
  if (!key) {
    // What is wrong with the model is the compiler's to say.
    return compileNow(request);
  }
  if (auto file = request.lookUp ? cache.find(*key) : std::nullopt) {
    Result<ObtainedModule> found = openFile(file->string(), request.compile);
    if (found) {
      found->cached = true;
      return found;
    }
  }
  Result<ObtainedModule> compiled = compileNow(request);
  if (compiled && request.keep && timeOf(request.path) == changed) {
    cache.store(*key, compiled->bytes);
  }
  return compiled;
}

std::string targetOf(const Module &module) {
  switch (module.device()) {
  case DeviceKind::Cpu:
    return std::string("cpu:") + nameOf(module.level());
  case DeviceKind::Cuda:
    return module.targets();
  case DeviceKind::Simulator:
    return module.targets() + " on the simulator";
  }
  return "";
}

std::string describeSummary(const std::string &summary) {
  nlohmann::json json = parseJson(summary);
  auto number = [&](const char *key) -> int64_t {
    return json.is_object() && json.contains(key) && json[key].is_number()
               ? json[key].get<int64_t>()
               : 0;
  };
  return formatCount(number("onnx_nodes"), "ONNX node") + ", " +
         formatCount(number("launches"), "launch") + " of " +
         formatCount(number("kernels"), "kernel") + ", arena " +
         formatBytes(number("arena_bytes")) + ", constants " +
         formatBytes(number("constant_bytes"));
}

} // namespace tilewright
