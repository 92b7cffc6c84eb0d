//===- MatrixProduct.cpp - a reduction as a product of matrices -----------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "codegen/families/contract/MatrixProduct.h"
#include "codegen/families/emit/Access.h"
#include "codegen/families/emit/Guards.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tilewright::tw;

namespace tilewright::families {

DimExpr MatrixProduct::extentOf(unsigned coordinate) const {
  return reduce.getDomain()[coordinate];
}

DimExpr MatrixProduct::extentOf(ArrayRef<unsigned> coordinates) const {
  DimExpr product = DimExpr::constant(reduce.getContext(), 1);
  for (unsigned coordinate : coordinates) {
    product = product * extentOf(coordinate);
  }
  return product;
}

//===----------------------------------------------------------------------===//
// Factors
//===----------------------------------------------------------------------===//

/// The operations between a load and what is multiplied, folded for one value.
/// \returns null if they do not fold.
static Attribute evaluate(ArrayRef<Operation *> chain, Value load,
                          Attribute loaded, Value wanted) {
  DenseMap<Value, Attribute> known;
  known[load] = loaded;
  for (Operation *op : chain) {
    SmallVector<Attribute> operands;
    for (Value operand : op->getOperands()) {
      operands.push_back(known.lookup(operand));
    }
    SmallVector<OpFoldResult> results;
    if (failed(op->fold(operands, results)) || results.size() != 1) {
      return {};
    }
    if (auto value = dyn_cast<Value>(results[0])) {
      known[op->getResult(0)] = known.lookup(value);
    } else {
      known[op->getResult(0)] = cast<Attribute>(results[0]);
    }
  }
  return known.lookup(wanted);
}

/// Whether `wanted` is the value of an 8-bit float that `load` gives: all of
/// them are tried.
static bool widensBytes(LoadOp load, Value wanted, FloatType type) {
  llvm::SmallPtrSet<Operation *, 16> needed;
  SmallVector<Value> work = {wanted};
  while (!work.empty()) {
    Operation *op = work.pop_back_val().getDefiningOp();
    if (op && op != load.getOperation() && needed.insert(op).second) {
      llvm::append_range(work, op->getOperands());
    }
  }
  SmallVector<Operation *> chain;
  for (Operation &op : *load->getBlock()) {
    if (needed.contains(&op)) {
      chain.push_back(&op);
    }
  }
  for (unsigned bits = 0; bits < 256; ++bits) {
    APFloat small(type.getFloatSemantics(), APInt(8, bits));
    auto wide = dyn_cast_or_null<FloatAttr>(
        evaluate(chain, load.getResult(), FloatAttr::get(type, small), wanted));
    if (!wide) {
      return false;
    }
    bool lost = false;
    small.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven, &lost);
    bool isSame = small.isNaN() ? wide.getValue().isNaN()
                                : wide.getValue().bitwiseIsEqual(small);
    if (!isSame) {
      return false;
    }
  }
  return true;
}

/// The only load that a scalar of the body depends on, in a way that is not an
/// address.
static LoadOp loadBehind(Value value) {
  LoadOp found;
  SmallVector<Value> work = {value};
  llvm::SmallPtrSet<Operation *, 16> seen;
  while (!work.empty()) {
    Operation *op = work.pop_back_val().getDefiningOp();
    if (!op || !seen.insert(op).second) {
      continue;
    }
    if (auto load = dyn_cast<LoadOp>(op)) {
      if (found) {
        return {};
      }
      found = load;
      continue;
    }
    llvm::append_range(work, op->getOperands());
  }
  return found;
}

/// \returns the load that gives the scalar `value`, whose element type the
/// matrix units multiply.
static LoadOp matchFactor(Value value, Type &element) {
  LoadOp load = loadBehind(value);
  if (!load) {
    return {};
  }
  element = elementTypeOf(load.getSource().getType());
  Operation *conversion = value.getDefiningOp();
  bool isDirect = conversion->getNumOperands() == 1 &&
                  conversion->getOperand(0) == load.getResult();
  if (element.isF16() || element.isBF16()) {
    return isDirect && isa<arith::ExtFOp>(conversion) && value.getType().isF32()
               ? load
               : LoadOp();
  }
  if (element.isF32()) {
    return conversion == load.getOperation() ? load : LoadOp();
  }
  if (element.isInteger(8)) {
    bool extends = element.isUnsignedInteger()
                       ? isa<arith::ExtUIOp>(conversion)
                       : isa<arith::ExtSIOp>(conversion);
    return isDirect && extends && value.getType().isInteger(32) ? load
                                                                : LoadOp();
  }
  if (auto type = dyn_cast<FloatType>(element);
      isa<Float8E4M3FNType, Float8E5M2Type>(element)) {
    return value.getType().isF32() && widensBytes(load, value, type) ? load
                                                                     : LoadOp();
  }
  return {};
}

//===----------------------------------------------------------------------===//
// Coordinates
//===----------------------------------------------------------------------===//

/// What the address and the guard of a load depend on, by argument number;
/// nothing if that is another load.
static std::optional<SmallVector<bool>> dependences(LoadOp load,
                                                    unsigned count) {
  SmallVector<bool> result(count, false);
  SmallVector<Value> work(load.getIndices());
  if (load.getGuard()) {
    work.push_back(load.getGuard());
  }
  llvm::SmallPtrSet<Operation *, 16> seen;
  while (!work.empty()) {
    Value value = work.pop_back_val();
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      result[argument.getArgNumber()] = true;
      continue;
    }
    Operation *op = value.getDefiningOp();
    if (isa<LoadOp, ClampIndexOp>(op)) {
      return std::nullopt;
    }
    if (seen.insert(op).second) {
      llvm::append_range(work, op->getOperands());
    }
  }
  return result;
}

/// Whether an index is a multiple of the most elements of a chunk.
static bool isMultiple(Value index) {
  constexpr int64_t most = 16;
  IntegerAttr constant;
  if (matchPattern(index, m_Constant(&constant))) {
    return constant.getInt() % most == 0;
  }
  Operation *op = index.getDefiningOp();
  if (isa_and_nonnull<arith::MulIOp>(op)) {
    return llvm::any_of(op->getOperands(), isMultiple);
  }
  return isa_and_nonnull<arith::AddIOp>(op) &&
         llvm::all_of(op->getOperands(), isMultiple);
}

/// An index as a coordinate and terms that are multiples of whole chunks.
/// \returns false if it has not that form.
static bool splitSum(Value index, BlockArgument &coordinate,
                     SmallVectorImpl<Value> &rest) {
  if (auto argument = dyn_cast<BlockArgument>(index)) {
    bool isFirst = !coordinate;
    coordinate = argument;
    return isFirst;
  }
  if (isMultiple(index)) {
    rest.push_back(index);
    return true;
  }
  auto sum = index.getDefiningOp<arith::AddIOp>();
  return sum && splitSum(sum.getLhs(), coordinate, rest) &&
         splitSum(sum.getRhs(), coordinate, rest);
}

static void findContiguous(Factor &factor) {
  LoadOp load = factor.load;
  SmallVector<DimExpr> dims = dimsOf(load.getSource().getType());
  SmallVector<Value> indices(load.getIndices());
  while (!dims.empty() && dims.back().isConstant(1)) {
    dims.pop_back();
    indices.pop_back();
  }
  for (BlockArgument argument : load->getBlock()->getArguments()) {
    if (movementOf(load, argument, 1) == Movement::Contiguous) {
      factor.mostlyContiguous = argument.getArgNumber();
    }
  }
  if (indices.empty()) {
    return;
  }
  BlockArgument last;
  SmallVector<Value> rest;
  bool isAlone = splitSum(indices.back(), last, rest) && last &&
                 !(load.getGuard() && dependsOn(load.getGuard(), last));
  isAlone = isAlone && llvm::none_of(rest, [last = last](Value term) {
              return dependsOn(term, last);
            });
  for (Value index : ArrayRef(indices).drop_back()) {
    isAlone = isAlone && !dependsOn(index, last);
  }
  if (isAlone) {
    factor.contiguous = factor.mostlyContiguous = last.getArgNumber();
  }
}

Factor factorOf(LoadOp load, Type element) {
  Factor factor;
  factor.load = load;
  factor.element = element;
  findContiguous(factor);
  return factor;
}

/// Moves the coordinate `last` of `group`, if it is one, to its end.
static void moveToEnd(SmallVectorImpl<unsigned> &group, int last) {
  auto found = llvm::find(group, static_cast<unsigned>(last));
  if (last >= 0 && found != group.end()) {
    std::rotate(found, found + 1, group.end());
  }
}

/// A guard that is false gives a zero.
static bool padsZeros(LoadOp load) {
  return !load.getGuard() || matchPattern(load.getOtherwise(), m_Zero()) ||
         matchPattern(load.getOtherwise(), m_AnyZeroFloat());
}

/// Says which factor is which, and sorts the coordinates by who depends on
/// them. \param uses for each factor, by number of the coordinate.
static void sortCoordinates(MatrixProduct &result, ArrayRef<Factor> factors,
                            ArrayRef<SmallVector<bool>> uses) {
  unsigned count = result.body().getNumArguments();
  unsigned parallel = result.reduce.getParallelRank();
  // The innermost coordinate that one factor has alone is a column.
  unsigned second = 1;
  for (unsigned i = 0; i < parallel; ++i) {
    if (uses[0][i] != uses[1][i]) {
      second = uses[1][i] ? 1 : 0;
    }
  }
  unsigned first = 1 - second;
  result.a = factors[first];
  result.b = factors[second];
  for (unsigned i = 0; i < count; ++i) {
    bool ofA = uses[first][i], ofB = uses[second][i];
    (i >= parallel ? result.depth
     : ofA == ofB  ? result.batches
     : ofA         ? result.rows
                   : result.columns)
        .push_back(i);
  }
  moveToEnd(result.rows, result.a.mostlyContiguous);
  moveToEnd(result.columns, result.b.mostlyContiguous);
  moveToEnd(result.depth, result.b.contiguous);
  moveToEnd(result.depth, result.a.contiguous);
}

std::optional<MatrixProduct> matchMatrixProduct(const FusedRegion &region,
                                                Refusal &refusal) {
  auto refuse = [&](const Refusal &reason) {
    refusal = reason;
    return std::nullopt;
  };
  MatrixProduct result;
  result.reduce = region.getReduce();
  Operation *product = productOfBody(result.reduce);
  if (!product) {
    return refuse(Refusal{"TWT103", "it is no sum of products"});
  }
  Type type = product->getResult(0).getType();
  LoadOp loads[2];
  Type elements[2];
  for (unsigned i = 0; i < 2; ++i) {
    loads[i] = product->getOperand(i).getDefiningOp()
                   ? matchFactor(product->getOperand(i), elements[i])
                   : LoadOp();
    if (!loads[i] || !isa<BlockArgument>(stripReshapes(loads[i].getSource()))) {
      return refuse(Refusal{
          "TWT120", "a factor is not loaded in a type of matrix units"});
    }
    if (!padsZeros(loads[i])) {
      return refuse(Refusal{"TWT121", "the padding of a factor is not zero"});
    }
  }
  bool areFloat8 = elements[0].getIntOrFloatBitWidth() == 8 && type.isF32() &&
                   elements[1].getIntOrFloatBitWidth() == 8;
  bool areInt8 = type.isInteger(32);
  if (elements[0] != elements[1] && !areFloat8 && !areInt8) {
    return refuse(Refusal{"TWT122", "the factors differ in type"});
  }
  unsigned count = result.body().getNumArguments();
  std::optional<SmallVector<bool>> uses[2] = {dependences(loads[0], count),
                                              dependences(loads[1], count)};
  if (!uses[0] || !uses[1]) {
    return refuse(
        Refusal{"TWT123", "the address of a factor comes from memory"});
  }
  Factor factors[2];
  for (unsigned i = 0; i < 2; ++i) {
    factors[i] = factorOf(loads[i], elements[i]);
    factors[i].value = product->getOperand(i);
  }
  sortCoordinates(result, factors, {*uses[0], *uses[1]});
  return result;
}

/// A factor that is computed: neighbours may lie side by side in what it loads.
static void findMostlyContiguous(Factor &factor, Block &body) {
  llvm::SmallPtrSet<Operation *, 16> needed = neededFor(factor.value);
  for (LoadOp load : body.getOps<LoadOp>()) {
    for (BlockArgument argument : body.getArguments()) {
      if (needed.contains(load) &&
          movementOf(load, argument, 1) == Movement::Contiguous) {
        factor.mostlyContiguous = argument.getArgNumber();
      }
    }
  }
}

std::optional<MatrixProduct> matchSumOfProducts(const FusedRegion &region) {
  MatrixProduct result;
  result.reduce = region.getReduce();
  Operation *product = productOfBody(result.reduce);
  if (!product) {
    return std::nullopt;
  }
  Factor factors[2];
  SmallVector<bool> uses[2];
  for (unsigned i = 0; i < 2; ++i) {
    Factor &factor = factors[i];
    factor.value = product->getOperand(i);
    for (BlockArgument argument : result.body().getArguments()) {
      uses[i].push_back(dependsOn(factor.value, argument));
    }
    Type element;
    LoadOp load = factor.value.getDefiningOp()
                      ? matchFactor(factor.value, element)
                      : LoadOp();
    bool isPlain = load && padsZeros(load) &&
                   isa<BlockArgument>(stripReshapes(load.getSource())) &&
                   dependences(load, result.body().getNumArguments());
    if (isPlain) {
      factor.load = load;
      factor.element = element;
      findContiguous(factor);
    } else {
      factor.element = Float32Type::get(result.reduce.getContext());
      findMostlyContiguous(factor, result.body());
    }
  }
  sortCoordinates(result, factors, {uses[0], uses[1]});
  return result;
}

} // namespace tilewright::families
