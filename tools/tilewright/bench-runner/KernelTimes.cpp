//===- KernelTimes.cpp - what each kernel of a run takes ------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "tools/tilewright/bench-runner/KernelTimes.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <unistd.h>

namespace tilewright {

namespace {

/// A command of the plan, in the order in which a run executes them.
struct Timed {
  std::string name;
  nlohmann::json nodes;
  uint64_t best = UINT64_MAX;
};

/// Whether a command does work itself, and does not hold commands that do.
bool isWork(const CommandEvent &event) {
  return event.kind == "launch" || event.kind == "builtin" ||
         event.kind == "copy";
}

} // namespace

/// \returns rows of `table`, those with the largest `key` first.
static nlohmann::json sorted(const std::map<std::string, nlohmann::json> &table,
                             const char *key) {
  std::vector<nlohmann::json> rows;
  for (const auto &[name, row] : table) {
    rows.push_back(row);
  }
  std::stable_sort(rows.begin(), rows.end(), [&](const auto &a, const auto &b) {
    return a[key].template get<double>() > b[key].template get<double>();
  });
  return rows;
}

Result<nlohmann::json> timeKernels(Context &context,
                                   const std::vector<TensorView> &inputs,
                                   unsigned runs) {
  std::vector<Timed> commands;
  size_t position = 0;
  context.setListener([&](const CommandEvent &event) {
    if (!isWork(event)) {
      return;
    }
    if (position == commands.size()) {
      commands.push_back(
          {std::string(event.name.empty() ? event.kind : event.name),
           nlohmann::json(std::vector<std::string>(event.nodes.begin(),
                                                   event.nodes.end()))});
    }
    Timed &command = commands[position++];
    command.best =
        std::min(command.best, event.endNanoseconds - event.beginNanoseconds);
  });
  Status status;
  for (unsigned i = 0; i < runs && status; ++i) {
    position = 0;
    status = context.run(inputs).status();
  }
  context.setListener({});
  TW_RETURN_IF_ERROR(status);

  std::map<std::string, nlohmann::json> table;
  for (const Timed &command : commands) {
    nlohmann::json &row =
        table
            .emplace(command.name, nlohmann::json{{"kernel", command.name},
                                                  {"nodes", command.nodes},
                                                  {"launches", 0},
                                                  {"ms", 0.0}})
            .first->second;
    row["launches"] = row["launches"].get<int64_t>() + 1;
    row["ms"] =
        row["ms"].get<double>() + static_cast<double>(command.best) / 1e6;
  }
  return sorted(table, "ms");
}

static constexpr const char *traceVariable = "TILEWRIGHT_SIM_TRACE";
static constexpr const char *countersVariable = "TILEWRIGHT_SIM_COUNTERS";
static constexpr int64_t sectorBytes = 32;

Status KernelCounts::begin() {
  setenv(countersVariable, "1", /*overwrite=*/1);
  if (const char *given = std::getenv(traceVariable)) {
    file = given;
    std::error_code error;
    auto size = std::filesystem::file_size(file, error);
    start = error ? 0 : static_cast<int64_t>(size);
  } else {
    std::error_code error;
    file = (std::filesystem::temp_directory_path(error) / "tilewright-XXXXXX")
               .string();
    int descriptor = mkstemp(file.data());
    if (descriptor < 0) {
      return Status(ErrorCode::OutputUnwritable,
                    "cannot make a temporary file for the simulator's trace; "
                    "is TMPDIR writable?");
    }
    close(descriptor);
    isOwn = true;
    setenv(traceVariable, file.c_str(), /*overwrite=*/1);
  }
  return Status::ok();
}

/// Adds the counters of a line of the trace to `sums`.
static void addLine(const nlohmann::json &line, nlohmann::json &sums) {
  auto add = [&](const char *name, int64_t value) {
    sums[name] = sums.value(name, int64_t(0)) + value;
  };
  auto read = [&](const char *name) { return line.value(name, int64_t(0)); };
  add("launches", 1);
  add("lane_instructions", read("lane_instructions"));
  add("load_bytes", read("loads_sectors") * sectorBytes);
  add("store_bytes", read("stores_sectors") * sectorBytes);
  add("shared_conflicts", read("shared_conflicts"));
}

Result<nlohmann::json> KernelCounts::end() {
  std::ifstream stream(file);
  stream.seekg(start);
  nlohmann::json total = nlohmann::json::object();
  std::map<std::string, nlohmann::json> table;
  for (std::string text; std::getline(stream, text);) {
    nlohmann::json line =
        nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
    if (!line.is_object()) {
      return Status(ErrorCode::InputUnreadable,
                    "the simulator's trace '" + file +
                        "' has a line that is no JSON object");
    }
    std::string name = line.value("kernel", "");
    addLine(line, total);
    addLine(line, table
                      .emplace(name, nlohmann::json{{"kernel", name},
                                                    {"nodes", line["nodes"]}})
                      .first->second);
  }
  nlohmann::json kernels = sorted(table, "lane_instructions");
  return nlohmann::json{{"total", std::move(total)},
                        {"kernels", std::move(kernels)}};
}

KernelCounts::~KernelCounts() {
  if (isOwn) {
    unsetenv(traceVariable);
    std::remove(file.c_str());
  }
}

} // namespace tilewright
