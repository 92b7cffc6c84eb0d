//===- FileCache.cpp - results of compiles on disk ------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "tools/driver/FileCache.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <unistd.h>
#include <vector>

namespace fs = std::filesystem;

namespace tilewright {

static constexpr const char *unfinishedSuffix = ".part";
/// What a process that ended in the middle left behind is removed after this.
static constexpr std::chrono::hours unfinishedAge(1);

fs::path FileCache::userFolder() {
  const char *cache = std::getenv("XDG_CACHE_HOME");
  const char *home = std::getenv("HOME");
  fs::path base;
  // The specification of XDG_CACHE_HOME says that a relative path counts as
  // none.
  if (cache && fs::path(cache).is_absolute()) {
    base = cache;
  } else if (home && *home) {
    base = fs::path(home) / ".cache";
  } else {
    return {};
  }
  return base / "tilewright" / "compiled";
}

std::optional<fs::path> FileCache::find(const std::string &key) const {
  if (folder.empty()) {
    return std::nullopt;
  }
  fs::path file = fileOf(key);
  std::error_code error;
  if (!fs::is_regular_file(file, error)) {
    return std::nullopt;
  }
  // The time of the last change is that of the last use: few file systems
  // record reads.
  fs::last_write_time(file, fs::file_time_type::clock::now(), error);
  return file;
}

void FileCache::store(const std::string &key, std::string_view bytes) const {
  if (folder.empty() || bytes.size() > limit) {
    return;
  }
  std::error_code error;
  fs::create_directories(folder, error);
  static std::atomic<unsigned> count{0};
  fs::path unfinished = folder / (key + "." + std::to_string(getpid()) + "." +
                                  std::to_string(count++) + unfinishedSuffix);
  std::ofstream stream(unfinished, std::ios::binary | std::ios::trunc);
  stream.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  stream.close();
  if (stream) {
    fs::rename(unfinished, fileOf(key), error);
  }
  if (!stream || error) {
    fs::remove(unfinished, error);
  }
}

void FileCache::evict() const {
  struct Entry {
    fs::path path;
    uint64_t bytes;
    fs::file_time_type used;
  };
  std::vector<Entry> entries;
  uint64_t total = 0;
  auto now = fs::file_time_type::clock::now();
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end;
       it.increment(error)) {
    // Other processes remove entries meanwhile: what is gone is skipped.
    std::error_code gone;
    Entry entry{it->path(), it->file_size(gone), {}};
    if (!gone) {
      entry.used = it->last_write_time(gone);
    }
    if (gone) {
      continue;
    }
    if (entry.path.extension() == unfinishedSuffix) {
      if (now - entry.used > unfinishedAge) {
        fs::remove(entry.path, gone);
      }
    } else if (entry.path.extension() == suffix) {
      total += entry.bytes;
      entries.push_back(std::move(entry));
    }
  }
  std::sort(entries.begin(), entries.end(),
            [](const Entry &a, const Entry &b) { return a.used < b.used; });
  for (const Entry &entry : entries) {
    if (total <= limit) {
      break;
    }
    fs::remove(entry.path, error);
    total -= entry.bytes;
  }
}

} // namespace tilewright
