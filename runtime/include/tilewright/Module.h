//===- Module.h - compiled models -------------------------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// A Module is a compiled model, checked and ready to run. It never changes, so
// that any number of contexts in any number of threads may share it.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "tilewright/CpuLevel.h"
#include "tilewright/DType.h"
#include "tilewright/Status.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tilewright {

struct LoadedModule;

/// An input or output as the model declares it.
struct Parameter {
  std::string name;
  DType dtype = DType::F32;
  std::vector<std::string> dims; ///< numbers, symbols or expressions of them
};

/// What runs a module's kernels.
enum class DeviceKind {
  Cpu,
  Cuda,     ///< a GPU, through NVIDIA's driver
  Simulator ///< Tilewright's simulator of one, on the processor
};

struct OpenOptions {
  /// What is to run the module. Unset: the processor when the module has code
  /// for it, else a GPU.
  std::optional<DeviceKind> device;
  /// Cpu: take the code of this level instead of the best one that runs here.
  std::optional<CpuLevel> level;
  /// Cuda: take the code for this architecture ("sm_80") instead of the best
  /// one that runs on the device. Simulator: the GPU that it plays; empty: one
  /// for which the module has code.
  std::string architecture;
  /// Threads that verify checksums; 0: as many as this process may use.
  unsigned threads = 0;
};

class Module {
public:
  /// Opens a module file. It is mapped, so that its constants are read from
  /// disk when they are first used. Errors: ModuleUnreadable, ModuleDamaged,
  /// ModuleVersion, ModuleTarget.
  static Result<std::shared_ptr<const Module>>
  open(const std::string &path, const OpenOptions &options = {});

  /// The same from bytes in memory, which are copied.
  static Result<std::shared_ptr<const Module>>
  fromBytes(const void *data, size_t size, const OpenOptions &options = {});
  static Result<std::shared_ptr<const Module>>
  fromBytes(const std::vector<std::byte> &bytes,
            const OpenOptions &options = {}) {
    return fromBytes(bytes.data(), bytes.size(), options);
  }
  static Result<std::shared_ptr<const Module>>
  fromBytes(const std::string &bytes, const OpenOptions &options = {}) {
    return fromBytes(bytes.data(), bytes.size(), options);
  }

  ~Module();
  Module(const Module &) = delete;
  Module &operator=(const Module &) = delete;

  const std::string &name() const;      ///< the graph's name
  const std::string &compiler() const;  ///< e.g. "tilewright 0.1.0"
  const std::string &summary() const;   ///< what was compiled, JSON
  const std::string &decisions() const; ///< why, JSON
  const std::vector<Parameter> &inputs() const;
  const std::vector<Parameter> &outputs() const;

  /// What runs it.
  DeviceKind device() const;

  /// The code that was chosen, where the processor runs it.
  CpuLevel level() const;

  /// The code that was chosen, or that a GPU can choose from: "cpu:avx2",
  /// "cuda:sm_90a, cuda:sm_80".
  std::string targets() const;

  /// What the executor needs; not part of the stable API.
  const LoadedModule &loaded() const { return *impl; }

private:
  explicit Module(std::unique_ptr<LoadedModule> impl);
  std::unique_ptr<LoadedModule> impl;
};

} // namespace tilewright
