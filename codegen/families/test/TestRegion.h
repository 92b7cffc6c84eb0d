//===- TestRegion.h - build, compile and run regions in tests ---*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "codegen/cpu/test/TestKernel.h"
#include "codegen/families/test/Floats.h"
#include "passes/tile/Tactic.h"

#include <cmath>
#include <map>
#include <random>

namespace tilewright::test {

/// A level, and the best tactic or `reference`.
struct Variant {
  const TargetSpec *target;
  bool reference;
};

std::vector<Variant> everyVariant();
std::string variantName(const testing::TestParamInfo<Variant> &info);

/// A compiled region.
class RunnableRegion {
public:
  /// Runs all tasks, in two calls. `buffers` are inputs, then outputs.
  /// \returns the status word.
  int run(std::vector<void *> buffers,
          const std::map<std::string, int64_t> &symbols = {});

  std::string tactic; ///< name of the tactic that was taken
  /// The sizes of the kernel's operands; -1 where they vary.
  std::vector<std::vector<int64_t>> operandDims;

private:
  friend class RegionTest;
  std::unique_ptr<LoadedImage> image;
  std::string kernel;
  std::vector<std::function<int64_t(const std::map<std::string, int64_t> &)>>
      sizes;
  std::function<int64_t(const std::map<std::string, int64_t> &)> tasks,
      workspace;
  std::shared_ptr<void> context; // keeps the expressions alive
};

/// Runs each case at every level with the best tactic and with `reference`.
class RegionTest : public testing::TestWithParam<Variant> {
protected:
  /// Compiles the first tw.fused of a module. Null, with the case skipped or
  /// failed, when it cannot run here. Constants in front of the region are
  /// packed first where a tactic wants that: see `operandDims`.
  std::unique_ptr<RunnableRegion> compile(const std::string &module);
  const TargetSpec &target() const { return *GetParam().target; }
  bool isReference() const { return GetParam().reference; }
};

} // namespace tilewright::test
