//===- Compiler.h - the compiler as a library -------------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "codegen/library/LibraryUse.h"
#include "targets/TargetSpec.h"
#include "tilewright/Status.h"
#include "tools/driver/Phases.h"
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace tilewright {

/// What `tilewright compile` can be told.
struct CompileOptions {
  /// The CPU level or GPU to compile for; null: the best level that runs here.
  const TargetSpec *target = nullptr;
  /// The simulator is to run the code for a GPU. The code is the same.
  bool simulated = false;
  /// GPU: CUDA C++ in place of generated kernels, by kernel name.
  std::map<std::string, std::string> kernelSources;
  /// Fixed shapes by input name; sizes of -1 stay as the model has them.
  std::map<std::string, std::vector<int64_t>> shapes;
  /// Naive loops over the imported operations, accumulators in f64, nothing
  /// normalised or fused: the oracle that other modules are compared with.
  bool reference = false;
  /// Keep every cast and rounding of the ONNX graph.
  bool strict = false;
  /// GPU: contractions may round their factors of f32 to tf32.
  bool tf32 = false;
  /// GPU: which products of matrices cuBLASLt computes, where it is there.
  LibraryUse library = LibraryUse::Auto;
  /// Threads that compile kernels; 0: as many as this process may use.
  unsigned threads = 0;
  /// The last phase to run; with Codegen the result has a module.
  Phase stopAfter = Phase::Codegen;
  /// The first phase to run; after Import, `path` is an .mlir file.
  Phase startFrom = Phase::Import;
  /// Folder that gets the IR after each phase as NN-PHASE.mlir; empty: none.
  std::string dumpFolder;
  /// Folder that gets each kernel as KERNEL.mlir, .ll and .s, for a GPU as
  /// .mlir, .cu and .ptx; empty: none.
  std::string kernelFolder;
  /// Folder of compiled kernels to take from and to add to; empty: none.
  std::filesystem::path objectFolder;
};

/// Figures about one compile, in the order in which people read them.
struct CompileSummary {
  int64_t onnxNodes = 0; // of the main graph and its subgraphs
  int64_t commands = 0;  // of the plan
  int64_t launches = 0;  // launch commands of the plan
  int64_t kernels = 0;   // distinct kernels
  /// Bytes read and written if every ONNX node were a kernel, and by the plan's
  /// launches, builtins and copies; see Traffic.h.
  int64_t nodeKernels = 0;
  int64_t nodeTrafficBytes = 0;
  int64_t kernelTrafficBytes = 0;
  int64_t arenaBytes = 0; // with every symbolic size 1
  int64_t constantBytes = 0;
  double milliseconds = 0; // the whole compile
  std::map<std::string, double> phaseMilliseconds;
  /// GPU: of each kernel that NVRTC compiled; the others came from the cache.
  std::vector<double> nvrtcMilliseconds;
};

struct CompileResult {
  std::vector<std::byte> module; // a .twm file; empty when stopped before
  std::string text;              // the IR (or plan) where the compile stopped
  CompileSummary summary;
};

/// Compiles the ONNX model at `path`. Errors are the loader's and importer's
/// (of the user, or unsupported), OptionInvalid, OutputUnwritable for dumps,
/// and Internal.
Result<CompileResult> compileModel(const std::string &path,
                                   const CompileOptions &options);

} // namespace tilewright
