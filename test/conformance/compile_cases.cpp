//===- compile_cases.cpp - modules of ONNX's node tests -------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
//   ConformanceModules CASES FOLDER --target sm_90a [--only NAME]…
//
// Compiles the cases that make_cases.py wrote and writes FOLDER/NAME.twm, for
// scripts/gpu_bundle.sh: starting the compiler for each of them would take
// longer than compiling. Prints a line for each that does not compile: its
// name, a space, and why.
//
//===----------------------------------------------------------------------===//

#include "CLI/CLI.hpp"
#include "targets/TargetSpec.h"
#include "test/conformance/Cases.h"
#include "test/conformance/Workers.h"
#include "tools/driver/Compiler.h"
#include "tools/driver/ObjectFolder.h"

#include <algorithm>
#include <cstdio>
#include <fstream>

using namespace tilewright;
using namespace tilewright::conformance;

namespace {
struct Arguments {
  std::string cases;
  std::string folder;
  std::string target;
  std::vector<std::string> only;
  unsigned workers = 2;
};
} // namespace

static int fail(const Status &status) {
  std::fprintf(stderr, "%s\n", status.toString().c_str());
  return 1;
}

/// \returns why there is no module, or "".
static std::string compileCase(const Case &test, const CompileOptions &options,
                               const std::filesystem::path &folder) {
  Result<CompileResult> compiled =
      compileModel((test.folder / "model.onnx").string(), options);
  if (!compiled) {
    return compiled.status().toString();
  }
  std::filesystem::path path = folder / (test.name + ".twm");
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char *>(compiled->module.data()),
             static_cast<std::streamsize>(compiled->module.size()));
  return file.flush() ? "" : "cannot write '" + path.string() + "'";
}

static int run(const Arguments &arguments) {
  Result<std::vector<Case>> all = readCases(arguments.cases);
  if (!all) {
    return fail(all.status());
  }
  CompileOptions options;
  options.threads = 1;
  options.objectFolder = ObjectFolder::userFolder();
  options.target = findTarget(arguments.target);
  if (!options.target) {
    return fail(Status(ErrorCode::OptionInvalid,
                       "there is no target '" + arguments.target + "'"));
  }
  std::vector<Case> cases;
  for (const Case &test : *all) {
    const std::vector<std::string> &only = arguments.only;
    if (only.empty() ||
        std::find(only.begin(), only.end(), test.name) != only.end()) {
      cases.push_back(test);
    }
  }
  WorkerOptions workers;
  workers.workers = arguments.workers;
  bool started = runJobs(
      cases.size(), workers,
      [&](size_t i) {
        return compileCase(cases[i], options, arguments.folder);
      },
      [&](size_t i, const JobResult &result) {
        if (!result.finished || !result.text.empty()) {
          std::printf("%s %s\n", cases[i].name.c_str(), result.text.c_str());
          std::fflush(stdout);
        }
      });
  return started
             ? 0
             : fail(Status(ErrorCode::OutOfMemory, "cannot start processes"));
}

int main(int argc, char **argv) {
  Arguments arguments;
  CLI::App app("Compiles ONNX's node tests");
  app.add_option("cases", arguments.cases, "What make_cases.py wrote")
      ->required();
  app.add_option("folder", arguments.folder, "Gets the modules")->required();
  app.add_option("--target", arguments.target, "A CPU level or a GPU")
      ->required();
  app.add_option("--only", arguments.only, "Cases; all where none is named");
  app.add_option("--workers", arguments.workers, "Processes at a time")
      ->check(CLI::Range(1, 64));
  CLI11_PARSE(app, argc, argv);
  return run(arguments);
}
