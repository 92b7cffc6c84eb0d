//===- KeyPartsTest.cpp - attention over parts of the keys ----------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "codegen/families/attention/KeyParts.h"
#include "codegen/families/emit/Grid.h"
#include "codegen/families/test/AttentionTilesFixture.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"

using namespace tilewright;
using namespace tilewright::test;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

/// A module with one region, and which of the five buffers of a problem, or of
/// three results of parts behind them, its operands are.
struct LoneRegion {
  std::string text;
  std::vector<unsigned> operands;
};

class KeyParts : public AttentionTiles {
protected:
  KeyParts() {
    context.loadDialect<tw::TwDialect, mlir::func::FuncDialect,
                        mlir::arith::ArithDialect, mlir::math::MathDialect>();
  }

  /// The region of the parts, and that which joins them.
  std::vector<LoneRegion> divide(const AttentionVariety &variety,
                                 int64_t parts) {
    module = mlir::parseSourceString<mlir::ModuleOp>(attentionModule(variety),
                                                     &context);
    auto function = *module->getOps<mlir::func::FuncOp>().begin();
    auto region = *function.getOps<tw::FusedOp>().begin();
    auto analysed = families::analyseRegion(region);
    families::divideKeys(region, families::attentionOf(*analysed), parts);
    EXPECT_TRUE(succeeded(mlir::verify(*module)));
    auto regions = llvm::to_vector(function.getOps<tw::FusedOp>());
    EXPECT_EQ(regions.size(), 2u);
    std::vector<LoneRegion> result(2);
    result[0].operands = operandsOf(regions[0]);
    // The second reads arguments in place of the first one's results.
    mlir::OwningOpRef<mlir::ModuleOp> whole = module->clone();
    regions[1].erase();
    result[0].text = textOf(*module);
    function = *whole->getOps<mlir::func::FuncOp>().begin();
    regions[0] = *function.getOps<tw::FusedOp>().begin();
    for (mlir::Value value : regions[0].getResults()) {
      value.replaceAllUsesWith(
          function.getBody().addArgument(value.getType(), value.getLoc()));
    }
    function.setFunctionType(mlir::FunctionType::get(
        &context, function.getBody().getArgumentTypes(), {}));
    regions[0].erase();
    result[1].text = textOf(*whole);
    result[1].operands = operandsOf(*function.getOps<tw::FusedOp>().begin());
    return result;
  }

  static std::string textOf(mlir::ModuleOp module) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    module.print(stream);
    return text;
  }

  static std::vector<unsigned> operandsOf(tw::FusedOp region) {
    std::vector<unsigned> result;
    for (mlir::Value input : region.getInputs()) {
      result.push_back(llvm::cast<mlir::BlockArgument>(input).getArgNumber());
    }
    return result;
  }

  /// Results of the two kernels, for `problem`.
  void runParts(const std::vector<LoneRegion> &lone, int64_t parts,
                AttentionProblemCase &problem, bool isReference) {
    std::function<mlir::DictionaryAttr(mlir::MLIRContext *)> parameters;
    if (isReference) {
      parameters = [](mlir::MLIRContext *context) {
        return families::Grid{32, 8}.addTo(
            families::AttentionParameters().toAttribute(context,
                                                        "reference.simt"));
      };
    }
    const TargetSpec &target = *findTarget("sm_80");
    auto first = SimtRegion::compile(lone[0].text, target, parameters),
         second = SimtRegion::compile(lone[1].text, target);
    ASSERT_TRUE(first && second);
    EXPECT_EQ(first->tactic,
              isReference ? "reference.simt" : GetParam().tactic());
    EXPECT_EQ(first->kernel.binary.spillBytes, 0u);
    std::string element = GetParam().element;
    std::vector<std::vector<uint8_t>> all = {
        encode(problem.q, element), encode(problem.k, element),
        encode(problem.v, element), encode(problem.mask, "f32")};
    size_t rows =
        size_t(parts) * AttentionProblemCase::headCount * problem.queries;
    for (size_t elements : {rows, rows, rows * problem.width}) {
      all.emplace_back(elements * 4);
    }
    auto gather = [&](const LoneRegion &region) {
      std::vector<std::vector<uint8_t>> buffers;
      for (unsigned number : region.operands) {
        buffers.push_back(all[number]);
      }
      return buffers;
    };
    auto buffers = gather(lone[0]);
    buffers.insert(buffers.end(), all.begin() + 4, all.end());
    EXPECT_EQ(first->run(buffers, 3, {{"N", problem.keys}}), 0);
    std::copy(buffers.end() - 3, buffers.end(), all.begin() + 4);
    buffers = gather(lone[1]);
    buffers.push_back(encode(problem.out, "f32"));
    EXPECT_EQ(second->run(buffers, 1, {{"N", problem.keys}}), 0);
    std::memcpy(problem.out.data(), buffers.back().data(),
                buffers.back().size());
  }

  using Score = std::function<float(float, int, int, float)>;
  void checkParts(AttentionVariety variety, int queries, int keys,
                  int64_t parts,
                  const std::function<Score(AttentionProblemCase &)> &score,
                  bool isReference = false) {
    variety.queries = std::to_string(queries);
    variety.keys = keysAreOpen ? "N" : std::to_string(keys);
    variety.element = GetParam().element;
    variety.roundsWeights = variety.element != "f32";
    variety.tf32 = GetParam().tf32;
    auto test = problem(queries, keys, variety);
    Score own = score(test);
    runParts(divide(variety, parts), parts, test, isReference);
    std::vector<float> expected = test.expected(own);
    if (variety.clearsRows) {
      std::fill_n(expected.begin() + test.headCount * test.width,
                  test.headCount * test.width, 0.0f);
    }
    expectClose(test.out, expected, GetParam().tolerance());
  }

  bool keysAreOpen = false; ///< only run time knows how many there are
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};
INSTANTIATE_TEST_SUITE_P(Families, KeyParts,
                         testing::Values(Way{"f32", false}, Way{"f32", true},
                                         Way{"f16", false}),
                         [](const auto &info) {
                           return info.param.element +
                                  std::string(info.param.tf32 ? "_tf32" : "");
                         });

std::function<float(float, int, int, float)> plainOf(AttentionProblemCase &) {
  return plain;
}

// The last part has fewer keys, or as many as the others.
TEST_P(KeyParts, Whole) {
  for (auto [keys, parts] : {std::pair(96, 3), {70, 3}, {131, 8}}) {
    for (int queries : {1, 5}) {
      AttentionVariety variety;
      variety.depth = variety.width = queries == 1 ? 64 : 21;
      variety.reciprocal = queries == 5;
      variety.separateExp = keys == 70;
      checkParts(variety, queries, keys, parts, plainOf);
    }
  }
}

// Parts may have no keys at all.
TEST_P(KeyParts, OpenKeys) {
  keysAreOpen = true;
  for (int keys : {1, 5, 64, 70}) {
    AttentionVariety variety;
    variety.depth = variety.width = 64;
    checkParts(variety, 3, keys, 4, plainOf);
  }
  checkParts(paddedDecoder(false), 60, 70, 3, [&](AttentionProblemCase &test) {
    return decoderScore(test, 20, false);
  });
}

TEST_P(KeyParts, NoKeys) {
  keysAreOpen = true;
  AttentionVariety variety;
  AttentionProblemCase test = problem(3, 0, variety);
  variety.queries = "3";
  variety.element = GetParam().element;
  variety.roundsWeights = variety.element != "f32";
  variety.tf32 = GetParam().tf32;
  runParts(divide(variety, 4), 4, test, false);
  expectClose(test.out, std::vector<float>(test.out.size(), 0));
}

TEST_P(KeyParts, Reference) {
  checkParts(AttentionVariety(), 3, 70, 4, plainOf, /*isReference=*/true);
}

// Parts of which a row sees nothing have no weight; a row that sees nothing at
// all is no number.
TEST_P(KeyParts, Masks) {
  AttentionVariety variety = seeing("%see = arith.cmpi slt, %j, %i : index");
  checkParts(variety, 40, 50, 3, [](AttentionProblemCase &) {
    return [](float s, int i, int j, float) {
      return j < i ? s * 0.25f : -infinity;
    };
  });
}

TEST_P(KeyParts, RowsThatSeePaddingAlone) {
  for (bool isWindow : {false, true}) {
    checkParts(paddedDecoder(isWindow), 60, 70, 3,
               [&](AttentionProblemCase &test) {
                 return decoderScore(test, 20, isWindow);
               });
  }
}

// Loaded masks are read where keys exist.
TEST_P(KeyParts, AddedMask) {
  AttentionVariety variety;
  variety.mask = R"(
          %w = tw.load %m[%i, %j] : MT -> f32
          %u = arith.mulf %s, %scale : f32
          %x = arith.addf %u, %w : f32)";
  checkParts(variety, 7, 70, 4, [](AttentionProblemCase &) {
    return [](float s, int, int, float m) { return s * 0.25f + m; };
  });
}

TEST_P(KeyParts, ClearedRows) {
  AttentionVariety variety;
  variety.clearsRows = true;
  variety.reciprocal = true;
  checkParts(variety, 5, 70, 4, plainOf);
}

} // namespace
