//===- RecordedLoopsTest.cpp - recurrent networks as CUDA graphs ----------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// A loop over time whose length the inputs' shapes tell is recorded with what
// is around it, and gives the bits of a run that is not.
//
//===----------------------------------------------------------------------===//

#include "test/e2e/Models.h"

#include <algorithm>
#include <gtest/gtest.h>

using namespace tilewright;
using namespace tilewright::test;

namespace {

/// Shapes of the inputs; the first axis is 0 where it is the number of steps.
using InputShapes = std::vector<std::vector<int64_t>>;

Tensors inputsOf(const InputShapes &shapes, int64_t steps, unsigned seed) {
  Tensors tensors;
  for (std::vector<int64_t> shape : shapes) {
    shape[0] = shape[0] == 0 ? steps : shape[0];
    tensors.push_back(randomTensor(shape, seed++));
  }
  return tensors;
}

class RecordedLoops : public testing::Test {
protected:
  void check(const std::string &graph, const InputShapes &shapes);

private:
  std::unique_ptr<Context> context() {
    auto created = Context::create(module);
    EXPECT_TRUE(created) << created.status().toString();
    return created ? std::move(*created) : nullptr;
  }

  std::shared_ptr<const Module> module;
};

void RecordedLoops::check(const std::string &graph, const InputShapes &shapes) {
  auto path = writeModel(R"(<ir_version: 8, opset_import: ["": 17]> )" + graph);
  CompileOptions options;
  options.target = findTarget("sm_80");
  options.simulated = true;
  auto compiled = compileModel(path.string(), options);
  std::filesystem::remove(path);
  if (compiled.status().code() == ErrorCode::CudaCompilerMissing) {
    GTEST_SKIP() << compiled.status().message();
  }
  ASSERT_TRUE(compiled) << compiled.status().toString();
  OpenOptions open;
  open.device = DeviceKind::Simulator;
  open.architecture = "sm_80";
  auto opened = Module::fromBytes(compiled->module, open);
  ASSERT_TRUE(opened) << opened.status().toString();
  module = *opened;
  auto repeating = context();
  ASSERT_TRUE(repeating);
  std::vector<int64_t> seen;
  uint64_t replays = 0;
  unsigned seed = 0;
  // Longer loops move memory, so that what was recorded is recorded anew.
  for (int64_t steps : {7, 7, 7, 30, 30, 7, 1, 1, 30, 7}) {
    SCOPED_TRACE(steps);
    Tensors in = inputsOf(shapes, steps, seed += 10);
    Tensors out = run(*repeating, in);
    replays += std::find(seen.begin(), seen.end(), steps) != seen.end();
    seen.push_back(steps);
    EXPECT_EQ(repeating->statistics().replays, replays);
    auto fresh = context();
    ASSERT_TRUE(fresh);
    EXPECT_TRUE(same(out, run(*fresh, in)));
    EXPECT_EQ(fresh->statistics().replays, 0u);
    EXPECT_EQ(fresh->statistics().launches, repeating->statistics().launches);
  }
}

TEST_F(RecordedLoops, Lstm) {
  check(R"(lstm (float[S,2,3] x, float[2,16,3] w, float[2,16,4] r)
           => (float[S,2,2,4] y, float[2,2,4] h, float[2,2,4] c) {
    y, h, c = LSTM <direction = "bidirectional", hidden_size = 4> (x, w, r)
  })",
        {{0, 2, 3}, {2, 16, 3}, {2, 16, 4}});
}

TEST_F(RecordedLoops, GruBetweenOthers) {
  check(R"(gru (float[S,1,3] x, float[1,12,3] w, float[1,12,4] r, float[S,4] m)
           => (float[S,4] z) <int64[1] one = {1}> {
    t = Tanh (x)
    y, h = GRU <hidden_size = 4> (t, w, r)
    p = Squeeze (y, one)
    q = Squeeze (p, one)
    z = Mul (q, m)
  })",
        {{0, 1, 3}, {1, 12, 3}, {1, 12, 4}, {0, 4}});
}

TEST_F(RecordedLoops, RnnsOneAfterTheOther) {
  check(R"(rnn (float[S,2,4] x, float[1,4,4] w, float[1,4,4] r)
           => (float[1,2,4] h) <int64[1] one = {1}> {
    y, g = RNN <hidden_size = 4> (x, w, r)
    s = Squeeze (y, one)
    z, h = RNN <hidden_size = 4> (s, w, r)
  })",
        {{0, 2, 4}, {1, 4, 4}, {1, 4, 4}});
}

TEST_F(RecordedLoops, LoopsThatTheModelHas) {
  check(R"(loop (float[S,4] x) => (float[4] h, float[T,4] all)
           <int64[1] zero = {0}, bool yes = {1}> {
    shape = Shape (x)
    size = Gather (shape, zero)
    trips = Squeeze (size, zero)
    first = Gather (x, zero)
    start = Squeeze (first, zero)
    h, all = Loop <body = body (int64 i, bool go, float[4] state)
                          => (bool on, float[4] next, float[4] each) {
      on = Identity (go)
      row = Gather (x, i)
      sum = Add (row, state)
      next = Tanh (sum)
      each = Identity (next)
    }> (trips, yes, start)
  })",
        {{0, 4}});
}

} // namespace
