//===- TestModule.cpp - hand-made modules for tests
//------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "runtime/test/TestModule.h"

#include <fstream>
#include <sstream>

using namespace tilewright;
using namespace tilewright::test;

TestModule::TestModule() {
  module.compiler = "test";
  module.model = "hand-made";
  module.summary = "{}";
  auto variant = std::make_unique<format::VariantT>();
  variant->target = "cpu";
  variant->level = "x86-64-v2";
  variant->plan = std::make_unique<format::PlanT>();
  variant->plan->nodes = {"some_node"};
  module.variants.push_back(std::move(variant));
  addFunction("main");
}

uint32_t TestModule::size(int64_t value) {
  plan().expressions.emplace_back(value, 0, 0, 0, format::ExprOp_Const);
  return static_cast<uint32_t>(plan().expressions.size() - 1);
}

uint32_t TestModule::symbol(const std::string &name) {
  plan().symbols.push_back(name);
  return static_cast<uint32_t>(plan().symbols.size() - 1);
}

uint32_t TestModule::expr(uint32_t symbol) {
  plan().expressions.emplace_back(symbol, 0, 0, 0, format::ExprOp_Symbol);
  return static_cast<uint32_t>(plan().expressions.size() - 1);
}

uint32_t TestModule::expr(format::ExprOp op, uint32_t a, uint32_t b,
                          uint32_t c) {
  plan().expressions.emplace_back(0, a, b, c, op);
  return static_cast<uint32_t>(plan().expressions.size() - 1);
}

uint32_t TestModule::value(const std::string &name, format::DType dtype,
                           Ids dims, format::Storage storage, uint32_t index) {
  auto value = std::make_unique<format::ValueT>();
  value->name = name;
  value->dtype = dtype;
  value->dims = std::move(dims);
  value->storage = storage;
  value->index = index;
  plan().values.push_back(std::move(value));
  return static_cast<uint32_t>(plan().values.size() - 1);
}

static std::unique_ptr<format::ParameterT>
makeSignature(const format::ValueT &value) {
  auto parameter = std::make_unique<format::ParameterT>();
  parameter->name = value.name;
  parameter->dtype = value.dtype;
  parameter->dims.assign(value.dims.size(), "?");
  return parameter;
}

uint32_t TestModule::parameter(size_t index, const std::string &name,
                               format::DType dtype, Ids dims) {
  Ids &parameters = function(index).parameters;
  uint32_t id = value(name, dtype, std::move(dims), format::Storage_Parameter,
                      static_cast<uint32_t>(parameters.size()));
  parameters.push_back(id);
  if (index == 0) {
    module.inputs.push_back(makeSignature(*plan().values[id]));
  }
  return id;
}

void TestModule::result(size_t index, uint32_t value) {
  function(index).results.push_back(value);
  if (index == 0) {
    module.outputs.push_back(makeSignature(*plan().values[value]));
  }
}

uint32_t TestModule::constant(const std::string &name, format::DType dtype,
                              Ids dims, std::string bytes) {
  auto constant = std::make_unique<format::ConstantT>();
  constant->hash = name;
  module.constants.push_back(std::move(constant));
  constants.push_back(std::move(bytes));
  return value(name, dtype, std::move(dims), format::Storage_Constant,
               static_cast<uint32_t>(constants.size() - 1));
}

uint32_t TestModule::kernel(const std::string &name) {
  plan().kernels.push_back(name);
  code = kernelImage();
  return static_cast<uint32_t>(plan().kernels.size() - 1);
}

size_t TestModule::addFunction(const std::string &name) {
  auto function = std::make_unique<format::FunctionT>();
  function->name = name;
  plan().functions.push_back(std::move(function));
  return plan().functions.size() - 1;
}

void TestModule::copy(size_t index, uint32_t from, uint32_t to) {
  auto &copy = command<format::CopyT>(index);
  copy.from = from;
  copy.to = to;
}

std::vector<std::byte> TestModule::bytes() {
  ModuleContents contents;
  contents.module = &module;
  contents.constants.assign(constants.begin(), constants.end());
  contents.code.assign(module.variants.size(), code);
  return std::move(*moduleToBytes(contents));
}

Result<std::shared_ptr<const Module>> TestModule::open() {
  return Module::fromBytes(bytes());
}

std::string test::readFile(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream out;
  out << file.rdbuf();
  return out.str();
}

std::string test::kernelImage() { return readFile(TILEWRIGHT_TEST_KERNELS); }
