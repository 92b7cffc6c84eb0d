//===- FoldConstantsTest.cpp - what the evaluator is asked ----------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "ir/BodyBuilder.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "passes/normalize/Passes.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace tilewright;

namespace {

/// Answers with bytes that a test chose, and keeps what it was asked.
class ScriptedEvaluator : public ConstantEvaluator {
public:
  Result<std::vector<std::vector<char>>>
  evaluate(func::FuncOp function) override {
    ++calls;
    EXPECT_TRUE(succeeded(verify(function)));
    EXPECT_EQ(function.getNumArguments(), 0u);
    results = function.getNumResults();
    if (!error.isOk()) {
      return error;
    }
    return answers;
  }

  std::vector<std::vector<char>> answers;
  Status error;
  unsigned calls = 0, results = 0;
};

class FoldConstantsTest : public ::testing::Test {
protected:
  FoldConstantsTest() {
    context.loadDialect<tw::TwDialect, arith::ArithDialect, func::FuncDialect,
                        math::MathDialect>();
  }

  /// Runs the pass. \returns whether it succeeded.
  bool fold(llvm::StringRef text) {
    module = parseSourceString<ModuleOp>(text, &context);
    EXPECT_TRUE(module);
    PassManager passes(&context, ModuleOp::getOperationName());
    passes.addPass(createFoldConstantsPass(&evaluator, &log));
    return succeeded(passes.run(*module));
  }

  unsigned count(llvm::StringRef name) {
    unsigned number = 0;
    module->walk(
        [&](Operation *op) { number += op->getName().getStringRef() == name; });
    return number;
  }

  static std::vector<char> bytesOf(std::vector<float> values) {
    std::vector<char> bytes(values.size() * sizeof(float));
    std::memcpy(bytes.data(), values.data(), bytes.size());
    return bytes;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  ScriptedEvaluator evaluator;
  DecisionLog log;
};

TEST_F(FoldConstantsTest, CutsMaximalSubgraphsInOneCall) {
  evaluator.answers = {bytesOf({2, 4}), bytesOf({1, 1})};
  ASSERT_TRUE(fold(R"(
    func.func @main(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
      %c = tw.constant tensor<2xf32> = dense<[1.0, 2.0]>
      %a = tw.map(%i) {
        %v = tw.load %c[%i] : tensor<2xf32> -> f32
        %w = arith.addf %v, %v : f32
        tw.yield %w : f32
      } : tensor<2xf32>
      %b = tw.map(%i) {
        %v = tw.load %a[%i] : tensor<2xf32> -> f32
        %w = math.sqrt %v : f32
        tw.yield %w : f32
      } : tensor<2xf32>
      %y = tw.map(%i) {
        %v = tw.load %a[%i] : tensor<2xf32> -> f32
        %u = tw.load %x[%i] : tensor<2xf32> -> f32
        %w = arith.addf %v, %u : f32
        tw.yield %w : f32
      } : tensor<2xf32>
      return %b, %y : tensor<2xf32>, tensor<2xf32>
    })"));
  EXPECT_EQ(evaluator.calls, 1u);
  EXPECT_EQ(evaluator.results, 2u); // what stays needs both maps
  EXPECT_EQ(count("tw.map"), 1u);
  EXPECT_TRUE(succeeded(verify(*module)));
}

TEST_F(FoldConstantsTest, FoldsThePartsOfWhatIsTooLarge) {
  evaluator.answers = {bytesOf({3})};
  ASSERT_TRUE(fold(R"(
    func.func @main() -> tensor<1048576xf32> {
      %c = tw.constant tensor<1xf32> = dense<[1.0]>
      %a = tw.map(%i) {
        %v = tw.load %c[%i] : tensor<1xf32> -> f32
        %w = math.exp %v : f32
        tw.yield %w : f32
      } : tensor<1xf32>
      %b = tw.map(%i) {
        %z = arith.constant 0 : index
        %v = tw.load %a[%z] : tensor<1xf32> -> f32
        tw.yield %v : f32
      } : tensor<1048576xf32>
      return %b : tensor<1048576xf32>
    })"));
  EXPECT_EQ(evaluator.results, 1u);
  EXPECT_EQ(count("tw.map"), 1u);
  EXPECT_TRUE(llvm::any_of(
      log.all(), [](const Decision &d) { return d.code == "TWN021"; }));
}

TEST_F(FoldConstantsTest, PacksWhateverTheSize) {
  evaluator.answers = {std::vector<char>(4u << 20)};
  ASSERT_TRUE(fold(R"(
    func.func @main() -> tensor<1048576xf32> {
      %c = tw.constant tensor<1xf32> = dense<[1.0]>
      %b = tw.map(%i) attributes {root = "pack"} {
        %z = arith.constant 0 : index
        %v = tw.load %c[%z] : tensor<1xf32> -> f32
        tw.yield %v : f32
      } : tensor<1048576xf32>
      return %b : tensor<1048576xf32>
    })"));
  EXPECT_EQ(count("tw.map"), 0u);
}

// A causal mask stays a comparison of coordinates, and so does what it reads;
// what is made of numbers that coordinates do not tell folds.
TEST_F(FoldConstantsTest, KeepsMasksOfCoordinates) {
  evaluator.answers = {std::vector<char>(64 * 64)};
  EXPECT_TRUE(fold(R"(
    func.func @f(%x: tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>) {
      %numbers = tw.map(%i) {
        %n = arith.index_cast %i : index to i64
        tw.yield %n : i64
      } : tensor<64xi64>
      %causal = tw.map(%i, %j) {
        %q = tw.load %numbers[%i] : tensor<64xi64> -> i64
        %k = tw.load %numbers[%j] : tensor<64xi64> -> i64
        %c = arith.cmpi sle, %k, %q : i64
        tw.yield %c : i1
      } : tensor<64x64xi1>
      %odd = tw.map(%i, %j) {
        %two = arith.constant 2 : i64
        %q = tw.load %numbers[%i] : tensor<64xi64> -> i64
        %k = tw.load %numbers[%j] : tensor<64xi64> -> i64
        %r = arith.remsi %q, %two : i64
        %c = arith.cmpi eq, %r, %k : i64
        tw.yield %c : i1
      } : tensor<64x64xi1>
      %a = tw.map(%i, %j) {
        %none = arith.constant 0xFF800000 : f32
        %s = tw.load %x[%i, %j] : tensor<64x64xf32> -> f32
        %c = tw.load %causal[%i, %j] : tensor<64x64xi1> -> i1
        %y = arith.select %c, %s, %none : f32
        tw.yield %y : f32
      } : tensor<64x64xf32>
      %b = tw.map(%i, %j) {
        %none = arith.constant 0xFF800000 : f32
        %s = tw.load %x[%i, %j] : tensor<64x64xf32> -> f32
        %c = tw.load %odd[%i, %j] : tensor<64x64xi1> -> i1
        %y = arith.select %c, %s, %none : f32
        tw.yield %y : f32
      } : tensor<64x64xf32>
      return %a, %b : tensor<64x64xf32>, tensor<64x64xf32>
    })"));
  EXPECT_EQ(evaluator.results, 1u);
  EXPECT_EQ(count("tw.map"), 4u);
}

// Positions that the importer knew are coordinates again.
TEST_F(FoldConstantsTest, ComputesEvenNumbersOfMasks) {
  std::string numbers;
  for (int i = 0; i < 64; ++i) {
    numbers += (i ? ", " : "") + std::to_string(3 * i - 5);
  }
  EXPECT_TRUE(fold(R"(
    func.func @f(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
      %numbers = tw.constant tensor<1x64xi64> = dense<[[)" +
                   numbers + R"(]]>
      %causal = tw.map(%i, %j) {
        %zero = arith.constant 0 : index
        %q = arith.index_cast %i : index to i64
        %k = tw.load %numbers[%zero, %j] : tensor<1x64xi64> -> i64
        %c = arith.cmpi sle, %k, %q : i64
        tw.yield %c : i1
      } : tensor<64x64xi1>
      %a = tw.map(%i, %j) {
        %none = arith.constant 0xFF800000 : f32
        %s = tw.load %x[%i, %j] : tensor<64x64xf32> -> f32
        %c = tw.load %causal[%i, %j] : tensor<64x64xi1> -> i1
        %y = arith.select %c, %s, %none : f32
        tw.yield %y : f32
      } : tensor<64x64xf32>
      return %a : tensor<64x64xf32>
    })"));
  EXPECT_EQ(evaluator.calls, 0u);
  EXPECT_EQ(count("tw.map"), 3u);
  EXPECT_TRUE(succeeded(verify(*module)));
}

TEST_F(FoldConstantsTest, KnownConditionsBringMoreIntoReach) {
  evaluator.answers = {{1}};
  ASSERT_TRUE(fold(R"(
    func.func @main(%x: tensor<2xf32>, %y: tensor<2xf32>) -> tensor<2xf32> {
      %c = tw.constant tensor<i64> = dense<16000>
      %is = tw.map() {
        %v = tw.load %c[] : tensor<i64> -> i64
        %k = arith.constant 16000 : i64
        %w = arith.cmpi eq, %v, %k : i64
        tw.yield %w : i1
      } : tensor<i1>
      %r = tw.if %is : (tensor<i1>) -> tensor<2xf32> {
        tw.yield %x : tensor<2xf32>
      } else {
        tw.yield %y : tensor<2xf32>
      }
      return %r : tensor<2xf32>
    })"));
  EXPECT_EQ(count("tw.if"), 0u);
}

TEST_F(FoldConstantsTest, AnEvaluatorThatFailsFailsThePass) {
  evaluator.error = Status(ErrorCode::Internal, "no luck");
  ScopedDiagnosticHandler quiet(&context,
                                [](Diagnostic &) { return success(); });
  EXPECT_FALSE(fold(R"(
    func.func @main() -> tensor<1xf32> {
      %c = tw.constant tensor<1xf32> = dense<[1.0]>
      %a = tw.map(%i) {
        %v = tw.load %c[%i] : tensor<1xf32> -> f32
        %w = math.exp %v : f32
        tw.yield %w : f32
      } : tensor<1xf32>
      return %a : tensor<1xf32>
    })"));
}

} // namespace
