//===- Nvrtc.h - the CUDA C++ compiler, opened at run time ------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// NVRTC needs neither a GPU nor a driver. It is looked for in
//
//   1. $TILEWRIGHT_CUDA_PATH: a toolkit, or a folder with the PyPI packages;
//   2. ~/.cache/tilewright/cuda, where scripts/setup.sh puts the PyPI packages;
//   3. the CUDA toolkit: $CUDA_PATH, $CUDA_HOME, /usr/local/cuda;
//   4. where the system's loader looks.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "tilewright/Status.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tilewright {

/// What NVRTC made of one translation unit.
struct CudaBinary {
  std::string cubin;
  std::string ptx;
  uint32_t registers = 0;   ///< of a thread
  uint32_t spillBytes = 0;  ///< of a thread, stored
  uint32_t sharedBytes = 0; ///< static shared memory of a block
};

class Nvrtc {
public:
  /// \returns the library, which stays open until the process ends. Errors:
  /// CudaCompilerMissing, with what was tried and what to install.
  static Result<const Nvrtc *> open();

  /// \returns e.g. "13.0".
  const std::string &version() const { return versionText; }

  /// Compiles `source`. Threads may call at the same time.
  /// \param architecture `sm_80`.
  /// Errors: KernelRejected, with NVRTC's log.
  Result<CudaBinary> compile(const std::string &source, const std::string &name,
                             const std::string &architecture,
                             const std::vector<std::string> &options) const;

private:
  using Program = struct OpaqueProgram *;

  Nvrtc() = default;
  static Result<Nvrtc> load();
  Status resolve(void *library, const std::string &path);

  int (*version_)(int *, int *) = nullptr;
  int (*createProgram)(Program *, const char *, const char *, int,
                       const char *const *, const char *const *) = nullptr;
  int (*destroyProgram)(Program *) = nullptr;
  int (*compileProgram)(Program, int, const char *const *) = nullptr;
  int (*getLogSize)(Program, size_t *) = nullptr;
  int (*getLog)(Program, char *) = nullptr;
  int (*getPtxSize)(Program, size_t *) = nullptr;
  int (*getPtx)(Program, char *) = nullptr;
  int (*getCubinSize)(Program, size_t *) = nullptr;
  int (*getCubin)(Program, char *) = nullptr;
  const char *(*errorString)(int) = nullptr;
  std::string versionText;
};

} // namespace tilewright
