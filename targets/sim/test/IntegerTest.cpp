//===- IntegerTest.cpp - integers and bits ------------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "targets/sim/test/Operation.h"

using namespace tilewright::sim::test;

using u16 = uint16_t;
using s16 = int16_t;
using u32 = uint32_t;
using s32 = int32_t;
using u64 = uint64_t;
using s64 = int64_t;
__extension__ typedef unsigned __int128 u128;
__extension__ typedef __int128 s128;

static void word(const std::string &lines, const Reference &expected) {
  check(lines, Kind::Word, combine(integerEdges()), [&](const Operands &o) {
    return expected({u32(o.a), u32(o.b), u32(o.c)}) & 0xFFFFFFFF;
  });
}
static void wide(const std::string &lines, const Reference &expected) {
  check(lines, Kind::Long, combine(integerEdges()), expected);
}
static void narrow(const std::string &lines, const Reference &expected) {
  check(lines, Kind::Short, combine(integerEdges()), [&](const Operands &o) {
    return expected({u16(o.a), u16(o.b), u16(o.c)}) & 0xFFFF;
  });
}
using O = const Operands &;

TEST(Integer, SumsAndProductsOf32Bits) {
  word("add.s32 %d, %a, %b", [](O o) { return o.a + o.b; });
  word("sub.u32 %d, %a, %b", [](O o) { return o.a - o.b; });
  word("add.u32 %d, %a, -7", [](O o) { return o.a - 7; });
  word("mul.lo.s32 %d, %a, %b", [](O o) { return o.a * o.b; });
  word("mul.hi.u32 %d, %a, %b", [](O o) { return o.a * o.b >> 32; });
  word("mul.hi.s32 %d, %a, %b",
       [](O o) { return u64(s64(s32(o.a)) * s32(o.b)) >> 32; });
  wide("mul.wide.u32 %D, %a, %b", [](O o) { return u64(u32(o.a)) * u32(o.b); });
  wide("mul.wide.s32 %D, %a, %b",
       [](O o) { return u64(s64(s32(o.a)) * s32(o.b)); });
  word("mad.lo.s32 %d, %a, %b, %c", [](O o) { return o.a * o.b + o.c; });
  word("mad.hi.u32 %d, %a, %b, %c",
       [](O o) { return (o.a * o.b >> 32) + o.c; });
  wide("mad.wide.s32 %D, %a, %b, %C",
       [](O o) { return u64(s64(s32(o.a)) * s32(o.b)) + o.c; });
  wide("mad.wide.u32 %D, %a, %b, %C",
       [](O o) { return u64(u32(o.a)) * u32(o.b) + o.c; });
  word("mul24.lo.u32 %d, %a, %b",
       [](O o) { return (o.a & 0xFFFFFF) * (o.b & 0xFFFFFF); });
  word("sad.s32 %d, %a, %b, %c", [](O o) {
    s64 difference = s64(s32(o.a)) - s32(o.b);
    return u64(difference < 0 ? -difference : difference) + o.c;
  });
  word("add.sat.s32 %d, %a, %b", [](O o) {
    s64 sum = s64(s32(o.a)) + s32(o.b);
    return u64(sum < INT32_MIN ? INT32_MIN : sum > INT32_MAX ? INT32_MAX : sum);
  });
  word("sub.sat.s32 %d, %a, %b", [](O o) {
    s64 sum = s64(s32(o.a)) - s32(o.b);
    return u64(sum < INT32_MIN ? INT32_MIN : sum > INT32_MAX ? INT32_MAX : sum);
  });
}

TEST(Integer, DivisionByZeroAndOverflow) {
  word("div.u32 %d, %a, %b", [](O o) { return o.b ? o.a / o.b : ~u64(0); });
  word("rem.u32 %d, %a, %b", [](O o) { return o.b ? o.a % o.b : o.a; });
  word("div.s32 %d, %a, %b",
       [](O o) { return o.b ? u64(s64(s32(o.a)) / s32(o.b)) : ~u64(0); });
  word("rem.s32 %d, %a, %b",
       [](O o) { return o.b ? u64(s64(s32(o.a)) % s32(o.b)) : o.a; });
  wide("div.u64 %D, %A, %B", [](O o) { return o.b ? o.a / o.b : ~u64(0); });
  wide("div.s64 %D, %A, %B",
       [](O o) { return o.b ? u64(s128(s64(o.a)) / s64(o.b)) : ~u64(0); });
  wide("rem.s64 %D, %A, %B",
       [](O o) { return o.b ? u64(s128(s64(o.a)) % s64(o.b)) : o.a; });
  narrow("div.s16 %dh, %ah, %bh",
         [](O o) { return o.b ? u64(s32(s16(o.a)) / s16(o.b)) : ~u64(0); });
}

TEST(Integer, OtherWidths) {
  wide("add.s64 %D, %A, %B", [](O o) { return o.a + o.b; });
  wide("sub.s64 %D, %A, %B", [](O o) { return o.a - o.b; });
  wide("mul.lo.u64 %D, %A, %B", [](O o) { return o.a * o.b; });
  wide("mul.hi.u64 %D, %A, %B", [](O o) { return u64(u128(o.a) * o.b >> 64); });
  wide("mul.hi.s64 %D, %A, %B",
       [](O o) { return u64(s128(s64(o.a)) * s64(o.b) >> 64); });
  wide("mad.lo.s64 %D, %A, %B, %C", [](O o) { return o.a * o.b + o.c; });
  wide("min.s64 %D, %A, %B",
       [](O o) { return u64(std::min(s64(o.a), s64(o.b))); });
  wide("neg.s64 %D, %A", [](O o) { return 0 - o.a; });
  wide("abs.s64 %D, %A", [](O o) { return s64(o.a) < 0 ? 0 - o.a : o.a; });
  narrow("add.s16 %dh, %ah, %bh", [](O o) { return o.a + o.b; });
  narrow("mul.lo.u16 %dh, %ah, %bh", [](O o) { return o.a * o.b; });
  narrow("mul.hi.s16 %dh, %ah, %bh",
         [](O o) { return u64(s32(s16(o.a)) * s16(o.b)) >> 16; });
  check("mul.wide.s16 %d, %ah, %bh", Kind::Word, combine(integerEdges()),
        [](O o) { return u32(s32(s16(o.a)) * s16(o.b)); });
  narrow("max.s16 %dh, %ah, %bh",
         [](O o) { return u64(std::max(s16(o.a), s16(o.b))); });
  check("shr.s16 %dh, %ah, %b", Kind::Short, combine(integerEdges()),
        [](O o) { return u16(s16(o.a) >> std::min<u32>(u32(o.b), 15)); });
}

TEST(Integer, MinimaAndSigns) {
  word("min.u32 %d, %a, %b", [](O o) { return std::min(o.a, o.b); });
  word("max.s32 %d, %a, %b",
       [](O o) { return u64(std::max(s32(o.a), s32(o.b))); });
  word("neg.s32 %d, %a", [](O o) { return 0 - o.a; });
  word("abs.s32 %d, %a", [](O o) { return s32(o.a) < 0 ? 0 - o.a : o.a; });
}

TEST(Integer, LogicAndShifts) {
  word("and.b32 %d, %a, %b", [](O o) { return o.a & o.b; });
  word("or.b32 %d, %a, %b", [](O o) { return o.a | o.b; });
  word("xor.b32 %d, %a, %b", [](O o) { return o.a ^ o.b; });
  word("not.b32 %d, %a", [](O o) { return ~o.a; });
  word("cnot.b32 %d, %a", [](O o) { return o.a == 0; });
  wide("xor.b64 %D, %A, %B", [](O o) { return o.a ^ o.b; });
  word("shl.b32 %d, %a, %b", [](O o) { return o.b > 31 ? 0 : o.a << o.b; });
  word("shr.u32 %d, %a, %b", [](O o) { return o.b > 31 ? 0 : o.a >> o.b; });
  word("shr.s32 %d, %a, %b",
       [](O o) { return u64(s32(o.a) >> std::min<u64>(o.b, 31)); });
  wide("shl.b64 %D, %A, %b",
       [](O o) { return u32(o.b) > 63 ? 0 : o.a << u32(o.b); });
  wide("shr.s64 %D, %A, %b",
       [](O o) { return u64(s64(o.a) >> std::min<u32>(u32(o.b), 63)); });
  word("shf.l.wrap.b32 %d, %a, %b, %c", [](O o) {
    u64 n = o.c & 31;
    return (o.b << 32 | o.a) << n >> 32;
  });
  word("shf.r.clamp.b32 %d, %a, %b, %c", [](O o) {
    u64 n = std::min<u64>(o.c, 32);
    return (o.b << 32 | o.a) >> n;
  });
  word("shf.l.clamp.b32 %d, %a, %b, %c", [](O o) {
    u64 n = std::min<u64>(o.c, 32);
    return n == 32 ? o.a : (o.b << 32 | o.a) << n >> 32;
  });
  word("shf.r.wrap.b32 %d, %a, %b, %c",
       [](O o) { return (o.b << 32 | o.a) >> (o.c & 31); });
  for (unsigned table : {0x00u, 0x80u, 0xE8u, 0x96u, 0x1Bu, 0xFFu}) {
    word("lop3.b32 %d, %a, %b, %c, " + std::to_string(table), [=](O o) {
      u64 result = 0;
      for (unsigned i = 0; i < 32; ++i) {
        unsigned index = unsigned(o.a >> i & 1) << 2 |
                         unsigned(o.b >> i & 1) << 1 | unsigned(o.c >> i & 1);
        result |= u64(table >> index & 1) << i;
      }
      return result;
    });
  }
}

TEST(Integer, CountsAndFields) {
  word("popc.b32 %d, %a", [](O o) { return __builtin_popcountll(o.a); });
  check("popc.b64 %d, %A", Kind::Word, combine(integerEdges()),
        [](O o) { return __builtin_popcountll(o.a); });
  word("clz.b32 %d, %a",
       [](O o) { return o.a ? __builtin_clz(u32(o.a)) : 32; });
  check("clz.b64 %d, %A", Kind::Word, combine(integerEdges()),
        [](O o) { return o.a ? __builtin_clzll(o.a) : 64; });
  word("brev.b32 %d, %a", [](O o) {
    u64 r = 0;
    for (unsigned i = 0; i < 32; ++i) {
      r |= (o.a >> i & 1) << (31 - i);
    }
    return r;
  });
  wide("brev.b64 %D, %A", [](O o) {
    u64 r = 0;
    for (unsigned i = 0; i < 64; ++i) {
      r |= (o.a >> i & 1) << (63 - i);
    }
    return r;
  });
  word("bfind.u32 %d, %a",
       [](O o) { return o.a ? 31 - __builtin_clz(u32(o.a)) : ~u64(0); });
  word("bfind.shiftamt.s32 %d, %a", [](O o) {
    u32 x = s32(o.a) < 0 ? ~u32(o.a) : u32(o.a);
    return x ? u64(__builtin_clz(x)) : ~u64(0);
  });
  auto field = [](u64 a, u64 b, u64 c, unsigned width, bool isSigned) {
    unsigned pos = b & 0xFF;
    unsigned len = c & 0xFF;
    unsigned top = std::min(pos + len - 1, width - 1);
    bool sign = isSigned && len != 0 && (a >> top & 1);
    u64 d = 0;
    for (unsigned i = 0; i < width; ++i) {
      bool bit = i < len && pos + i < width ? (a >> (pos + i) & 1) : sign;
      d |= u64(bit) << i;
    }
    return d;
  };
  word("bfe.u32 %d, %a, %b, %c",
       [&](O o) { return field(o.a, o.b, o.c, 32, false); });
  word("bfe.s32 %d, %a, %b, %c",
       [&](O o) { return field(o.a, o.b, o.c, 32, true); });
  wide("bfe.s64 %D, %A, %b, %c",
       [&](O o) { return field(o.a, o.b, o.c, 64, true); });
  auto insert = [](u64 a, u64 b, unsigned pos, unsigned len, unsigned width) {
    u64 d = b;
    for (unsigned i = 0; i < len && pos + i < width; ++i) {
      u64 bit = u64(1) << (pos + i);
      d = (a >> i & 1) ? d | bit : d & ~bit;
    }
    return d;
  };
  for (unsigned len : {0u, 1u, 5u, 31u, 32u, 40u, 64u}) {
    std::string text = std::to_string(len);
    word("bfi.b32 %d, %a, %b, %c, " + text,
         [&](O o) { return insert(o.a, o.b, o.c & 0xFF, len, 32); });
    wide("bfi.b64 %D, %A, %B, %c, " + text,
         [&](O o) { return insert(o.a, o.b, o.c & 0xFF, len, 64); });
  }
  word("bmsk.clamp.b32 %d, %a, %b", [](O o) {
    u64 ones = o.b >= 32 ? 0xFFFFFFFF : (u64(1) << o.b) - 1;
    return o.a >= 32 ? 0 : ones << o.a;
  });
  word("fns.b32 %d, %a, 3, 2", [](O o) {
    unsigned found = 0;
    for (unsigned i = 3; i < 32; ++i) {
      if ((o.a >> i & 1) && ++found == 2) {
        return u64(i);
      }
    }
    return ~u64(0);
  });
}

TEST(Integer, BytesAndDotProducts) {
  word("prmt.b32 %d, %a, %b, %c", [](O o) {
    u64 both = o.b << 32 | o.a;
    u64 r = 0;
    for (unsigned i = 0; i < 4; ++i) {
      u64 s = o.c >> (4 * i) & 15;
      u64 byte = both >> (8 * (s & 7)) & 0xFF;
      r |= (s & 8 ? (byte & 0x80 ? 0xFF : 0) : byte) << (8 * i);
    }
    return r;
  });
  word("prmt.b32.f4e %d, %a, %b, %c",
       [](O o) { return (o.b << 32 | o.a) >> (8 * (o.c & 3)) & 0xFFFFFFFF; });
  word("prmt.b32.rc8 %d, %a, %b, %c",
       [](O o) { return (o.a >> (8 * (o.c & 3)) & 0xFF) * 0x01010101; });
  auto dot = [](O o, bool sa, bool sb) {
    u64 sum = o.c;
    for (unsigned i = 0; i < 4; ++i) {
      s64 x = sa ? s64(int8_t(o.a >> (8 * i))) : s64(uint8_t(o.a >> (8 * i)));
      s64 y = sb ? s64(int8_t(o.b >> (8 * i))) : s64(uint8_t(o.b >> (8 * i)));
      sum += u64(x * y);
    }
    return sum;
  };
  word("dp4a.u32.u32 %d, %a, %b, %c",
       [&](O o) { return dot(o, false, false); });
  word("dp4a.s32.s32 %d, %a, %b, %c", [&](O o) { return dot(o, true, true); });
  word("dp4a.s32.u32 %d, %a, %b, %c", [&](O o) { return dot(o, true, false); });
  word("dp2a.hi.s32.u32 %d, %a, %b, %c", [](O o) {
    return o.c + u64(s64(s16(o.a)) * s64(uint8_t(o.b >> 16)) +
                     s64(s16(o.a >> 16)) * s64(uint8_t(o.b >> 24)));
  });
}

TEST(Integer, Carries) {
  wide("add.cc.u32 %r0, %a, %b; addc.u32 %r1, 0, 0; mov.b64 %D, {%r0, %r1}",
       [](O o) { return u64(u32(o.a)) + u32(o.b); });
  wide("sub.cc.u32 %r0, %a, %b; subc.u32 %r1, 0, 0; mov.b64 %D, {%r0, %r1}",
       [](O o) { return u64(u32(o.a)) - u32(o.b); });
  wide("add.cc.u64 %R0, %A, %B; addc.u64 %D, 0, 0",
       [](O o) { return u64((u128(o.a) + o.b) >> 64); });
  wide("mad.lo.cc.u32 %r0, %a, %b, %c; madc.hi.u32 %r1, %a, %b, 0; "
       "mov.b64 %D, {%r0, %r1}",
       [](O o) { return u64(u32(o.a)) * u32(o.b) + u32(o.c); });
}

TEST(Integer, MovesAndSelections) {
  wide("mov.b64 %D, {%a, %b}", [](O o) { return o.b << 32 | u32(o.a); });
  check("mov.b64 {%d, _}, %A", Kind::Word, combine(integerEdges()),
        [](O o) { return u32(o.a); });
  check("mov.b64 {%r0, %d}, %A", Kind::Word, combine(integerEdges()),
        [](O o) { return o.a >> 32; });
  word("mov.b32 %d, {%ah, %bh}",
       [](O o) { return u16(o.a) | u64(u16(o.b)) << 16; });
  check("mov.b32 {%h0, %dh}, %a", Kind::Short, combine(integerEdges()),
        [](O o) { return u16(o.a >> 16); });
  word("selp.b32 %d, %a, %b, %p", [](O o) { return o.a & 1 ? o.a : o.b; });
  word("selp.b32 %d, %a, %b, !%p", [](O o) { return o.a & 1 ? o.b : o.a; });
  word("slct.u32.s32 %d, %a, %b, %c",
       [](O o) { return s32(o.c) >= 0 ? o.a : o.b; });
}

TEST(Integer, Comparisons) {
  auto test = [](const std::string &line, const Reference &expected) {
    check(line, Kind::Predicate, combine(integerEdges()), expected);
  };
  test("setp.eq.s32 %q, %a, %b", [](O o) { return u32(o.a) == u32(o.b); });
  test("setp.ne.b64 %q, %A, %B", [](O o) { return o.a != o.b; });
  test("setp.lt.s32 %q, %a, %b", [](O o) { return s32(o.a) < s32(o.b); });
  test("setp.lo.u32 %q, %a, %b", [](O o) { return u32(o.a) < u32(o.b); });
  test("setp.hs.u32 %q, %a, %b", [](O o) { return u32(o.a) >= u32(o.b); });
  test("setp.le.s64 %q, %A, %B", [](O o) { return s64(o.a) <= s64(o.b); });
  test("setp.gt.u64 %q, %A, %B", [](O o) { return o.a > o.b; });
  test("setp.ge.s16 %q, %ah, %bh", [](O o) { return s16(o.a) >= s16(o.b); });
  test("setp.lt.and.s32 %q, %a, %b, %p",
       [](O o) { return s32(o.a) < s32(o.b) && (o.a & 1); });
  test("setp.lt.or.s32 %q, %a, %b, !%p",
       [](O o) { return s32(o.a) < s32(o.b) || !(o.a & 1); });
  test("setp.lt.xor.s32 _|%q, %a, %b, %p",
       [](O o) { return (s32(o.a) >= s32(o.b)) != bool(o.a & 1); });
  word("set.lt.u32.s32 %d, %a, %b",
       [](O o) { return s32(o.a) < s32(o.b) ? ~u64(0) : 0; });
  word("set.gt.f32.u32 %d, %a, %b",
       [](O o) { return o.a > o.b ? 0x3F800000 : 0; });
  test("not.pred %q, %p", [](O o) { return !(o.a & 1); });
}
