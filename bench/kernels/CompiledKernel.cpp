//===- CompiledKernel.cpp - a workload, ready to run ----------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "bench/kernels/CompiledKernel.h"

#include "onnx/defs/parser.h"
#include "onnx/onnx_pb.h"
#include "tools/driver/Compiler.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <unistd.h>

namespace tilewright::bench {

/// Values of either sign that neither vanish nor grow.
static void fill(float *values, size_t count) {
  static const std::vector<float> pattern = [] {
    std::mt19937 generator(1);
    std::uniform_real_distribution<float> values(-1, 1);
    std::vector<float> list(4099); // a prime: rows differ
    std::generate(list.begin(), list.end(), [&] { return values(generator); });
    return list;
  }();
  for (size_t done = 0; done < count; done += pattern.size()) {
    size_t length = std::min(pattern.size(), count - done);
    std::memcpy(values + done, pattern.data(), length * sizeof(float));
  }
}

/// Moves an input of the graph to its constants.
static void makeConstant(onnx::GraphProto &graph, const std::string &name) {
  auto &inputs = *graph.mutable_input();
  auto found =
      std::find_if(inputs.begin(), inputs.end(),
                   [&](const auto &input) { return input.name() == name; });
  if (found == inputs.end()) {
    return;
  }
  onnx::TensorProto &constant = *graph.add_initializer();
  constant.set_name(name);
  constant.set_data_type(onnx::TensorProto::FLOAT);
  size_t count = 1;
  for (const auto &dim : found->type().tensor_type().shape().dim()) {
    constant.add_dims(dim.dim_value());
    count *= dim.dim_value();
  }
  std::vector<float> values(count);
  fill(values.data(), count);
  constant.set_raw_data(values.data(), count * sizeof(float));
  inputs.erase(found);
}

namespace {

/// A file that vanishes.
class TemporaryFile {
public:
  TemporaryFile() {
    std::error_code error;
    path = (std::filesystem::temp_directory_path(error) /
            ("tilewright-bench-" + std::to_string(getpid()) + ".onnx"))
               .string();
  }
  ~TemporaryFile() {
    std::error_code error;
    std::filesystem::remove(path, error);
  }
  TemporaryFile(const TemporaryFile &) = delete;
  TemporaryFile &operator=(const TemporaryFile &) = delete;

  std::string path;
};

} // namespace

static Result<std::shared_ptr<const Module>> compile(const Workload &workload,
                                                     const TargetSpec &target) {
  onnx::ModelProto model;
  auto parsed = onnx::OnnxParser::Parse(model, workload.text.c_str());
  if (!parsed.IsOK()) {
    return Status(ErrorCode::OptionInvalid, parsed.ErrorMessage());
  }
  for (const std::string &name : workload.constants) {
    makeConstant(*model.mutable_graph(), name);
  }
  TemporaryFile file;
  std::ofstream stream(file.path, std::ios::binary);
  if (!model.SerializeToOstream(&stream) || !stream.flush()) {
    return Status(ErrorCode::OutputUnwritable,
                  "cannot write '" + file.path + "'");
  }
  CompileOptions options;
  options.target = &target;
  Result<CompileResult> compiled = compileModel(file.path, options);
  if (!compiled) {
    return compiled.status();
  }
  return Module::fromBytes(compiled->module);
}

Result<CompiledKernel> CompiledKernel::create(const Workload &workload,
                                              const TargetSpec &target,
                                              unsigned threads) {
  auto module = compile(workload, target);
  if (!module) {
    return module.status();
  }
  ContextOptions options;
  options.threads = threads;
  auto context = Context::create(*module, options);
  if (!context) {
    return context.status();
  }
  CompiledKernel kernel;
  kernel.context = std::move(*context);
  for (const Parameter &input : (*module)->inputs()) {
    std::vector<int64_t> shape;
    for (const std::string &dim : input.dims) {
      shape.push_back(std::strtoll(dim.c_str(), nullptr, /*base=*/10));
    }
    Result<Tensor> tensor = Tensor::create(DType::F32, shape);
    if (!tensor) {
      return tensor.status();
    }
    fill(tensor->as<float>(), tensor->elements());
    kernel.inputs.push_back(std::move(*tensor));
  }
  for (const Tensor &input : kernel.inputs) {
    kernel.views.push_back(input.view());
  }
  return kernel;
}

Status CompiledKernel::run() { return context->run(views).status(); }

} // namespace tilewright::bench
