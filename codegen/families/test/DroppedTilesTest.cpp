//===- DroppedTilesTest.cpp - tests of tiles that spill -------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "passes/tile/DroppedTiles.h"
#include "codegen/families/Tactics.h"
#include "passes/tile/SelectTactic.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace tilewright;

namespace {

class DroppedTiles : public testing::TestWithParam<const char *> {};

/// Every tile of a tactic spills, one after the other.
TEST_P(DroppedTiles, AreNotChosenAgainUntilNoneIsLeft) {
  DialectRegistry dialects;
  dialects.insert<tw::TwDialect, func::FuncDialect, arith::ArithDialect>();
  MLIRContext context(dialects, MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  auto module = parseSourceString<ModuleOp>(GetParam(), &context);
  ASSERT_TRUE(module);
  const TargetSpec &target = *findTarget("sm_80");
  DecisionLog log;
  ASSERT_TRUE(selectTactics(*module, target, familyTactics(), false, log));
  tw::FusedOp region;
  module->walk([&](tw::FusedOp op) { region = op; });
  Attribute first = *region.getTactic();
  Attribute name = cast<DictionaryAttr>(first).get("name");

  log = DecisionLog();
  llvm::SmallPtrSet<Attribute, 16> seen;
  for (bool isLeft = true; isLeft;) {
    EXPECT_TRUE(seen.insert(*region.getTactic()).second);
    Result<bool> dropped = dropTile(region, target, familyTactics(), 8, log);
    ASSERT_TRUE(dropped) << dropped.status().toString();
    EXPECT_EQ(cast<DictionaryAttr>(*region.getTactic()).get("name"), name);
    isLeft = *dropped && *region.getTactic() != first;
    EXPECT_EQ(log.all().back().code, isLeft ? "TWT010" : "TWT011");
    EXPECT_EQ(log.all().back().refused, !isLeft);
  }
  EXPECT_GT(seen.size(), 3u);
  EXPECT_EQ(*region.getTactic(), first);
  EXPECT_EQ(log.all().size(), seen.size());

  Result<bool> again = dropTile(region, target, familyTactics(), 8, log);
  ASSERT_TRUE(again);
  EXPECT_FALSE(*again);
  EXPECT_EQ(*region.getTactic(), first);
}

const char *const tiledF32 = R"(
func.func @f(%x: tensor<512x64xf32>, %w: tensor<64x256xf32>) {
  %r = tw.fused @mm(%a = %x : tensor<512x64xf32>, %b = %w : tensor<64x256xf32>) {
    %s = tw.reduce add (%i, %j) over (%k) in <[64]> attributes {root = "matmul"} {
      %p = tw.load %a[%i, %k] : tensor<512x64xf32> -> f32
      %q = tw.load %b[%k, %j] : tensor<64x256xf32> -> f32
      %t = arith.mulf %p, %q : f32
      tw.yield %t : f32
    } : tensor<512x256xf32>
    tw.yield %s : tensor<512x256xf32>
  } : tensor<512x256xf32>
  return
})";

const char *const matrixUnits = R"(
func.func @f(%x: tensor<512x64xi8>, %w: tensor<64x256xi8>) {
  %r = tw.fused @mm(%a = %x : tensor<512x64xi8>, %b = %w : tensor<64x256xi8>) {
    %s = tw.reduce add (%i, %j) over (%k) in <[64]> attributes {root = "matmul"} {
      %p = tw.load %a[%i, %k] : tensor<512x64xi8> -> i8
      %q = tw.load %b[%k, %j] : tensor<64x256xi8> -> i8
      %pw = arith.extsi %p : i8 to i32
      %qw = arith.extsi %q : i8 to i32
      %t = arith.muli %pw, %qw : i32
      tw.yield %t : i32
    } : tensor<512x256xi32>
    tw.yield %s : tensor<512x256xi32>
  } : tensor<512x256xi32>
  return
})";

INSTANTIATE_TEST_SUITE_P(Families, DroppedTiles,
                         testing::Values(tiledF32, matrixUnits));

} // namespace
