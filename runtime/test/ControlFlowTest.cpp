//===- ControlFlowTest.cpp --------------------------------------------------
//===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "runtime/test/TestModule.h"

#include <gtest/gtest.h>

using namespace tilewright;
using namespace tilewright::test;
using namespace tilewright::format;
using D = tilewright::DType;

static std::unique_ptr<Context> makeContext(TestModule &b) {
  auto module = b.open();
  EXPECT_TRUE(module) << module.status().toString();
  return module ? std::move(*Context::create(*module, {1})) : nullptr;
}

TEST(If, TakesItsBranchAndBindsSizes) {
  // if c: y = nonzero(x) else y = copy of a constant [1, 2]
  TestModule b;
  uint32_t c = b.parameter(0, "c", DType_Bool, {});
  uint32_t n = b.symbol("N");
  uint32_t dim = b.expr(n);
  uint32_t x = b.parameter(0, "x", DType_F32, {dim});
  b.function(0).binds = {Bind(x, 0, n)};
  b.function(0).evaluate = {dim};
  uint32_t one = b.size(1);
  uint32_t two = b.size(2);

  size_t then = b.addFunction("then");
  uint32_t u = b.symbol("u");
  uint32_t count = b.expr(u);
  uint32_t thenResult = b.owned("t", DType_I64, {one, count});
  auto &nonzero = b.command<BuiltinT>(then);
  nonzero.name = "nonzero";
  nonzero.inputs = {int32_t(x)}; // captured
  nonzero.outputs = {int32_t(thenResult)};
  nonzero.defines = {u};
  b.lastCommand(then).evaluate = {count};
  b.result(then, thenResult);

  size_t otherwise = b.addFunction("otherwise");
  int64_t numbers[] = {7, 8};
  uint32_t constant =
      b.constant("k", DType_I64, {one, two},
                 std::string(reinterpret_cast<char *>(numbers), 16));
  uint32_t elseBlock = b.owned("e", DType_I64, {two});
  uint32_t elseResult =
      b.value("f", DType_I64, {one, two}, Storage_Alias, elseBlock);
  b.copy(otherwise, constant, elseBlock);
  b.result(otherwise, elseResult);

  uint32_t v = b.symbol("v");
  uint32_t outDim = b.expr(v);
  uint32_t y = b.owned("y", DType_I64, {one, outDim});
  auto &branch = b.command<IfT>(0);
  branch.condition = c;
  branch.then = uint32_t(then);
  branch.otherwise = uint32_t(otherwise);
  branch.outputs = {y};
  b.lastCommand(0).binds = {Bind(y, 1, v)};
  b.lastCommand(0).evaluate = {outDim};
  b.result(0, y);

  auto context = makeContext(b);
  ASSERT_TRUE(context);
  Tensor in = tensor<float>(D::F32, {4}, {0, 1, -0.0f, 2});
  for (int round = 0; round < 3; ++round) {
    auto yes =
        context->run({tensor<uint8_t>(D::Bool, {}, {1}).view(), in.view()});
    ASSERT_TRUE(yes) << yes.status().toString();
    EXPECT_EQ(elements<int64_t>((*yes)[0]), (std::vector<int64_t>{1, 3}));
    auto no =
        context->run({tensor<uint8_t>(D::Bool, {}, {0}).view(), in.view()});
    ASSERT_TRUE(no);
    EXPECT_EQ(elements<int64_t>((*no)[0]), (std::vector<int64_t>{7, 8}));
    EXPECT_EQ((*no)[0].shape(), (std::vector<int64_t>{1, 2}));
  }
}

namespace {
/// Loop over carried f32[3]: state = state*2 + 1 until a list of booleans ends
/// or the trip count is reached; scans the state and the iteration number.
struct LoopPlan {
  TestModule b;
  uint32_t trips = b.parameter(0, "trips", DType_I64, {});
  uint32_t start = b.parameter(0, "start", DType_F32, {b.size(3)});

  explicit LoopPlan(bool withTrips, bool withCondition) {
    uint32_t three = b.size(3);
    uint32_t zero = b.size(0);
    size_t body = b.addFunction("body");
    uint32_t iteration = b.parameter(body, "i", DType_I64, {});
    uint32_t condition = b.parameter(body, "go", DType_Bool, {});
    uint32_t state = b.parameter(body, "state", DType_F32, {three});
    uint32_t goOut = b.owned("go_out", DType_Bool, {});
    uint32_t stateOut = b.owned("state_out", DType_F32, {three});
    uint32_t scanState = b.owned("scan", DType_F32, {three});
    uint32_t scanNumber = b.owned("number", DType_I64, {});
    b.copy(body, condition, goOut);
    auto &launch = b.command<LaunchT>(body);
    launch.kernel = b.kernel("scale");
    launch.args = {state, stateOut};
    launch.sizes = {b.size(2)};
    launch.tasks = three;
    launch.workspace = zero;
    b.copy(body, stateOut, scanState);
    b.copy(body, iteration, scanNumber);
    for (uint32_t result : {goOut, stateOut, scanState, scanNumber}) {
      b.result(body, result);
    }

    uint32_t t = b.symbol("trips_made");
    uint32_t count = b.expr(t);
    uint32_t last = b.owned("last", DType_F32, {three});
    uint32_t states = b.owned("states", DType_F32, {count, three});
    uint32_t numbers = b.owned("numbers", DType_I64, {count});
    uint32_t yes = b.constant("no", DType_Bool, {}, std::string(1, '\1'));
    auto &loop = b.command<LoopT>(0);
    loop.trip_count = withTrips ? int32_t(trips) : -1;
    loop.condition = withCondition ? int32_t(yes) : -1;
    loop.body = uint32_t(body);
    loop.carried = {start};
    loop.outputs = {int32_t(last), int32_t(states), int32_t(numbers)};
    loop.trips_symbol = int32_t(t);
    b.lastCommand(0).evaluate = {count};
    for (uint32_t result : {last, states, numbers}) {
      b.result(0, result);
    }
  }
};
} // namespace

TEST(Loop, CarriesAndScans) {
  LoopPlan plan(true, true);
  auto context = makeContext(plan.b);
  ASSERT_TRUE(context);
  Tensor start = tensor<float>(D::F32, {3}, {0, 1, 2});
  for (int64_t trips : {3, 0, 1, 40, 2}) {
    Tensor count = tensor<int64_t>(D::I64, {}, {trips});
    auto outputs = context->run({count.view(), start.view()});
    ASSERT_TRUE(outputs) << outputs.status().toString();
    std::vector<float> state = {0, 1, 2};
    std::vector<float> states;
    std::vector<int64_t> numbers;
    for (int64_t i = 0; i < trips; ++i) {
      for (float &element : state) {
        element = element * 2 + 1;
        states.push_back(element);
      }
      numbers.push_back(i);
    }
    EXPECT_EQ(elements<float>((*outputs)[0]), state);
    EXPECT_EQ((*outputs)[1].shape(), (std::vector<int64_t>{trips, 3}));
    EXPECT_EQ(elements<float>((*outputs)[1]), states);
    EXPECT_EQ(elements<int64_t>((*outputs)[2]), numbers);
  }
  Tensor negative = tensor<int64_t>(D::I64, {}, {-5});
  auto outputs = context->run({negative.view(), start.view()});
  ASSERT_TRUE(outputs);
  EXPECT_EQ((*outputs)[1].shape(), (std::vector<int64_t>{0, 3}));
}

TEST(Loop, WithoutCondition) {
  LoopPlan plan(true, false);
  auto context = makeContext(plan.b);
  ASSERT_TRUE(context);
  Tensor start = tensor<float>(D::F32, {3}, {0, 0, 0});
  auto outputs =
      context->run({tensor<int64_t>(D::I64, {}, {4}).view(), start.view()});
  ASSERT_TRUE(outputs) << outputs.status().toString();
  EXPECT_EQ(elements<float>((*outputs)[0]), (std::vector<float>{15, 15, 15}));
}

TEST(Loop, ShapesThatChange) {
  // Scan of nonzero(i): [1, 0] in iteration 0, [1, 1] after it: an error.
  TestModule b;
  uint32_t trips = b.parameter(0, "trips", DType_I64, {});
  size_t body = b.addFunction("body");
  uint32_t one = b.size(1);
  uint32_t iteration = b.parameter(body, "i", DType_I64, {one});
  uint32_t condition = b.parameter(body, "go", DType_Bool, {});
  uint32_t goOut = b.owned("go_out", DType_Bool, {});
  b.copy(body, condition, goOut);
  uint32_t u = b.symbol("u");
  uint32_t count = b.expr(u);
  uint32_t where = b.owned("where", DType_I64, {one, count});
  auto &nonzero = b.command<BuiltinT>(body);
  nonzero.name = "nonzero";
  nonzero.inputs = {int32_t(iteration)};
  nonzero.outputs = {int32_t(where)};
  nonzero.defines = {u};
  b.lastCommand(body).evaluate = {count};
  b.result(body, goOut);
  b.result(body, where);
  uint32_t made = b.symbol("made");
  uint32_t width = b.symbol("width");
  uint32_t madeDim = b.expr(made);
  uint32_t widthDim = b.expr(width);
  uint32_t y = b.owned("y", DType_I64, {madeDim, one, widthDim});
  auto &loop = b.command<LoopT>(0);
  loop.trip_count = int32_t(trips);
  loop.condition = -1;
  loop.body = uint32_t(body);
  loop.outputs = {int32_t(y)};
  loop.trips_symbol = int32_t(made);
  b.lastCommand(0).binds = {Bind(y, 2, width)};
  b.lastCommand(0).evaluate = {madeDim, widthDim};
  b.result(0, y);
  auto context = makeContext(b);
  ASSERT_TRUE(context);
  auto run = [&](int64_t count) {
    return context->run({tensor<int64_t>(D::I64, {}, {count}).view()});
  };
  EXPECT_EQ((*run(1))[0].shape(), (std::vector<int64_t>{1, 1, 0}));
  auto changed = run(2);
  EXPECT_EQ(changed.status().code(), ErrorCode::DataInvalid);
  EXPECT_NE(changed.status().message().find("in iteration 1 of"),
            std::string::npos);
  EXPECT_EQ((*run(0))[0].shape(), (std::vector<int64_t>{0, 1, 0}));
}
