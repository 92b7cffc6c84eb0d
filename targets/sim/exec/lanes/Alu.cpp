//===- Alu.cpp - integers and bits, lane by lane ------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "targets/sim/exec/lanes/Lanes.h"
#include "targets/sim/exec/lanes/Level.h"

using namespace tilewright::sim;
using namespace tilewright::sim::TW_SIM_LEVEL;
using ptx::Type;

namespace {

/// Unsigned and wide enough that C++ does not promote it to a signed type.
template <typename T>
using Word =
    std::conditional_t<(sizeof(T) < 4), uint32_t, std::make_unsigned_t<T>>;
/// Twice as wide.
template <typename T> struct Twice;
template <> struct Twice<uint16_t> {
  using type = uint32_t;
};
template <> struct Twice<int16_t> {
  using type = int32_t;
};
template <> struct Twice<uint32_t> {
  using type = uint64_t;
};
template <> struct Twice<int32_t> {
  using type = int64_t;
};
__extension__ typedef unsigned __int128 UnsignedWide;
__extension__ typedef __int128 SignedWide;
template <> struct Twice<uint64_t> {
  using type = UnsignedWide;
};
template <> struct Twice<int64_t> {
  using type = SignedWide;
};
template <typename T> using TwiceOf = typename Twice<T>::type;

struct MovOp {
  template <typename T> static T apply(T a) { return a; }
};
struct AddOp {
  template <typename T> static T apply(T a, T b) {
    return T(Word<T>(a) + Word<T>(b));
  }
};
struct SubOp {
  template <typename T> static T apply(T a, T b) {
    return T(Word<T>(a) - Word<T>(b));
  }
};
struct MulLoOp {
  template <typename T> static T apply(T a, T b) {
    return T(Word<T>(a) * Word<T>(b));
  }
};
struct MulHiOp {
  template <typename T> static T apply(T a, T b) {
    return T((TwiceOf<T>(a) * TwiceOf<T>(b)) >> (8 * sizeof(T)));
  }
};
struct MulWideOp {
  template <typename T> static TwiceOf<T> apply(T a, T b) {
    return TwiceOf<T>(a) * TwiceOf<T>(b);
  }
};
struct MadLoOp {
  template <typename T> static T apply(T a, T b, T c) {
    return T(Word<T>(a) * Word<T>(b) + Word<T>(c));
  }
};
struct MadHiOp {
  template <typename T> static T apply(T a, T b, T c) {
    return AddOp::apply<T>(MulHiOp::apply<T>(a, b), c);
  }
};
struct MadWideOp {
  template <typename T> static TwiceOf<T> apply(T a, T b, TwiceOf<T> c) {
    return AddOp::apply<TwiceOf<T>>(MulWideOp::apply<T>(a, b), c);
  }
};
/// GPUs give all ones for a division by zero, and wrap INT_MIN / -1.
struct DivOp {
  template <typename T> static T apply(T a, T b) {
    bool overflows = std::is_signed<T>::value && b == T(-1);
    T quotient = T(a / (b == 0 || overflows ? T(1) : b));
    return b == 0 ? T(-1) : overflows ? T(Word<T>(0) - Word<T>(a)) : quotient;
  }
};
struct RemOp {
  template <typename T> static T apply(T a, T b) {
    bool overflows = std::is_signed<T>::value && b == T(-1);
    T rest = T(a % (b == 0 || overflows ? T(1) : b));
    return b == 0 ? a : overflows ? T(0) : rest;
  }
};
struct MinOp {
  template <typename T> static T apply(T a, T b) { return b < a ? b : a; }
};
struct MaxOp {
  template <typename T> static T apply(T a, T b) { return a < b ? b : a; }
};
struct NegOp {
  template <typename T> static T apply(T a) {
    return T(Word<T>(0) - Word<T>(a));
  }
};
struct AbsOp {
  template <typename T> static T apply(T a) {
    return a < 0 ? T(Word<T>(0) - Word<T>(a)) : a;
  }
};
struct SadOp {
  template <typename T> static T apply(T a, T b, T c) {
    Word<T> difference =
        a < b ? Word<T>(b) - Word<T>(a) : Word<T>(a) - Word<T>(b);
    return T(Word<T>(c) + difference);
  }
};
static int32_t clampToInt(int64_t x) {
  return int32_t(x < INT32_MIN ? INT32_MIN : x > INT32_MAX ? INT32_MAX : x);
}
struct AddSatOp {
  static int32_t apply(int32_t a, int32_t b) {
    return clampToInt(int64_t(a) + b);
  }
};
struct SubSatOp {
  static int32_t apply(int32_t a, int32_t b) {
    return clampToInt(int64_t(a) - b);
  }
};
struct Mul24Op {
  static uint32_t low(uint32_t x) { return x & 0xFFFFFF; }
  static int32_t low(int32_t x) { return int32_t(uint32_t(x) << 8) >> 8; }
  template <typename T> static T apply(T a, T b) {
    return T(Word<T>(low(a)) * Word<T>(low(b)));
  }
};
struct Mad24Op {
  template <typename T> static T apply(T a, T b, T c) {
    return AddOp::apply<T>(Mul24Op::apply<T>(a, b), c);
  }
};
struct AndOp {
  template <typename T> static T apply(T a, T b) { return T(a & b); }
};
struct OrOp {
  template <typename T> static T apply(T a, T b) { return T(a | b); }
};
struct XorOp {
  template <typename T> static T apply(T a, T b) { return T(a ^ b); }
};
struct NotOp {
  template <typename T> static T apply(T a) { return T(~a); }
};
struct CnotOp {
  template <typename T> static T apply(T a) { return T(a == 0); }
};
struct ShlOp {
  template <typename T> static T apply(T a, uint32_t b) {
    constexpr unsigned width = 8 * sizeof(T);
    return b >= width ? T(0) : T(Word<T>(a) << (b & (width - 1)));
  }
};
struct ShrOp {
  template <typename T> static T apply(T a, uint32_t b) {
    constexpr unsigned width = 8 * sizeof(T);
    T shifted = T(a >> (b >= width ? width - 1 : b));
    return std::is_unsigned<T>::value && b >= width ? T(0) : shifted;
  }
};
struct PopcOp {
  template <typename T> static uint32_t apply(T a) {
    return uint32_t(__builtin_popcountll(a));
  }
};
struct ClzOp {
  template <typename T> static uint32_t apply(T a) {
    constexpr unsigned width = 8 * sizeof(T);
    return a == 0 ? width
                  : uint32_t(__builtin_clzll(uint64_t(a))) - (64 - width);
  }
};
struct BrevOp {
  static uint32_t apply(uint32_t a) {
    a = (a >> 1 & 0x55555555) | (a & 0x55555555) << 1;
    a = (a >> 2 & 0x33333333) | (a & 0x33333333) << 2;
    a = (a >> 4 & 0x0F0F0F0F) | (a & 0x0F0F0F0F) << 4;
    return __builtin_bswap32(a);
  }
  static uint64_t apply(uint64_t a) {
    return uint64_t(apply(uint32_t(a))) << 32 | apply(uint32_t(a >> 32));
  }
};
/// Position of the highest bit that differs from the sign.
struct BfindOp {
  template <typename T> static uint32_t apply(T a) {
    using U = std::make_unsigned_t<T>;
    U bits = a < 0 ? U(~a) : U(a);
    return bits == 0 ? ~uint32_t(0) : 8 * sizeof(T) - 1 - ClzOp::apply<U>(bits);
  }
};
struct BfindShiftOp {
  template <typename T> static uint32_t apply(T a) {
    uint32_t position = BfindOp::apply<T>(a);
    return position == ~uint32_t(0) ? position
                                    : 8 * uint32_t(sizeof(T)) - 1 - position;
  }
};
/// Positions and lengths beyond the width are taken modulo 256.
struct BfeOp {
  template <typename T> static T apply(T a, uint32_t b, uint32_t c) {
    using U = std::make_unsigned_t<T>;
    constexpr uint32_t width = 8 * sizeof(T);
    uint32_t position = b & 0xFF;
    uint32_t length = c & 0xFF;
    uint32_t top =
        position + length - 1 < width - 1 ? position + length - 1 : width - 1;
    U sign = length != 0 && std::is_signed<T>::value && (U(a) >> top & 1)
                 ? ~U(0)
                 : U(0);
    U shifted = position >= width ? U(0) : U(U(a) >> position);
    uint32_t valid = position >= width ? 0 : width - position;
    uint32_t taken = length < valid ? length : valid;
    U mask = taken >= width ? ~U(0) : U((U(1) << taken) - 1);
    return T((shifted & mask) | (sign & ~mask));
  }
};
struct BmskOp {
  static uint32_t apply(uint32_t a, uint32_t b) {
    uint32_t ones = b >= 32 ? ~uint32_t(0) : (uint32_t(1) << b) - 1;
    return a >= 32 ? 0 : ones << a;
  }
};
struct BmskWrapOp {
  static uint32_t apply(uint32_t a, uint32_t b) {
    return BmskOp::apply(a & 31, b & 31);
  }
};
struct ShfLeftOp {
  static uint32_t apply(uint32_t a, uint32_t b, uint32_t c) {
    uint32_t n = c < 32 ? c : 32;
    return uint32_t(((uint64_t(b) << 32 | a) << n) >> 32);
  }
};
struct ShfLeftWrapOp {
  static uint32_t apply(uint32_t a, uint32_t b, uint32_t c) {
    return ShfLeftOp::apply(a, b, c & 31);
  }
};
struct ShfRightOp {
  static uint32_t apply(uint32_t a, uint32_t b, uint32_t c) {
    uint32_t n = c < 32 ? c : 32;
    return uint32_t((uint64_t(b) << 32 | a) >> n);
  }
};
struct ShfRightWrapOp {
  static uint32_t apply(uint32_t a, uint32_t b, uint32_t c) {
    return ShfRightOp::apply(a, b, c & 31);
  }
};
/// Position of the n-th set bit from `base`, upwards for n > 0.
struct FnsOp {
  static uint32_t apply(uint32_t mask, uint32_t base, uint32_t n) {
    int32_t count = int32_t(n);
    if (count == 0) {
      return base < 32 && (mask >> base & 1) ? base : ~uint32_t(0);
    }
    int32_t left = count > 0 ? count : -count;
    for (int64_t at = base; at >= 0 && at < 32; at += count > 0 ? 1 : -1) {
      if ((mask >> at & 1) && --left == 0) {
        return uint32_t(at);
      }
    }
    return ~uint32_t(0);
  }
};

void lop3(Warp &warp, const Inst &inst) {
  const uint32_t *a = warp.at<uint32_t>(inst.a);
  const uint32_t *b = warp.at<uint32_t>(inst.b);
  const uint32_t *c = warp.at<uint32_t>(inst.c);
  uint32_t term[8];
  for (unsigned i = 0; i < 8; ++i) {
    term[i] = (inst.mode >> i & 1) ? ~uint32_t(0) : 0;
  }
  forLanes<uint32_t>(warp, inst.d, [=](unsigned i) {
    uint32_t x = a[i];
    uint32_t y = b[i];
    uint32_t z = c[i];
    return (term[0] & ~x & ~y & ~z) | (term[1] & ~x & ~y & z) |
           (term[2] & ~x & y & ~z) | (term[3] & ~x & y & z) |
           (term[4] & x & ~y & ~z) | (term[5] & x & ~y & z) |
           (term[6] & x & y & ~z) | (term[7] & x & y & z);
  });
}

/// The selector that a form of prmt stands for.
uint32_t selectorOf(PrmtForm form, uint32_t c) {
  uint32_t n = c & 3;
  uint32_t selector = 0;
  for (uint32_t i = 0; i < 4; ++i) {
    uint32_t byte = 0;
    switch (form) {
    case PrmtForm::F4e:
      byte = n + i;
      break;
    case PrmtForm::B4e:
      byte = (n + 8 - i) & 7;
      break;
    case PrmtForm::Rc8:
      byte = n;
      break;
    case PrmtForm::Ecl:
      byte = i > n ? i : n;
      break;
    case PrmtForm::Ecr:
      byte = i < n ? i : n;
      break;
    case PrmtForm::Rc16:
      byte = (n & 1) * 2 + (i & 1);
      break;
    case PrmtForm::Index:
      return c;
    }
    selector |= byte << (4 * i);
  }
  return selector;
}

void prmt(Warp &warp, const Inst &inst) {
  const uint32_t *a = warp.at<uint32_t>(inst.a);
  const uint32_t *b = warp.at<uint32_t>(inst.b);
  const uint32_t *c = warp.at<uint32_t>(inst.c);
  PrmtForm form = PrmtForm(inst.mode);
  forLanes<uint32_t>(warp, inst.d, [=](unsigned i) {
    uint64_t bytes = uint64_t(b[i]) << 32 | a[i];
    uint32_t selector = form == PrmtForm::Index ? c[i] : selectorOf(form, c[i]);
    uint32_t result = 0;
    for (unsigned k = 0; k < 4; ++k) {
      uint32_t choice = selector >> (4 * k);
      uint32_t byte = uint32_t(bytes >> (8 * (choice & 7))) & 0xFF;
      uint32_t sign = (byte & 0x80) ? 0xFF : 0;
      result |= ((choice & 8) ? sign : byte) << (8 * k);
    }
    return result;
  });
}

void dp4a(Warp &warp, const Inst &inst) {
  const uint32_t *a = warp.at<uint32_t>(inst.a);
  const uint32_t *b = warp.at<uint32_t>(inst.b);
  const uint32_t *c = warp.at<uint32_t>(inst.c);
  // An unsigned byte x is (signed x with its top bit flipped) + 128.
  uint32_t signA = (inst.mode & 1) ? 0x80 : 0;
  uint32_t signB = (inst.mode & 2) ? 0x80 : 0;
  forLanes<uint32_t>(warp, inst.d, [=](unsigned i) {
    uint32_t sum = c[i];
    for (unsigned k = 0; k < 4; ++k) {
      uint32_t x = ((a[i] >> (8 * k) & 0xFF) ^ signA) - signA;
      uint32_t y = ((b[i] >> (8 * k) & 0xFF) ^ signB) - signB;
      sum += x * y;
    }
    return sum;
  });
}

template <unsigned First> void dp2a(Warp &warp, const Inst &inst) {
  const uint32_t *a = warp.at<uint32_t>(inst.a);
  const uint32_t *b = warp.at<uint32_t>(inst.b);
  const uint32_t *c = warp.at<uint32_t>(inst.c);
  uint32_t signA = (inst.mode & 1) ? 0x8000 : 0;
  uint32_t signB = (inst.mode & 2) ? 0x80 : 0;
  forLanes<uint32_t>(warp, inst.d, [=](unsigned i) {
    uint32_t sum = c[i];
    for (unsigned k = 0; k < 2; ++k) {
      uint32_t x = ((a[i] >> (16 * k) & 0xFFFF) ^ signA) - signA;
      uint32_t y = ((b[i] >> (8 * (k + First)) & 0xFF) ^ signB) - signB;
      sum += x * y;
    }
    return sum;
  });
}

/// Inserts a's low bits into b: c = position, wide[0] = length.
template <typename T> void bfi(Warp &warp, const Inst &inst) {
  const T *a = warp.at<T>(inst.a);
  const T *b = warp.at<T>(inst.b);
  const uint32_t *c = warp.at<uint32_t>(inst.c);
  const uint32_t *lengths =
      warp.at<uint32_t>(warp.launch->code->wide[inst.wide]);
  constexpr uint32_t width = 8 * sizeof(T);
  forLanes<T>(warp, inst.d, [=](unsigned i) {
    uint32_t position = c[i] & 0xFF;
    uint32_t length = lengths[i] & 0xFF;
    T ones = length >= width ? T(~T(0)) : T((T(1) << length) - 1);
    T mask = position >= width ? T(0) : T(ones << position);
    T value = position >= width ? T(0) : T(a[i] << position);
    return T((value & mask) | (b[i] & ~mask));
  });
}

template <typename T> void selp(Warp &warp, const Inst &inst) {
  const T *a = warp.at<T>(inst.a);
  const T *b = warp.at<T>(inst.b);
  uint32_t p = warp.predicate(inst.c);
  forLanes<T>(warp, inst.d,
              [=](unsigned i) { return (p >> i & 1) ? a[i] : b[i]; });
}

enum class CarryOp { Add, Sub, MadLo, MadHi };

/// Sums with carry in (mode bit 0) and carry out (mode bit 1).
template <typename T, CarryOp Op> void carry(Warp &warp, const Inst &inst) {
  using Wide = TwiceOf<T>;
  const T *a = warp.at<T>(inst.a);
  const T *b = warp.at<T>(inst.b);
  const T *c = Op >= CarryOp::MadLo ? warp.at<T>(inst.c) : nullptr;
  uint32_t in = (inst.mode & 1) ? warp.carry : 0;
  uint32_t out = 0;
  T result[lanesPerWarp];
  for (unsigned i = 0; i < lanesPerWarp; ++i) {
    T x = a[i];
    T y = b[i];
    if (Op >= CarryOp::MadLo) {
      x = Op == CarryOp::MadLo ? MulLoOp::apply<T>(x, y)
                               : MulHiOp::apply<T>(x, y);
      y = c[i];
    }
    Wide sum = Op == CarryOp::Sub ? Wide(x) - Wide(y) - (in >> i & 1)
                                  : Wide(x) + Wide(y) + (in >> i & 1);
    result[i] = T(sum);
    out |= uint32_t(sum >> (8 * sizeof(T)) & 1) << i;
  }
  merge<sizeof(T)>(warp.at<T>(inst.d), result, warp.exec);
  if (inst.mode & 2) {
    warp.carry = (warp.carry & ~warp.exec) | (out & warp.exec);
  }
}

/// For signed mad.hi, whose product differs by the sign.
template <typename T> void madHiCarrySigned(Warp &warp, const Inst &inst) {
  using U = std::make_unsigned_t<T>;
  const T *a = warp.at<T>(inst.a);
  const T *b = warp.at<T>(inst.b);
  const U *c = warp.at<U>(inst.c);
  uint32_t in = (inst.mode & 1) ? warp.carry : 0;
  uint32_t out = 0;
  U result[lanesPerWarp];
  for (unsigned i = 0; i < lanesPerWarp; ++i) {
    auto sum =
        TwiceOf<U>(U(MulHiOp::apply<T>(a[i], b[i]))) + c[i] + (in >> i & 1);
    result[i] = U(sum);
    out |= uint32_t(sum >> (8 * sizeof(T)) & 1) << i;
  }
  merge<sizeof(T)>(warp.at<T>(inst.d), result, warp.exec);
  if (inst.mode & 2) {
    warp.carry = (warp.carry & ~warp.exec) | (out & warp.exec);
  }
}

template <typename T> Handler carryHandler(Alu op) {
  using U = std::make_unsigned_t<T>;
  switch (op) {
  case Alu::AddCarry:
    return carry<U, CarryOp::Add>;
  case Alu::SubCarry:
    return carry<U, CarryOp::Sub>;
  case Alu::MadLoCarry:
    return carry<U, CarryOp::MadLo>;
  case Alu::MadHiCarry:
    return std::is_signed<T>::value ? Handler(madHiCarrySigned<T>)
                                    : carry<U, CarryOp::MadHi>;
  default:
    return nullptr;
  }
}

/// Operations of every width from 16 bits.
template <typename T> Handler integer(Alu op) {
  switch (op) {
  case Alu::Add:
    return map2<AddOp, T, T>;
  case Alu::Sub:
    return map2<SubOp, T, T>;
  case Alu::MulLo:
    return map2<MulLoOp, T, T>;
  case Alu::MulHi:
    return map2<MulHiOp, T, T>;
  case Alu::MadLo:
    return map3<MadLoOp, T, T>;
  case Alu::MadHi:
    return map3<MadHiOp, T, T>;
  case Alu::Div:
    return map2<DivOp, T, T>;
  case Alu::Rem:
    return map2<RemOp, T, T>;
  case Alu::Min:
    return map2<MinOp, T, T>;
  case Alu::Max:
    return map2<MaxOp, T, T>;
  case Alu::Sad:
    return map3<SadOp, T, T>;
  case Alu::Shr:
    return map2<ShrOp, T, T, uint32_t>;
  case Alu::Neg:
    return map1<NegOp, T, T>;
  case Alu::Abs:
    return std::is_signed<T>::value ? Handler(map1<AbsOp, T, T>) : nullptr;
  default:
    return nullptr;
  }
}

/// Operations of 32 and 64 bits.
template <typename T> Handler word(Alu op) {
  switch (op) {
  case Alu::Bfind:
    return map1<BfindOp, uint32_t, T>;
  case Alu::BfindShift:
    return map1<BfindShiftOp, uint32_t, T>;
  case Alu::Bfe:
    return map3<BfeOp, T, T, uint32_t, uint32_t>;
  case Alu::AddCarry:
  case Alu::SubCarry:
  case Alu::MadLoCarry:
  case Alu::MadHiCarry:
    return carryHandler<T>(op);
  default:
    return integer<T>(op);
  }
}

template <typename T> Handler wideProduct(Alu op) {
  switch (op) {
  case Alu::MulWide:
    return map2<MulWideOp, TwiceOf<T>, T>;
  case Alu::MadWide:
    return map3<MadWideOp, TwiceOf<T>, T, T, TwiceOf<T>>;
  default:
    return nullptr;
  }
}

template <typename T> Handler bits(Alu op) {
  switch (op) {
  case Alu::Mov:
    return map1<MovOp, T, T>;
  case Alu::Selp:
    return selp<T>;
  case Alu::And:
    return map2<AndOp, T, T>;
  case Alu::Or:
    return map2<OrOp, T, T>;
  case Alu::Xor:
    return map2<XorOp, T, T>;
  case Alu::Not:
    return map1<NotOp, T, T>;
  case Alu::Cnot:
    return map1<CnotOp, T, T>;
  case Alu::Shl:
    return map2<ShlOp, T, T, uint32_t>;
  case Alu::Shr:
    return map2<ShrOp, T, T, uint32_t>;
  default:
    return nullptr;
  }
}

template <typename T> Handler wordBits(Alu op) {
  switch (op) {
  case Alu::Popc:
    return map1<PopcOp, uint32_t, T>;
  case Alu::Clz:
    return map1<ClzOp, uint32_t, T>;
  case Alu::Brev:
    return map1<BrevOp, T, T>;
  case Alu::Bfi:
    return bfi<T>;
  default:
    return bits<T>(op);
  }
}

Handler bits32(Alu op) {
  switch (op) {
  case Alu::Lop3:
    return lop3;
  case Alu::Prmt:
    return prmt;
  case Alu::Dp4a:
    return dp4a;
  case Alu::Dp2aLo:
    return dp2a<0>;
  case Alu::Dp2aHi:
    return dp2a<2>;
  case Alu::ShfLeft:
    return map3<ShfLeftOp, uint32_t, uint32_t>;
  case Alu::ShfLeftWrap:
    return map3<ShfLeftWrapOp, uint32_t, uint32_t>;
  case Alu::ShfRight:
    return map3<ShfRightOp, uint32_t, uint32_t>;
  case Alu::ShfRightWrap:
    return map3<ShfRightWrapOp, uint32_t, uint32_t>;
  case Alu::Bmsk:
    return map2<BmskOp, uint32_t, uint32_t>;
  case Alu::BmskWrap:
    return map2<BmskWrapOp, uint32_t, uint32_t>;
  case Alu::Fns:
    return map3<FnsOp, uint32_t, uint32_t>;
  default:
    return wordBits<uint32_t>(op);
  }
}

template <typename T> Handler with24Bits(Alu op) {
  switch (op) {
  case Alu::Mul24Lo:
    return map2<Mul24Op, T, T>;
  case Alu::Mad24Lo:
    return map3<Mad24Op, T, T>;
  default:
    return wideProduct<T>(op);
  }
}

Handler signed32(Alu op) {
  switch (op) {
  case Alu::AddSat:
    return map2<AddSatOp, int32_t, int32_t>;
  case Alu::SubSat:
    return map2<SubSatOp, int32_t, int32_t>;
  default:
    return nullptr;
  }
}

Handler firstOf(Handler a, Handler b, Handler c = nullptr,
                Handler d = nullptr) {
  return a ? a : b ? b : c ? c : d;
}

} // namespace

Handler tilewright::sim::TW_SIM_LEVEL::aluHandler(Alu op, Type type) {
  bool moves = op == Alu::Mov || op == Alu::Selp;
  switch (type) {
  case Type::U16:
    return firstOf(integer<uint16_t>(op), wideProduct<uint16_t>(op),
                   moves ? bits<uint16_t>(op) : nullptr);
  case Type::S16:
    return firstOf(integer<int16_t>(op), wideProduct<int16_t>(op),
                   moves ? bits<uint16_t>(op) : nullptr);
  case Type::U32:
    return firstOf(word<uint32_t>(op), with24Bits<uint32_t>(op),
                   moves ? bits<uint32_t>(op) : nullptr);
  case Type::S32:
    return firstOf(word<int32_t>(op), with24Bits<int32_t>(op), signed32(op),
                   moves ? bits<uint32_t>(op) : nullptr);
  case Type::U64:
    return firstOf(word<uint64_t>(op), moves ? bits<uint64_t>(op) : nullptr);
  case Type::S64:
    return firstOf(word<int64_t>(op), moves ? bits<uint64_t>(op) : nullptr);
  case Type::B16:
    return bits<uint16_t>(op);
  case Type::B32:
    return firstOf(bits32(op),
                   op == Alu::AddCarry ? word<uint32_t>(op) : nullptr);
  case Type::B64:
    return wordBits<uint64_t>(op);
  case Type::F32:
    return moves ? bits<uint32_t>(op) : floatHandler(op, type);
  case Type::F64:
    return moves ? bits<uint64_t>(op) : floatHandler(op, type);
  case Type::F16:
  case Type::Bf16:
    return moves ? bits<uint16_t>(op) : floatHandler(op, type);
  case Type::F16x2:
  case Type::Bf16x2:
    return moves ? bits<uint32_t>(op) : floatHandler(op, type);
  default:
    return nullptr;
  }
}
