//===- Models.h - compiled models in tests ----------------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "tilewright/Context.h"
#include "tools/driver/Compiler.h"

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace tilewright::test {

using Tensors = std::vector<Tensor>;
using Shapes = std::map<std::string, std::vector<int64_t>>;

/// \returns the model of a folder in cases/.
std::filesystem::path caseModel(const std::string &id);

/// Writes a model in ONNX's textual form to a file of the running test.
std::filesystem::path writeModel(const std::string &text);

/// Compiles and opens a model, or fails the test and returns null.
std::shared_ptr<const Module> compile(const std::filesystem::path &model,
                                      const CompileOptions &options = {});

/// Reads PREFIX_0.npy, PREFIX_1.npy … of a case's run as what `parameters` say.
Tensors readTensors(const std::filesystem::path &folder,
                    const std::string &prefix,
                    const std::vector<Parameter> &parameters);

/// \returns a tensor of numbers between -1 and 1 that depend on `seed` alone.
Tensor randomTensor(std::vector<int64_t> shape, unsigned seed);

std::vector<TensorView> viewsOf(const Tensors &tensors);

/// Runs `context`, or fails the test and returns no outputs.
Tensors run(Context &context, const Tensors &inputs);

/// The largest |a - b| of two f32 tensors; infinity where types or shapes
/// differ or one value alone is not finite.
double largestDifference(const Tensor &a, const Tensor &b);

/// \returns whether type, shape and all bytes are equal.
bool same(const Tensors &a, const Tensors &b);

} // namespace tilewright::test
