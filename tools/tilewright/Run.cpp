//===- Run.cpp - tilewright run -------------------------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "tilewright/Context.h"
#include "tools/support/Npy.h"
#include "tools/tilewright/CompileArguments.h"
#include "tools/tilewright/Expectations.h"
#include "tools/tilewright/ObtainModule.h"
#include "tools/tilewright/OutputFile.h"
#include "tools/tilewright/Report.h"
#include "tools/tilewright/Subcommands.h"
#include "tools/tilewright/data/ElementValues.h"
#include "tools/tilewright/data/InputArguments.h"

#include <chrono>
#include <cstdio>
#include <memory>

namespace tilewright {
namespace {

/// How many elements of an output are printed.
constexpr int64_t shownElements = 8;

struct RunCommand {
  std::string path;
  CompileArguments compile;
  InputArguments input;
  std::vector<std::string> expect;
  Tolerance tolerance;
  std::string outputFolder;
  unsigned threads = 0;
  int device = 0;
  bool noCache = false;
  bool json = false;

  int run();

private:
  Status prepare();
  Status execute();
  Status writeOutputs() const;
  void print() const;
  void printJson() const;
  bool agrees() const;

  ModuleRequest request;
  InputOptions inputOptions;
  std::vector<FileBinding> expected;
  ObtainedModule obtained;
  MadeInputs inputs;
  std::vector<Tensor> outputs;
  ContextStatistics statistics;
  double milliseconds = 0;
  unsigned usedThreads = 0;
  nlohmann::json verdicts = nlohmann::json::array();
};

} // namespace

/// What can be said before anything is compiled.
Status RunCommand::prepare() {
  Result<CompileOptions> options = compile.resolve();
  if (!options) {
    return options.status();
  }
  Result<InputOptions> parsedInputs = input.resolve(compile.shapes);
  if (!parsedInputs) {
    return parsedInputs.status();
  }
  Result<std::vector<FileBinding>> files = parseFiles("--expect", expect);
  if (!files) {
    return files.status();
  }
  if (!outputFolder.empty()) {
    TW_RETURN_IF_ERROR(makeFolder(outputFolder));
  }
  request.path = path;
  request.compile = std::move(*options);
  request.lookUp = request.keep = !noCache;
  inputOptions = std::move(*parsedInputs);
  expected = std::move(*files);
  return Status::ok();
}

Status RunCommand::execute() {
  Result<ObtainedModule> module = obtainModule(request);
  if (!module) {
    return module.status();
  }
  obtained = std::move(*module);
  for (const FileBinding &file : expected) {
    Result<size_t> index = findOutput(*obtained.module, file.name);
    if (!index) {
      return index.status();
    }
  }
  Result<MadeInputs> made = makeInputs(obtained.module->inputs(), inputOptions);
  if (!made) {
    return made.status();
  }
  inputs = std::move(*made);
  ContextOptions contextOptions;
  contextOptions.threads = threads;
  contextOptions.device = device;
  auto context = Context::create(obtained.module, contextOptions);
  if (!context) {
    return context.status();
  }
  usedThreads = (*context)->threads();
  auto start = std::chrono::steady_clock::now();
  Result<std::vector<Tensor>> results = (*context)->run(inputs.views());
  milliseconds = std::chrono::duration<double, std::milli>(
                     std::chrono::steady_clock::now() - start)
                     .count();
  if (!results) {
    return results.status();
  }
  outputs = std::move(*results);
  statistics = (*context)->statistics();
  return Status::ok();
}

/// \returns the name of an output's file: anything that could mean something to
/// a file system becomes '_'.
static std::string fileName(const std::string &name) {
  std::string file = name;
  for (char &character : file) {
    bool isPlain = (character >= 'a' && character <= 'z') ||
                   (character >= 'A' && character <= 'Z') ||
                   (character >= '0' && character <= '9') || character == '.' ||
                   character == '_' || character == '-';
    if (!isPlain) {
      character = '_';
    }
  }
  return file + ".npy";
}

Status RunCommand::writeOutputs() const {
  for (size_t i = 0; i < outputs.size() && !outputFolder.empty(); ++i) {
    std::filesystem::path file = std::filesystem::path(outputFolder) /
                                 fileName(obtained.module->outputs()[i].name);
    TW_RETURN_IF_ERROR(writeNpy(file, outputs[i].view()));
  }
  return Status::ok();
}

bool RunCommand::agrees() const {
  for (const nlohmann::json &verdict : verdicts) {
    if (!verdict["agrees"].get<bool>()) {
      return false;
    }
  }
  return true;
}

void RunCommand::print() const {
  const Module &module = *obtained.module;
  std::string origin = obtained.wasModule ? "opened in "
                       : obtained.cached  ? "taken from the cache in "
                                          : "compiled in ";
  std::printf("%s for %s %s%s\n  %s\n", path.c_str(), targetOf(module).c_str(),
              origin.c_str(), formatMilliseconds(obtained.milliseconds).c_str(),
              describeSummary(module.summary()).c_str());
  for (size_t i = 0; i < inputs.tensors.size(); ++i) {
    std::printf("input   %s: %s, %s\n", module.inputs()[i].name.c_str(),
                formatType(inputs.tensors[i].view()).c_str(),
                inputs.sources[i].c_str());
  }
  for (const std::string &symbol : inputs.assumed) {
    std::printf("note    the size '%s' is 1; --shape or an input's file can "
                "say otherwise\n",
                symbol.c_str());
  }
  if (!statistics.libraryRefusal.empty()) {
    std::printf("note    products for cuBLASLt ran as generated kernels: %s\n",
                statistics.libraryRefusal.c_str());
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    std::printf("output  %s: %s %s\n", module.outputs()[i].name.c_str(),
                formatType(outputs[i].view()).c_str(),
                formatElements(outputs[i].view(), shownElements).c_str());
  }
  std::printf("ran in %s on %s\n", formatMilliseconds(milliseconds).c_str(),
              formatCount(usedThreads, "thread").c_str());
  for (const nlohmann::json &verdict : verdicts) {
    std::printf("%s  %s %s\n",
                verdict["agrees"].get<bool>() ? "ok    " : "WRONG ",
                verdict["name"].get<std::string>().c_str(),
                verdict["message"].get<std::string>().c_str());
  }
}

static nlohmann::json describeTensor(const Parameter &parameter,
                                     const Tensor &tensor) {
  return {{"name", parameter.name},
          {"type", nameOf(tensor.dtype())},
          {"shape", tensor.shape()}};
}

void RunCommand::printJson() const {
  const Module &module = *obtained.module;
  nlohmann::json object = {
      {"model", path},
      {"target", targetOf(module)},
      {"cached", obtained.cached},
      {obtained.wasModule ? "load_ms" : "compile_ms", obtained.milliseconds},
      {"run_ms", milliseconds},
      {"threads", usedThreads},
      {"summary", parseJson(module.summary())},
      {"assumed", inputs.assumed},
      {"library_calls", statistics.libraryCalls},
      {"library_refusal", statistics.libraryRefusal},
      {"inputs", nlohmann::json::array()},
      {"outputs", nlohmann::json::array()},
      {"expect", verdicts}};
  for (size_t i = 0; i < inputs.tensors.size(); ++i) {
    nlohmann::json tensor =
        describeTensor(module.inputs()[i], inputs.tensors[i]);
    tensor["source"] = inputs.sources[i];
    object["inputs"].push_back(std::move(tensor));
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    nlohmann::json tensor = describeTensor(module.outputs()[i], outputs[i]);
    tensor["first"] = nlohmann::json::array();
    for (int64_t j = 0; j < outputs[i].elements() && j < shownElements; ++j) {
      tensor["first"].push_back(formatElement(outputs[i].view(), j));
    }
    object["outputs"].push_back(std::move(tensor));
  }
  std::printf("%s\n", dumpJson(object).c_str());
}

int RunCommand::run() {
  Status status = prepare();
  if (status) {
    status = execute();
  }
  if (status) {
    status = writeOutputs();
  }
  if (!status) {
    return report(status);
  }
  Result<nlohmann::json> checked =
      checkExpectations(*obtained.module, outputs, expected, tolerance);
  if (!checked) {
    return report(checked.status());
  }
  verdicts = std::move(*checked);
  json ? printJson() : print();
  std::fflush(stdout);
  if (agrees()) {
    return Success;
  }
  for (const nlohmann::json &verdict : verdicts) {
    if (!verdict["agrees"].get<bool>()) {
      std::fprintf(stderr, "check failed: output '%s' %s\n",
                   verdict["name"].get<std::string>().c_str(),
                   verdict["message"].get<std::string>().c_str());
    }
  }
  return CheckFailed;
}

Action addRun(CLI::App &program) {
  auto command = std::make_shared<RunCommand>();
  CLI::App &app = *program.add_subcommand(
      "run", "Runs a model or a module and shows its outputs");
  app.add_option("model", command->path,
                 "An ONNX model, which is compiled in memory, or a module")
      ->required()
      ->type_name("MODEL");
  command->input.addTo(app);
  app.add_option("--output-dir", command->outputFolder,
                 "Write each output into this folder as NAME.npy")
      ->type_name("DIR");
  addRepeatable(app, "--expect", command->expect,
                "What an output must be: NAME=@FILE.npy. Repeatable; the exit "
                "code is 1 when one is not")
      ->type_name("NAME=@FILE");
  app.add_option("--rtol", command->tolerance.relative,
                 "Relative tolerance of --expect")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str()
      ->type_name("R");
  app.add_option("--atol", command->tolerance.absolute,
                 "Absolute tolerance of --expect")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str()
      ->type_name("A");
  command->compile.addTo(app);
  addThreads(app, command->threads,
             "Threads that work on the run; 0: all processors");
  addDevice(app, command->device);
  app.add_flag("--no-cache", command->noCache,
               "Compile anew and keep nothing in the cache");
  app.add_flag("--json", command->json, "Print JSON");
  app.footer("Examples:\n"
             "  tilewright run model.onnx\n"
             "  tilewright run model.onnx --shape x=8x3x224x224 --input "
             "mask=ones --output-dir results\n"
             "  tilewright run model.twm --input x=@x.npy --expect y=@y.npy "
             "--rtol 1e-3 --atol 1e-4");
  return [command] { return command->run(); };
}

} // namespace tilewright
