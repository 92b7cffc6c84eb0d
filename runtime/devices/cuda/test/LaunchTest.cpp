//===- LaunchTest.cpp - kernels on the simulated GPU ----------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "runtime/devices/cuda/test/GpuModule.h"

#include <thread>

using namespace tilewright;
using namespace tilewright::test;
using namespace tilewright::format;

namespace {
class GpuLaunch : public GpuTest {};
using D = tilewright::DType;
} // namespace

TEST_F(GpuLaunch, DynamicSizesThroughTheArena) {
  OneInput t;
  uint32_t h0 = t.arena("h0", 0, 1);
  uint32_t h1 = t.arena("h1", 1, 2);
  uint32_t h2 = t.arena("h2", 2, 3); // where h0 was
  uint32_t y = t.owned("y");
  t.scale(t.x, h0, 2);
  t.scale(h0, h1, 3);
  t.scale(h1, h2, 1);
  t.scale(h2, y, 2);
  t.b.result(0, y);
  auto context = t.b.context();
  ASSERT_TRUE(context);
  EXPECT_EQ(context->deviceName(), "simulated A100 (sm_80)");
  EXPECT_EQ(context->statistics().compiledKernels, 1u);
  for (size_t size : {5, 0, 1000, 5, 1, 1000}) {
    std::vector<float> in(size);
    std::vector<float> expected(size);
    for (size_t i = 0; i < size; ++i) {
      in[i] = static_cast<float>(i);
      expected[i] = ((in[i] * 2 + 1) * 3 + 2) * 2 + 1;
    }
    EXPECT_EQ(OneInput::run(*context, in), expected) << size;
  }
}

TEST_F(GpuLaunch, ConstantsAndCopies) {
  OneInput t;
  float table[] = {10, 20, 30};
  uint32_t constant =
      t.b.constant("table", DType_F32, {t.b.size(3)},
                   std::string(reinterpret_cast<char *>(table), sizeof table));
  uint32_t y = t.owned("y");
  t.scale(t.x, y, 2);
  uint32_t copied = t.b.owned("copied", DType_F32, {t.b.size(3)});
  t.b.copy(0, constant, copied);
  uint32_t matrix = t.b.value("matrix", DType_F32, {t.b.size(1), t.b.size(3)},
                              Storage_Alias, copied);
  t.b.result(0, y);
  t.b.result(0, matrix);
  auto context = t.b.context();
  ASSERT_TRUE(context);
  Tensor x = tensor<float>(D::F32, {2}, {1, 2});
  for (int round = 0; round < 3; ++round) {
    auto outputs = context->run({x.view()});
    ASSERT_TRUE(outputs) << outputs.status().toString();
    EXPECT_EQ(elements<float>((*outputs)[0]), (std::vector<float>{3, 5}));
    EXPECT_EQ(elements<float>((*outputs)[1]), (std::vector<float>{10, 20, 30}));
    EXPECT_EQ((*outputs)[1].shape(), (std::vector<int64_t>{1, 3}));
  }
}

TEST_F(GpuLaunch, WorkspaceAndSharedMemory) {
  // Blocks reverse 32 elements through shared memory that the launch gives,
  // and leave their sum in the workspace for the last thread to add.
  OneInput t;
  uint32_t kernel = t.b.kernel("reverse", R"(
extern __shared__ float tile[];
extern "C" __global__ void reverse(const float *x, float *y, long long n,
                                   long long tasks, unsigned char *workspace,
                                   int *status) {
  float *scratch = (float *)workspace;
  int i = blockIdx.x * 32 + threadIdx.x;
  tile[threadIdx.x] = i < n ? x[i] : 0;
  __syncthreads();
  scratch[i] = tile[31 - threadIdx.x];
  if (i < n) {
    y[i] = scratch[i];
  }
})");
  uint32_t y = t.owned("y");
  auto &launch = t.b.launch(0, kernel, {t.x, y}, {t.dim}, t.dim);
  launch.shared = 60 * 1024; // more than a kernel has without asking
  launch.workspace =
      t.b.evaluated(t.b.expr(ExprOp_Mul, launch.tasks, t.b.size(128)));
  t.b.result(0, y);
  auto context = t.b.context();
  ASSERT_TRUE(context);
  for (size_t size : {32, 64, 96}) {
    std::vector<float> in(size);
    for (size_t i = 0; i < size; ++i) {
      in[i] = static_cast<float>(i);
    }
    std::vector<float> out = OneInput::run(*context, in);
    ASSERT_EQ(out.size(), size);
    for (size_t i = 0; i < size; ++i) {
      EXPECT_EQ(out[i], static_cast<float>(i / 32 * 32 + 31 - i % 32));
    }
  }
}

TEST_F(GpuLaunch, StatusNamesTheNode) {
  GpuModule b;
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
  uint32_t kernel = b.kernel("gather", R"(
extern "C" __global__ void gather(const float *table, const long long *index,
                                  float *y, long long n, long long rows,
                                  long long tasks, unsigned char *workspace,
                                  int *status) {
  long long i = blockIdx.x * 32 + threadIdx.x;
  if (i < n) {
    long long at = index[i];
    if (at < 0 || at >= rows) {
      *status = 1;
      at = 0;
    }
    y[i] = table[at];
  }
})");
  b.plan().nodes = {"first", "the_gather"};
  b.launch(0, kernel, {data, index, y}, {dim, b.size(3)}, dim);
  b.lastCommand(0).nodes = {1};
  b.result(0, y);
  auto context = b.context();
  ASSERT_TRUE(context);
  auto run = [&](const std::vector<int64_t> &indices) {
    return context->run(
        {tensor<int64_t>(D::I64, {int64_t(indices.size())}, indices).view()});
  };
  for (int round = 0; round < 3; ++round) { // the last from a graph
    auto good = run({2, 0, 1});
    ASSERT_TRUE(good) << good.status().toString();
    EXPECT_EQ(elements<float>((*good)[0]), (std::vector<float>{30, 10, 20}));
    auto bad = run({1, 3, 0});
    EXPECT_EQ(bad.status().code(), ErrorCode::DataInvalid);
    EXPECT_EQ(bad.status().message(),
              "an index is out of range in node 'the_gather'");
  }
}

TEST_F(GpuLaunch, ContextsInSeveralThreads) {
  OneInput t;
  uint32_t h = t.arena("h", 0, 1);
  uint32_t y = t.owned("y");
  t.scale(t.x, h, 2);
  t.scale(h, y, 3);
  t.b.result(0, y);
  auto module = t.b.open();
  ASSERT_TRUE(module) << module.status().toString();
  std::vector<std::thread> threads;
  for (int number = 0; number < 3; ++number) {
    threads.emplace_back([&, number] {
      auto context = Context::create(*module, {1});
      ASSERT_TRUE(context) << context.status().toString();
      for (int round = 0; round < 5; ++round) {
        float value = static_cast<float>(number * 10 + round);
        EXPECT_EQ(OneInput::run(**context, {value}),
                  std::vector<float>{(value * 2 + 1) * 3 + 1});
      }
    });
  }
  for (std::thread &thread : threads) {
    thread.join();
  }
}

TEST_F(GpuLaunch, ListenerGetsTimesOnTheDevice) {
  OneInput t;
  uint32_t h = t.arena("h", 0, 1);
  uint32_t y = t.owned("y");
  t.scale(t.x, h, 2);
  t.scale(h, y, 3);
  t.b.result(0, y);
  auto context = t.b.context();
  ASSERT_TRUE(context);
  std::vector<CommandEvent> events;
  context->setListener([&](const CommandEvent &e) { events.push_back(e); });
  for (int round = 0; round < 3; ++round) {
    events.clear();
    EXPECT_EQ(OneInput::run(*context, {1}), std::vector<float>{10});
    ASSERT_EQ(events.size(), 2u);
    EXPECT_EQ(events[0].kind, "launch");
    EXPECT_EQ(events[0].name, "scale");
    EXPECT_EQ(events[0].nodes[0], "some_node");
    EXPECT_LE(events[0].beginNanoseconds, events[0].endNanoseconds);
    EXPECT_LE(events[0].endNanoseconds, events[1].endNanoseconds);
  }
  EXPECT_EQ(context->statistics().replays, 0u);
}
