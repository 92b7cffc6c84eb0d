//===- Nvrtc.cpp - the CUDA C++ compiler, opened at run time --------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// NVRTC's functions are declared here: their C interface is stable, and a build
// without CUDA's headers has them, too.
//
//===----------------------------------------------------------------------===//

#include "codegen/cuda/Nvrtc.h"

#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <optional>

namespace fs = std::filesystem;

namespace tilewright {

namespace {
constexpr const char *libraryNames[] = {"libnvrtc.so.13", "libnvrtc.so.12"};
/// sm_120 came with 12.8; 12.0 knows sm_80 to sm_90a.
constexpr int leastMajor = 12;

std::optional<fs::path> folderFrom(const char *variable) {
  const char *value = std::getenv(variable);
  return value && *value ? std::optional<fs::path>(value) : std::nullopt;
}

/// The folders below `base` that may hold the library: a toolkit's, those of
/// the PyPI packages, and those of a virtual environment with them.
std::vector<fs::path> librariesBelow(const fs::path &base) {
  std::vector<fs::path> folders = {base, base / "lib64", base / "lib"};
  std::vector<fs::path> packages = {base / "nvidia"};
  std::error_code error;
  for (const auto &python : fs::directory_iterator(base / "lib", error)) {
    packages.push_back(python.path() / "site-packages" / "nvidia");
  }
  for (const fs::path &package : packages) {
    std::error_code none;
    for (const auto &part : fs::directory_iterator(package, none)) {
      folders.push_back(part.path() / "lib");
    }
  }
  return folders;
}

/// Where the library may lie, in the order of Nvrtc.h.
std::vector<fs::path> candidates() {
  std::vector<fs::path> bases;
  if (auto own = folderFrom("TILEWRIGHT_CUDA_PATH")) {
    bases.push_back(*own);
  }
  if (auto cache = folderFrom("XDG_CACHE_HOME")) {
    bases.push_back(*cache / "tilewright" / "cuda");
  } else if (auto home = folderFrom("HOME")) {
    bases.push_back(*home / ".cache" / "tilewright" / "cuda");
  }
  for (const char *variable : {"CUDA_PATH", "CUDA_HOME"}) {
    if (auto toolkit = folderFrom(variable)) {
      bases.push_back(*toolkit);
    }
  }
  bases.push_back("/usr/local/cuda");
  std::vector<fs::path> files;
  for (const fs::path &base : bases) {
    for (const fs::path &folder : librariesBelow(base)) {
      for (const char *name : libraryNames) {
        std::error_code error;
        if (fs::exists(folder / name, error)) {
          files.push_back(folder / name);
        }
      }
    }
  }
  for (const char *name : libraryNames) {
    files.push_back(name); // the loader's own search
  }
  return files;
}

Status missing(const std::string &tried) {
  return Status(
      ErrorCode::CudaCompilerMissing,
      "compiling for CUDA needs NVRTC 12 or newer, and it was not found. "
      "Install the CUDA toolkit, or the PyPI package nvidia-cuda-nvrtc into a "
      "folder that TILEWRIGHT_CUDA_PATH names (pip install --target FOLDER "
      "nvidia-cuda-nvrtc). Tried: " +
          tried);
}

/// The number before `unit` in the log of ptxas.
uint32_t numberBefore(const std::string &log, const std::string &unit) {
  size_t end = log.find(unit);
  if (end == std::string::npos) {
    return 0;
  }
  size_t start = end;
  while (start > 0 &&
         std::isdigit(static_cast<unsigned char>(log[start - 1]))) {
    --start;
  }
  return static_cast<uint32_t>(
      std::strtoul(log.substr(start, end - start).c_str(), nullptr, 10));
}
} // namespace

Status Nvrtc::resolve(void *library, const std::string &path) {
  bool isComplete = true;
  auto find = [&](auto &function, const char *name) {
    void *address = dlsym(library, name);
    isComplete &= address != nullptr;
    function = reinterpret_cast<std::decay_t<decltype(function)>>(address);
  };
  find(version_, "nvrtcVersion");
  find(createProgram, "nvrtcCreateProgram");
  find(destroyProgram, "nvrtcDestroyProgram");
  find(compileProgram, "nvrtcCompileProgram");
  find(getLogSize, "nvrtcGetProgramLogSize");
  find(getLog, "nvrtcGetProgramLog");
  find(getPtxSize, "nvrtcGetPTXSize");
  find(getPtx, "nvrtcGetPTX");
  find(getCubinSize, "nvrtcGetCUBINSize");
  find(getCubin, "nvrtcGetCUBIN");
  find(errorString, "nvrtcGetErrorString");
  int major = 0, minor = 0;
  if (!isComplete || version_(&major, &minor) != 0 || major < leastMajor) {
    return missing(path + " is too old or incomplete");
  }
  versionText = std::to_string(major) + "." + std::to_string(minor);
  return Status::ok();
}

Result<Nvrtc> Nvrtc::load() {
  std::string tried;
  for (const fs::path &file : candidates()) {
    void *library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) {
      const char *error = dlerror();
      tried += (tried.empty() ? "" : "; ") + std::string(error ? error : "");
      continue;
    }
    Nvrtc nvrtc;
    TW_RETURN_IF_ERROR(nvrtc.resolve(library, file.string()));
    return nvrtc;
  }
  return missing(tried);
}

Result<const Nvrtc *> Nvrtc::open() {
  static const Result<Nvrtc> loaded = load();
  if (!loaded) {
    return loaded.status();
  }
  return &*loaded;
}

Result<CudaBinary>
Nvrtc::compile(const std::string &source, const std::string &name,
               const std::string &architecture,
               const std::vector<std::string> &options) const {
  Program program = nullptr;
  if (int code = createProgram(&program, source.c_str(), name.c_str(), 0,
                               nullptr, nullptr)) {
    return Status(ErrorCode::Internal,
                  std::string("NVRTC: ") + errorString(code));
  }
  std::string target = "--gpu-architecture=" + architecture;
  std::vector<const char *> arguments = {target.c_str(), "--ptxas-options=-v"};
  for (const std::string &option : options) {
    arguments.push_back(option.c_str());
  }
  int code = compileProgram(program, static_cast<int>(arguments.size()),
                            arguments.data());
  auto text = [&](auto sizeOf, auto get) {
    size_t size = 0;
    std::string bytes;
    if (sizeOf(program, &size) == 0 && size > 0) {
      bytes.resize(size);
      if (get(program, bytes.data()) != 0) {
        bytes.clear();
      }
    }
    return bytes;
  };
  std::string log = text(getLogSize, getLog);
  if (code != 0) {
    std::string message = std::string("NVRTC ") + versionText + ": " +
                          errorString(code) + "\n" + log.c_str();
    destroyProgram(&program);
    return Status(ErrorCode::KernelRejected, message);
  }
  CudaBinary binary;
  binary.cubin = text(getCubinSize, getCubin);
  binary.ptx = text(getPtxSize, getPtx);
  if (!binary.ptx.empty() && binary.ptx.back() == '\0') {
    binary.ptx.pop_back();
  }
  destroyProgram(&program);
  binary.registers = numberBefore(log, " registers");
  binary.spillBytes = numberBefore(log, " bytes spill stores");
  binary.sharedBytes = numberBefore(log, " bytes smem");
  return binary;
}

} // namespace tilewright
