//===- main.cpp - the command line ----------------------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "tools/tilewright/CrashHandler.h"
#include "tools/tilewright/Report.h"
#include "tools/tilewright/Subcommands.h"
#include "llvm/Config/llvm-config.h"

#include <iostream>
#include <new>

using namespace tilewright;

static constexpr const char *description =
    "Tilewright compiles ONNX models into fused, tiled native code and runs "
    "them.";

static constexpr const char *footer =
    "Examples:\n"
    "  tilewright compile model.onnx -o model.twm --target cpu:avx2\n"
    "  tilewright run model.onnx --input x=@x.npy --output-dir results\n"
    "  tilewright run model.twm --input x=@x.npy --expect y=@y.npy\n"
    "  tilewright bench model.onnx --shape x=8x3x224x224 --threads 2 --json\n"
    "  tilewright inspect model.twm --plan\n"
    "  tilewright explain model.onnx\n\n"
    "Exit codes: 0 success, 1 a check failed, 2 a fault of the model, a file "
    "or the command\n"
    "line, 3 something that is not supported yet, 4 a fault of Tilewright.";

static int runProgram(int argc, char **argv) {
  CLI::App program(description, "tilewright");
  program.footer(footer);
  program.set_version_flag("--version", "tilewright " TILEWRIGHT_VERSION
                                        " (LLVM " LLVM_VERSION_STRING ")");
  program.require_subcommand(1);

  const Action actions[] = {addCompile(program), addRun(program),
                            addBench(program), addInspect(program),
                            addExplain(program)};
  try {
    program.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    return program.exit(error) == 0 ? Success : UserError;
  }
  size_t index = 0;
  for (const CLI::App *command : program.get_subcommands({})) {
    if (command->parsed()) {
      return actions[index]();
    }
    ++index;
  }
  return UserError;
}

int main(int argc, char **argv) {
  installCrashHandler();
  try {
    int code = runProgram(argc, argv);
    std::cout.flush();
    if (!std::cout || std::fflush(stdout) != 0 || std::ferror(stdout)) {
      return report(Status(ErrorCode::OutputUnwritable,
                           "cannot write to standard output"));
    }
    return code;
  } catch (const std::bad_alloc &) {
    return report(Status(ErrorCode::OutOfMemory, ""));
  } catch (const std::exception &error) {
    return report(Status(ErrorCode::Internal,
                         std::string("an exception: ") + error.what()));
  }
}
