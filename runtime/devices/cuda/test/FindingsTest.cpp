//===- FindingsTest.cpp - faults that the simulator finds -----------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// Kernels that a GPU would let pass: what they touch is memory, but not
// theirs.
//
//===----------------------------------------------------------------------===//

#include "runtime/devices/cuda/test/GpuModule.h"

using namespace tilewright;
using namespace tilewright::test;
using namespace tilewright::format;

namespace {
class GpuFindings : public GpuTest {};

/// `from` shifted by `shift` elements, plus what `to` holds times `keep`.
const char *const shiftSource = R"(
extern "C" __global__ void shift(const float *from, float *to, long long n,
                                 long long shift, long long keep,
                                 long long tasks, unsigned char *workspace,
                                 int *status) {
  long long i = blockIdx.x * 32 + threadIdx.x;
  if (i < n) {
    float value = from[i + shift];
    if (keep) {
      value += to[i];
    }
    to[i] = value;
  }
})";

/// h0 = x, h1 = x, y = shift(h0): h1 lies behind h0.
struct Shifted : OneInput {
  Shifted(int64_t shift, int64_t keep) {
    uint32_t h0 = arena("h0", 0, 2);
    uint32_t h1 = arena("h1", 1, 2);
    uint32_t y = owned("y");
    b.plan().nodes = {"some_node", "the_shift"};
    scale(x, h0, 2);
    scale(x, h1, 3);
    b.launch(0, b.kernel("shift", shiftSource), {h0, y},
             {dim, b.size(shift), b.size(keep)}, dim);
    b.lastCommand(0).nodes = {1};
    b.result(0, y);
  }
};

Status statusOf(Context &context) {
  Tensor x =
      tensor<float>(tilewright::DType::F32, {16}, std::vector<float>(16, 1.0f));
  return context.run({x.view()}).status();
}

void expectFinding(const Status &status, const std::string &what) {
  EXPECT_EQ(status.code(), ErrorCode::DeviceFault) << status.toString();
  for (const std::string &text : {what, std::string("'the_shift'")}) {
    EXPECT_NE(status.message().find(text), std::string::npos)
        << "no " << text << " in: " << status.toString();
  }
}
} // namespace

TEST_F(GpuFindings, ACleanKernelPasses) {
  auto context = Shifted(0, 0).b.context();
  ASSERT_TRUE(context);
  EXPECT_TRUE(statusOf(*context).isOk()) << statusOf(*context).toString();
}

TEST_F(GpuFindings, ReadingTheNextValue) {
  auto context = Shifted(1, 0).b.context();
  ASSERT_TRUE(context);
  expectFinding(statusOf(*context), "out of bounds");
}

TEST_F(GpuFindings, ReadingWhatNobodyWrote) {
  auto context = Shifted(0, 1).b.context();
  ASSERT_TRUE(context);
  expectFinding(statusOf(*context), "uninitialised");
}

TEST_F(GpuFindings, ChecksCanBeTurnedOff) {
  Environment environment("TILEWRIGHT_SIM_CHECKS", "0");
  auto context = Shifted(1, 0).b.context();
  ASSERT_TRUE(context);
  EXPECT_TRUE(statusOf(*context).isOk()) << statusOf(*context).toString();
}

TEST_F(GpuFindings, AFaultEndsTheContextsOfTheDevice) {
  auto broken = Shifted(1, 0).b.context();
  ASSERT_TRUE(broken);
  EXPECT_FALSE(statusOf(*broken).isOk());
  // Like on a GPU, the fault stays until all contexts are gone.
  EXPECT_EQ(statusOf(*broken).code(), ErrorCode::DeviceFault);
  broken.reset();
  auto context = Shifted(0, 0).b.context();
  ASSERT_TRUE(context);
  EXPECT_TRUE(statusOf(*context).isOk());
}

TEST_F(GpuFindings, UseAfterTheLifeOfABuffer) {
  // A kernel keeps a pointer in the workspace, which outlasts the buffer.
  OneInput t;
  uint32_t h0 = t.arena("h0", 0, 1);
  uint32_t y = t.owned("y");
  t.b.plan().nodes = {"some_node", "the_shift"};
  t.scale(t.x, h0, 2);
  uint32_t pointers = t.b.owned("pointers", DType_I64, {t.b.size(1)});
  uint32_t keep = t.b.kernel("keep", R"(
extern "C" __global__ void keep(const float *from, long long *pointer,
                                long long tasks, unsigned char *workspace,
                                int *status) {
  if (threadIdx.x == 0) {
    *pointer = (long long)from;
  }
})");
  t.b.launch(0, keep, {h0, pointers}, {}, t.b.size(1));
  uint32_t use = t.b.kernel("use", R"(
extern "C" __global__ void use(const long long *pointer, float *y, long long n,
                               long long tasks, unsigned char *workspace,
                               int *status) {
  long long i = blockIdx.x * 32 + threadIdx.x;
  if (i < n) {
    y[i] = ((const float *)*pointer)[i];
  }
})");
  t.b.launch(0, use, {pointers, y}, {t.dim}, t.dim);
  t.b.lastCommand(0).nodes = {1};
  t.b.result(0, y);
  auto context = t.b.context();
  ASSERT_TRUE(context);
  expectFinding(statusOf(*context), "use after free");
}

TEST_F(GpuFindings, AnOutputThatNobodyWrites) {
  OneInput t;
  uint32_t y = t.owned("y");
  uint32_t nothing = t.b.kernel("nothing", R"(
extern "C" __global__ void nothing(float *y, long long tasks,
                                   unsigned char *workspace, int *status) {}
)");
  t.b.launch(0, nothing, {y}, {}, t.dim);
  t.b.result(0, y);
  auto context = t.b.context();
  ASSERT_TRUE(context);
  Status status = statusOf(*context);
  EXPECT_EQ(status.code(), ErrorCode::DeviceFault) << status.toString();
}
