//===- RunCase.cpp - one node test ----------------------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "test/conformance/RunCase.h"

#include "frontend/ElementTypes.h"
#include "frontend/model/TensorData.h"
#include "mlir/IR/MLIRContext.h"
#include "tilewright/Context.h"
#include "tools/tilewright/data/ElementValues.h"

#include <cstring>
#include <fstream>

namespace tilewright::conformance {
namespace {

/// Reads the TensorProto that `path` holds. Errors: InputUnreadable,
/// UnsupportedType, those of checkTensorData().
Result<Tensor> readTensor(const std::filesystem::path &path) {
  std::ifstream file(path, std::ios::binary);
  onnx::TensorProto proto;
  if (!file || !proto.ParseFromIstream(&file)) {
    return Status(ErrorCode::InputUnreadable,
                  path.filename().string() + " is no tensor");
  }
  static mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  mlir::Type type = frontend::elementTypeFromOnnx(&context, proto.data_type());
  if (!type) {
    return Status(ErrorCode::UnsupportedType,
                  path.filename().string() + " has strings or complex numbers");
  }
  TW_RETURN_IF_ERROR(checkTensorData(proto));
  Result<ConstantBytes> bytes = tensorData(proto, nullptr);
  if (!bytes) {
    return bytes.status();
  }
  Result<Tensor> tensor = Tensor::create(
      *tw::dtypeOf(type), {proto.dims().begin(), proto.dims().end()});
  if (tensor && bytes->size != 0) {
    std::memcpy(tensor->data(), bytes->data, bytes->size);
  }
  return tensor;
}

std::string describe(const Tensor &tensor) {
  return nameOf(tensor.dtype()) + ShapeRef(tensor.shape()).toString();
}

std::string checkOutput(const std::string &name, const Tensor &actual,
                        const Tensor &expected, const Tolerance &tolerance) {
  if (actual.dtype() != expected.dtype() ||
      actual.shape() != expected.shape()) {
    return "output " + name + " is " + describe(actual) + ", expected " +
           describe(expected);
  }
  Comparison result = compare(actual.view(), expected.view(), tolerance);
  if (result.agrees) {
    return "";
  }
  return "output " + name + " " + result.mismatch + "; " +
         std::to_string(result.wrong) + " of " +
         std::to_string(result.elements) + " elements are wrong";
}

/// Runs a compiled case. \returns what is wrong with an output.
Result<std::string> check(const Case &test,
                          std::shared_ptr<const Module> module) {
  std::vector<Tensor> inputs;
  std::vector<TensorView> views;
  for (size_t i = 0; i < module->inputs().size(); ++i) {
    auto input =
        readTensor(test.folder / ("input_" + std::to_string(i) + ".pb"));
    if (!input) {
      return input.status();
    }
    inputs.push_back(std::move(*input));
  }
  for (const Tensor &input : inputs) {
    views.push_back(input.view());
  }
  auto context = Context::create(module, {1});
  if (!context) {
    return context.status();
  }
  auto outputs = (*context)->run(views);
  if (!outputs) {
    return outputs.status();
  }
  for (size_t i = 0; i < outputs->size(); ++i) {
    auto expected =
        readTensor(test.folder / ("output_" + std::to_string(i) + ".pb"));
    if (!expected) {
      return expected.status();
    }
    std::string wrong = checkOutput(module->outputs()[i].name, (*outputs)[i],
                                    *expected, test.tolerance);
    if (!wrong.empty()) {
      return wrong;
    }
  }
  return std::string();
}

std::string withoutSeverity(const Status &status) {
  std::string text = status.toString();
  return text.rfind("error ", 0) == 0 ? text.substr(6) : text;
}

} // namespace

std::string runCase(const Case &test, const CompileOptions &options) {
  Result<CompileResult> compiled =
      compileModel((test.folder / "model.onnx").string(), options);
  if (!compiled) {
    return withoutSeverity(compiled.status());
  }
  OpenOptions open;
  open.threads = 1;
  if (options.simulated) {
    open.device = DeviceKind::Simulator;
    open.architecture = options.target->name;
  }
  auto module = Module::fromBytes(compiled->module, open);
  if (!module) {
    return withoutSeverity(module.status());
  }
  Result<std::string> wrong = check(test, std::move(*module));
  return wrong ? *wrong : withoutSeverity(wrong.status());
}

} // namespace tilewright::conformance
