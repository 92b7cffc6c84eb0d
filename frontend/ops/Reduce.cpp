//===- Reduce.cpp - reductions --------------------------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "frontend/ops/Axes.h"
#include "frontend/ops/Families.h"
#include "frontend/ops/Scalars.h"
#include <cmath>

using namespace mlir;

namespace tilewright::frontend {

namespace {

/// One Reduce operator: the folding of input 0 over its axes.
class Reduction {
public:
  Reduction(NodeImport &node, ReducedAxes axes)
      : node(node), axes(std::move(axes)), element(node.element(0)),
        accumulator(tw::computeType(element)) {}

  /// Folds `body` of every element, a scalar of type `type`.
  Value
  fold(FoldKind kind, Type type,
       llvm::function_ref<Value(BodyBuilder &, Value, ValueRange row)> body) {
    return tw::buildReduce(
        node.builder(), node.loc(), kind, axes.kept, axes.extents, type,
        [&](BodyBuilder &b, ValueRange at) {
          Value x = b.load(node.input(0), axes.inputCoordinates(b, at));
          return body(b, b.widen(x), at.take_front(axes.kept.size()));
        });
  }

  /// `body` of every folded value, as elements of the result.
  Value finish(Value folded,
               llvm::function_ref<Value(BodyBuilder &, Value)> body) {
    return tw::buildElementwise(
        node.builder(), node.loc(), axes.kept, element, folded,
        [&](BodyBuilder &b, ValueRange x) { return body(b, x[0]); });
  }

  /// The folded values in the result's element type.
  Value narrow(Value folded) {
    if (tw::elementTypeOf(folded.getType()) == element) {
      return folded;
    }
    return finish(folded, [](BodyBuilder &, Value x) { return x; });
  }

  Status set(Value result) {
    node.setOutput(
        0, tw::buildReshape(node.builder(), node.loc(), result, axes.dims));
    return Status::ok();
  }

  NodeImport &node;
  ReducedAxes axes;
  Type element;
  Type accumulator;
};

} // namespace

using ReduceFunction = Status (*)(Reduction &);

template <ReduceFunction reduce> static Status import(NodeImport &node) {
  if (node.element(0).isInteger(1) && node.proto().op_type() != "ReduceMax" &&
      node.proto().op_type() != "ReduceMin") {
    TW_RETURN_IF_ERROR(requireNumber(node, 0));
  }
  Result<ReducedAxes> axes = reducedAxes(node);
  if (!axes) {
    return axes.status();
  }
  Reduction reduction(node, std::move(*axes));
  return reduce(reduction);
}

//===----------------------------------------------------------------------===//
// Sums and products
//===----------------------------------------------------------------------===//

static Value identity(BodyBuilder &, Value x, ValueRange) { return x; }
static Value square(BodyBuilder &b, Value x, ValueRange) {
  return b.mulOf(x, x);
}

static Status reduceSum(Reduction &r) {
  return r.set(r.narrow(r.fold(FoldKind::Add, r.accumulator, identity)));
}

static Status reduceProd(Reduction &r) {
  return r.set(r.narrow(r.fold(FoldKind::Mul, r.accumulator, identity)));
}

static Status reduceMean(Reduction &r) {
  DimExpr count = r.axes.count(r.node.context());
  Value sum = r.fold(FoldKind::Add, r.accumulator, identity);
  return r.set(r.finish(sum, [&](BodyBuilder &b, Value x) {
    return b.divOf(x, toScalar(b, b.size(count), r.accumulator), r.element);
  }));
}

static Status reduceSumSquare(Reduction &r) {
  return r.set(r.narrow(r.fold(FoldKind::Add, r.accumulator, square)));
}

static Status reduceL1(Reduction &r) {
  return r.set(r.narrow(r.fold(
      FoldKind::Add, r.accumulator,
      [&](BodyBuilder &b, Value x, ValueRange) -> Value {
        if (isFloat(r.element)) {
          return absolute(b, x);
        }
        Value negated = b.subOf(b.integer(r.element, 0), x);
        return tw::isUnsigned(r.element) ? x : b.maxOf(x, negated, r.element);
      })));
}

/// `function` of a folded value; integers go through f64.
template <typename Op>
static Value realFunction(Reduction &r, BodyBuilder &b, Value x) {
  if (isFloat(r.element)) {
    return b.create<Op>(x);
  }
  Type real = b.getF64Type();
  return b.cast(b.create<Op>(b.cast(x, r.element, real)), real, r.element);
}

static Status reduceL2(Reduction &r) {
  Value sum = r.fold(FoldKind::Add, r.accumulator, square);
  return r.set(r.finish(sum, [&](BodyBuilder &b, Value x) {
    return realFunction<math::SqrtOp>(r, b, x);
  }));
}

static Status reduceLogSum(Reduction &r) {
  Value sum = r.fold(FoldKind::Add, r.accumulator, identity);
  return r.set(r.finish(sum, [&](BodyBuilder &b, Value x) {
    return realFunction<math::LogOp>(r, b, x);
  }));
}

/// log(sum(exp(x))) with the maximum taken out, so that exp stays in range.
static Status reduceLogSumExp(Reduction &r) {
  bool isReal = isFloat(r.element);
  Type real = isReal ? r.accumulator : Type(r.node.builder().getF64Type());
  auto realOf = [&](BodyBuilder &b, Value x) {
    return isReal ? x : b.cast(x, r.element, real);
  };
  Value greatest =
      r.fold(FoldKind::Max, real,
             [&](BodyBuilder &b, Value x, ValueRange) { return realOf(b, x); });
  // An infinite maximum would give inf - inf.
  greatest = tw::buildElementwise(
      r.node.builder(), r.node.loc(), r.axes.kept, real, greatest,
      [](BodyBuilder &b, ValueRange m) {
        Value isInfinite =
            b.equalOf(absolute(b, m[0]), literal(b, m[0], HUGE_VAL));
        return b.select(isInfinite, literal(b, m[0], 0.0), m[0]);
      });
  Value sum = r.fold(FoldKind::Add, real,
                     [&](BodyBuilder &b, Value x, ValueRange row) -> Value {
                       return b.create<math::ExpOp>(
                           b.subOf(realOf(b, x), b.load(greatest, row)));
                     });
  return r.set(tw::buildElementwise(
      r.node.builder(), r.node.loc(), r.axes.kept, r.element,
      ValueRange({sum, greatest}), [&](BodyBuilder &b, ValueRange x) {
        Value result = b.addOf(b.create<math::LogOp>(x[0]), x[1]);
        return isReal ? result : b.cast(result, real, r.element);
      }));
}

//===----------------------------------------------------------------------===//
// Maximum and minimum
//===----------------------------------------------------------------------===//

template <bool isMax> static Status reduceExtreme(Reduction &r) {
  FoldKind kind = isMax ? FoldKind::Max : FoldKind::Min;
  if (isBool(r.element)) {
    kind = isMax ? FoldKind::Or : FoldKind::And;
  }
  return r.set(r.narrow(r.fold(kind, r.accumulator, identity)));
}

OperatorFamily reduceOperators() {
  static const OperatorEntry entries[] = {
      {"", "ReduceL1", 1, import<reduceL1>},
      {"", "ReduceL2", 1, import<reduceL2>},
      {"", "ReduceLogSum", 1, import<reduceLogSum>},
      {"", "ReduceLogSumExp", 1, import<reduceLogSumExp>},
      {"", "ReduceMax", 1, import<reduceExtreme<true>>},
      {"", "ReduceMean", 1, import<reduceMean>},
      {"", "ReduceMin", 1, import<reduceExtreme<false>>},
      {"", "ReduceProd", 1, import<reduceProd>},
      {"", "ReduceSum", 1, import<reduceSum>},
      {"", "ReduceSumSquare", 1, import<reduceSumSquare>},
  };
  return entries;
}

} // namespace tilewright::frontend
