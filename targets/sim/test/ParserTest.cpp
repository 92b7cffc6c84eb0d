//===- ParserTest.cpp - text that is not PTX, and PTX that is not known
//---------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "targets/sim/test/Harness.h"

#include <random>

using namespace tilewright;
using namespace tilewright::sim;
using namespace tilewright::sim::test;

static const std::string head =
    ".version 8.0\n.target sm_80\n.address_size 64\n";

static Status parse(const std::string &text) {
  auto program = Program::parse(text);
  return program ? Status::ok() : program.status();
}

/// A kernel with these lines in its body; they begin at line 8.
static Status parseBody(const std::string &lines) {
  return parse(head +
               ".entry k(.param .u64 p)\n{\n  .reg .pred %p<4>; .reg "
               ".b16 %h<4>; .reg .b32 %r<4>; .reg .b64 %rd<4>;\n"
               "  .shared .align 4 .b8 s[64];\n" +
               lines + "\n  ret;\n}\n");
}

TEST(Parser, NamesWhatItDoesNotKnow) {
  const struct {
    const char *lines;
    const char *message;
  } cases[] = {
      {"wgmma.fence.sync.aligned;", "PTX line 8: 'wgmma.fence.sync.aligned': "
                                    "the simulator does not have the "
                                    "instruction 'wgmma'"},
      {"\n\nadd.rq.s32 %r0, %r1, %r2;",
       "PTX line 10: 'add.rq.s32': the simulator does not have the modifier "
       "'.rq' of 'add'"},
      {"mul.lo.f16x2 %r0, %r1, %r2;", nullptr},
      {"popc.b16 %r0, %h1;", "PTX line 8: 'popc.b16': the simulator does not "
                             "have this form of 'popc'"},
      {".tex .u32 t;", "PTX line 8: the simulator does not have the directive "
                       "'.tex' in functions"},
      {"cp.async.bulk.commit_group;", nullptr},
      {"mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32 {%r0,%r1,%r2,%r3}, "
       "{%r0}, {%r0}, {%r0,%r1,%r2,%r3};",
       nullptr},
  };
  for (const auto &c : cases) {
    Status status = parseBody(c.lines);
    EXPECT_FALSE(status) << c.lines;
    if (c.message) {
      EXPECT_EQ(status.message(), c.message);
      EXPECT_EQ(status.code(), ErrorCode::UnsupportedInstruction) << c.lines;
    }
  }
}

TEST(Parser, SaysWhatIsWrong) {
  const struct {
    const char *lines;
    const char *message;
  } cases[] = {
      {"add.s32 %r0, %r1, %r9;", "there is no register '%r9'"},
      {"add.s32 %r0, %r1, %rd1;", "'%rd1' has 64 bits, not 32"},
      {"add.s32 %r0, %r1;", "found 2 operands, expected 3"},
      {"bra NOWHERE;", "there is no label 'NOWHERE'"},
      {"A: bra A;\nA: ret;", "the name 'A' is declared twice"},
      {"@%r0 ret;", "there is no predicate '%r0'"},
      {"ld.global.u32 %r0, [%r1];", "an address must be in a 64-bit register"},
      {"ld.global.u32 %r0, [s];", "'s' lies in another state space"},
      {"ld.global.u32 %r0, [%rd1", "expected ']', found 'ret'"},
      {"mov.u32 %r0, 0f12;", "needs 8 hexadecimal digits"},
      {"setp.lo.s32 %p0, %r0, %r1;", "does not go with the type"},
      {"call.uni (%r0), nothing, (%r1);", "'nothing' is none"},
      {"st.const.u32 [%rd0], %r0;", "constant memory cannot be written"},
      {".param .b32 %q<4>;", "expected ';', found '<'"},
  };
  for (const auto &c : cases) {
    Status status = parseBody(c.lines);
    EXPECT_FALSE(status) << c.lines;
    EXPECT_NE(status.message().find(c.message), std::string::npos)
        << status.message();
  }
  EXPECT_FALSE(parse(""));
  EXPECT_FALSE(parse("not PTX"));
  EXPECT_FALSE(parse(head + ".entry k() {"));
  EXPECT_FALSE(parse(head + ".func f() { call f; ret; } .entry k() { call f; "
                            "ret; }"));
  EXPECT_FALSE(parse(head + ".global .b8 a[4] = {1, 2, 3, 4, 5};"));
  EXPECT_FALSE(parse(".version 8.0\n.target sm_80\n.address_size 32\n"));
  EXPECT_TRUE(parse(head));
}

TEST(Parser, ReadsDirectives) {
  auto program = Program::parse(R"(
.version 9.0 // comment
.target sm_90a, debug
.address_size 64
/* a comment
   of two lines */
.file 1 "a.cu", 123, 456
.extern .shared .align 16 .b8 dynamic[];
.global .align 8 .u64 pointer = generic(table)+4;
.global .align 4 .f32 table[2] = {0f3F800000, 0f40000000};
.visible .entry k(
  .param .u64 .ptr .global .align 16 a,
  .param .align 8 .b8 s[24],
  .param .u8 c
)
.maxntid 128, 2, 1
.minnctapersm 2
{
  .reg .b32 %r<3>;
  .pragma "nounroll";
  .loc 1 5 7, function_name $str, inlined_at 1 2 3
  { .reg .b32 %r1; mov.u32 %r1, -1; }
  ret;
}
.section .debug_str { $str: .b8 107, 0 }
)");
  ASSERT_TRUE(program) << program.status().message();
  EXPECT_EQ((*program)->targetArchitecture(), 90u);
  EXPECT_TRUE((*program)->isArchitectureSpecific());
  const Kernel *kernel = (*program)->find("k");
  ASSERT_TRUE(kernel);
  EXPECT_EQ(kernel->maxThreads, 256u);
  ASSERT_EQ(kernel->parameters.size(), 3u);
  EXPECT_EQ(kernel->parameters[1].offset, 8u);
  EXPECT_EQ(kernel->parameters[2].offset, 32u);
  EXPECT_EQ(kernel->parameterBytes, 33u);
  EXPECT_EQ((*program)->variables().size(), 2u);
  EXPECT_FALSE((*program)->find("other"));
}

/// A module that uses many parts of the grammar.
static const char *const sample = R"(
__device__ float table[4] = {1, 2, 3, 4}; __constant__ int c[2] = {5, 6};
__device__ __noinline__ int pick(int x, const int *y) { int t[4]; for (int i = 0; i < 4; ++i) t[i] = y[i] * x; return t[x & 3]; }
extern "C" __global__ void k(const int *in, int *out, double d) {
  extern __shared__ int s[];
  int i = threadIdx.x;
  s[i] = pick(i, in);
  __syncthreads();
  switch (i % 5) { case 0: s[i] += 1; break; case 1: s[i] *= 3; break; case 2: return; default: s[i] = (int)(sinf(i) * 100); }
  out[i] = s[i] + (int)pow(d, 1.5) + (int)table[i & 3] + c[i & 1] + __shfl_xor_sync(__activemask(), i, 1);
  atomicAdd(out, 1);
})";

/// What still parses may do anything, but not to the host.
static void runDamaged(const std::shared_ptr<const Program> &program,
                       bool checks) {
  const Kernel *kernel = program->find("k");
  Device device;
  auto instance = Instance::load(program, *device.memory);
  if (!kernel || !instance) {
    return;
  }
  std::vector<int> values(256, 3);
  std::vector<uint64_t> parameters(kernel->parameterBytes / 8 + 1,
                                   device.put(values));
  device.options.checks = checks;
  device.options.maxWarpInstructionsPerBlock = 20000;
  LaunchShape shape;
  shape.grid.x = 2;
  shape.block.x = 48;
  shape.sharedBytes = 256;
  Status status = execute(**instance, *kernel, shape, parameters.data(),
                          parameters.size() * 8, *device.memory, device.options,
                          device.counters, &device.fault);
  bool isExpected = status.isOk() || status.code() == ErrorCode::DeviceFault ||
                    status.code() == ErrorCode::OptionInvalid;
  EXPECT_TRUE(isExpected) << status.message();
}

TEST(Parser, SurvivesDamagedText) {
  std::string missing = tilewright::test::missingNvrtc();
  if (!missing.empty()) {
    GTEST_SKIP() << missing;
  }
  std::string ptx = tilewright::test::compilePtx(sample, "sm_80");
  ASSERT_TRUE(parse(ptx));
  std::mt19937 generator(4711);
  auto below = [&](size_t n) { return size_t(generator() % n); };
  const std::string letters = "%.,;:{}[]()<>@!|+-_$ \n0189afxsrdupbU\"/*\0\xff";
  unsigned refused = 0;
  for (int round = 0; round < 1500; ++round) {
    std::string text = ptx;
    for (size_t n = 1 + below(4); n > 0 && !text.empty(); --n) {
      size_t at = below(text.size());
      switch (below(6)) {
      case 0:
        text[at] = letters[below(letters.size())];
        break;
      case 1:
        text.erase(at, 1 + below(20));
        break;
      case 2:
        text.insert(at, text.substr(below(text.size()), below(40)));
        break;
      case 3:
        text.resize(at + 1);
        break;
      case 4: {
        // One word in the place of another.
        size_t from = text.find_first_of(" \t.", below(text.size()));
        size_t to = text.find_first_of(" \t.", at);
        if (from != std::string::npos && to != std::string::npos) {
          size_t length = text.find_first_of(" \t.,;", from + 1) - from;
          text.replace(to, 1 + below(6), text.substr(from, length));
        }
        break;
      }
      default:
        text.insert(at, 1, letters[below(letters.size())]);
      }
    }
    auto program = Program::parse(text);
    refused += !program.isOk();
    if (program) {
      runDamaged(*program, round % 2 != 0);
    }
  }
  EXPECT_GT(refused, 300u);
}

TEST(Parser, DeepAndLargeTextsEnd) {
  std::string deep = head + ".entry k()\n{\n";
  EXPECT_FALSE(parse(deep + std::string(100000, '{')));
  EXPECT_FALSE(parse(deep + std::string(100000, '{') +
                     std::string(100000, '}') + "ret;}"));
  // Functions that call the next one twice grow without bound when inlined.
  std::string doubling = head;
  for (int i = 0; i < 60; ++i) {
    std::string next = "f" + std::to_string(i + 1);
    doubling += ".func f" + std::to_string(i) + "() { call " + next +
                "; call " + next + "; ret; }\n";
  }
  doubling += ".func f60() { ret; }\n.entry k() { call f0; ret; }\n";
  EXPECT_FALSE(parse(doubling));
  EXPECT_FALSE(parse(deep + ".reg .b32 %r<4000000000>; ret; }"));
  EXPECT_FALSE(parse(deep + ".local .b8 a[1073741824]; ret; }"));
}
