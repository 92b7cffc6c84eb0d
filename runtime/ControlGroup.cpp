//===- ControlGroup.cpp - limits that Linux puts on this process ----------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "runtime/ControlGroup.h"

#include <algorithm>
#include <cstdio>
#include <string>

using namespace tilewright;

static const std::string root = "/sys/fs/cgroup";

/// \returns the file's first line, or "" when there is no such file.
static std::string firstLine(const std::string &path) {
  std::FILE *file = std::fopen(path.c_str(), "re");
  if (!file) {
    return "";
  }
  char line[512] = "";
  if (!std::fgets(line, sizeof line, file)) {
    line[0] = 0;
  }
  std::fclose(file);
  return line;
}

/// \returns the process's group in the unified hierarchy, e.g. "/user.slice".
static std::string unifiedGroup() {
  std::FILE *file = std::fopen("/proc/self/cgroup", "re");
  if (!file) {
    return "";
  }
  char line[512];
  std::string group;
  while (std::fgets(line, sizeof line, file)) {
    std::string text = line;
    if (text.compare(0, 3, "0::") == 0) {
      group = text.substr(3, text.find('\n') - 3);
    }
  }
  std::fclose(file);
  return group == "/" ? "" : group;
}

/// Calls `visit` with the folder of the process's group and of each parent.
template <typename Visit> static void forEachGroup(Visit visit) {
  std::string group = unifiedGroup();
  while (true) {
    visit(root + group);
    size_t slash = group.rfind('/');
    if (slash == std::string::npos) {
      return;
    }
    group.resize(slash);
  }
}

/// \returns the bytes of files that the group keeps in memory. They count as
/// used, and give way to whoever needs memory.
static int64_t cachedFiles(const std::string &folder) {
  std::FILE *file = std::fopen((folder + "/memory.stat").c_str(), "re");
  if (!file) {
    return 0;
  }
  char line[128];
  long long sum = 0;
  while (std::fgets(line, sizeof line, file)) {
    long long bytes = 0;
    if (std::sscanf(line, "active_file %lld", &bytes) == 1 ||
        std::sscanf(line, "inactive_file %lld", &bytes) == 1) {
      sum += bytes;
    }
  }
  std::fclose(file);
  return sum;
}

int64_t tilewright::controlGroupMemoryLeft() {
  int64_t left = INT64_MAX;
  auto limitBy = [&](const std::string &folder, const char *limitFile,
                     const char *usedFile) {
    long long limit = 0;
    long long used = 0;
    if (std::sscanf(firstLine(folder + limitFile).c_str(), "%lld", &limit) ==
            1 &&
        std::sscanf(firstLine(folder + usedFile).c_str(), "%lld", &used) == 1) {
      int64_t free = limit - used + cachedFiles(folder);
      left = std::min(left, std::max<int64_t>(free, 0));
    }
  };
  forEachGroup([&](const std::string &folder) {
    limitBy(folder, "/memory.max", "/memory.current");
  });
  limitBy(root + "/memory", "/memory.limit_in_bytes", "/memory.usage_in_bytes");
  return left;
}

unsigned tilewright::controlGroupProcessors() {
  long long processors = UINT32_MAX;
  auto limitBy = [&](long long quota, long long period) {
    if (quota > 0 && period > 0) {
      processors = std::min(processors, (quota + period - 1) / period);
    }
  };
  forEachGroup([&](const std::string &folder) {
    long long quota = 0;
    long long period = 0;
    if (std::sscanf(firstLine(folder + "/cpu.max").c_str(), "%lld %lld", &quota,
                    &period) == 2) {
      limitBy(quota, period);
    }
  });
  long long quota = 0;
  long long period = 0;
  if (std::sscanf(firstLine(root + "/cpu/cpu.cfs_quota_us").c_str(), "%lld",
                  &quota) == 1 &&
      std::sscanf(firstLine(root + "/cpu/cpu.cfs_period_us").c_str(), "%lld",
                  &period) == 1) {
    limitBy(quota, period);
  }
  return static_cast<unsigned>(std::max(processors, 1LL));
}
