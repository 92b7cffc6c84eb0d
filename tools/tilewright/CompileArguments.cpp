//===- CompileArguments.cpp - options of all that compile -----------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "tools/tilewright/CompileArguments.h"

#include "tools/tilewright/data/InputArguments.h"

#include <algorithm>

namespace tilewright {

void CompileArguments::addTo(CLI::App &app) {
  app.add_option("--target", target,
                 "cpu (the best level of this machine), cpu:x86-64-v2, "
                 "cpu:avx2 or cpu:avx512")
      ->type_name("TARGET");
  addRepeatable(app, "--shape", shapes,
                "The shape of an input, such as x=1x3x224x224; `?` leaves a "
                "size as the model has it. Repeatable")
      ->type_name("NAME=SIZES");
  app.add_option("--precision", precision, "f32")->type_name("POLICY");
  app.add_flag("--strict", strict,
               "Keep every cast and rounding of the ONNX graph");
  app.add_flag("--reference", reference,
               "Naive loops with f64 accumulators, nothing normalised or "
               "fused: what other results are compared with");
}

static std::string levelNames() {
  std::string names;
  for (const TargetSpec &spec : allTargets()) {
    names += (names.empty() ? "cpu:" : ", cpu:") + std::string(spec.name);
  }
  return names;
}

Result<const TargetSpec *> parseTarget(const std::string &text) {
  if (text == "cpu") {
    return nullptr;
  }
  std::string kind = text.substr(0, text.find(':'));
  if (kind == "cuda" || kind == "sim") {
    return Status(ErrorCode::UnsupportedOption,
                  "--target " + text + ": there is no code generation for " +
                      (kind == "cuda" ? "CUDA" : "the GPU simulator") +
                      " yet; the targets are cpu, " + levelNames());
  }
  const TargetSpec *spec = kind == "cpu" && text.size() > 4
                               ? findTarget(std::string_view(text).substr(4))
                               : nullptr;
  if (!spec) {
    return Status(ErrorCode::OptionInvalid, "--target '" + text +
                                                "': the targets are cpu, " +
                                                levelNames());
  }
  return spec;
}

static Status checkPrecision(const std::string &policy) {
  if (policy == "f32") {
    return Status::ok();
  }
  static constexpr const char *planned[] = {"tf32", "bf16", "f16",
                                            "int8", "fp8",  "int4"};
  if (std::find(std::begin(planned), std::end(planned), policy) !=
      std::end(planned)) {
    return Status(ErrorCode::UnsupportedOption,
                  "--precision " + policy +
                      ": only f32 is supported, which computes as the model "
                      "says; leave the option out");
  }
  return Status(ErrorCode::OptionInvalid, "--precision '" + policy +
                                              "': there is no such policy; use "
                                              "f32");
}

Result<CompileOptions> CompileArguments::resolve() const {
  CompileOptions options;
  Result<const TargetSpec *> spec = parseTarget(target);
  if (!spec) {
    return spec.status();
  }
  TW_RETURN_IF_ERROR(checkPrecision(precision));
  Result<Shapes> sizes = parseShapes(shapes);
  if (!sizes) {
    return sizes.status();
  }
  options.target = *spec;
  options.shapes = std::move(*sizes);
  options.strict = strict;
  options.reference = reference;
  return options;
}

} // namespace tilewright
