//===- CompileArguments.cpp - options of all that compile -----------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "tools/tilewright/CompileArguments.h"

#include "tools/tilewright/data/InputArguments.h"

#include <algorithm>
#include <fstream>
#include <sstream>

namespace tilewright {

void CompileArguments::addTo(CLI::App &app) {
  app.add_option("--target", target,
                 "cpu (the best level of this machine), cpu:x86-64-v2, "
                 "cpu:avx2, cpu:avx512; a GPU such as cuda:sm_80; or its "
                 "simulator, sim:sm_80")
      ->type_name("TARGET");
  addRepeatable(app, "--shape", shapes,
                "The shape of an input, such as x=1x3x224x224; `?` leaves a "
                "size as the model has it. Repeatable")
      ->type_name("NAME=SIZES");
  addRepeatable(app, "--override-kernel", kernels,
                "CUDA C++ in place of a generated kernel. Repeatable")
      ->type_name("KERNEL=FILE.cu");
  app.add_option("--precision", precision,
                 "f32, or tf32: a GPU's matrix units round factors of f32 to "
                 "10 bits of mantissa")
      ->type_name("POLICY");
  app.add_option(
         "--cublaslt", library,
         "Which products of matrices a GPU leaves to cuBLASLt, where it "
         "is found: auto (those that it should compute faster), never, "
         "or always (all that it can)")
      ->type_name("USE");
  app.add_flag("--strict", strict,
               "Keep every cast and rounding of the ONNX graph");
  app.add_flag("--reference", reference,
               "Naive loops with f64 accumulators, nothing normalised or "
               "fused: what other results are compared with");
}

static std::string targetNames() {
  std::string names;
  for (const TargetSpec &spec : allTargets()) {
    names += (names.empty() ? "cpu:" : ", cpu:") + std::string(spec.name);
  }
  for (const TargetSpec &spec : gpuTargets()) {
    names += ", cuda:" + std::string(spec.name);
  }
  return names + ", and sim: instead of cuda:";
}

static bool isSimulated(const std::string &target) {
  return target.rfind("sim:", 0) == 0;
}

Result<const TargetSpec *> parseTarget(const std::string &text) {
  if (text == "cpu") {
    return nullptr;
  }
  size_t colon = text.find(':');
  std::string kind = text.substr(0, colon);
  const TargetSpec *spec =
      colon != std::string::npos
          ? findTarget(std::string_view(text).substr(colon + 1))
          : nullptr;
  bool isGpu = kind == "cuda" || kind == "sim";
  if (!spec || spec->isGpu() != isGpu || (!isGpu && kind != "cpu")) {
    return Status(ErrorCode::OptionInvalid, "--target '" + text +
                                                "': the targets are cpu, " +
                                                targetNames());
  }
  return spec;
}

/// Reads the files of --override-kernel.
static Result<std::map<std::string, std::string>>
readKernels(const std::vector<std::string> &arguments) {
  std::map<std::string, std::string> sources;
  for (const std::string &argument : arguments) {
    size_t equals = argument.find('=');
    if (equals == std::string::npos || equals == 0) {
      return Status(ErrorCode::OptionInvalid, "--override-kernel '" + argument +
                                                  "': expected KERNEL=FILE.cu");
    }
    std::ifstream stream(argument.substr(equals + 1), std::ios::binary);
    std::stringstream text;
    text << stream.rdbuf();
    if (!stream) {
      return Status(ErrorCode::OptionInvalid, "--override-kernel '" + argument +
                                                  "': the file cannot be read");
    }
    sources[argument.substr(0, equals)] = text.str();
  }
  return sources;
}

static Status checkPrecision(const std::string &policy, bool isGpu) {
  if (policy == "f32" || (policy == "tf32" && isGpu)) {
    return Status::ok();
  }
  static constexpr const char *known[] = {"tf32", "bf16", "f16",
                                          "int8", "fp8",  "int4"};
  if (std::find(std::begin(known), std::end(known), policy) !=
      std::end(known)) {
    return Status(ErrorCode::UnsupportedOption,
                  "--precision " + policy +
                      ": only f32 is supported, which computes as the model "
                      "says, and tf32 for GPUs; leave the option out");
  }
  return Status(ErrorCode::OptionInvalid, "--precision '" + policy +
                                              "': there is no such policy; use "
                                              "f32 or tf32");
}

static Result<LibraryUse> parseLibraryUse(const std::string &text, bool isGpu) {
  if (text == "auto") {
    return LibraryUse::Auto;
  }
  bool isNever = text == "never";
  if (!isNever && text != "always") {
    return Status(ErrorCode::OptionInvalid,
                  "--cublaslt '" + text + "': use auto, never or always");
  }
  if (!isGpu) {
    return Status(ErrorCode::OptionInvalid,
                  "--cublaslt is for GPUs: give --target cuda:… too");
  }
  return isNever ? LibraryUse::Never : LibraryUse::Always;
}

Result<CompileOptions> CompileArguments::resolve() const {
  CompileOptions options;
  Result<const TargetSpec *> spec = parseTarget(target);
  if (!spec) {
    return spec.status();
  }
  bool isGpu = *spec && (*spec)->isGpu();
  TW_RETURN_IF_ERROR(checkPrecision(precision, isGpu));
  Result<LibraryUse> use = parseLibraryUse(library, isGpu);
  TW_RETURN_IF_ERROR(use.status());
  Result<Shapes> sizes = parseShapes(shapes);
  if (!sizes) {
    return sizes.status();
  }
  Result<std::map<std::string, std::string>> sources = readKernels(kernels);
  TW_RETURN_IF_ERROR(sources.status());
  if (!sources->empty() && !isGpu) {
    return Status(ErrorCode::OptionInvalid,
                  "--override-kernel is for GPUs: give --target cuda:… too");
  }
  options.kernelSources = std::move(*sources);
  options.target = *spec;
  options.simulated = isSimulated(target);
  options.shapes = std::move(*sizes);
  options.strict = strict;
  options.tf32 = precision == "tf32";
  options.library = *use;
  options.reference = reference;
  return options;
}

} // namespace tilewright
