//===- ObtainModule.h - a module from a file of either kind -----*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "tilewright/Module.h"
#include "tools/driver/Compiler.h"

#include <memory>
#include <optional>

namespace tilewright {

/// What to open or compile.
struct ModuleRequest {
  std::string path; ///< of an ONNX model or a module
  CompileOptions compile;
  /// Take a model's module from the user's cache, if it is there.
  bool lookUp = true;
  /// Keep what had to be compiled in the user's cache.
  bool keep = true;
};

struct ObtainedModule {
  std::shared_ptr<const Module> module;
  std::vector<std::byte> bytes; ///< when it was compiled now
  std::string file;             ///< when it was opened
  bool wasModule = false;       ///< the request's path is a module
  bool cached = false;          ///< it was found in the cache
  double milliseconds = 0;      ///< to find and open, or to compile
};

/// \returns whether a file is a module, by its first bytes or its name.
bool isModuleFile(const std::string &path);

/// Opens the module at `request.path`, or compiles the model there. A damaged
/// entry of the cache is compiled again. Errors: those of Module::open() and of
/// compileModel(); ModuleTarget for a level that does not run here.
Result<ObtainedModule> obtainModule(const ModuleRequest &request);

/// \returns what runs a module: "cpu:avx2", "cuda:sm_80 on the simulator".
std::string targetOf(const Module &module);

/// compileModel(), which after an internal error leaves a folder that helps
/// to reproduce it and says where.
Result<CompileResult> compileOrExplain(const std::string &path,
                                       const CompileOptions &options);

/// \returns "689 ONNX nodes, 63 kernels launched per run (45 distinct), arena
/// 1.2 MB, constants 2.3 MB" from Module::summary().
std::string describeSummary(const std::string &summary);

} // namespace tilewright
