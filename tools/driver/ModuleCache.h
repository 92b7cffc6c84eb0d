//===- ModuleCache.h - compiled models on disk ------------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "tilewright/Status.h"
#include "tools/driver/Compiler.h"
#include "tools/driver/FileCache.h"

namespace tilewright {

/// Module files by cacheKey(). Whoever opens one checks it, as any module file.
class ModuleCache : public FileCache {
public:
  static constexpr uint64_t defaultLimit = uint64_t(2) << 30;

  explicit ModuleCache(std::filesystem::path folder,
                       uint64_t limit = defaultLimit)
      : FileCache(std::move(folder), ".twm", limit) {}

  /// Keeps a module and removes others while there is too much.
  void store(const std::string &key,
             const std::vector<std::byte> &module) const {
    FileCache::store(
        key, {reinterpret_cast<const char *>(module.data()), module.size()});
    evict();
  }
};

/// \returns a name for what compileModel(`model`, `options`) gives: a hash of
/// the model, of the external data that it names, of the options, the CPU level
/// and this compiler. Errors: those of reading the files.
Result<std::string> cacheKey(const std::string &model,
                             const CompileOptions &options);

/// \returns a hash of this program's own bytes and of its libraries' version:
/// any change of the compiler changes it. Errors: those of reading the program.
Result<std::string> compilerFingerprint();

} // namespace tilewright
