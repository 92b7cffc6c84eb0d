//===- TestModule.h - hand-made modules for tests ---------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "runtime/ModuleWriter.h"
#include "tilewright/Tilewright.h"

#include <string>
#include <vector>

namespace tilewright::test {

using Ids = std::vector<uint32_t>;

/// Builds a module by hand. Functions are edited through `function(i)`.
class TestModule {
public:
  TestModule();

  format::PlanT &plan() { return *module.variants[0]->plan; }
  format::FunctionT &function(size_t index) { return *plan().functions[index]; }

  uint32_t size(int64_t value);
  /// A symbol's number; expr() gives the expression that reads it.
  uint32_t symbol(const std::string &name);
  uint32_t expr(uint32_t symbol);
  uint32_t expr(format::ExprOp op, uint32_t a, uint32_t b, uint32_t c = 0);

  uint32_t value(const std::string &name, format::DType dtype, Ids dims,
                 format::Storage storage, uint32_t index = 0);
  uint32_t owned(const std::string &name, format::DType dtype, Ids dims) {
    return value(name, dtype, std::move(dims), format::Storage_Owned);
  }
  /// The next parameter of function `function`; of main also an input.
  uint32_t parameter(size_t function, const std::string &name,
                     format::DType dtype, Ids dims);
  /// A result of function `function`; of main also an output.
  void result(size_t function, uint32_t value);
  uint32_t constant(const std::string &name, format::DType dtype, Ids dims,
                    std::string bytes);
  uint32_t kernel(const std::string &name);
  size_t addFunction(const std::string &name);

  /// Appends a command to a function and returns its body to be filled in.
  template <typename T> T &command(size_t index) {
    auto command = std::make_unique<format::CommandT>();
    command->body.Set(T());
    command->nodes = {0};
    function(index).commands.push_back(std::move(command));
    return *static_cast<T *>(function(index).commands.back()->body.value);
  }
  format::CommandT &lastCommand(size_t index) {
    return *function(index).commands.back();
  }
  void copy(size_t function, uint32_t from, uint32_t to);

  std::vector<std::byte> bytes();
  Result<std::shared_ptr<const Module>> open();

  format::ModuleT module;
  std::vector<std::string> constants;
  std::string code;
};

/// The code image of Kernels.cpp.
std::string kernelImage();

/// The bytes of a file.
std::string readFile(const std::string &path);

/// A tensor with these elements.
template <typename T>
Tensor tensor(DType dtype, std::vector<int64_t> shape,
              const std::vector<T> &elements) {
  Result<Tensor> result = Tensor::create(dtype, std::move(shape));
  Tensor tensor = std::move(*result);
  std::copy(elements.begin(), elements.end(), tensor.as<T>());
  return tensor;
}

/// The elements of a tensor.
template <typename T> std::vector<T> elements(const Tensor &tensor) {
  return {tensor.as<T>(), tensor.as<T>() + tensor.elements()};
}

} // namespace tilewright::test
