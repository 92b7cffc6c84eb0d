//===- Compile.cpp - tilewright compile -----------------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "tools/driver/ObjectFolder.h"
#include "tools/driver/Summary.h"
#include "tools/tilewright/CompileArguments.h"
#include "tools/tilewright/ObtainModule.h"
#include "tools/tilewright/OutputFile.h"
#include "tools/tilewright/Report.h"
#include "tools/tilewright/Subcommands.h"
#include "tools/tilewright/data/InputArguments.h"

#include <cstdio>
#include <memory>

namespace tilewright {
namespace {

struct CompileCommand {
  std::string model;
  std::string output;
  CompileArguments compile;
  std::string stopAfter;
  std::string startFrom;
  std::string dumpPhases;
  std::string dumpKernels;
  unsigned threads = 0;
  bool noCache = false;
  bool json = false;

  int run();

private:
  Result<CompileOptions> options() const;
  Status checkOutputs(const CompileOptions &options) const;
  void print(const CompileOptions &options, const CompileResult &result) const;
};

} // namespace

static std::string listPhases() {
  std::string names;
  for (llvm::StringRef name : phaseNames) {
    names += (names.empty() ? "" : ", ") + name.str();
  }
  return names;
}

static Status parsePhase(const char *option, const std::string &text,
                         Phase &phase) {
  if (text.empty()) {
    return Status::ok();
  }
  std::optional<Phase> parsed = phaseFromName(text);
  if (!parsed) {
    return Status(ErrorCode::OptionInvalid, std::string(option) + " '" + text +
                                                "': the phases are " +
                                                listPhases());
  }
  phase = *parsed;
  return Status::ok();
}

Result<CompileOptions> CompileCommand::options() const {
  Result<CompileOptions> options = compile.resolve();
  if (!options) {
    return options;
  }
  if (!noCache) {
    options->objectFolder = ObjectFolder::userFolder();
  }
  TW_RETURN_IF_ERROR(parsePhase("--stop-after", stopAfter, options->stopAfter));
  TW_RETURN_IF_ERROR(parsePhase("--start-from", startFrom, options->startFrom));
  if (options->stopAfter < options->startFrom) {
    return Status(ErrorCode::OptionInvalid, "--stop-after " + stopAfter +
                                                " comes before --start-from " +
                                                startFrom);
  }
  if (options->startFrom > Phase::Plan) {
    return Status(ErrorCode::OptionInvalid,
                  "--start-from codegen: a plan has no file that could be read "
                  "again; start from plan");
  }
  options->dumpFolder = dumpPhases;
  options->kernelFolder = dumpKernels;
  options->threads = threads;
  return options;
}

/// Everything that would only be noticed after the compile.
Status CompileCommand::checkOutputs(const CompileOptions &options) const {
  if (output.empty() && stopAfter.empty()) {
    return Status(ErrorCode::OptionInvalid,
                  "where to? give -o MODULE.twm, or --stop-after PHASE to see "
                  "the IR");
  }
  if (!output.empty()) {
    TW_RETURN_IF_ERROR(checkWritable(output));
    std::error_code error;
    if (std::filesystem::equivalent(output, model, error)) {
      return Status(ErrorCode::OptionInvalid,
                    "-o '" + output + "' is the model itself");
    }
  }
  for (const std::string &folder : {dumpPhases, dumpKernels}) {
    if (!folder.empty()) {
      TW_RETURN_IF_ERROR(makeFolder(folder));
    }
  }
  return Status::ok();
}

void CompileCommand::print(const CompileOptions &options,
                           const CompileResult &result) const {
  const CompileSummary &summary = result.summary;
  const TargetSpec *target = options.target ? options.target : hostTarget();
  std::string level = fullName(*target);
  if (json) {
    nlohmann::json object = {{"model", model},
                             {"output", output},
                             {"target", level},
                             {"module_bytes", result.module.size()},
                             {"compile_ms", summary.milliseconds},
                             {"phase_ms", summary.phaseMilliseconds},
                             {"nvrtc_ms", summary.nvrtcMilliseconds}};
    object.update(nlohmann::json::parse(toJson(summary)));
    std::printf("%s\n", dumpJson(object).c_str());
    return;
  }
  std::printf("compiled %s for %s in %s: %s, %zu bytes\n", model.c_str(),
              level.c_str(), formatMilliseconds(summary.milliseconds).c_str(),
              output.c_str(), result.module.size());
  std::printf("  in    %s\n",
              formatCount(summary.onnxNodes, "ONNX node").c_str());
  std::printf("  out   %s per run, %s\n",
              formatCount(summary.launches, "kernel launch").c_str(),
              formatCount(summary.kernels, "distinct kernel").c_str());
  std::printf("  moved %lld bytes by kernels",
              static_cast<long long>(summary.kernelTrafficBytes));
  if (summary.nodeTrafficBytes) {
    std::printf(", %lld if every node were one",
                static_cast<long long>(summary.nodeTrafficBytes));
  }
  std::printf("\n  arena %lld bytes%s\n",
              static_cast<long long>(summary.arenaBytes),
              options.shapes.empty() ? " (with every symbolic size 1)" : "");
  std::printf("  constants %lld bytes\n",
              static_cast<long long>(summary.constantBytes));
  std::printf("  time ");
  for (llvm::StringRef phase : phaseNames) {
    auto found = summary.phaseMilliseconds.find(phase.str());
    if (found != summary.phaseMilliseconds.end()) {
      std::printf(" %s %s", found->first.c_str(),
                  formatMilliseconds(found->second).c_str());
    }
  }
  std::printf("\n");
}

int CompileCommand::run() {
  Result<CompileOptions> parsed = options();
  if (!parsed) {
    return report(parsed.status());
  }
  if (Status status = checkOutputs(*parsed); !status) {
    return report(status);
  }
  if (isModuleFile(model)) {
    return report(Status(ErrorCode::ModelMalformed,
                         "'" + model + "' is a compiled module, not a model"));
  }
  Result<CompileResult> result = compileOrExplain(model, *parsed);
  if (!result) {
    return report(result.status());
  }
  bool isModule = parsed->stopAfter == Phase::Codegen;
  if (output.empty()) {
    std::fwrite(result->text.data(), 1, result->text.size(), stdout);
    return Success;
  }
  std::string_view bytes = result->text;
  if (isModule) {
    bytes = {reinterpret_cast<const char *>(result->module.data()),
             result->module.size()};
  }
  if (Status status = writeOutput(output, bytes); !status) {
    return report(status);
  }
  if (isModule) {
    print(*parsed, *result);
  }
  return Success;
}

Action addCompile(CLI::App &program) {
  auto command = std::make_shared<CompileCommand>();
  CLI::App &app = *program.add_subcommand(
      "compile", "Compiles a model into a module file and says what came out");
  app.add_option("model", command->model, "The ONNX model")
      ->required()
      ->type_name("MODEL.onnx");
  app.add_option("-o,--output", command->output,
                 "The module file; with --stop-after, the IR")
      ->type_name("MODULE.twm");
  command->compile.addTo(app);
  app.add_option("--stop-after", command->stopAfter,
                 "Stop after a phase and print the IR: " + listPhases())
      ->type_name("PHASE");
  app.add_option("--start-from", command->startFrom,
                 "Start with a phase; MODEL is then the dump of the one before")
      ->type_name("PHASE");
  app.add_option("--dump-phases", command->dumpPhases,
                 "Write the IR after each phase into a folder")
      ->type_name("DIR");
  app.add_option("--dump-kernels", command->dumpKernels,
                 "Write each kernel's IR and assembly, or CUDA C++ and "
                 "PTX, into a folder")
      ->type_name("DIR");
  addThreads(app, command->threads, "Threads that compile kernels");
  app.add_flag("--no-cache", command->noCache,
               "Take no kernels from earlier compiles, and keep none");
  app.add_flag("--json", command->json, "Print the figures as JSON");
  app.footer("Examples:\n"
             "  tilewright compile model.onnx -o model.twm\n"
             "  tilewright compile model.onnx -o model.twm --shape "
             "x=1x3x224x224 --target cpu:avx2\n"
             "  tilewright compile model.onnx --stop-after fuse");
  return [command] { return command->run(); };
}

} // namespace tilewright
