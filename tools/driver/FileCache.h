//===- FileCache.h - results of compiles on disk ----------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// A folder of files, each named after a hash of everything that its bytes
// depend on. Any number of processes may share it: entries appear complete or
// not at all, and one that another process removes stays readable for those who
// have opened it. Whoever opens an entry checks it; a damaged one is made again
// and replaced.
//
//===----------------------------------------------------------------------===//

#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace tilewright {

class FileCache {
public:
  /// A cache in `folder`, whose entries end in `suffix`, that keeps at most
  /// `limit` bytes. With an empty folder nothing is ever found or kept.
  FileCache(std::filesystem::path folder, std::string suffix, uint64_t limit)
      : folder(std::move(folder)), suffix(std::move(suffix)), limit(limit) {}

  /// \returns the user's folder: tilewright/compiled in $XDG_CACHE_HOME or
  /// ~/.cache; empty when neither is known.
  static std::filesystem::path userFolder();

  /// \returns the file of an entry, which now counts as used last.
  std::optional<std::filesystem::path> find(const std::string &key) const;

  /// Keeps an entry. A folder that cannot be written is no error: then nothing
  /// is kept.
  void store(const std::string &key, std::string_view bytes) const;

  /// Removes the entries that were not used for the longest time while there is
  /// too much.
  void evict() const;

private:
  std::filesystem::path fileOf(const std::string &key) const {
    return folder / (key + suffix);
  }

  std::filesystem::path folder;
  std::string suffix;
  uint64_t limit;
};

} // namespace tilewright
