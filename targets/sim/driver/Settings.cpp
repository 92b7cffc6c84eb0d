//===- Settings.cpp - what the environment asks of the simulator ----------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "targets/sim/driver/Settings.h"

#include <cerrno>
#include <cstdlib>

using namespace tilewright;
using namespace tilewright::sim;

/// Reads a number, where `withUnits` with K, M or G for powers of 1024.
static Status read(const char *variable, bool withUnits,
                   std::optional<uint64_t> &out) {
  const char *text = std::getenv(variable);
  if (!text) {
    return Status::ok();
  }
  char *end = nullptr;
  errno = 0;
  uint64_t value = std::strtoull(text, &end, 10);
  unsigned shift = 0;
  if (withUnits && end != text) {
    shift = *end == 'K' ? 10 : *end == 'M' ? 20 : *end == 'G' ? 30 : 0;
    end += shift ? 1 : 0;
  }
  if (*text < '0' || *text > '9' || *end || errno ||
      value > (UINT64_MAX >> shift)) {
    return Status(ErrorCode::OptionInvalid,
                  std::string(variable) + "='" + text + "' is not a number" +
                      (withUnits ? " of bytes such as 512M" : ""));
  }
  out = value << shift;
  return Status::ok();
}

Result<Settings> Settings::fromEnvironment() {
  Settings settings;
  std::optional<uint64_t> seed, checks, counters, memory, threads, limit;
  TW_RETURN_IF_ERROR(read("TILEWRIGHT_SIM_SEED", false, seed));
  TW_RETURN_IF_ERROR(read("TILEWRIGHT_SIM_CHECKS", false, checks));
  TW_RETURN_IF_ERROR(read("TILEWRIGHT_SIM_COUNTERS", false, counters));
  TW_RETURN_IF_ERROR(read("TILEWRIGHT_SIM_MEMORY", true, memory));
  TW_RETURN_IF_ERROR(read("TILEWRIGHT_SIM_THREADS", false, threads));
  TW_RETURN_IF_ERROR(read("TILEWRIGHT_SIM_LIMIT", false, limit));
  TW_RETURN_IF_ERROR(read("TILEWRIGHT_SIM_APPROX", false, settings.approxSeed));
  settings.seed = seed.value_or(settings.seed);
  settings.checks = checks.value_or(1) != 0;
  settings.counters = counters.value_or(0) != 0;
  settings.memoryBytes = memory.value_or(settings.memoryBytes);
  settings.threads = static_cast<unsigned>(threads.value_or(settings.threads));
  settings.instructionLimit = limit.value_or(settings.instructionLimit);
  if (const char *file = std::getenv("TILEWRIGHT_SIM_TRACE")) {
    settings.traceFile = file;
    settings.counters = settings.counters || !settings.traceFile.empty();
  }
  return settings;
}
