//===- KernelTable.cpp - what bench says of each kernel -------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "tools/tilewright/KernelTable.h"

#include "tools/tilewright/Report.h"

#include <cstdio>

namespace tilewright {

/// \returns the nodes of a kernel's first launch, at most a line of them.
static std::string nodesOf(const nlohmann::json &row) {
  const nlohmann::json &nodes = row["nodes"];
  std::string text;
  if (nodes.is_string()) {
    text = nodes.get<std::string>();
  }
  for (size_t i = 0; nodes.is_array() && i < nodes.size(); ++i) {
    text += (i ? ", " : "") + nodes[i].get<std::string>();
  }
  constexpr size_t widest = 60;
  return text.size() > widest ? text.substr(0, widest) + "…" : text;
}

static int64_t number(const nlohmann::json &row, const char *name) {
  return row.value(name, int64_t(0));
}

static std::string line(const std::string &launches,
                        std::initializer_list<std::string> columns,
                        const std::string &kernel, const std::string &nodes) {
  char text[64];
  std::snprintf(text, sizeof text, "%8s", launches.c_str());
  std::string result = text;
  for (const std::string &column : columns) {
    // "µ" takes two bytes.
    int width = column.find("\u00b5") == std::string::npos ? 11 : 12;
    std::snprintf(text, sizeof text, "  %*s", width, column.c_str());
    result += text;
  }
  return result + "  " + kernel + (nodes.empty() ? "" : "  // " + nodes) + "\n";
}

std::string timeTable(const nlohmann::json &kernels) {
  double total = 0;
  for (const nlohmann::json &row : kernels) {
    total += row["ms"].get<double>();
  }
  std::string table = line("LAUNCHES", {"TIME", "SHARE"}, "KERNEL", "");
  for (const nlohmann::json &row : kernels) {
    double milliseconds = row["ms"].get<double>();
    char share[32];
    std::snprintf(share, sizeof share, "%.1f %%",
                  total > 0 ? 100 * milliseconds / total : 0);
    table += line(std::to_string(number(row, "launches")),
                  {formatMilliseconds(milliseconds), share},
                  row["kernel"].get<std::string>(), nodesOf(row));
  }
  return table;
}

std::string countTable(const nlohmann::json &kernels) {
  std::string table = line(
      "LAUNCHES", {"INSTR.", "READ", "WRITTEN", "CONFLICTS"}, "KERNEL", "");
  for (const nlohmann::json &row : kernels) {
    table += line(std::to_string(number(row, "launches")),
                  {std::to_string(number(row, "lane_instructions")),
                   formatBytes(number(row, "load_bytes")),
                   formatBytes(number(row, "store_bytes")),
                   std::to_string(number(row, "shared_conflicts"))},
                  row["kernel"].get<std::string>(), nodesOf(row));
  }
  return table;
}

std::string describeCounts(const nlohmann::json &total) {
  return formatCount(number(total, "lane_instructions"), "lane instruction") +
         ", " + formatBytes(number(total, "load_bytes")) + " read, " +
         formatBytes(number(total, "store_bytes")) + " written, " +
         formatCount(number(total, "shared_conflicts"), "bank conflict");
}

} // namespace tilewright
