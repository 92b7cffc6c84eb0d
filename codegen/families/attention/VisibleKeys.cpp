//===- VisibleKeys.cpp - keys that a mask does not hide -------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "codegen/families/attention/VisibleKeys.h"
#include "codegen/families/emit/Guards.h"
#include "mlir/IR/Matchers.h"
#include "passes/fuse/Access.h"

using namespace mlir;
using namespace tilewright::tw;

namespace tilewright::families {

//===----------------------------------------------------------------------===//
// The score under an assumption
//===----------------------------------------------------------------------===//

namespace {

/// What is known of a scalar: nothing, that it is `value`, or that it is
/// `value` and something that depends on the product.
struct Known {
  enum { Nothing, Constant, Shifted } kind = Nothing;
  double value = 0;

  static Known constant(double value) { return {Constant, value}; }
  static Known shifted(double value) {
    return {value == -std::numeric_limits<double>::infinity() ? Constant
                                                              : Shifted,
            value};
  }
  bool isConstant() const { return kind == Constant; }
  bool isNothing() const { return kind == Nothing; }
  bool operator==(const Known &other) const {
    return kind == other.kind && value == other.value;
  }
};

/// Evaluates scores as far as they are known if `compare` gives `holds`.
class Assumption {
public:
  Assumption(const AttentionForm &form, arith::CmpIOp compare, bool holds)
      : form(form), compare(compare), holds(holds) {}

  Known score() { return ofTensor(form.score()); }

private:
  Known ofTensor(Value tensor);
  Known of(Value scalar);
  Known compute(Operation *op);
  Known add(const Known &x, const Known &y);
  Known round(const Known &x, Type type);

  const AttentionForm &form;
  arith::CmpIOp compare;
  bool holds;
  llvm::DenseMap<Value, Known> known;
};

} // namespace

Known Assumption::ofTensor(Value tensor) {
  for (MapOp map : form.scoreMaps) {
    if (map.getResult(0) == tensor) {
      return of(yieldOf(map).getOperand(0));
    }
  }
  return {};
}

Known Assumption::of(Value scalar) {
  if (scalar == compare.getResult()) {
    return Known::constant(holds);
  }
  auto [place, isNew] = known.try_emplace(scalar);
  if (!isNew) {
    return place->second;
  }
  Operation *op = scalar.getDefiningOp();
  Known result = op ? compute(op) : Known();
  known[scalar] = result;
  return result;
}

Known Assumption::add(const Known &x, const Known &y) {
  if (x.isConstant() && y.isConstant()) {
    return Known::constant(x.value + y.value);
  }
  if (x.isNothing() && y.isNothing()) {
    return {};
  }
  return Known::shifted(x.value + y.value);
}

/// A constant becomes the nearest of `type`.
Known Assumption::round(const Known &x, Type type) {
  auto element = dyn_cast<FloatType>(type);
  if (x.isNothing() || !element) {
    return {};
  }
  APFloat value(x.value);
  bool isInexact = false;
  value.convert(element.getFloatSemantics(), APFloat::rmNearestTiesToEven,
                &isInexact);
  double rounded = value.convertToDouble();
  return x.isConstant() ? Known::constant(rounded) : Known::shifted(rounded);
}

Known Assumption::compute(Operation *op) {
  FloatAttr number;
  BoolAttr truth;
  if (matchPattern(op, m_Constant(&number))) {
    return Known::constant(number.getValueAsDouble());
  }
  if (matchPattern(op, m_Constant(&truth))) {
    return Known::constant(truth.getValue());
  }
  if (auto load = dyn_cast<LoadOp>(op)) {
    return readsAtOwnCoordinates(load) ? ofTensor(load.getSource()) : Known();
  }
  if (isa<arith::ExtFOp, arith::TruncFOp>(op)) {
    return round(of(op->getOperand(0)), op->getResult(0).getType());
  }
  if (auto select = dyn_cast<arith::SelectOp>(op)) {
    Known condition = of(select.getCondition()),
          yes = of(select.getTrueValue()), no = of(select.getFalseValue());
    if (condition.isConstant()) {
      return condition.value != 0 ? yes : no;
    }
    return yes == no ? yes : Known();
  }
  if (isa<arith::AndIOp, arith::OrIOp, arith::XOrIOp>(op) &&
      op->getResult(0).getType().isInteger(1)) {
    Known x = of(op->getOperand(0)), y = of(op->getOperand(1));
    if (isa<arith::XOrIOp>(op)) {
      return x.isConstant() && y.isConstant()
                 ? Known::constant((x.value != 0) != (y.value != 0))
                 : Known();
    }
    // The value that decides alone.
    Known decisive = Known::constant(isa<arith::OrIOp>(op));
    return x == decisive || y == decisive     ? decisive
           : x.isConstant() && y.isConstant() ? Known::constant(!decisive.value)
                                              : Known();
  }
  if (isa<arith::AddFOp>(op)) {
    return add(of(op->getOperand(0)), of(op->getOperand(1)));
  }
  if (isa<arith::MulFOp>(op)) {
    Known x = of(op->getOperand(0)), y = of(op->getOperand(1));
    if (!y.isConstant()) {
      std::swap(x, y);
    }
    // A scale keeps the order of scores.
    if (x.isNothing() || !y.isConstant() || !(y.value > 0) ||
        std::isinf(y.value)) {
      return {};
    }
    return x.isConstant() ? Known::constant(x.value * y.value)
                          : Known::shifted(x.value * y.value);
  }
  return {};
}

/// Whether such a score has no weight, and in rows with a greatest score above
/// what; -inf: in any.
static std::optional<double> hiddenBelow(const Known &score) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  // exp of less than this is zero in f32.
  constexpr double leastExponent = -110;
  // What is added to hide a score is this large, and a score is no quarter of
  // it: then exp(score − max) is zero where the greatest score is above half.
  constexpr double large = -1e30;
  // A constant in place of the score is a mask's if scores are hardly as small.
  constexpr double small = -1e3;
  if (score.isConstant() && score.value <= small) {
    return score.value == -infinity ? -infinity : score.value - leastExponent;
  }
  if (score.kind == Known::Shifted && score.value <= large) {
    return score.value / 2;
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Lines
//===----------------------------------------------------------------------===//

/// By how much an integer grows with a coordinate; nothing if it is no sum.
static std::optional<int64_t> slopeOf(Value value, BlockArgument coordinate) {
  if (value == coordinate) {
    return 1;
  }
  Operation *op = value.getDefiningOp();
  if (!op || !dependsOn(value, coordinate)) {
    return 0;
  }
  if (isa<arith::IndexCastOp, arith::ExtSIOp>(op)) {
    return slopeOf(op->getOperand(0), coordinate);
  }
  if (!isa<arith::AddIOp, arith::SubIOp, arith::MulIOp>(op)) {
    return std::nullopt;
  }
  auto x = slopeOf(op->getOperand(0), coordinate),
       y = slopeOf(op->getOperand(1), coordinate);
  if (!x || !y) {
    return std::nullopt;
  }
  if (isa<arith::MulIOp>(op)) {
    APInt factor;
    bool isSecond = matchPattern(op->getOperand(1), m_ConstantInt(&factor));
    if (!isSecond && !matchPattern(op->getOperand(0), m_ConstantInt(&factor))) {
      return std::nullopt;
    }
    constexpr int64_t most = 1 << 16;
    int64_t slope = isSecond ? *x : *y;
    return factor.getSExtValue() < most && factor.getSExtValue() > -most &&
                   slope < most && slope > -most
               ? std::optional(slope * factor.getSExtValue())
               : std::nullopt;
  }
  return isa<arith::AddIOp>(op) ? *x + *y : *x - *y;
}

/// An integer where all coordinates are zero; nothing if only run time knows.
static std::optional<int64_t> atOrigin(Value value) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant))) {
    return constant.getSExtValue();
  }
  Operation *op = value.getDefiningOp();
  if (!op) {
    return 0;
  }
  if (isa<arith::IndexCastOp, arith::ExtSIOp>(op)) {
    return atOrigin(op->getOperand(0));
  }
  if (!isa<arith::AddIOp, arith::SubIOp, arith::MulIOp>(op)) {
    return std::nullopt;
  }
  auto x = atOrigin(op->getOperand(0)), y = atOrigin(op->getOperand(1));
  constexpr int64_t most = 1 << 30;
  if (!x || !y || std::abs(*x) > most || std::abs(*y) > most) {
    return std::nullopt;
  }
  return isa<arith::MulIOp>(op)   ? *x * *y
         : isa<arith::AddIOp>(op) ? *x + *y
                                  : *x - *y;
}

bool KeyBound::dependsOn(unsigned axis) const {
  BlockArgument argument = MapOp(map).getBody().getArgument(axis);
  arith::CmpIOp op = compare;
  return families::dependsOn(op.getLhs(), argument) ||
         families::dependsOn(op.getRhs(), argument);
}

/// Whether a kernel can evaluate a side where it has no scores, and nothing in
/// memory depends on the query or the key.
static bool isSumOfCoordinates(Value side, BlockArgument query,
                               BlockArgument key) {
  for (Operation *op : neededFor(side)) {
    auto load = dyn_cast<LoadOp>(op);
    if (!load) {
      continue;
    }
    Operation *source = stripReshapes(load.getSource()).getDefiningOp();
    if ((source && isPrimitive(source)) || dependsOn(load.getResult(), key) ||
        (query && dependsOn(load.getResult(), query))) {
      return false;
    }
  }
  return true;
}

/// The line along which a comparison changes; `visible`: how sides compare that
/// are visible.
static std::optional<KeyBound> lineOf(MapOp map, arith::CmpIOp compare,
                                      arith::CmpIPredicate visible,
                                      const AttentionForm &form) {
  using P = arith::CmpIPredicate;
  Block::BlockArgListType arguments = map.getBody().getArguments();
  BlockArgument key = arguments.back(), query = form.queryAxis
                                                    ? arguments[*form.queryAxis]
                                                    : BlockArgument();
  Value left = compare.getLhs(), right = compare.getRhs();
  auto difference = [&](BlockArgument along) -> std::optional<int64_t> {
    auto x = slopeOf(left, along), y = slopeOf(right, along);
    return x && y ? std::optional(*x - *y) : std::nullopt;
  };
  if (!isSumOfCoordinates(left, query, key) ||
      !isSumOfCoordinates(right, query, key)) {
    return std::nullopt;
  }
  auto ofKey = difference(key);
  auto ofQuery = query ? difference(query) : std::optional<int64_t>(0);
  bool isLess = visible == P::slt || visible == P::sle,
       isMore = visible == P::sgt || visible == P::sge;
  if (!ofKey || !ofQuery || std::abs(*ofKey) != 1 || !(isLess || isMore)) {
    return std::nullopt;
  }
  KeyBound bound;
  bound.map = map;
  bound.compare = compare;
  bound.keySlope = *ofKey;
  bound.slope = -*ofKey * *ofQuery;
  bound.partSlope =
      form.isPart() ? -*ofKey * difference(arguments[0]).value_or(0) : 0;
  bound.isUpper = isLess == (*ofKey == 1);
  bool isStrict = visible == P::slt || visible == P::sgt;
  bound.adjustment = !isStrict ? 0 : bound.isUpper ? -1 : 1;
  auto x = atOrigin(left), y = atOrigin(right);
  if (x && y) {
    bound.offset = bound.lineAt(*x - *y);
  }
  return bound;
}

VisibleKeys visibleKeys(const AttentionForm &form,
                        std::optional<unsigned> groupAxis) {
  VisibleKeys result;
  for (MapOp map : form.scoreMaps) {
    for (auto compare : map.getBody().getOps<arith::CmpIOp>()) {
      for (bool holds : {false, true}) {
        auto above = hiddenBelow(Assumption(form, compare, holds).score());
        if (!above) {
          continue;
        }
        arith::CmpIPredicate predicate = compare.getPredicate();
        auto bound =
            lineOf(map, compare,
                   holds ? arith::invertPredicate(predicate) : predicate, form);
        if (!bound || (groupAxis && bound->dependsOn(*groupAxis))) {
          continue;
        }
        result.bounds.push_back(*bound);
        if (std::isfinite(*above)) {
          result.settledAbove =
              std::max(static_cast<float>(*above),
                       result.settledAbove.value_or(
                           std::numeric_limits<float>::lowest()));
        }
      }
    }
  }
  return result;
}

} // namespace tilewright::families
