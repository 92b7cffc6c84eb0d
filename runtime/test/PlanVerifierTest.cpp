//===- PlanVerifierTest.cpp -------------------------------------------------
//===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "runtime/module/PlanVerifier.h"

#include "runtime/test/TestModule.h"

#include <functional>
#include <gtest/gtest.h>

using namespace tilewright;
using namespace tilewright::test;
using namespace tilewright::format;

namespace {
/// y = copy of h, h = copy of x in the arena.
struct Fixture {
  TestModule b;
  uint32_t n = b.symbol("N");
  uint32_t dim = b.expr(n);
  uint32_t bytes = b.expr(ExprOp_Mul, dim, b.size(4));
  uint32_t x = b.parameter(0, "x", DType_F32, {dim});
  uint32_t h = b.value("h", DType_F32, {dim}, Storage_Arena, 0);
  uint32_t y = b.owned("y", DType_F32, {dim});
  Fixture() {
    FunctionT &main = b.function(0);
    main.binds = {Bind(x, 0, n)};
    main.evaluate = {dim, bytes};
    main.buffers = {Buffer(bytes, 0, 1)};
    b.copy(0, x, h);
    b.copy(0, h, y);
    b.result(0, y);
  }
};
} // namespace

static void expectRefused(const std::function<void(Fixture &)> &edit,
                          const std::string &text,
                          ErrorCode code = ErrorCode::ModuleDamaged) {
  Fixture fixture;
  edit(fixture);
  Status status = fixture.b.open().status();
  EXPECT_EQ(status.code(), code) << text;
  EXPECT_NE(status.message().find(text), std::string::npos)
      << status.toString();
}

TEST(PlanVerifier, AcceptsTheFixture) {
  Fixture fixture;
  auto module = fixture.b.open();
  EXPECT_TRUE(module) << module.status().toString();
}

TEST(PlanVerifier, ResultsAreDifferentBlocks) {
  expectRefused(
      [](Fixture &f) {
        f.b.result(0,
                   f.b.value("again", DType_F32, {f.dim}, Storage_Alias, f.y));
      },
      "not an owned value of its function");
  expectRefused(
      [](Fixture &f) {
        f.b.function(0).results = {
            f.b.value("view", DType_F32, {f.dim}, Storage_Alias, f.h)};
      },
      "not an owned value of its function");
}

TEST(PlanVerifier, Ranges) {
  expectRefused([](Fixture &f) { f.b.plan().values[f.h]->dims = {99}; },
                "invalid shape");
  expectRefused(
      [](Fixture &f) {
        f.b.plan().expressions[0] = Expr(5, 0, 0, 0, ExprOp_Symbol);
      },
      "symbol that does not exist");
  expectRefused(
      [](Fixture &f) {
        f.b.plan().expressions[0] = Expr(0, 0, 0, 0, ExprOp_Add);
      },
      "before its operands");
  expectRefused(
      [](Fixture &f) { f.b.plan().values[f.h]->storage = Storage(77); },
      "unknown type or storage");
  expectRefused(
      [](Fixture &f) { f.b.plan().values[f.h]->dtype = format::DType(77); },
      "unknown type or storage");
  expectRefused([](Fixture &f) { f.b.copy(0, f.x, 99); },
                "something that does not exist");
  expectRefused(
      [](Fixture &f) {
        f.b.plan().values[f.h]->storage = Storage_Alias;
        f.b.plan().values[f.h]->index = f.h;
      },
      "alias of itself");
  expectRefused([](Fixture &f) { f.b.plan().values[f.h]->index = 3; },
                "buffer that does not exist");
  expectRefused([](Fixture &f) { f.b.plan().functions.clear(); },
                "no function");
  expectRefused([](Fixture &f) { f.b.command<IfT>(0); },
                "something that does not exist");
  expectRefused(
      [](Fixture &f) { f.b.plan().values[f.h]->tag = ValueTag_Sequence; },
      "sequence", ErrorCode::UnsupportedType);
  expectRefused(
      [](Fixture &f) {
        auto &builtin = f.b.command<BuiltinT>(0);
        builtin.name = "juggle";
      },
      "'juggle'", ErrorCode::UnsupportedOperator);
  expectRefused(
      [](Fixture &f) {
        auto &builtin = f.b.command<BuiltinT>(0);
        builtin.name = "topk";
      },
      "wrong number of operands");
}

TEST(PlanVerifier, Flow) {
  expectRefused([](Fixture &f) { f.b.function(0).binds.clear(); },
                "evaluated before its operands");
  expectRefused([](Fixture &f) { f.b.function(0).evaluate.pop_back(); },
                "used before it is evaluated");
  expectRefused(
      [](Fixture &f) {
        std::swap(f.b.function(0).commands[0], f.b.function(0).commands[1]);
      },
      "used and not defined");
  expectRefused(
      [](Fixture &f) { f.b.function(0).buffers[0] = Buffer(f.bytes, 0, 0); },
      "outside the life of its buffer");
  expectRefused([](Fixture &f) { f.b.copy(0, f.y, f.x); }, "read-only");
  expectRefused([](Fixture &f) { f.b.lastCommand(0).release = {f.y}; },
                "a result, is not an owned value");
  expectRefused([](Fixture &f) { f.b.function(0).results[0] = f.h; },
                "a result, is not an owned value");
  expectRefused(
      [](Fixture &f) { f.b.lastCommand(0).binds = {Bind(f.y, 0, f.n)}; },
      "gets its value in two places");
}

TEST(PlanVerifier, SignatureMustMatch) {
  expectRefused([](Fixture &f) { f.b.module.inputs.clear(); }, "signature");
  expectRefused([](Fixture &f) { f.b.module.outputs[0]->dtype = DType_I64; },
                "signature");
}

TEST(PlanVerifier, NoRecursion) {
  TestModule b;
  uint32_t c = b.parameter(0, "c", DType_Bool, {});
  size_t f = b.addFunction("f");
  size_t g = b.addFunction("g");
  for (size_t at : {size_t(0), f}) {
    auto &branch = b.command<IfT>(at);
    branch.condition = c;
    branch.then = uint32_t(f);
    branch.otherwise = uint32_t(g);
  }
  EXPECT_EQ(b.open().status().code(), ErrorCode::ModuleDamaged);
}
