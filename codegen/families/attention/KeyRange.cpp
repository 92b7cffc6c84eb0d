//===- KeyRange.cpp - the keys that a tile of queries walks ---------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "codegen/families/attention/KeyRange.h"

using namespace mlir;
using namespace tilewright::tw;

namespace tilewright::families {

namespace {

/// Arithmetic on lines, which may lie anywhere.
class LineMath {
public:
  explicit LineMath(LaneBuilder &b) : b(b), type(b.getI64Type()) {}

  Value constant(int64_t value) {
    return b.create<arith::ConstantOp>(b.getI64IntegerAttr(value));
  }
  Value wide(Value value) {
    if (value.getType().isIndex()) {
      return b.createOrFold<arith::IndexCastOp>(type, value);
    }
    return value.getType() == type
               ? value
               : b.createOrFold<arith::ExtSIOp>(type, value);
  }
  Value plus(Value x, int64_t y) {
    return y == 0 ? x : b.createOrFold<arith::AddIOp>(x, constant(y));
  }
  /// Whether x lies strictly between −limit and limit.
  Value isWithin(Value x, int64_t limit) {
    using P = arith::CmpIPredicate;
    Value below = b.createOrFold<arith::CmpIOp>(P::slt, x, constant(limit)),
          above = b.createOrFold<arith::CmpIOp>(P::sgt, x, constant(-limit));
    return b.createOrFold<arith::AndIOp>(below, above);
  }

  LaneBuilder &b;
  Type type;
};

} // namespace

/// The left side less the right of a bound's comparison, for the key 0.
static Result<Value> differenceAt(AttentionKernel &kernel, KeyBound bound,
                                  Value query) {
  LineMath math(kernel.b);
  SmallVector<Lanes> at = kernel.score(Lanes::index(query), Lanes::index(0));
  BodyEmitter emitter(kernel.frame, bound.map.getBody().front(), Value());
  Value sides[2];
  for (unsigned i : {0, 1}) {
    Result<Lanes> side = emitter.emitFor(0, at, bound.compare->getOperand(i));
    TW_RETURN_IF_ERROR(side.status());
    sides[i] = math.wide(kernel.b.first(*side));
  }
  return kernel.b.createOrFold<arith::SubIOp>(sides[0], sides[1]);
}

/// One past the last key on the visible side, or the first: no line at all is
/// where the sides are so large that their arithmetic may have wrapped.
static Result<Value> edgeOf(AttentionKernel &kernel, const KeyBound &bound,
                            Value first, Value last, Value keys) {
  LaneBuilder &b = kernel.b;
  LineMath math(b);
  bool usesLast = bound.isUpper == (bound.slope >= 0);
  Result<Value> difference =
      differenceAt(kernel, bound, usesLast ? last : first);
  TW_RETURN_IF_ERROR(difference.status());
  arith::CmpIOp compare = bound.compare;
  bool isShort = compare.getLhs().getType().isInteger(32);
  Value isSane = math.isWithin(*difference, int64_t(1) << (isShort ? 29 : 61));
  Value line =
      bound.keySlope == 1
          ? b.createOrFold<arith::SubIOp>(math.constant(0), *difference)
          : *difference;
  line = math.plus(line, bound.adjustment + (bound.isUpper ? 1 : 0));
  Value none = bound.isUpper ? keys : math.constant(0);
  return b.createOrFold<arith::SelectOp>(isSane, line, none);
}

Result<KeyRange> emitKeyRange(AttentionKernel &kernel,
                              const VisibleKeys &visible, Value first,
                              Value last) {
  LaneBuilder &b = kernel.b;
  LineMath math(b);
  Value zero = math.constant(0), keys = math.wide(b.first(kernel.keys()));
  Value begin = zero, end = keys;
  for (const KeyBound &bound : visible.bounds) {
    Result<Value> edge = edgeOf(kernel, bound, first, last, keys);
    TW_RETURN_IF_ERROR(edge.status());
    Value inside = b.createOrFold<arith::MinSIOp>(
        b.createOrFold<arith::MaxSIOp>(*edge, zero), keys);
    Value &own = bound.isUpper ? end : begin;
    own = bound.isUpper ? b.createOrFold<arith::MinSIOp>(own, inside)
                        : b.createOrFold<arith::MaxSIOp>(own, inside);
  }
  auto toIndex = [&](Value value) {
    return b.createOrFold<arith::IndexCastOp>(b.getIndexType(), value);
  };
  return KeyRange{toIndex(begin), toIndex(end)};
}

} // namespace tilewright::families
