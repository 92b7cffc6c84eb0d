//===- Context.h - running a module -----------------------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// A Context holds what one run at a time needs: memory for intermediate values
// and threads. For concurrent runs, make several contexts over one module.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "tilewright/Module.h"
#include "tilewright/Status.h"
#include "tilewright/Tensor.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tilewright {

/// One executed command, for profiles. The views live as long as the module.
struct CommandEvent {
  std::string_view kind; ///< "launch", "builtin", "copy", "loop" …
  std::string_view name; ///< of a kernel or builtin, else empty
  std::vector<std::string_view> nodes; ///< the ONNX nodes that it does
  uint64_t beginNanoseconds = 0;       ///< since the start of the run
  uint64_t endNanoseconds = 0;
};

struct ContextOptions {
  /// Threads that work on a run, the caller's included; 0: as many as this
  /// process may use.
  unsigned threads = 0;
  /// Which GPU runs a module that was opened for DeviceKind::Cuda.
  int device = 0;
  /// The library of the simulator; empty: TILEWRIGHT_SIM_LIBRARY in the
  /// environment, else libtilewright-sim.so in the program's folder, in `lib`
  /// beside that, or where the system looks for libraries.
  std::string simulatorLibrary = {};
};

/// What a context holds and has done.
struct ContextStatistics {
  int64_t arenaBytes = 0; ///< memory of all arenas
  int64_t poolBytes = 0;  ///< memory of values whose size depends on data
  uint64_t commands = 0;  ///< of the last run
  uint64_t launches = 0;  ///< kernels of the last run
  uint64_t replays = 0;   ///< runs that repeated a recorded CUDA graph
  /// Kernels that the GPU's driver compiled from PTX, for want of machine code
  /// for that GPU.
  uint64_t compiledKernels = 0;
  /// Products of matrices that cuBLASLt computed, or that were recorded to be
  /// computed by it.
  uint64_t libraryCalls = 0;
  /// Why products that the module leaves to cuBLASLt ran as generated kernels;
  /// empty: none did.
  std::string libraryRefusal = {};
};

class Context {
public:
  /// Errors: OptionInvalid, OutOfMemory; for a GPU DeviceDriver, DeviceMissing,
  /// DeviceArchitecture, DeviceMemory, DeviceUnsupported, SimulatorMissing.
  static Result<std::unique_ptr<Context>>
  create(std::shared_ptr<const Module> module,
         const ContextOptions &options = {});
  ~Context();
  Context(const Context &) = delete;
  Context &operator=(const Context &) = delete;

  /// Runs the model on inputs in the order of Module::inputs().
  /// \returns the outputs, which share memory with nothing. Errors: InputName
  /// (too few or too many), InputType, InputShape, DataInvalid, OutOfMemory;
  /// on a GPU also DeviceMemory and DeviceFault.
  /// Calls from several threads wait for each other.
  Result<std::vector<Tensor>> run(const std::vector<TensorView> &inputs);

  /// The same with inputs by name, in any order.
  Result<std::vector<Tensor>>
  run(const std::vector<std::pair<std::string_view, TensorView>> &inputs);

  /// Calls `listener` after each command from now on; an empty one ends that.
  void setListener(std::function<void(const CommandEvent &)> listener);

  const Module &module() const;
  /// \returns what runs the kernels: "cpu:avx2", "NVIDIA H200 (sm_90)".
  const std::string &deviceName() const;
  unsigned threads() const;
  ContextStatistics statistics() const;

private:
  struct Impl;
  explicit Context(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl;
};

} // namespace tilewright
