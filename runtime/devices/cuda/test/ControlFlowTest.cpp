//===- ControlFlowTest.cpp - what the processor does between kernels ------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "runtime/devices/cuda/test/GpuModule.h"

using namespace tilewright;
using namespace tilewright::test;
using namespace tilewright::format;
using D = tilewright::DType;

namespace {
class GpuControlFlow : public GpuTest {};
} // namespace

TEST_F(GpuControlFlow, BuiltinBetweenKernels) {
  // y = nonzero(x * 2 + 1); its size is data.
  OneInput t;
  uint32_t h = t.arena("h", 0, 1);
  t.scale(t.x, h, 2);
  uint32_t u = t.b.symbol("u");
  uint32_t count = t.b.expr(u);
  uint32_t y = t.b.owned("y", DType_I64, {t.b.size(1), count});
  auto &nonzero = t.b.command<BuiltinT>(0);
  nonzero.name = "nonzero";
  nonzero.inputs = {int32_t(h)};
  nonzero.outputs = {int32_t(y)};
  nonzero.defines = {u};
  t.b.lastCommand(0).evaluate = {count};
  t.b.result(0, y);
  auto context = t.b.context();
  ASSERT_TRUE(context);
  Tensor x = tensor<float>(D::F32, {4}, {0, -0.5f, 3, -0.5f});
  for (int round = 0; round < 3; ++round) {
    auto outputs = context->run({x.view()});
    ASSERT_TRUE(outputs) << outputs.status().toString();
    EXPECT_EQ(elements<int64_t>((*outputs)[0]), (std::vector<int64_t>{0, 2}));
  }
  EXPECT_EQ(context->statistics().replays, 0u);
}

TEST_F(GpuControlFlow, SizesFromKernels) {
  // y = reshape(x * 1 + 1, target), and the shape of y.
  OneInput t;
  GpuModule &b = t.b;
  uint32_t target = b.parameter(0, "target", DType_I32, {b.size(2)});
  uint32_t h = t.owned("h");
  t.scale(t.x, h, 1);
  uint32_t r = b.symbol("r");
  uint32_t c = b.symbol("c");
  uint32_t rows = b.expr(r);
  uint32_t columns = b.expr(c);
  auto &read = b.command<ReadSizesT>(0);
  read.from = target;
  read.elements = {0, 1};
  read.symbols = {r, c};
  b.lastCommand(0).evaluate = {rows, columns};
  uint32_t reshaped =
      b.value("reshaped", DType_F32, {rows, columns}, Storage_Alias, h);
  uint32_t y = b.owned("y", DType_F32, {rows, columns});
  b.copy(0, reshaped, y);
  uint32_t shape = b.owned("shape", DType_I64, {b.size(2)});
  auto &write = b.command<WriteSizesT>(0);
  write.to = shape;
  write.sizes = {rows, columns};
  b.result(0, y);
  b.result(0, shape);
  auto context = b.context();
  ASSERT_TRUE(context);
  Tensor x = tensor<float>(D::F32, {6}, {1, 2, 3, 4, 5, 6});
  auto run = [&](int32_t rows, int32_t columns) {
    Tensor sizes = tensor<int32_t>(D::I32, {2}, {rows, columns});
    return context->run({x.view(), sizes.view()});
  };
  auto outputs = run(2, 3);
  ASSERT_TRUE(outputs) << outputs.status().toString();
  EXPECT_EQ((*outputs)[0].shape(), (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(elements<float>((*outputs)[0]),
            (std::vector<float>{2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(elements<int64_t>((*outputs)[1]), (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(run(-1, 3).status().code(), ErrorCode::DataInvalid);
  EXPECT_EQ(run(2, 4).status().code(), ErrorCode::DataInvalid);
  EXPECT_TRUE(run(3, 2));
}

TEST_F(GpuControlFlow, IfTakesItsBranch) {
  OneInput t;
  GpuModule &b = t.b;
  uint32_t c = b.parameter(0, "c", DType_Bool, {});
  std::vector<uint32_t> branches;
  for (int64_t factor : {2, 5}) {
    size_t index = b.addFunction("branch");
    uint32_t result = t.owned("result");
    b.launch(index, b.kernel("scale", scaleSource), {t.x, result},
             {t.dim, b.size(factor)}, t.dim);
    b.result(index, result);
    branches.push_back(static_cast<uint32_t>(index));
  }
  uint32_t y = t.owned("y");
  auto &branch = b.command<IfT>(0);
  branch.condition = c;
  branch.then = branches[0];
  branch.otherwise = branches[1];
  branch.outputs = {y};
  b.result(0, y);
  auto context = b.context();
  ASSERT_TRUE(context);
  Tensor x = tensor<float>(D::F32, {2}, {1, 2});
  for (uint8_t flag : {1, 0, 1}) {
    auto outputs =
        context->run({x.view(), tensor<uint8_t>(D::Bool, {}, {flag}).view()});
    ASSERT_TRUE(outputs) << outputs.status().toString();
    EXPECT_EQ(elements<float>((*outputs)[0]),
              flag ? (std::vector<float>{3, 5}) : (std::vector<float>{6, 11}));
  }
}

namespace {
/// A Loop whose body scales its state on a stream of its own, scans the state
/// and the iteration's number.
struct LoopPlan {
  GpuModule b;
  uint32_t trips = b.parameter(0, "trips", DType_I64, {});
  uint32_t start = b.parameter(0, "start", DType_F32, {b.size(3)});

  LoopPlan() {
    uint32_t three = b.size(3);
    size_t body = b.addFunction("body");
    uint32_t iteration = b.parameter(body, "i", DType_I64, {});
    uint32_t condition = b.parameter(body, "go", DType_Bool, {});
    uint32_t state = b.parameter(body, "state", DType_F32, {three});
    uint32_t goOut = b.owned("go_out", DType_Bool, {});
    uint32_t stateOut = b.owned("state_out", DType_F32, {three});
    uint32_t scanState = b.owned("scan", DType_F32, {three});
    uint32_t scanNumber = b.owned("number", DType_I64, {});
    b.function(body).streams = 2;
    b.function(body).events = 1;
    b.copy(body, condition, goOut);
    b.launch(body, b.kernel("scale", scaleSource), {state, stateOut},
             {three, b.size(2)}, three);
    b.lastCommand(body).stream = 1;
    b.lastCommand(body).records = 0;
    b.copy(body, stateOut, scanState);
    b.lastCommand(body).waits = {0};
    b.copy(body, iteration, scanNumber);
    for (uint32_t result : {goOut, stateOut, scanState, scanNumber}) {
      b.result(body, result);
    }
    uint32_t t = b.symbol("trips_made");
    uint32_t count = b.expr(t);
    uint32_t last = b.owned("last", DType_F32, {three});
    uint32_t states = b.owned("states", DType_F32, {count, three});
    uint32_t numbers = b.owned("numbers", DType_I64, {count});
    uint32_t yes = b.constant("yes", DType_Bool, {}, std::string(1, '\1'));
    auto &loop = b.command<LoopT>(0);
    loop.trip_count = int32_t(trips);
    loop.condition = int32_t(yes);
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

TEST_F(GpuControlFlow, LoopCarriesAndScans) {
  LoopPlan plan;
  for (int seed = 1; seed <= 5; ++seed) {
    Environment environment("TILEWRIGHT_SIM_SEED", std::to_string(seed));
    auto context = plan.b.context();
    ASSERT_TRUE(context);
    Tensor start = tensor<float>(D::F32, {3}, {0, 1, 2});
    for (int64_t trips : {3, 0, 1, 12}) {
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
    EXPECT_EQ(context->statistics().replays, 0u); // the count is data
  }
}

namespace {
/// A Loop over the rows of x: state = 1 - state for each, which is also
/// stacked with the iteration's number and its condition.
struct RowsPlan {
  GpuModule b;
  uint32_t n = b.symbol("N");
  uint32_t rows = b.expr(n);
  uint32_t x = b.parameter(0, "x", DType_F32, {rows});
  uint32_t start = b.parameter(0, "start", DType_F32, {b.size(3)});

  explicit RowsPlan(bool isOverwritten = false) {
    b.function(0).binds = {Bind(x, 0, n)};
    b.evaluated(rows);
    uint32_t three = b.size(3);
    size_t body = b.addFunction("body");
    uint32_t iteration = b.parameter(body, "i", DType_I64, {});
    uint32_t condition = b.parameter(body, "go", DType_Bool, {});
    uint32_t state = b.parameter(body, "state", DType_F32, {three});
    uint32_t goOut = b.owned("go_out", DType_Bool, {});
    uint32_t stateOut = b.owned("state_out", DType_F32, {three});
    uint32_t scanState = b.owned("scan", DType_F32, {three});
    uint32_t scanNumber = b.owned("number", DType_I64, {});
    uint32_t scanGo = b.owned("went", DType_Bool, {});
    b.function(body).streams = 2;
    b.function(body).events = 1;
    b.copy(body, condition, goOut);
    b.launch(body, b.kernel("scale", scaleSource), {state, stateOut},
             {three, b.size(-1)}, three);
    b.lastCommand(body).stream = 1;
    b.lastCommand(body).records = 0;
    b.copy(body, stateOut, scanState);
    b.lastCommand(body).waits = {0};
    b.copy(body, iteration, scanNumber);
    b.copy(body, condition, scanGo);
    for (uint32_t result : {goOut, stateOut, scanState, scanNumber, scanGo}) {
      b.result(body, result);
    }
    uint32_t trips = b.owned("trips", DType_I64, {}), written = trips;
    auto &write = b.command<WriteSizesT>(0);
    write.to = trips;
    write.sizes = {rows};
    if (isOverwritten) {
      // The sizes are not what the loop gets: a kernel adds one in their place.
      write.sizes = {b.evaluated(b.expr(ExprOp_Sub, rows, b.size(1)))};
      uint32_t more = b.value("more", DType_I64, {}, Storage_Alias, trips);
      b.launch(0, b.kernel("increment", R"(
extern "C" __global__ void increment(const long long *x, long long *y,
                                     long long tasks, unsigned char *workspace,
                                     int *status) {
  if (threadIdx.x == 0) {
    y[0] = x[0] + 1;
  }
})"),
               {trips, more}, {}, b.size(1))
          .results = 1;
      trips = more;
    }
    uint32_t last = b.owned("last", DType_F32, {three});
    uint32_t states = b.owned("states", DType_F32, {rows, three});
    uint32_t numbers = b.owned("numbers", DType_I64, {rows});
    uint32_t went = b.owned("went", DType_Bool, {rows});
    auto &loop = b.command<LoopT>(0);
    loop.trip_count = int32_t(trips);
    loop.condition = -1;
    loop.body = uint32_t(body);
    loop.carried = {start};
    loop.outputs = {int32_t(last), int32_t(states), int32_t(numbers),
                    int32_t(went)};
    b.lastCommand(0).release = {written};
    for (uint32_t result : {last, states, numbers, went}) {
      b.result(0, result);
    }
  }

  static void expectRun(Context &context, int64_t trips, float first) {
    Tensor x = tensor<float>(D::F32, {trips}, std::vector<float>(trips));
    std::vector<float> state = {first, 1, 2}, states;
    Tensor start = tensor<float>(D::F32, {3}, state);
    auto outputs = context.run({x.view(), start.view()});
    ASSERT_TRUE(outputs) << outputs.status().toString();
    std::vector<int64_t> numbers;
    for (int64_t i = 0; i < trips; ++i) {
      for (float &element : state) {
        element = 1 - element;
        states.push_back(element);
      }
      numbers.push_back(i);
    }
    EXPECT_EQ(elements<float>((*outputs)[0]), state);
    EXPECT_EQ(elements<float>((*outputs)[1]), states);
    EXPECT_EQ(elements<int64_t>((*outputs)[2]), numbers);
    EXPECT_EQ(elements<uint8_t>((*outputs)[3]), std::vector<uint8_t>(trips, 1));
  }
};
} // namespace

TEST_F(GpuControlFlow, LoopsOverSizesAreRecorded) {
  RowsPlan plan;
  for (int seed = 1; seed <= 3; ++seed) {
    Environment environment("TILEWRIGHT_SIM_SEED", std::to_string(seed));
    auto context = plan.b.context();
    ASSERT_TRUE(context);
    uint64_t replays = 0;
    for (int64_t trips : {5, 1, 0, 12}) {
      for (int round = 0; round < 4; ++round) {
        plan.expectRun(*context, trips, float(round));
        replays += round > 0;
        EXPECT_EQ(context->statistics().replays, replays);
        EXPECT_EQ(context->statistics().launches, uint64_t(trips));
      }
    }
    // What moved memory has made earlier recordings useless, not wrong.
    for (int64_t trips : {5, 12, 1}) {
      plan.expectRun(*context, trips, 7);
      EXPECT_EQ(context->statistics().replays, ++replays);
    }
  }
}

TEST_F(GpuControlFlow, SizesThatAKernelOverwritesAreRead) {
  RowsPlan plan(/*isOverwritten=*/true);
  auto context = plan.b.context();
  ASSERT_TRUE(context);
  for (int64_t trips : {5, 1, 5, 5}) {
    plan.expectRun(*context, trips, 3);
  }
  EXPECT_EQ(context->statistics().replays, 0u);
}

TEST_F(GpuControlFlow, LongLoopsAreNotRecorded) {
  RowsPlan plan;
  Environment environment("TILEWRIGHT_SIM_CHECKS", "0");
  auto context = plan.b.context();
  ASSERT_TRUE(context);
  for (int round = 0; round < 2; ++round) { // 5 commands each
    plan.expectRun(*context, 7000, float(round));
    EXPECT_EQ(context->statistics().replays, 0u);
  }
}
