//===- Expectations.cpp - outputs beside expected ones --------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "tools/tilewright/Expectations.h"

#include "tools/support/Npy.h"
#include "tools/tilewright/Report.h"
#include "tools/tilewright/data/Inputs.h"

#include <cstdio>

namespace tilewright {

Result<size_t> findOutput(const Module &module, const std::string &name) {
  for (size_t i = 0; i < module.outputs().size(); ++i) {
    if (module.outputs()[i].name == name) {
      return i;
    }
  }
  return Status(ErrorCode::OutputName,
                "there is no output '" + name + "'; " +
                    listNames("outputs", module.outputs()));
}

static nlohmann::json verdict(const std::string &name, bool agrees,
                              std::string message, double difference = 0) {
  return {{"name", name},
          {"agrees", agrees},
          {"message", std::move(message)},
          {"largest_difference", difference}};
}

static std::string describe(const Comparison &result) {
  char difference[48];
  std::snprintf(difference, sizeof difference, "largest difference %.3g",
                result.largestDifference);
  if (result.agrees) {
    return "as expected, " + std::string(difference);
  }
  return result.mismatch + "; " + std::to_string(result.wrong) + " of " +
         formatCount(result.elements, "element") + " wrong, " + difference;
}

static Result<nlohmann::json> check(const Tensor &output,
                                    const FileBinding &file,
                                    const Tolerance &tolerance) {
  Result<Tensor> expected = readNpy(file.file, output.dtype());
  if (!expected) {
    if (expected.status().code() == ErrorCode::InputType) {
      return verdict(file.name, false,
                     "is " + formatType(output.view()) + ", but " +
                         expected.status().message());
    }
    return expected.status();
  }
  if (expected->shape() != output.shape()) {
    return verdict(file.name, false,
                   "is " + formatType(output.view()) + ", expected " +
                       formatType(expected->view()));
  }
  Comparison result = compare(output.view(), expected->view(), tolerance);
  return verdict(file.name, result.agrees, describe(result),
                 result.largestDifference);
}

Result<nlohmann::json> checkExpectations(const Module &module,
                                         const std::vector<Tensor> &outputs,
                                         const std::vector<FileBinding> &files,
                                         const Tolerance &tolerance) {
  nlohmann::json list = nlohmann::json::array();
  for (const FileBinding &file : files) {
    Result<size_t> index = findOutput(module, file.name);
    if (!index) {
      return index.status();
    }
    Result<nlohmann::json> result = check(outputs[*index], file, tolerance);
    if (!result) {
      return result.status();
    }
    list.push_back(std::move(*result));
  }
  return list;
}

} // namespace tilewright
