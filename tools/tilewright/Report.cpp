//===- Report.cpp - what every subcommand prints --------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "tools/tilewright/Report.h"

#include <cstdio>

namespace tilewright {

ExitCode exitCodeOf(const Status &status) {
  if (status.isOk()) {
    return Success;
  }
  switch (status.kind()) {
  case ErrorKind::User:
    return UserError;
  case ErrorKind::Unsupported:
    return Unsupported;
  case ErrorKind::Internal:
    break;
  }
  return InternalError;
}

int report(const Status &error) {
  std::fflush(stdout);
  std::fprintf(stderr, "%s\n", error.toString().c_str());
  return exitCodeOf(error);
}

static std::string format(const char *pattern, double value) {
  char text[64];
  std::snprintf(text, sizeof text, pattern, value);
  return text;
}

std::string formatBytes(int64_t bytes) {
  double value = static_cast<double>(bytes);
  if (bytes < 1000) {
    return std::to_string(bytes) + " bytes";
  }
  if (bytes < 1000 * 1000) {
    return format("%.1f kB", value / 1e3);
  }
  return bytes < 1000 * 1000 * 1000 ? format("%.1f MB", value / 1e6)
                                    : format("%.2f GB", value / 1e9);
}

std::string formatMilliseconds(double milliseconds) {
  if (milliseconds >= 1000) {
    return format("%.2f s", milliseconds / 1000);
  }
  if (milliseconds < 0.1) {
    return format("%.2f µs", milliseconds * 1000);
  }
  return format(milliseconds < 10 ? "%.3f ms" : "%.1f ms", milliseconds);
}

std::string formatType(const Parameter &parameter) {
  std::string text = nameOf(parameter.dtype) + std::string("[");
  for (size_t i = 0; i < parameter.dims.size(); ++i) {
    text += (i ? ", " : "") + parameter.dims[i];
  }
  return text + "]";
}

std::string formatType(const TensorView &tensor) {
  return nameOf(tensor.dtype) + tensor.shape.toString();
}

std::string formatCount(int64_t count, const std::string &noun) {
  bool hissing = noun.size() > 2 && noun.compare(noun.size() - 2, 2, "ch") == 0;
  const char *plural = hissing ? "es" : "s";
  return std::to_string(count) + " " + noun + (count == 1 ? "" : plural);
}

nlohmann::json parseJson(const std::string &text) {
  nlohmann::json json = nlohmann::json::parse(text, nullptr,
                                              /*allow_exceptions=*/false);
  return json.is_discarded() ? nlohmann::json() : json;
}

std::string dumpJson(const nlohmann::json &json) {
  return json.dump(2, ' ', /*ensure_ascii=*/false,
                   nlohmann::json::error_handler_t::replace);
}

} // namespace tilewright
