//===- Handlers.h - the functions that execute instructions *- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// The decoder asks for a handler by what an instruction does; null means that
// there is none for that combination. Arithmetic, conversions, plain memory
// accesses and matrix products are compiled for several host instruction
// sets, of which handlers() picks the best that this machine has.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "targets/sim/decode/Code.h"

namespace tilewright::sim {

/// Operations lane by lane: d = op(a, b, c).
enum class Alu : uint8_t {
  // Any type.
  Mov,
  Add,
  Sub,
  Min,
  Max,
  Neg,
  Abs,
  // Integers.
  MulLo,
  MulHi,
  MulWide,
  MadLo,
  MadHi,
  MadWide,
  Div,
  Rem,
  Sad,
  AddSat,
  SubSat,
  Mul24Lo,
  Mad24Lo,
  And,
  Or,
  Xor,
  Not,
  Cnot,
  Shl,
  Shr,
  Popc,
  Clz,
  Brev,
  Bfind,
  BfindShift,
  Bfe,
  Bfi,
  Bmsk,
  BmskWrap,
  Lop3,
  Prmt,
  ShfLeft,
  ShfLeftWrap,
  ShfRight,
  ShfRightWrap,
  Dp4a,
  Dp2aLo,
  Dp2aHi,
  Fns,
  AddCarry,
  SubCarry,
  MadLoCarry,
  MadHiCarry,
  // Floating point.
  Mul,
  Fma,
  DivFloat,
  MinNan,
  MaxNan,
  Sqrt,
  Rcp,
  CopySign,
  Flush,
  Saturate,
  Relu,
  // Functions with an error bound.
  Ex2,
  Lg2,
  RcpApprox,
  RsqrtApprox,
  SqrtApprox,
  Sin,
  Cos,
  Tanh,
  DivApprox,
  // c is a predicate.
  Selp,
};

/// Comparisons, in the order of the words in PTX.
enum class Compare : uint8_t {
  Eq,
  Ne,
  Lt,
  Le,
  Gt,
  Ge,
  Equ,
  Neu,
  Ltu,
  Leu,
  Gtu,
  Geu,
  Num,
  Nan,
};

enum class Rounding : uint8_t { Nearest, Zero, Down, Up };

/// Conversions; what kind of rounding, and saturation.
struct ConvertKey {
  ptx::Type to = ptx::Type::None;
  ptx::Type from = ptx::Type::None;
  Rounding rounding = Rounding::Nearest;
  /// Round to an integral value, of the same or an integer type.
  bool integral = false;
  bool saturate = false;
  bool saturateFinite = false;
  bool relu = false;
  /// rna: nearest, ties away from zero.
  bool tiesAway = false;
};

/// Inst::mode of Lop3 is its table, of Prmt 0 or a form; of Dp4a and Dp2a
/// bit 0: a is signed, bit 1: b is signed.
enum class PrmtForm : uint16_t { Index, F4e, B4e, Rc8, Ecl, Ecr, Rc16 };

/// Inst::mode of comparisons: how the result goes with predicate c.
enum class BoolOp : uint16_t { None, And, Or, Xor };

struct Handlers {
  Handler (*alu)(Alu op, ptx::Type type);
  /// d = a op b; wide[0], if there is one, is the complement's register.
  Handler (*compare)(Compare op, ptx::Type type);
  Handler (*convert)(const ConvertKey &key);
  /// \param bytes of a register, which may be wider than the type.
  Handler (*load)(ptx::Type type, unsigned bytes, unsigned vector);
  Handler (*store)(ptx::Type type, unsigned bytes, unsigned vector);
  /// Matrix products; see Mma.cpp.
  Handler (*mma)(unsigned k, ptx::Type a, ptx::Type b, ptx::Type accumulator);
};

/// \returns the handlers for the machine's instruction set.
const Handlers &handlers();

/// Arithmetic with a rounding other than to nearest.
Handler roundedHandler(Alu op, ptx::Type type);
/// Functions with an error bound. In double precision, `gross` is what .ftz
/// means there: about 20 bits.
Handler approxHandler(Alu op, ptx::Type type, bool gross);
/// Conversions that are not worth being fast; one handler reads the key from
/// Inst::mode, another packs two numbers or unpacks them.
Handler slowConvertHandler(const ConvertKey &key);
uint16_t slowConvertMode(const ConvertKey &key);

/// Predicates: d = a op b.
Handler predicateHandler(Alu op);

/// Moving between a register and its parts; wide holds the parts.
Handler packHandler(unsigned parts, unsigned partBytes);
Handler unpackHandler(unsigned parts, unsigned partBytes);

enum class AtomicOp : uint8_t {
  Add,
  Min,
  Max,
  And,
  Or,
  Xor,
  Exch,
  Cas,
  Inc,
  Dec,
};
/// atom (d is written) and red (d is noOperand).
Handler atomicHandler(AtomicOp op, ptx::Type type);

enum class ShuffleMode : uint16_t { Up, Down, Bfly, Idx };
enum class VoteMode : uint16_t { All, Any, Uni, Ballot };

namespace exec {
/// Flow of control.
void enterBlock(Warp &warp, const Inst &inst);
void guarded(Warp &warp, const Inst &inst);
void branch(Warp &warp, const Inst &inst);
void branchGuarded(Warp &warp, const Inst &inst);
void branchIndexed(Warp &warp, const Inst &inst);
void exitLanes(Warp &warp, const Inst &inst);
void trap(Warp &warp, const Inst &inst);
void nothing(Warp &warp, const Inst &inst);
/// Barriers and fences. a = barrier, b = threads or noOperand.
void barrierSync(Warp &warp, const Inst &inst);
void barrierArrive(Warp &warp, const Inst &inst);
/// c = predicate; mode: 0 popc, 1 and, 2 or.
void barrierReduce(Warp &warp, const Inst &inst);
void warpSync(Warp &warp, const Inst &inst);
void fence(Warp &warp, const Inst &inst);
/// Between lanes.
void shuffle(Warp &warp, const Inst &inst);
void vote(Warp &warp, const Inst &inst);
void activeMask(Warp &warp, const Inst &inst);
void matchAny(Warp &warp, const Inst &inst);
void matchAll(Warp &warp, const Inst &inst);
void reduxSigned(Warp &warp, const Inst &inst);
void reduxUnsigned(Warp &warp, const Inst &inst);
void electLane(Warp &warp, const Inst &inst);
/// Memory.
void isInSpace(Warp &warp, const Inst &inst);
void readClock(Warp &warp, const Inst &inst);
/// Asynchronous copies. a = shared address, b = global address, c = size.
void copyAsync(Warp &warp, const Inst &inst);
void copyCommit(Warp &warp, const Inst &inst);
void copyWait(Warp &warp, const Inst &inst);
/// Matrices: vector = how many, mode 1 = transposed.
void loadMatrix(Warp &warp, const Inst &inst);
void storeMatrix(Warp &warp, const Inst &inst);
} // namespace exec

} // namespace tilewright::sim
