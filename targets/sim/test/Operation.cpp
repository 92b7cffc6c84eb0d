//===- Operation.cpp - one instruction on many operands -----------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "targets/sim/test/Operation.h"

#include <random>

using namespace tilewright;
using namespace tilewright::sim;
using namespace tilewright::sim::test;

static constexpr uint64_t untouched = 0x5555AAAA5555AAAAu;

static std::string module(const std::string &lines, Kind kind, bool guarded) {
  std::string text = R"(.version 8.6
.target sm_90
.address_size 64
.visible .entry op(.param .u64 in, .param .u64 out, .param .u64 n)
{
  .reg .pred %p, %q, %go, %in;
  .reg .b16 %ah, %bh, %ch, %dh, %h<10>;
  .reg .b32 %a, %b, %c, %d, %r<10>, %t<4>;
  .reg .b64 %A, %B, %C, %D, %R<10>, %T<8>;
  ld.param.u64 %T0, [in];
  ld.param.u64 %T1, [out];
  ld.param.u64 %T2, [n];
  mov.u32 %t0, %tid.x;
  mov.u32 %t1, %ctaid.x;
  mov.u32 %t2, %ntid.x;
  mad.lo.u32 %t0, %t1, %t2, %t0;
  cvt.u64.u32 %T3, %t0;
  setp.ge.u64 %in, %T3, %T2;
  @%in bra END;
  mad.lo.u64 %T4, %T3, 24, %T0;
  ld.global.u64 %A, [%T4];
  ld.global.u64 %B, [%T4+8];
  ld.global.u64 %C, [%T4+16];
  cvt.u32.u64 %a, %A;
  cvt.u32.u64 %b, %B;
  cvt.u32.u64 %c, %C;
  cvt.u16.u64 %ah, %A;
  cvt.u16.u64 %bh, %B;
  cvt.u16.u64 %ch, %C;
  and.b64 %T5, %A, 1;
  setp.ne.u64 %p, %T5, 0;
  mov.b64 %D, 0x5555AAAA5555AAAA;
  mov.b32 %d, 0x5555AAAA;
  mov.b16 %dh, 0xAAAA;
  setp.ne.u32 %q, 0, 0;
  and.b32 %t3, %t0, 1;
  setp.ne.u32 %go, %t3, 0;
)";
  size_t begin = 0;
  while (begin < lines.size()) {
    size_t end = lines.find(';', begin);
    text +=
        (guarded ? "  @%go " : "  ") + lines.substr(begin, end - begin) + ";\n";
    begin = end == std::string::npos ? lines.size() : end + 1;
  }
  switch (kind) {
  case Kind::Word:
    text += "  cvt.u64.u32 %D, %d;\n";
    break;
  case Kind::Short:
    text += "  cvt.u64.u16 %D, %dh;\n";
    break;
  case Kind::Predicate:
    text += "  selp.u64 %D, 1, 0, %q;\n";
    break;
  case Kind::Long:
    break;
  }
  return text + R"(  shl.b64 %T6, %T3, 3;
  add.u64 %T6, %T6, %T1;
  st.global.u64 [%T6], %D;
END:
  ret;
}
)";
}

static uint64_t keptBits(Kind kind) {
  switch (kind) {
  case Kind::Word:
    return untouched & 0xFFFFFFFF;
  case Kind::Short:
    return untouched & 0xFFFF;
  case Kind::Predicate:
    return 0;
  default:
    return untouched;
  }
}

static std::vector<uint64_t> runModule(const std::string &text,
                                       const std::vector<Operands> &operands,
                                       const ExecuteOptions *options) {
  Device device;
  if (options) {
    device.options = *options;
  }
  if (!device.load(text)) {
    return {};
  }
  size_t count = operands.size();
  uint64_t in = device.put(operands, "in");
  uint64_t out = device.make(count * 8, "out");
  Status status =
      device.run("op", uint32_t((count + 127) / 128), 128, {in, out, count});
  EXPECT_EQ(sim::test::text(status), "ok") << text;
  return status ? device.get<uint64_t>(out, count) : std::vector<uint64_t>();
}

std::vector<uint64_t>
tilewright::sim::test::evaluate(const std::string &lines, Kind kind,
                                const std::vector<Operands> &operands,
                                bool plain, const ExecuteOptions *options) {
  std::vector<uint64_t> all =
      runModule(module(lines, kind, false), operands, options);
  if (plain || all.empty()) {
    return all;
  }
  std::vector<uint64_t> half =
      runModule(module(lines, kind, true), operands, options);
  for (size_t i = 0; i < half.size(); ++i) {
    EXPECT_EQ(half[i], i % 2 ? all[i] : keptBits(kind))
        << lines << " under a guard, lane " << i;
    if (half[i] != (i % 2 ? all[i] : keptBits(kind))) {
      break;
    }
  }
  return all;
}

void tilewright::sim::test::check(const std::string &lines, Kind kind,
                                  const std::vector<Operands> &operands,
                                  const Reference &expected) {
  std::vector<uint64_t> found = evaluate(lines, kind, operands);
  ASSERT_EQ(found.size(), operands.size()) << lines;
  for (size_t i = 0; i < found.size(); ++i) {
    uint64_t want = expected(operands[i]);
    ASSERT_EQ(found[i], want)
        << lines << std::hex << "\n a = " << operands[i].a
        << " b = " << operands[i].b << " c = " << operands[i].c << "\n found "
        << found[i] << " expected " << want;
  }
}

std::vector<Operands>
tilewright::sim::test::combine(const std::vector<uint64_t> &values,
                               unsigned random) {
  std::vector<Operands> result;
  size_t third = 0;
  for (uint64_t a : values) {
    for (uint64_t b : values) {
      result.push_back({a, b, values[third++ * 7 % values.size()]});
    }
  }
  std::mt19937_64 generator(12345);
  for (unsigned i = 0; i < random; ++i) {
    result.push_back({generator(), generator(), generator()});
  }
  return result;
}

std::vector<uint64_t> tilewright::sim::test::integerEdges() {
  return {0,
          1,
          2,
          7,
          15,
          16,
          31,
          32,
          33,
          63,
          64,
          65,
          255,
          256,
          0x7FFF,
          0x8000,
          0xFFFF,
          0x7FFFFFFF,
          0x80000000,
          0xFFFFFFFF,
          0x12345678,
          0xFFFFFFFE,
          ~uint64_t(0),
          uint64_t(1) << 63,
          ~uint64_t(0) >> 1,
          0xFFFFFFFF80000000u,
          0x00000001FFFFFFFFu};
}

std::vector<uint64_t> tilewright::sim::test::floatEdges() {
  return {0x00000000, 0x80000000, 0x3F800000, 0xBF800000, 0x7F800000,
          0xFF800000, 0x7FC00001, 0xFFC12345, 0x7F812345, 0x00000001,
          0x80000001, 0x007FFFFF, 0x00800000, 0x7F7FFFFF, 0xFF7FFFFF,
          0x3FFFFFFF, 0x34000000, 0x4B000001, 0x4F000000, 0xCF000000,
          0x5F000000, 0x3F000000, 0x3FC00000, 0x40200000, 0x4EFFFFFF};
}

std::vector<uint64_t> tilewright::sim::test::doubleEdges() {
  return {0,
          uint64_t(1) << 63,
          bits<uint64_t>(1.0),
          bits<uint64_t>(-1.0),
          bits<uint64_t>(1.5),
          bits<uint64_t>(2.5),
          bits<uint64_t>(INFINITY + 0.0),
          bits<uint64_t>(-INFINITY + 0.0),
          0x7FF8000000000000u,
          1,
          0x000FFFFFFFFFFFFFu,
          0x7FEFFFFFFFFFFFFFu,
          bits<uint64_t>(1e-320),
          bits<uint64_t>(1e300),
          bits<uint64_t>(4294967296.5),
          bits<uint64_t>(-9223372036854775808.0),
          bits<uint64_t>(18446744073709551616.0),
          bits<uint64_t>(3.4028235677973366e38),
          bits<uint64_t>(1.0 + 0x1p-24),
          bits<uint64_t>(65519.99),
          bits<uint64_t>(65520.0)};
}

std::vector<uint64_t> tilewright::sim::test::halfEdges() {
  return {0x0000, 0x8000, 0x3C00, 0xBC00, 0x7C00, 0xFC00, 0x7E01, 0xFD23,
          0x0001, 0x8001, 0x03FF, 0x0400, 0x7BFF, 0xFBFF, 0x3FFF, 0x1400,
          0x6401, 0x3800, 0x3E00, 0x4100, 0x0002, 0x0C00, 0x5BFF};
}

std::vector<uint64_t> tilewright::sim::test::bfloatEdges() {
  return {0x0000, 0x8000, 0x3F80, 0xBF80, 0x7F80, 0xFF80, 0x7FC1,
          0xFFA3, 0x0001, 0x8001, 0x007F, 0x0080, 0x7F7F, 0xFF7F,
          0x3FFF, 0x3400, 0x4B01, 0x3F00, 0x3FC0, 0x4020};
}
