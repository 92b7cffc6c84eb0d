//===- KeyParts.cpp - attention over parts of the keys --------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "codegen/families/attention/KeyParts.h"
#include "codegen/families/RegionParts.h"
#include "codegen/families/emit/Guards.h"
#include "ir/BodyBuilder.h"
#include "ir/TensorTypes.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/IRMapping.h"
#include "passes/fuse/Access.h"

using namespace mlir;
using namespace tilewright::tw;

namespace tilewright::families {

//===----------------------------------------------------------------------===//
// The parts
//===----------------------------------------------------------------------===//

namespace {

/// Clones the primitives of attention with a part as first coordinate, where
/// the key is a part's, and a key of all where anything but attention is read.
class PartBuilder {
public:
  PartBuilder(OpBuilder &builder, const AttentionForm &form, int64_t parts,
              IRMapping tensors)
      : builder(builder), form(form), parts(parts), tensors(tensors) {
    keys = ReduceOp(form.max).getExtents().getDims().front();
    length = keys.ceilDiv(parts);
  }

  /// \returns the greatest scores, the sums and the values.
  SmallVector<Value> run();

private:
  Value clone(Operation *primitive, Value wanted);
  Value scalar(BodyBuilder &b, Operation *primitive, Value wanted,
               ValueRange at);
  void cloneLoad(BodyBuilder &b, LoadOp load, Value key, ValueRange at,
                 Value global, IRMapping &map);
  void hideMissing();
  SmallVector<DimExpr> dimsOfPart(Value tensor);
  BlockArgument keyOf(Operation *primitive);

  /// The last part may have fewer keys than the others.
  bool isRagged() const {
    std::optional<int64_t> count = keys.getConstant();
    return !count || *count % parts != 0;
  }
  /// The number of a part's key among all.
  Value globalKey(BodyBuilder &b, Value part, Value key) {
    return b.add(b.mul(part, b.size(length)), key);
  }

  OpBuilder &builder;
  const AttentionForm &form;
  int64_t parts;
  DimExpr keys, length; // of all, of a part
  IRMapping tensors;
};

} // namespace

/// The argument that counts the keys.
BlockArgument PartBuilder::keyOf(Operation *primitive) {
  Block::BlockArgListType arguments =
      primitive->getRegion(0).front().getArguments();
  return primitive == form.scores ? arguments[arguments.size() - 2]
                                  : arguments.back();
}

/// The dims of a tensor of attention, of a part.
SmallVector<DimExpr> PartBuilder::dimsOfPart(Value tensor) {
  SmallVector<DimExpr> dims = dimsOf(tensor.getType());
  Operation *op = tensor.getDefiningOp();
  bool isPerKey = !(op == form.max || op == form.sum || op == form.values);
  if (isPerKey) {
    dims.back() = length;
  }
  dims.insert(dims.begin(), DimExpr::constant(builder.getContext(), parts));
  return dims;
}

/// What attention computes is read at the part's coordinates. What else depends
/// on a key is read only if it exists.
void PartBuilder::cloneLoad(BodyBuilder &b, LoadOp load, Value key,
                            ValueRange at, Value global, IRMapping &map) {
  Operation *source = load.getSource().getDefiningOp();
  if (source && llvm::is_contained(form.members(), source)) {
    SmallVector<Value> indices = {at.front()};
    for (Value index : load.getIndices()) {
      // Axes of size one may be read at a constant.
      auto argument = dyn_cast<BlockArgument>(index);
      indices.push_back(argument ? at[argument.getArgNumber() + 1]
                                 : b.index(0));
    }
    map.map(load.getResult(),
            b.load(tensors.lookup(load.getSource()), indices));
    return;
  }
  Operation *copy = b.clone(*load, map);
  if (!isRagged() || !dependsOn(load.getResult(), cast<BlockArgument>(key))) {
    return;
  }
  auto cloned = cast<LoadOp>(copy);
  Value exists = b.less(global, b.size(keys));
  Value guard = b.both(cloned.getGuard(), exists);
  Value otherwise =
      cloned.getOtherwise()
          ? cloned.getOtherwise()
          : b.create<arith::ConstantOp>(b.getZeroAttr(cloned.getType()));
  SmallVector<Value> indices(cloned.getIndices());
  map.map(load.getResult(),
          b.load(cloned.getSource(), indices, guard, otherwise));
  cloned.erase();
}

/// Clones what `wanted` needs.
Value PartBuilder::scalar(BodyBuilder &b, Operation *primitive, Value wanted,
                          ValueRange at) {
  Block &body = primitive->getRegion(0).front();
  BlockArgument key = keyOf(primitive);
  Value global = globalKey(b, at.front(), at[key.getArgNumber() + 1]);
  IRMapping map(tensors);
  for (BlockArgument argument : body.getArguments()) {
    map.map(argument,
            argument == key ? global : at[argument.getArgNumber() + 1]);
  }
  auto needed = neededFor(wanted);
  for (Operation &op : body.without_terminator()) {
    if (!needed.contains(&op)) {
      continue;
    }
    if (auto load = dyn_cast<LoadOp>(op)) {
      cloneLoad(b, load, key, at, global, map);
    } else {
      b.clone(op, map);
    }
  }
  return map.lookupOrDefault(wanted);
}

Value PartBuilder::clone(Operation *primitive, Value wanted) {
  Value tensor = primitive->getResult(0);
  Type element = elementTypeOf(tensor.getType());
  auto body = [&](BodyBuilder &b, ValueRange at) {
    return scalar(b, primitive, wanted, at);
  };
  Value result;
  if (auto reduce = dyn_cast<ReduceOp>(primitive)) {
    DimExpr extent = primitive == form.scores
                         ? reduce.getExtents().getDims().front()
                         : length;
    result = buildReduce(builder, primitive->getLoc(), reduce.getKind(),
                         dimsOfPart(tensor), {extent}, element, body,
                         reduce.getRoot().value_or(StringRef()));
  } else {
    result = buildMap(builder, primitive->getLoc(), dimsOfPart(tensor), element,
                      body, cast<MapOp>(primitive).getRoot().value_or(""));
  }
  tensors.map(tensor, result);
  return result;
}

/// Keys that do not exist have a score without weight.
void PartBuilder::hideMissing() {
  Value all = tensors.lookup(form.score());
  Type element = elementTypeOf(all.getType());
  Value hidden =
      buildMap(builder, all.getLoc(), dimsOf(all.getType()), element,
               [&](BodyBuilder &b, ValueRange at) {
                 Value exists =
                     b.less(globalKey(b, at.front(), at.back()), b.size(keys));
                 Value score = b.widen(b.load(all, at));
                 Value none = b.constant(
                     score.getType(), -std::numeric_limits<double>::infinity());
                 return b.narrow(b.select(exists, score, none), element);
               });
  tensors.map(form.score(), hidden);
}

SmallVector<Value> PartBuilder::run() {
  AttentionForm own = form;
  bool isSecond = own.scale->getOperand(0) == own.denominator;
  Value power = own.scale->getOperand(isSecond ? 1 : 0);
  for (Operation *member : own.members()) {
    if (member == own.weights) {
      // The exponential, rounded as the weights are.
      Value tensor = own.weights.getResult(0);
      Type element = elementTypeOf(tensor.getType());
      Value weights =
          buildMap(builder, member->getLoc(), dimsOfPart(tensor), element,
                   [&](BodyBuilder &b, ValueRange at) {
                     return b.narrow(scalar(b, member, power, at), element);
                   });
      tensors.map(tensor, weights);
    } else if (!llvm::is_contained(own.rowMaps, member) &&
               !llvm::is_contained(own.epilogue, member)) {
      clone(member, yieldOf(member).getOperand(0));
    }
    if (member == own.score().getDefiningOp() && isRagged()) {
      hideMissing();
    }
  }
  return {tensors.lookup(own.max.getResult()),
          tensors.lookup(own.sum.getResult()),
          tensors.lookup(own.values.getResult())};
}

//===----------------------------------------------------------------------===//
// Their sum
//===----------------------------------------------------------------------===//

namespace {

/// The body that joins the parts of an element.
class JoinBuilder {
public:
  JoinBuilder(BodyBuilder &b, const AttentionForm &form,
              const IRMapping &tensors, ValueRange at)
      : b(b), form(form), tensors(tensors), at(at) {
    for (unsigned axis : form.rowAxes) {
      row.push_back(at[axis]);
    }
  }

  Value run(ArrayRef<Value> partTensors, int64_t parts);

private:
  Value ofRow(Value scalar);

  BodyBuilder &b;
  const AttentionForm &form;
  const IRMapping &tensors;
  ValueRange at;
  SmallVector<Value> row;
  Value sum;
  llvm::DenseMap<Value, Value> known;
};

} // namespace

/// A scalar of the weights' or a row map's body, which a row decides.
Value JoinBuilder::ofRow(Value scalar) {
  if (auto argument = dyn_cast<BlockArgument>(scalar)) {
    return row[argument.getArgNumber()];
  }
  if (Value value = known.lookup(scalar)) {
    return value;
  }
  Operation *op = scalar.getDefiningOp();
  Value result;
  auto load = dyn_cast<LoadOp>(op);
  Operation *source = load ? load.getSource().getDefiningOp() : nullptr;
  if (source && source == form.sum) {
    result = sum;
  } else if (source && llvm::is_contained(form.rowMaps, source)) {
    result = ofRow(yieldOf(source).getOperand(0));
  } else {
    IRMapping map(tensors);
    for (Value operand : op->getOperands()) {
      if (isa<BlockArgument>(operand) ? operand.getType().isIndex()
                                      : !isa<TensorType>(operand.getType())) {
        map.map(operand, ofRow(operand));
      }
    }
    result = b.clone(*op, map)->getResult(0);
  }
  known[scalar] = result;
  return result;
}

Value JoinBuilder::run(ArrayRef<Value> partTensors, int64_t parts) {
  auto load = [&](Value tensor, int64_t part, ValueRange place) {
    SmallVector<Value> indices = {b.index(part)};
    llvm::append_range(indices, place);
    return b.load(tensor, indices);
  };
  SmallVector<Value> maxima;
  Value max;
  for (int64_t part = 0; part < parts; ++part) {
    Value own = load(partTensors[0], part, row);
    maxima.push_back(own);
    Value isGreater =
        max ? b.create<arith::CmpFOp>(arith::CmpFPredicate::OGT, own, max)
            : Value();
    max = max ? b.select(isGreater, own, max) : own;
  }
  Value total;
  for (int64_t part = 0; part < parts; ++part) {
    Value difference = b.create<arith::SubFOp>(maxima[part], max);
    Value factor = b.create<math::ExpOp>(difference);
    Value ofSum = b.mulOf(factor, load(partTensors[1], part, row));
    Value ofValue = b.mulOf(factor, load(partTensors[2], part, at));
    sum = sum ? b.addOf(sum, ofSum) : ofSum;
    total = total ? b.addOf(total, ofValue) : ofValue;
  }
  Operation *scale = form.scale;
  IRMapping map;
  bool isSecond = scale->getOperand(1) == form.denominator;
  map.map(form.denominator, ofRow(form.denominator));
  map.map(scale->getOperand(isSecond ? 0 : 1), total);
  Value result = b.clone(*scale, map)->getResult(0);
  if (form.cleared) {
    // Weights of zero still meet values that are not finite.
    Value none = b.mulOf(total, b.constant(total.getType(), 0));
    result = b.select(ofRow(form.cleared), form.clearsWhere ? none : result,
                      form.clearsWhere ? result : none);
  }
  DimExpr keys = ReduceOp(form.max).getExtents().getDims().front();
  return keys.getConstant() ? result
                            : b.select(b.equal(b.size(keys), b.index(0)),
                                       b.constant(total.getType(), 0), result);
}

void divideKeys(FusedOp op, const AttentionForm &constForm, int64_t parts) {
  AttentionForm form = constForm;
  OpBuilder builder(op);
  Block &old = op.getBody().front();
  DimExpr count = DimExpr::constant(op.getContext(), parts);
  SmallVector<Type> types;
  for (Value tensor :
       {form.max.getResult(), form.sum.getResult(), form.values.getResult()}) {
    SmallVector<DimExpr> dims = dimsOf(tensor.getType());
    dims.insert(dims.begin(), count);
    types.push_back(tensorType(dims, elementTypeOf(tensor.getType())));
  }
  auto mapOperands = [&](OpBuilder &b, ValueRange arguments) {
    IRMapping map;
    map.map(old.getArguments(), arguments);
    for (ConstantOp constant : old.getOps<ConstantOp>()) {
      b.clone(*constant, map);
    }
    return map;
  };
  FusedOp first = buildRegionLike(
      builder, op, op.getSymName() + "_parts", op.getInputs(), types,
      [&](OpBuilder &b, Block &block) {
        return PartBuilder(b, form, parts, mapOperands(b, block.getArguments()))
            .run();
      });
  first->setAttr("attention", builder.getUnitAttr());
  SmallVector<Value> inputs(op.getInputs());
  llvm::append_range(inputs, first.getResults());
  FusedOp second = buildRegionLike(
      builder, op, op.getSymName(), inputs, op.getResultTypes(),
      [&](OpBuilder &b, Block &block) {
        ValueRange arguments = block.getArguments();
        IRMapping map = mapOperands(b, arguments.drop_back(types.size()));
        SmallVector<Value> partTensors(arguments.take_back(types.size()));
        Value values = form.values.getResult();
        map.map(values, buildMap(
                            b, form.values.getLoc(), dimsOf(values.getType()),
                            elementTypeOf(values.getType()),
                            [&](BodyBuilder &body, ValueRange at) {
                              return JoinBuilder(body, form, map, at)
                                  .run(partTensors, parts);
                            },
                            "parts"));
        for (MapOp epilogue : form.epilogue) {
          b.clone(*epilogue, map);
        }
        SmallVector<Value> results;
        for (Value value : yieldOf(op).getOperands()) {
          results.push_back(map.lookup(value));
        }
        return results;
      });
  op.replaceAllUsesWith(second.getResults());
  op.erase();
}

} // namespace tilewright::families
