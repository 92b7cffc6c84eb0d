//===- Bench.cpp - tilewright bench ---------------------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "tools/tilewright/ChildProcess.h"
#include "tools/tilewright/CompileArguments.h"
#include "tools/tilewright/KernelTable.h"
#include "tools/tilewright/ObtainModule.h"
#include "tools/tilewright/OutputFile.h"
#include "tools/tilewright/Report.h"
#include "tools/tilewright/Subcommands.h"
#include "tools/tilewright/data/DeviceTarget.h"
#include "tools/tilewright/data/InputArguments.h"

#include <cstdio>
#include <filesystem>
#include <memory>

namespace tilewright {
namespace {

struct BenchCommand {
  std::string path;
  CompileArguments compile;
  InputArguments input;
  unsigned threads = 0;
  unsigned runs = 0;
  unsigned warmup = 3;
  int device = 0;
  bool kernels = false;
  bool cached = false;
  bool json = false;

  int run();

private:
  std::vector<std::string> runnerArguments(const std::string &module,
                                           const std::string &target) const;
  void printTimes(const nlohmann::json &figures) const;
  void print(const nlohmann::json &figures) const;
};

/// A folder that vanishes with everything in it.
class TemporaryFolder {
public:
  TemporaryFolder() {
    std::error_code error;
    std::string pattern =
        (std::filesystem::temp_directory_path(error) / "tilewright-XXXXXX")
            .string();
    if (!error && mkdtemp(pattern.data())) {
      folder = pattern;
    }
  }
  ~TemporaryFolder() {
    std::error_code error;
    if (!folder.empty()) {
      std::filesystem::remove_all(folder, error);
    }
  }
  TemporaryFolder(const TemporaryFolder &) = delete;
  TemporaryFolder &operator=(const TemporaryFolder &) = delete;

  const std::filesystem::path &path() const { return folder; }

private:
  std::filesystem::path folder;
};

} // namespace

std::vector<std::string>
BenchCommand::runnerArguments(const std::string &module,
                              const std::string &target) const {
  std::vector<std::string> arguments{module,
                                     "--threads=" + std::to_string(threads),
                                     "--runs=" + std::to_string(runs),
                                     "--warmup=" + std::to_string(warmup),
                                     "--seed=" + std::to_string(input.seed),
                                     "--device=" + std::to_string(device),
                                     "--target=" + target};
  if (kernels) {
    arguments.push_back("--kernels");
  }
  for (const std::string &shape : compile.shapes) {
    arguments.insert(arguments.end(), {"--shape", shape});
  }
  for (const std::string &binding : input.inputs) {
    arguments.insert(arguments.end(), {"--input", binding});
  }
  return arguments;
}

void BenchCommand::printTimes(const nlohmann::json &figures) const {
  auto time = [](const nlohmann::json &value) {
    return formatMilliseconds(value.get<double>());
  };
  const nlohmann::json &latency = figures["latency_ms"];
  std::printf("latency    p50 %s, p90 %s, p99 %s, best %s (%s)\n",
              time(latency["p50"]).c_str(), time(latency["p90"]).c_str(),
              time(latency["p99"]).c_str(), time(latency["min"]).c_str(),
              formatCount(figures["runs"].get<int64_t>(), "run").c_str());
  std::printf("first run  %s, after opening the module in %s\n",
              time(figures["first_run_ms"]).c_str(),
              time(figures["load_ms"]).c_str());
}

void BenchCommand::print(const nlohmann::json &figures) const {
  bool isSimulated = figures.contains("counted");
  std::printf("%s on %s, %s\n", path.c_str(),
              figures["device"].get<std::string>().c_str(),
              formatCount(figures["threads"].get<int64_t>(), "thread").c_str());
  if (isSimulated) {
    std::printf("counted    %s\n",
                describeCounts(figures["counted"]["total"]).c_str());
    std::printf("note       the simulator has no clock: these are counts of "
                "one run, from which times do not follow\n");
  } else {
    printTimes(figures);
  }
  if (figures.contains("compile_ms")) {
    std::printf("compile    %s%s\n",
                formatMilliseconds(figures["compile_ms"].get<double>()).c_str(),
                figures["cached"].get<bool>() ? " (from the cache)" : "");
  }
  std::printf("memory     %.1f MB at most, arena %s\n",
              figures["peak_rss_mb"].get<double>(),
              formatBytes(figures["arena_bytes"].get<int64_t>()).c_str());
  std::printf("kernels    %lld per run\n", figures["kernels"].get<long long>());
  for (const nlohmann::json &symbol : figures["assumed"]) {
    std::printf("note       the size '%s' is 1; --shape or an input's file can "
                "say otherwise\n",
                symbol.get<std::string>().c_str());
  }
  if (kernels) {
    std::printf("\n%s", isSimulated
                            ? countTable(figures["counted"]["kernels"]).c_str()
                            : timeTable(figures["kernel_table"]).c_str());
  }
}

int BenchCommand::run() {
  Result<CompileOptions> options = compile.resolve();
  if (!options) {
    return report(options.status());
  }
  if (Result<InputOptions> inputs = input.resolve(compile.shapes); !inputs) {
    return report(inputs.status());
  }
  ModuleRequest request;
  request.path = path;
  request.compile = std::move(*options);
  request.lookUp = cached;
  Result<ObtainedModule> obtained = obtainModule(request);
  if (!obtained) {
    return report(obtained.status());
  }
  TemporaryFolder folder;
  std::string file = obtained->file;
  if (file.empty()) {
    file = (folder.path() / "model.twm").string();
    Status written = writeOutput(
        file, {reinterpret_cast<const char *>(obtained->bytes.data()),
               obtained->bytes.size()});
    if (!written) {
      return report(written);
    }
  }
  const TargetSpec *asked = request.compile.target;
  std::string target = targetTextOf(
      *obtained->module, asked ? std::string(asked->name) : std::string());
  // What the measured process needs is on disk now.
  bool wasModule = obtained->wasModule, wasCached = obtained->cached;
  double milliseconds = obtained->milliseconds;
  nlohmann::json summary = parseJson(obtained->module->summary());
  *obtained = {};

  Result<ChildResult> child = runProgram(
      siblingProgram("tilewright-bench-runner"), runnerArguments(file, target));
  if (!child) {
    return report(child.status());
  }
  if (child->exitCode != 0) {
    return child->exitCode;
  }
  nlohmann::json figures = parseJson(child->output);
  if (!figures.is_object()) {
    return report(Status(ErrorCode::Internal,
                         "the measuring process printed no figures"));
  }
  figures["model"] = path;
  figures["target"] = target;
  figures["summary"] = std::move(summary);
  if (!wasModule) {
    figures["compile_ms"] = milliseconds;
    figures["cached"] = wasCached;
  }
  if (json) {
    std::printf("%s\n", dumpJson(figures).c_str());
  } else {
    print(figures);
  }
  return Success;
}

Action addBench(CLI::App &program) {
  auto command = std::make_shared<BenchCommand>();
  CLI::App &app = *program.add_subcommand(
      "bench", "Measures latency, compile time and memory");
  app.add_option("model", command->path, "An ONNX model or a module")
      ->required()
      ->type_name("MODEL");
  command->input.addTo(app);
  command->compile.addTo(app);
  addThreads(app, command->threads,
             "Threads that work on a run; 0: all processors");
  app.add_option("--runs", command->runs,
                 "Measured runs; 0: as many as fit into two seconds, 10 to "
                 "1000")
      ->check(CLI::Range(0U, 1000000U))
      ->type_name("N");
  app.add_option("--warmup", command->warmup, "Runs before those")
      ->check(CLI::Range(0U, 1000000U))
      ->capture_default_str()
      ->type_name("N");
  app.add_flag("--kernels", command->kernels,
               "Also show what each kernel takes; on a GPU its times are those "
               "of events, and on the simulator it is counted");
  addDevice(app, command->device);
  app.add_flag("--cached", command->cached,
               "Take the compiled model from the cache if it is there; the "
               "compile time is then that of finding it");
  app.add_flag("--json", command->json, "Print one JSON object");
  app.footer("The runs happen in a process of their own that holds the runtime "
             "alone. On a GPU, latency includes copying inputs and outputs.\n"
             "Examples:\n"
             "  tilewright bench model.onnx --threads 2\n"
             "  tilewright bench model.twm --input x=@x.npy --runs 100 --json\n"
             "  tilewright bench model.onnx --target cuda:sm_80 --kernels");
  return [command] { return command->run(); };
}

} // namespace tilewright
