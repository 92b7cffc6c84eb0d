//===- Explain.cpp - tilewright explain -----------------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "runtime/LoadedModule.h"
#include "tools/tilewright/CompileArguments.h"
#include "tools/tilewright/ExplainKernels.h"
#include "tools/tilewright/ObtainModule.h"
#include "tools/tilewright/Report.h"
#include "tools/tilewright/Subcommands.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>

namespace tilewright {
namespace {

struct ExplainCommand {
  std::string path;
  CompileArguments compile;
  std::string node;
  bool json = false;
  bool noCache = false;

  int run();

private:
  Result<nlohmann::json> decisions() const;
  void print(const nlohmann::json &decisions) const;
};

/// One line of the table.
struct Row {
  std::string node;
  std::string code;
  std::string what;
};

} // namespace

/// \returns the decision log with the kernels for GPUs behind it.
static Result<nlohmann::json> readLog(const std::string &path,
                                      const ModuleFile &file) {
  const flatbuffers::String *text = file.root().decisions();
  nlohmann::json log = parseJson(text ? text->str() : std::string());
  if (!log.is_array()) {
    return Status(ErrorCode::ModuleDamaged,
                  "'" + path +
                      "' has no readable decision log; compile the model "
                      "again");
  }
  Result<nlohmann::json> kernels = explainKernels(file);
  if (!kernels) {
    return Status(kernels.status().code(),
                  "'" + path + "': " + kernels.status().message());
  }
  log.insert(log.end(), kernels->begin(), kernels->end());
  return log;
}

/// The log of a module is there for every CPU, also one whose code does not
/// run here.
Result<nlohmann::json> ExplainCommand::decisions() const {
  if (isModuleFile(path)) {
    Result<ModuleFile> file = ModuleFile::open(path, /*threads=*/0);
    if (!file) {
      return Status(file.status().code(),
                    "'" + path + "': " + file.status().message());
    }
    return readLog(path, *file);
  }
  Result<CompileOptions> options = compile.resolve();
  if (!options) {
    return options.status();
  }
  ModuleRequest request;
  request.path = path;
  request.compile = std::move(*options);
  request.lookUp = request.keep = !noCache;
  Result<ObtainedModule> obtained = obtainModule(request);
  if (!obtained) {
    return obtained.status();
  }
  return readLog(path, obtained->module->loaded().file);
}

/// \returns the decision's text, its figures, and the other nodes it concerns.
static std::string describe(const nlohmann::json &decision) {
  std::string text = decision.value("refused", false) ? "not done: " : "";
  text += decision.value("message", "");
  std::string numbers;
  const nlohmann::json figures =
      decision.value("numbers", nlohmann::json::object());
  for (const auto &[name, value] : figures.items()) {
    char number[32];
    std::snprintf(number, sizeof number, "%.6g", value.get<double>());
    numbers += (numbers.empty() ? "" : ", ") + name + " " + number;
  }
  nlohmann::json nodes = decision.value("nodes", nlohmann::json::array());
  std::string others;
  constexpr size_t shown = 4;
  for (size_t i = 1; i < nodes.size() && i < shown; ++i) {
    others += (others.empty() ? "with " : ", ") + nodes[i].get<std::string>();
  }
  if (nodes.size() > shown) {
    others += " and " + std::to_string(nodes.size() - shown) + " more";
  }
  for (const std::string &extra : {numbers, others}) {
    if (!extra.empty()) {
      text += " (" + extra + ")";
    }
  }
  return text;
}

static bool concerns(const nlohmann::json &decision, const std::string &node) {
  for (const nlohmann::json &name :
       decision.value("nodes", nlohmann::json::array())) {
    if (name.get<std::string>() == node) {
      return true;
    }
  }
  return false;
}

void ExplainCommand::print(const nlohmann::json &decisions) const {
  // Nodes in the order in which they first appear, each with all its rows.
  std::vector<std::pair<std::string, std::vector<Row>>> groups;
  std::map<std::string, size_t> indices;
  size_t nodeWidth = 4, codeWidth = 4;
  for (const nlohmann::json &decision : decisions) {
    if (!node.empty() && !concerns(decision, node)) {
      continue;
    }
    nlohmann::json nodes = decision.value("nodes", nlohmann::json::array());
    std::string first =
        nodes.empty() ? "(the model)" : nodes[0].get<std::string>();
    auto [found, isNew] = indices.emplace(first, groups.size());
    if (isNew) {
      groups.push_back({first, {}});
    }
    Row row{first, decision.value("code", ""), describe(decision)};
    nodeWidth = std::max(nodeWidth, row.node.size());
    codeWidth = std::max(codeWidth, row.code.size());
    groups[found->second].second.push_back(std::move(row));
  }
  constexpr size_t widest = 40;
  int width = static_cast<int>(std::min(nodeWidth, widest));
  std::printf("%-*s  %-*s  %s\n", width, "NODE", static_cast<int>(codeWidth),
              "CODE", "WHAT BECAME OF IT");
  for (const auto &[name, rows] : groups) {
    for (size_t i = 0; i < rows.size(); ++i) {
      std::printf("%-*s  %-*s  %s\n", width, i == 0 ? rows[i].node.c_str() : "",
                  static_cast<int>(codeWidth), rows[i].code.c_str(),
                  rows[i].what.c_str());
    }
  }
}

int ExplainCommand::run() {
  Result<nlohmann::json> decided = decisions();
  if (!decided) {
    return report(decided.status());
  }
  const nlohmann::json &log = *decided;
  if (json) {
    std::printf("%s\n", dumpJson(log).c_str());
    return Success;
  }
  try {
    auto isMeant = [this](const nlohmann::json &decision) {
      return concerns(decision, node);
    };
    if (!node.empty() && std::none_of(log.begin(), log.end(), isMeant)) {
      return report(Status(ErrorCode::OptionInvalid,
                           "--node: no decision concerns '" + node +
                               "'; run explain without --node to see the "
                               "names that there are"));
    }
    print(log);
  } catch (const nlohmann::json::exception &) {
    return report(Status(ErrorCode::ModuleDamaged,
                         "'" + path +
                             "' has a decision log of another form; "
                             "compile the model again"));
  }
  return Success;
}

Action addExplain(CLI::App &program) {
  auto command = std::make_shared<ExplainCommand>();
  CLI::App &app = *program.add_subcommand(
      "explain", "Says what became of each ONNX node, and why");
  app.add_option("model", command->path, "An ONNX model or a module")
      ->required()
      ->type_name("MODEL");
  command->compile.addTo(app);
  app.add_option("--node", command->node, "Only what concerns this node")
      ->type_name("NAME");
  app.add_flag("--no-cache", command->noCache,
               "Compile anew and keep nothing in the cache");
  app.add_flag("--json", command->json, "Print JSON");
  return [command] { return command->run(); };
}

} // namespace tilewright
