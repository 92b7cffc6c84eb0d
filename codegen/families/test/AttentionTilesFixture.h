//===- AttentionTilesFixture.h - attention on simulated GPUs ----*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "codegen/families/attention/Attention.h"
#include "codegen/families/attention/AttentionTile.h"
#include "codegen/families/test/AttentionCases.h"
#include "codegen/families/test/Floats.h"
#include "codegen/families/test/MmaCases.h"

#include <cmath>
#include <cstring>
#include <iostream>

namespace tilewright::test {

/// The way of the products: plain f32, or matrix units with factors of a type.
struct Way {
  const char *element;
  bool tf32;

  std::string tactic() const {
    return std::string(element) == "f32" && !tf32 ? "attention.tiles"
                                                  : "attention.mma";
  }
  /// What rounding the factors explains, of results around 1.
  float tolerance() const {
    return tactic() == "attention.tiles"    ? 2e-5f
           : std::string(element) == "bf16" ? 2e-2f
                                            : 3e-3f;
  }
};

/// The bytes of numbers in `element`.
inline std::vector<uint8_t> encode(const std::vector<float> &numbers,
                                   const std::string &element) {
  int64_t size = element == "f32" ? 4 : 2;
  std::vector<uint8_t> bytes(numbers.size() * size);
  for (size_t i = 0; i < numbers.size(); ++i) {
    uint32_t bits;
    std::memcpy(&bits, &numbers[i], 4);
    if (element == "bf16") {
      bits >>= 16;
    } else if (element == "f16") {
      llvm::APFloat half(numbers[i]);
      bool lost = false;
      half.convert(llvm::APFloat::IEEEhalf(),
                   llvm::APFloat::rmNearestTiesToEven, &lost);
      bits = static_cast<uint32_t>(half.bitcastToAPInt().getZExtValue());
    }
    std::memcpy(&bytes[i * size], &bits, size);
  }
  return bytes;
}

/// … and the numbers that they are.
inline void roundTo(std::vector<float> &numbers, const std::string &element) {
  std::vector<uint8_t> bytes = encode(numbers, element);
  for (size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] =
        static_cast<float>(numberAt(element, bytes, static_cast<int64_t>(i)));
  }
}

class AttentionTiles : public testing::TestWithParam<Way> {
protected:
  void SetUp() override {
    if (!hasCudaCompiler()) {
      GTEST_SKIP() << "NVRTC is not installed";
    }
  }

  std::unique_ptr<SimtRegion>
  build(AttentionVariety &variety,
        std::optional<families::AttentionTile> tile = std::nullopt,
        const TargetSpec &target = *findTarget("sm_80")) {
    variety.element = GetParam().element;
    variety.roundsWeights = variety.element != "f32";
    variety.tf32 = GetParam().tf32;
    std::function<mlir::DictionaryAttr(mlir::MLIRContext *)> parameters;
    if (tile) {
      parameters = [&](mlir::MLIRContext *context) {
        return tile->toAttribute(context, GetParam().tactic());
      };
    }
    auto region =
        SimtRegion::compile(attentionModule(variety), target, parameters);
    EXPECT_TRUE(region);
    if (region) {
      EXPECT_EQ(region->tactic, GetParam().tactic());
      EXPECT_EQ(region->kernel.binary.spillBytes, 0u);
      if (getenv("TILEWRIGHT_SHOW_TILES")) {
        std::cout << region->kernel.name << ": "
                  << region->kernel.binary.registers << " registers, "
                  << region->kernel.binary.spillBytes << " spilled, "
                  << region->kernel.milliseconds << " ms\n";
      }
    }
    return region;
  }

  AttentionProblemCase problem(int queries, int keys,
                               const AttentionVariety &variety) {
    AttentionProblemCase result(queries, keys, variety);
    for (auto *numbers : {&result.q, &result.k, &result.v}) {
      roundTo(*numbers, GetParam().element);
    }
    return result;
  }

  void run(SimtRegion &region, AttentionProblemCase &problem) {
    std::string element = GetParam().element;
    std::vector<std::vector<uint8_t>> buffers = {
        encode(problem.q, element), encode(problem.k, element),
        encode(problem.v, element), encode(problem.mask, "f32"),
        encode(problem.out, "f32")};
    EXPECT_EQ(
        region.run(buffers, 1, {{"M", problem.queries}, {"N", problem.keys}}),
        0);
    std::memcpy(problem.out.data(), buffers.back().data(),
                buffers.back().size());
  }

  void check(SimtRegion &region, AttentionProblemCase &problem,
             const std::function<float(float, int, int, float)> &score) {
    run(region, problem);
    expectClose(problem.out, problem.expected(score), GetParam().tolerance());
  }
};

inline float plain(float s, int, int, float) { return s * 0.25f; }

} // namespace tilewright::test
