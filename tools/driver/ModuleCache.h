//===- ModuleCache.h - compiled models on disk ------------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// A folder of module files, each named after a hash of everything that its
// bytes depend on. Any number of processes may share it: entries appear
// complete or not at all, and one that another process removes stays readable
// for those who have opened it. Whoever opens an entry checks it, as any module
// file; a damaged one is compiled again and replaced.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "tilewright/Status.h"
#include "tools/driver/Compiler.h"

#include <filesystem>
#include <optional>

namespace tilewright {

class ModuleCache {
public:
  static constexpr uint64_t defaultLimit = uint64_t(2) << 30;

  /// A cache in `folder` that keeps at most `limit` bytes. With an empty folder
  /// nothing is ever found or kept.
  explicit ModuleCache(std::filesystem::path folder,
                       uint64_t limit = defaultLimit)
      : folder(std::move(folder)), limit(limit) {}

  /// \returns the user's folder: tilewright/compiled in $XDG_CACHE_HOME or
  /// ~/.cache; empty when neither is known.
  static std::filesystem::path userFolder();

  /// \returns the file of an entry, which now counts as used last.
  std::optional<std::filesystem::path> find(const std::string &key) const;

  /// Keeps a module and removes those that were not used for the longest time
  /// while there is too much. A folder that cannot be written is no error: then
  /// nothing is kept.
  void store(const std::string &key,
             const std::vector<std::byte> &module) const;

private:
  std::filesystem::path fileOf(const std::string &key) const;
  void evict() const;

  std::filesystem::path folder;
  uint64_t limit;
};

/// \returns a name for what compileModel(`model`, `options`) gives: a hash of
/// the model, of the external data that it names, of the options, the CPU level
/// and this compiler. Errors: those of reading the files.
Result<std::string> cacheKey(const std::string &model,
                             const CompileOptions &options);

} // namespace tilewright
