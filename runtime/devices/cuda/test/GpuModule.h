//===- GpuModule.h - hand-made modules for a GPU ----------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "codegen/cuda/test/TestPtx.h"
#include "runtime/test/TestModule.h"

#include <gtest/gtest.h>
#include <map>

namespace tilewright::test {

/// y = x * factor + 1 for sizes (n, factor).
extern const char *const scaleSource;

/// A TestModule with one variant, for a GPU.
class GpuModule : public TestModule {
public:
  explicit GpuModule(const std::string &architecture = "sm_80");

  /// Adds a kernel of that name, once, and returns its number.
  uint32_t kernel(const std::string &name, const std::string &source);

  /// Appends a launch to a function, one thread per element of `elements` (an
  /// expression) in blocks of 32. Kernels take `sizes` and the contract's rest.
  format::LaunchT &launch(size_t function, uint32_t kernel, Ids args, Ids sizes,
                          uint32_t elements);

  std::vector<std::byte> bytes();
  Result<std::shared_ptr<const Module>>
  open(DeviceKind device = DeviceKind::Simulator,
       const std::string &architecture = "");
  /// Opens on the simulator; reports what goes wrong.
  std::unique_ptr<Context> context(const ContextOptions &options = {});

  struct Code {
    std::string cubin;
    std::string ptx;
  };
  std::vector<Code> kernels; ///< by number

  /// Evaluated when the main function is entered.
  uint32_t evaluated(uint32_t expr) {
    function(0).evaluate.push_back(expr);
    return expr;
  }

private:
  std::map<std::string, uint32_t> numbers;
};

/// A main function with input x: f32[N], whose symbol and sizes are known.
struct OneInput {
  GpuModule b;
  uint32_t n = b.symbol("N");
  uint32_t dim = b.expr(n);
  uint32_t x = b.parameter(0, "x", format::DType_F32, {dim});
  uint32_t bytes = b.expr(format::ExprOp_Mul, dim, b.size(4));

  OneInput();
  uint32_t owned(const std::string &name) {
    return b.owned(name, format::DType_F32, {dim});
  }
  /// A value in a new buffer that lives from one command to another.
  uint32_t arena(const std::string &name, uint32_t first, uint32_t last);
  /// to = from * factor + 1
  format::CommandT &scale(uint32_t from, uint32_t to, int64_t factor);
  /// What the run of `context` gives for these elements.
  static std::vector<float> run(Context &context,
                                const std::vector<float> &elements);
};

/// Sets a variable of the environment for as long as it lives.
class Environment {
public:
  Environment(const char *name, const std::string &value) : name(name) {
    setenv(name, value.c_str(), 1);
  }
  ~Environment() { unsetenv(name); }

private:
  const char *name;
};

/// A test that compiles kernels.
class GpuTest : public testing::Test {
protected:
  void SetUp() override {
    std::string missing = missingNvrtc();
    if (!missing.empty()) {
      GTEST_SKIP() << missing;
    }
  }
};

} // namespace tilewright::test
