//===- Access.cpp - how bodies read tensors -------------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "passes/fuse/Access.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace tilewright {

using namespace tw;

/// What a division or a root costs in multiplications.
static constexpr unsigned divisionFlops = 4;

/// Adds what one operation of a body costs.
static void count(Operation *op, BodyCost &cost) {
  ++cost.operations;
  Type type = op->getNumResults() == 1 ? op->getResult(0).getType() : Type();
  if (auto load = dyn_cast<LoadOp>(op)) {
    ++cost.loads;
    cost.guarded |= load.getGuard() != nullptr;
    return;
  }
  if (isa<ClampIndexOp>(op)) {
    cost.gathers = true;
    return;
  }
  if (!type || type.isIndex() || type.isInteger(1) ||
      op->hasTrait<OpTrait::ConstantLike>()) {
    // Comparisons of elements are arithmetic, comparisons of coordinates not.
    cost.flops += isa<arith::CmpFOp>(op);
    return;
  }
  if (isa<CastOpInterface, arith::SelectOp>(op)) {
    cost.conversions += isa<CastOpInterface>(op);
    return;
  }
  if (isa<arith::DivFOp, arith::RemFOp, arith::DivSIOp, arith::DivUIOp,
          arith::RemSIOp, arith::RemUIOp, math::SqrtOp, math::RsqrtOp>(op)) {
    cost.flops += divisionFlops;
    return;
  }
  bool isSimpleMath =
      isa<math::AbsFOp, math::AbsIOp, math::FloorOp, math::CeilOp,
          math::RoundEvenOp, math::TruncOp, math::CopySignOp, math::FmaOp>(op);
  if (isa<math::MathDialect>(op->getDialect()) && !isSimpleMath) {
    cost.transcendental = true;
  }
  ++cost.flops;
}

BodyCost costOf(Operation *primitive) {
  BodyCost cost;
  for (Operation &op : primitive->getRegion(0).front().without_terminator()) {
    count(&op, cost);
  }
  return cost;
}

Operation *primitiveOf(LoadOp load) { return load->getParentOp(); }

bool indicesAre(ValueRange indices, Type tensor, ValueRange at) {
  SmallVector<DimExpr> dims = dimsOf(tensor);
  if (indices.size() > at.size()) {
    return false;
  }
  for (auto [index, coordinate, dim] : llvm::zip(indices, at, dims)) {
    if (index != coordinate && !(dim && dim.isConstant(1))) {
      return false;
    }
  }
  return true;
}

bool readsAtOwnCoordinates(LoadOp load) {
  Block &body = primitiveOf(load)->getRegion(0).front();
  return !load.getGuard() &&
         indicesAre(load.getIndices(), load.getSource().getType(),
                    body.getArguments());
}

std::optional<SmallVector<unsigned>> permutationOf(LoadOp load) {
  auto map = dyn_cast<MapOp>(primitiveOf(load));
  if (!map || load.getGuard() ||
      load.getIndices().size() != map.getDomain().size()) {
    return std::nullopt;
  }
  SmallVector<unsigned> axes;
  for (Value index : load.getIndices()) {
    auto argument = dyn_cast<BlockArgument>(index);
    if (!argument || llvm::is_contained(axes, argument.getArgNumber())) {
      return std::nullopt;
    }
    axes.push_back(argument.getArgNumber());
  }
  return axes;
}

/// The coordinates that `value` depends on, and whether it reads a tensor.
static bool collectCoordinates(Value value,
                               llvm::SmallPtrSetImpl<Value> &coordinates) {
  llvm::SetVector<Value> reached;
  reached.insert(value);
  bool reads = false;
  for (size_t i = 0; i < reached.size(); ++i) {
    Value next = reached[i];
    Operation *op = next.getDefiningOp();
    if (!op) {
      coordinates.insert(next);
      continue;
    }
    auto load = dyn_cast<LoadOp>(op);
    reads |= load != nullptr;
    for (Value operand : op->getOperands()) {
      if (!load || operand != load.getSource()) {
        reached.insert(operand);
      }
    }
  }
  return reads;
}

llvm::SmallPtrSet<Value, 8> coordinatesOf(Value scalar) {
  llvm::SmallPtrSet<Value, 8> coordinates;
  collectCoordinates(scalar, coordinates);
  return coordinates;
}

/// True for a sum of coordinates times sizes; what is divided by a constant
/// goes to `dividends`.
static bool isPlainIndex(Operation &op,
                         llvm::SmallPtrSetImpl<Value> &dividends) {
  if (auto product = dyn_cast<arith::MulIOp>(op)) {
    auto isSize = [](Value v) {
      return v.getDefiningOp<SizeOp>() || v.getDefiningOp<arith::ConstantOp>();
    };
    return isSize(product.getLhs()) || isSize(product.getRhs());
  }
  if (auto division = dyn_cast<arith::FloorDivSIOp>(op)) {
    collectCoordinates(division.getLhs(), dividends);
    return getConstantIntValue(division.getRhs()).has_value();
  }
  return isa<arith::AddIOp, arith::SubIOp, arith::ConstantOp, SizeOp>(op);
}

bool hasPlainCoordinates(MapOp map, SmallVectorImpl<unsigned> &divided) {
  llvm::SmallPtrSet<Value, 8> dividends;
  bool isPlain = llvm::all_of(
      map.getBody().front().without_terminator(), [&](Operation &op) {
        if (auto load = dyn_cast<LoadOp>(op)) {
          return !load.getGuard();
        }
        Type type =
            op.getNumResults() == 1 ? op.getResult(0).getType() : Type();
        return type && type.isIndex()
                   ? isPlainIndex(op, dividends)
                   : type && !type.isInteger(1) && !isa<arith::SelectOp>(op);
      });
  for (Value coordinate : dividends) {
    divided.push_back(cast<BlockArgument>(coordinate).getArgNumber());
  }
  return isPlain;
}

bool isPlainMovement(MapOp map, SmallVectorImpl<unsigned> *divided) {
  auto load = map->getNumResults() == 1
                  ? yieldOf(map).getOperand(0).getDefiningOp<LoadOp>()
                  : LoadOp();
  SmallVector<unsigned> own;
  bool isPlain =
      load && hasPlainCoordinates(map, own) &&
      llvm::all_of(map.getBody().front().without_terminator(),
                   [&](Operation &op) {
                     return &op == load || op.getResult(0).getType().isIndex();
                   });
  if (!divided) {
    return isPlain && own.empty();
  }
  divided->append(own);
  return isPlain;
}

bool readsOneElement(LoadOp load) {
  return !load.getGuard() && llvm::all_of(load.getIndices(), [](Value index) {
    return index.getDefiningOp<arith::ConstantOp>() != nullptr;
  });
}

/// True if `factor` reads a constant, such as the weights of a depthwise
/// convolution, that has no result coordinate but `argument`: lanes run there.
static bool isLaneOfConstant(Value factor, BlockArgument argument,
                             const llvm::SmallPtrSetImpl<Value> &coordinates,
                             unsigned parallelRank) {
  auto load = factor.getDefiningOp<LoadOp>();
  return load && load.getSource().getDefiningOp<ConstantOp>() &&
         llvm::none_of(coordinates, [&](Value other) {
           return other != argument &&
                  cast<BlockArgument>(other).getArgNumber() < parallelRank;
         });
}

bool isBatchCoordinate(ReduceOp contraction, Value coordinate) {
  auto argument = dyn_cast<BlockArgument>(coordinate);
  if (!argument || argument.getArgNumber() >= contraction.getParallelRank()) {
    return false;
  }
  Operation *product = yieldOf(contraction).getOperand(0).getDefiningOp();
  return llvm::all_of(product->getOperands(), [&](Value factor) {
    llvm::SmallPtrSet<Value, 8> coordinates;
    collectCoordinates(factor, coordinates);
    return coordinates.contains(argument) &&
           !isLaneOfConstant(factor, argument, coordinates,
                             contraction.getParallelRank());
  });
}

bool isContraction(Operation *op) {
  auto reduce = dyn_cast<ReduceOp>(op);
  if (!reduce || reduce.getKind() != FoldKind::Add) {
    return false;
  }
  Operation *product = yieldOf(reduce).getOperand(0).getDefiningOp();
  if (!product || !isa<arith::MulFOp, arith::MulIOp>(product)) {
    return false;
  }
  // Some coordinate is missing in one of the factors: it is read again there.
  SmallVector<DimExpr> domain = reduce.getDomain();
  auto readsEachOnce = [&](Value factor, bool &reads) {
    llvm::SmallPtrSet<Value, 8> coordinates;
    reads = collectCoordinates(factor, coordinates);
    return llvm::all_of(
        reduce.getBody().getArguments(), [&](BlockArgument argument) {
          return domain[argument.getArgNumber()].isConstant(1) ||
                 coordinates.contains(argument);
        });
  };
  bool leftReads = false, rightReads = false;
  bool leftOnce = readsEachOnce(product->getOperand(0), leftReads);
  bool rightOnce = readsEachOnce(product->getOperand(1), rightReads);
  return leftReads && rightReads && !(leftOnce && rightOnce);
}

static bool isEpilogue(MapOp map, llvm::SmallPtrSetImpl<Operation *> &visited) {
  SmallVector<DimExpr> domain = map.getDomain();
  for (LoadOp load : map.getBody().getOps<LoadOp>()) {
    Operation *source = load.getSource().getDefiningOp();
    if (!source || source->getBlock() != map->getBlock() ||
        !isa<ReduceOp, MapOp>(source) ||
        dimsOf(load.getSource().getType()) != domain ||
        !readsAtOwnCoordinates(load)) {
      continue;
    }
    auto producer = dyn_cast<MapOp>(source);
    if (!producer ||
        (visited.insert(producer).second && isEpilogue(producer, visited))) {
      return true;
    }
  }
  return false;
}

bool isEpilogue(MapOp map) {
  llvm::SmallPtrSet<Operation *, 16> visited;
  return isEpilogue(map, visited);
}

unsigned countReaders(Operation *op) {
  llvm::SmallPtrSet<Operation *, 8> readers;
  for (Operation *user : op->getUsers()) {
    readers.insert(isa<LoadOp>(user) ? user->getParentOp() : user);
  }
  return readers.size();
}

std::optional<int64_t> staticBytes(Type tensor) {
  auto type = cast<RankedTensorType>(tensor);
  if (!type.hasStaticShape() || !type.getElementType().isIntOrFloat()) {
    return std::nullopt;
  }
  return type.getNumElements() *
         llvm::divideCeil(type.getElementTypeBitWidth(), 8);
}

SmallVector<Block *> graphBlocks(Operation *root) {
  SmallVector<Block *> blocks;
  root->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isPrimitive(op) || isa<FusedOp>(op)) {
      return WalkResult::skip();
    }
    if (isa<func::FuncOp, IfOp, LoopOp>(op)) {
      for (Region &region : op->getRegions()) {
        for (Block &block : region) {
          blocks.push_back(&block);
        }
      }
    }
    return WalkResult::advance();
  });
  return blocks;
}

} // namespace tilewright
