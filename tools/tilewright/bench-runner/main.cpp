//===- main.cpp - measures a module with the runtime alone ----------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// `tilewright bench` starts this program: a process that has never seen the
// compiler, so that its memory and its times are those of the runtime. It
// prints one JSON object.
//
//===----------------------------------------------------------------------===//

#include "tools/tilewright/Report.h"
#include "tools/tilewright/bench-runner/Measure.h"
#include "tools/tilewright/data/DeviceTarget.h"
#include "tools/tilewright/data/InputArguments.h"

#include <cstdio>
#include <new>

using namespace tilewright;

int main(int argc, char **argv) {
  CLI::App program("Measures a module; tilewright bench starts this",
                   "tilewright-bench-runner");
  std::string path;
  std::vector<std::string> shapes;
  InputArguments input;
  MeasureOptions options;
  program.add_option("module", path)->required();
  addRepeatable(program, "--shape", shapes, "Shapes of inputs");
  input.addTo(program);
  addThreads(program, options.context.threads, "Threads that work on a run");
  program.add_option("--runs", options.runs);
  program.add_option("--warmup", options.warmup);
  program.add_flag("--kernels", options.kernels);
  std::string target;
  program.add_option("--target", target)->required();
  program.add_option("--device", options.context.device);
  try {
    program.parse(argc, argv);
    Result<InputOptions> inputs = input.resolve(shapes);
    if (!inputs) {
      return report(inputs.status());
    }
    options.inputs = std::move(*inputs);
    Result<OpenOptions> open = openOptionsFor(target);
    if (!open) {
      return report(open.status());
    }
    options.open = std::move(*open);
    options.open.threads = options.context.threads;
    Result<nlohmann::json> figures = measure(path, options);
    if (!figures) {
      return report(figures.status());
    }
    std::printf("%s\n", dumpJson(*figures).c_str());
    return Success;
  } catch (const CLI::ParseError &error) {
    return program.exit(error) == 0 ? Success : UserError;
  } catch (const std::bad_alloc &) {
    return report(Status(ErrorCode::OutOfMemory, ""));
  } catch (const std::exception &error) {
    return report(Status(ErrorCode::Internal, error.what()));
  }
}
