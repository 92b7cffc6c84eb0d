//===- ExecutorTest.cpp -----------------------------------------------------
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

static std::unique_ptr<Context> makeContext(TestModule &b,
                                            unsigned threads = 2) {
  auto module = b.open();
  EXPECT_TRUE(module) << module.status().toString();
  if (!module) {
    return nullptr;
  }
  return std::move(*Context::create(*module, {threads}));
}

namespace {
/// A main function with input x: f32[N], whose symbol and size are known.
struct OneInput {
  TestModule b;
  uint32_t n = b.symbol("N");
  uint32_t dim = b.expr(n);
  uint32_t x = b.parameter(0, "x", DType_F32, {dim});
  OneInput() {
    b.function(0).binds = {Bind(x, 0, n)};
    b.function(0).evaluate = {dim};
  }
  void scale(uint32_t from, uint32_t to, int64_t factor) {
    auto &launch = b.command<LaunchT>(0);
    launch.kernel = b.plan().kernels.empty() ? b.kernel("scale") : 0;
    launch.args = {from, to};
    launch.sizes = {b.size(factor)};
    launch.tasks = dim;
    launch.workspace = b.size(0);
  }
};
} // namespace

TEST(Executor, LaunchesThroughTheArena) {
  OneInput t;
  uint32_t four = t.b.size(4);
  uint32_t bytes = t.b.expr(ExprOp_Mul, t.dim, four);
  t.b.function(0).evaluate.push_back(bytes);
  t.b.function(0).buffers = {Buffer(bytes, 0, 1), Buffer(bytes, 1, 2)};
  uint32_t h0 = t.b.value("h0", DType_F32, {t.dim}, Storage_Arena, 0);
  uint32_t h1 = t.b.value("h1", DType_F32, {t.dim}, Storage_Arena, 1);
  uint32_t y = t.b.owned("y", DType_F32, {t.dim});
  t.scale(t.x, h0, 2);
  t.scale(h0, h1, 3);
  t.scale(h1, y, 1);
  t.b.result(0, y);
  auto context = makeContext(t.b);
  ASSERT_TRUE(context);
  for (int64_t size : {5, 0, 1000, 5, 1}) {
    std::vector<float> in(static_cast<size_t>(size), 1.5f);
    Tensor x = tensor<float>(tilewright::DType::F32, {size}, in);
    auto outputs = context->run({x.view()});
    ASSERT_TRUE(outputs) << outputs.status().toString();
    EXPECT_EQ((*outputs)[0].shape(), std::vector<int64_t>{size});
    for (float value : elements<float>((*outputs)[0])) {
      EXPECT_EQ(value, (1.5f * 2 + 1) * 3 + 2);
    }
  }
  EXPECT_EQ(context->statistics().launches, 3u);
}

TEST(Executor, ReturnsAnAliasAndWritesInPlace) {
  OneInput t;
  uint32_t h = t.b.owned("h", DType_F32, {t.dim});
  uint32_t over = t.b.value("over", DType_F32, {t.dim}, Storage_Alias, h);
  uint32_t y =
      t.b.value("y", DType_F32, {t.b.size(1), t.dim}, Storage_Alias, over);
  t.scale(t.x, h, 2);
  t.scale(h, over, 3);
  t.b.result(0, y);
  auto context = makeContext(t.b);
  ASSERT_TRUE(context);
  for (int round = 0; round < 3; ++round) {
    Tensor x = tensor<float>(tilewright::DType::F32, {2}, {1, 2});
    auto outputs = context->run({x.view()});
    ASSERT_TRUE(outputs) << outputs.status().toString();
    EXPECT_EQ((*outputs)[0].shape(), (std::vector<int64_t>{1, 2}));
    EXPECT_EQ(elements<float>((*outputs)[0]), (std::vector<float>{10, 16}));
    EXPECT_EQ(elements<float>(x), (std::vector<float>{1, 2}));
  }
  EXPECT_EQ(context->statistics().poolBytes, 0);
}

TEST(Executor, ChecksInputs) {
  TestModule b;
  uint32_t n = b.symbol("N");
  uint32_t dim = b.expr(n);
  uint32_t twice = b.expr(ExprOp_Mul, dim, b.size(2));
  uint32_t x = b.parameter(0, "x", DType_F32, {dim});
  uint32_t z = b.parameter(0, "z", DType_F32, {twice});
  b.function(0).binds = {Bind(x, 0, n)};
  b.function(0).evaluate = {dim, twice};
  b.function(0).checks = {Check(z, 0, twice)};
  uint32_t y = b.owned("y", DType_F32, {twice});
  b.copy(0, z, y);
  b.result(0, y);
  auto context = makeContext(b);
  ASSERT_TRUE(context);
  using D = tilewright::DType;
  Tensor two = tensor<float>(D::F32, {2}, {1, 2});
  Tensor four = tensor<float>(D::F32, {4}, {1, 2, 3, 4});
  Tensor matrix = tensor<float>(D::F32, {2, 2}, {1, 2, 3, 4});
  Tensor integers = tensor<int32_t>(D::I32, {2}, {1, 2});
  EXPECT_TRUE(context->run({two.view(), four.view()}));

  auto expectError = [&](Result<std::vector<Tensor>> result, ErrorCode code,
                         const std::string &text) {
    EXPECT_EQ(result.status().code(), code);
    EXPECT_NE(result.status().message().find(text), std::string::npos)
        << result.status().toString();
  };
  expectError(context->run({two.view(), two.view()}), ErrorCode::InputShape,
              "input 'z' has the shape [2]; the model takes N*2 = 4 in axis 0, "
              "not 2");
  expectError(context->run({two.view()}), ErrorCode::InputName, "2 inputs");
  expectError(context->run({integers.view(), four.view()}),
              ErrorCode::InputType, "'x' has the type i32");
  expectError(context->run({two.view(), matrix.view()}), ErrorCode::InputShape,
              "rank 1");
  expectError(context->run({{"x", two.view()}, {"w", four.view()}}),
              ErrorCode::InputName,
              "there is no input 'w'; the inputs are "
              "'x', 'z'");
  expectError(context->run({{"x", two.view()}, {"x", two.view()}}),
              ErrorCode::InputName, "two values");
  expectError(context->run({{"x", two.view()}}), ErrorCode::InputName,
              "'z' was not given");
  auto byName = context->run({{"z", four.view()}, {"x", two.view()}});
  ASSERT_TRUE(byName);
  EXPECT_EQ(elements<float>((*byName)[0]), (std::vector<float>{1, 2, 3, 4}));
}

TEST(Executor, KernelStatusNamesTheNode) {
  TestModule b;
  uint32_t n = b.symbol("N");
  uint32_t dim = b.expr(n);
  uint32_t index = b.parameter(0, "index", DType_I64, {dim});
  b.function(0).binds = {Bind(index, 0, n)};
  b.function(0).evaluate = {dim};
  float table[] = {10, 20, 30};
  uint32_t data =
      b.constant("table", DType_F32, {b.size(3)},
                 std::string(reinterpret_cast<char *>(table), sizeof table));
  uint32_t y = b.owned("y", DType_F32, {dim});
  auto &launch = b.command<LaunchT>(0);
  launch.kernel = b.kernel("gather");
  launch.args = {data, index, y};
  launch.sizes = {b.size(3)};
  launch.tasks = dim;
  launch.workspace = b.size(8);
  b.result(0, y);
  auto context = makeContext(b, 3);
  ASSERT_TRUE(context);
  using D = tilewright::DType;
  auto good = context->run({tensor<int64_t>(D::I64, {4}, {2, 0, 1, 2}).view()});
  ASSERT_TRUE(good) << good.status().toString();
  EXPECT_EQ(elements<float>((*good)[0]), (std::vector<float>{30, 10, 20, 30}));
  auto bad = context->run({tensor<int64_t>(D::I64, {2}, {1, 3}).view()});
  EXPECT_EQ(bad.status().code(), ErrorCode::DataInvalid);
  EXPECT_EQ(bad.status().message(),
            "an index is out of range in node 'some_node'");
  EXPECT_TRUE(context->run({tensor<int64_t>(D::I64, {1}, {1}).view()}));
}

TEST(Executor, SizesFromDataAndAliases) {
  // y = reshape(x, target), and the shape of y.
  OneInput t;
  TestModule &b = t.b;
  uint32_t target = b.parameter(0, "target", DType_I32, {b.size(2)});
  uint32_t r = b.symbol("r");
  uint32_t c = b.symbol("c");
  uint32_t rows = b.expr(r);
  uint32_t columns = b.expr(c);
  uint32_t reshaped =
      b.value("reshaped", DType_F32, {rows, columns}, Storage_Alias, t.x);
  auto &read = b.command<ReadSizesT>(0);
  read.from = target;
  read.elements = {0, 1};
  read.symbols = {r, c};
  b.lastCommand(0).evaluate = {rows, columns};
  uint32_t y = b.owned("y", DType_F32, {rows, columns});
  b.copy(0, reshaped, y);
  uint32_t shape = b.owned("shape", DType_I64, {b.size(2)});
  auto &write = b.command<WriteSizesT>(0);
  write.to = shape;
  write.sizes = {rows, columns};
  b.result(0, y);
  b.result(0, shape);
  auto context = makeContext(b);
  ASSERT_TRUE(context);
  using D = tilewright::DType;
  Tensor x = tensor<float>(D::F32, {6}, {1, 2, 3, 4, 5, 6});
  auto outputs =
      context->run({x.view(), tensor<int32_t>(D::I32, {2}, {2, 3}).view()});
  ASSERT_TRUE(outputs) << outputs.status().toString();
  EXPECT_EQ((*outputs)[0].shape(), (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(elements<int64_t>((*outputs)[1]), (std::vector<int64_t>{2, 3}));

  auto run = [&](int32_t rows, int32_t columns) {
    Tensor sizes = tensor<int32_t>(D::I32, {2}, {rows, columns});
    return context->run({x.view(), sizes.view()}).status().code();
  };
  EXPECT_EQ(run(-1, 3), ErrorCode::DataInvalid);
  EXPECT_EQ(run(0, 3), ErrorCode::DataInvalid);
  EXPECT_EQ(run(2, 4), ErrorCode::DataInvalid);
  EXPECT_EQ(run(2, 2), ErrorCode::DataInvalid);
  EXPECT_EQ(run(INT32_MAX, INT32_MAX), ErrorCode::OutOfMemory);
}

TEST(Executor, RunawaySizesAreErrors) {
  // y has (x[0] ** 8) elements, computed from an input's value.
  TestModule b;
  uint32_t x = b.parameter(0, "x", DType_I64, {b.size(1)});
  uint32_t s = b.symbol("s");
  uint32_t dim = b.expr(s);
  auto &read = b.command<ReadSizesT>(0);
  read.from = x;
  read.elements = {0};
  read.symbols = {s};
  read.minimum = INT64_MIN;
  b.lastCommand(0).evaluate = {dim};
  for (int i = 0; i < 3; ++i) {
    dim = b.expr(ExprOp_Mul, dim, dim);
    b.lastCommand(0).evaluate.push_back(dim);
  }
  uint32_t y = b.owned("y", DType_F32, {dim});
  auto &random = b.command<BuiltinT>(0);
  random.name = "random_uniform";
  random.outputs = {int32_t(y)};
  random.ints = {1};
  random.floats = {0, 1};
  b.result(0, y);
  auto context = makeContext(b);
  ASSERT_TRUE(context);
  auto run = [&](int64_t size) {
    Tensor in = tensor<int64_t>(tilewright::DType::I64, {1}, {size});
    return context->run({in.view()}).status().code();
  };
  EXPECT_EQ(run(3), ErrorCode::Ok);
  EXPECT_EQ(run(0), ErrorCode::Ok);
  EXPECT_EQ(run(200), ErrorCode::OutOfMemory); // fits into 63 bits, not here
  EXPECT_EQ(run(230), ErrorCode::OutOfMemory); // bytes do not fit
  EXPECT_EQ(run(1 << 20), ErrorCode::DataInvalid);
  EXPECT_EQ(run(INT64_MIN), ErrorCode::DataInvalid);
  EXPECT_EQ(run(2), ErrorCode::Ok);
}

TEST(Executor, NegativeArenaSizesAreErrors) {
  OneInput t;
  uint32_t less = t.b.expr(ExprOp_Sub, t.dim, t.b.size(3));
  uint32_t bytes = t.b.expr(ExprOp_Mul, less, t.b.size(4));
  t.b.function(0).evaluate.insert(t.b.function(0).evaluate.end(),
                                  {less, bytes});
  t.b.function(0).buffers = {Buffer(bytes, 0, 1)};
  uint32_t h = t.b.value("h", DType_F32, {less}, Storage_Arena, 0);
  uint32_t y = t.b.owned("y", DType_F32, {less});
  auto &random = t.b.command<BuiltinT>(0);
  random.name = "random_uniform";
  random.outputs = {int32_t(h)};
  random.ints = {1};
  random.floats = {0, 1};
  t.b.copy(0, h, y);
  t.b.result(0, y);
  auto context = makeContext(t.b);
  ASSERT_TRUE(context);
  Tensor x = tensor<float>(tilewright::DType::F32, {2}, {1, 2});
  auto outputs = context->run({x.view()});
  EXPECT_EQ(outputs.status().code(), ErrorCode::InputShape);
  EXPECT_NE(outputs.status().message().find("negative size"),
            std::string::npos);
}

TEST(Executor, ListenerSeesCommands) {
  OneInput t;
  uint32_t y = t.b.owned("y", DType_F32, {t.dim});
  t.scale(t.x, y, 2);
  t.b.result(0, y);
  auto context = makeContext(t.b);
  ASSERT_TRUE(context);
  std::vector<CommandEvent> events;
  context->setListener([&](const CommandEvent &e) { events.push_back(e); });
  Tensor x = tensor<float>(tilewright::DType::F32, {2}, {1, 2});
  ASSERT_TRUE(context->run({x.view()}));
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].kind, "launch");
  EXPECT_EQ(events[0].name, "scale");
  EXPECT_EQ(events[0].nodes[0], "some_node");
  EXPECT_LE(events[0].beginNanoseconds, events[0].endNanoseconds);
}
