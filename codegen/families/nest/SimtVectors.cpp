//===- SimtVectors.cpp - vectors of a thread ------------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "codegen/families/nest/SimtVectors.h"
#include "codegen/families/emit/KernelFrame.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tilewright::families {

namespace {

class VectorSplitter {
public:
  explicit VectorSplitter(MLIRContext *context) : b(context) {}

  Status run(Block &block);
  /// Erases what has been replaced.
  void erase();

private:
  Status operation(Operation *op);
  Status loop(scf::ForOp op);
  Status branch(scf::IfOp op);
  bool rearrangement(Operation *op);
  bool access(Operation *op);
  void elementwise(Operation *op);
  void load(vector::LoadOp op);
  void store(vector::StoreOp op);

  /// The scalars of a vector; a scalar itself.
  SmallVector<Value> lanesOf(Value value);
  SmallVector<Value> flatten(ValueRange values);
  static SmallVector<Type> flatten(TypeRange types);
  /// Gives old values, in order, the new values of their lanes.
  void map(ValueRange old, ValueRange lanes);
  Value plus(Value index, int64_t offset);
  Location loc() { return b.getInsertionPoint()->getLoc(); }

  OpBuilder b;
  DenseMap<Value, SmallVector<Value>> lanes;
  SmallVector<Operation *> replaced;
};

} // namespace

static bool isVector(Type type) { return isa<VectorType>(type); }

static bool isScalar(Operation *op) {
  return llvm::none_of(op->getResultTypes(), isVector) &&
         llvm::none_of(op->getOperandTypes(), isVector);
}

SmallVector<Value> VectorSplitter::lanesOf(Value value) {
  return isVector(value.getType()) ? lanes.lookup(value)
                                   : SmallVector<Value>{value};
}

Value VectorSplitter::plus(Value index, int64_t offset) {
  if (offset == 0) {
    return index;
  }
  Value distance = arith::ConstantIndexOp::create(b, loc(), offset);
  return arith::AddIOp::create(b, loc(), index, distance);
}

SmallVector<Value> VectorSplitter::flatten(ValueRange values) {
  SmallVector<Value> all;
  for (Value value : values) {
    llvm::append_range(all, lanesOf(value));
  }
  return all;
}

SmallVector<Type> VectorSplitter::flatten(TypeRange types) {
  SmallVector<Type> all;
  for (Type type : types) {
    if (auto vector = dyn_cast<VectorType>(type)) {
      all.append(vector.getNumElements(), vector.getElementType());
    } else {
      all.push_back(type);
    }
  }
  return all;
}

void VectorSplitter::map(ValueRange old, ValueRange all) {
  size_t next = 0;
  for (Value value : old) {
    auto vector = dyn_cast<VectorType>(value.getType());
    size_t count = vector ? vector.getNumElements() : 1;
    if (vector) {
      lanes[value] = llvm::to_vector(all.slice(next, count));
    } else {
      value.replaceAllUsesWith(all[next]);
    }
    next += count;
  }
}

Status VectorSplitter::run(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    TW_RETURN_IF_ERROR(operation(&op));
  }
  return Status::ok();
}

Status VectorSplitter::operation(Operation *op) {
  b.setInsertionPoint(op);
  if (auto inner = dyn_cast<scf::ForOp>(op)) {
    return loop(inner);
  }
  if (auto inner = dyn_cast<scf::IfOp>(op)) {
    return branch(inner);
  }
  if (auto yield = dyn_cast<scf::YieldOp>(op)) {
    yield->setOperands(flatten(yield.getOperands()));
    return Status::ok();
  }
  if (isScalar(op)) {
    return Status::ok();
  }
  replaced.push_back(op);
  if (rearrangement(op) || access(op)) {
    return Status::ok();
  }
  StringRef dialect = op->getName().getDialectNamespace();
  if (dialect != "arith" && dialect != "math") {
    return Status(ErrorCode::Internal, "a thread of a GPU has no '" +
                                           op->getName().getStringRef().str() +
                                           "'");
  }
  elementwise(op);
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

Status VectorSplitter::loop(scf::ForOp op) {
  if (isScalar(op)) {
    return run(*op.getBody());
  }
  auto fresh =
      scf::ForOp::create(b, op.getLoc(), op.getLowerBound(), op.getUpperBound(),
                         op.getStep(), flatten(op.getInitArgs()));
  fresh->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  if (!fresh.getBody()->empty()) {
    fresh.getBody()->back().erase();
  }
  op.getInductionVar().replaceAllUsesWith(fresh.getInductionVar());
  map(op.getRegionIterArgs(), fresh.getRegionIterArgs());
  fresh.getBody()->getOperations().splice(fresh.getBody()->end(),
                                          op.getBody()->getOperations());
  TW_RETURN_IF_ERROR(run(*fresh.getBody()));
  map(op.getResults(), fresh.getResults());
  replaced.push_back(op);
  return Status::ok();
}

Status VectorSplitter::branch(scf::IfOp op) {
  if (!isScalar(op)) {
    bool hasElse = op.elseBlock() != nullptr;
    auto fresh = scf::IfOp::create(b, op.getLoc(), flatten(op.getResultTypes()),
                                   op.getCondition(), hasElse);
    fresh->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    fresh.getThenRegion().takeBody(op.getThenRegion());
    fresh.getElseRegion().takeBody(op.getElseRegion());
    map(op.getResults(), fresh.getResults());
    replaced.push_back(op);
    op = fresh;
  }
  TW_RETURN_IF_ERROR(run(*op.thenBlock()));
  return op.elseBlock() ? run(*op.elseBlock()) : Status::ok();
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

/// What only gives scalars other places.
bool VectorSplitter::rearrangement(Operation *op) {
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case([&](arith::ConstantOp constant) {
        auto values = cast<DenseElementsAttr>(constant.getValue());
        SmallVector<Value> all;
        for (Attribute value : values.getValues<Attribute>()) {
          all.push_back(
              arith::ConstantOp::create(b, loc(), cast<TypedAttr>(value)));
        }
        lanes[constant] = std::move(all);
        return true;
      })
      .Case([&](vector::BroadcastOp broadcast) {
        auto type = cast<VectorType>(broadcast.getType());
        lanes[broadcast].assign(type.getNumElements(),
                                lanesOf(broadcast.getSource()).front());
        return !isVector(broadcast.getSourceType());
      })
      .Case([&](vector::FromElementsOp vector) {
        lanes[vector] = llvm::to_vector(vector.getElements());
        return true;
      })
      .Case([&](vector::ShuffleOp shuffle) {
        SmallVector<Value> both = flatten({shuffle.getV1(), shuffle.getV2()}),
                           all;
        for (int64_t lane : shuffle.getMask()) {
          all.push_back(both[lane]);
        }
        lanes[shuffle] = std::move(all);
        return true;
      })
      .Case([&](vector::ExtractOp extract) {
        if (!extract.getDynamicPosition().empty()) {
          return false;
        }
        int64_t lane = extract.getStaticPosition().front();
        extract.replaceAllUsesWith(lanesOf(extract.getSource())[lane]);
        return true;
      })
      .Case([&](vector::ReductionOp reduction) {
        if (reduction.getKind() != vector::CombiningKind::OR) {
          return false;
        }
        Value any;
        for (Value lane : lanesOf(reduction.getVector())) {
          any = any ? Value(arith::OrIOp::create(b, loc(), any, lane)) : lane;
        }
        reduction.replaceAllUsesWith(any);
        return true;
      })
      .Default([](Operation *) { return false; });
}

/// One operation for each lane.
void VectorSplitter::elementwise(Operation *op) {
  auto type = cast<VectorType>(op->getResult(0).getType());
  SmallVector<SmallVector<Value>> operands;
  for (Value operand : op->getOperands()) {
    operands.push_back(lanesOf(operand));
  }
  SmallVector<Value> all;
  for (int64_t lane = 0; lane < type.getNumElements(); ++lane) {
    OperationState state(op->getLoc(), op->getName());
    for (ArrayRef<Value> operand : operands) {
      state.addOperands(operand[operand.size() == 1 ? 0 : lane]);
    }
    state.addTypes(type.getElementType());
    state.addAttributes(op->getAttrs());
    all.push_back(b.create(state)->getResult(0));
  }
  lanes[op->getResult(0)] = std::move(all);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// How many elements of a vector one access takes.
static int64_t elementsAtOnce(VectorType type,
                              std::optional<uint64_t> alignment) {
  constexpr int64_t mostBytes = 16;
  int64_t elementBytes = type.getElementTypeBitWidth() / 8;
  int64_t bytes = std::min<int64_t>(mostBytes, alignment.value_or(1));
  int64_t count = std::max<int64_t>(bytes / elementBytes, 1);
  return std::gcd(count, type.getNumElements());
}

void VectorSplitter::load(vector::LoadOp op) {
  VectorType type = op.getVectorType();
  int64_t atOnce = elementsAtOnce(type, op.getAlignment());
  SmallVector<Value> all;
  for (int64_t first = 0; first < type.getNumElements(); first += atOnce) {
    Value at = plus(op.getIndices().front(), first);
    if (atOnce == 1) {
      all.push_back(memref::LoadOp::create(b, loc(), op.getBase(), at));
      continue;
    }
    Value part = vector::LoadOp::create(
        b, loc(), VectorType::get({atOnce}, type.getElementType()),
        op.getBase(), at);
    for (int64_t lane = 0; lane < atOnce; ++lane) {
      all.push_back(
          vector::ExtractOp::create(b, loc(), part, ArrayRef<int64_t>{lane}));
    }
  }
  lanes[op] = std::move(all);
}

void VectorSplitter::store(vector::StoreOp op) {
  VectorType type = op.getVectorType();
  int64_t atOnce = elementsAtOnce(type, op.getAlignment());
  SmallVector<Value> all = lanesOf(op.getValueToStore());
  for (int64_t first = 0; first < type.getNumElements(); first += atOnce) {
    Value at = plus(op.getIndices().front(), first);
    if (atOnce == 1) {
      memref::StoreOp::create(b, loc(), all[first], op.getBase(), at);
      continue;
    }
    Value part = vector::FromElementsOp::create(
        b, loc(), VectorType::get({atOnce}, type.getElementType()),
        ArrayRef(all).slice(first, atOnce));
    vector::StoreOp::create(b, loc(), part, op.getBase(), at);
  }
}

static bool isAllTrue(Value mask) {
  auto constant = mask.getDefiningOp<arith::ConstantOp>();
  auto values =
      constant ? dyn_cast<SplatElementsAttr>(constant.getValue()) : nullptr;
  return values && values.getSplatValue<bool>();
}

bool VectorSplitter::access(Operation *op) {
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case([&](vector::LoadOp one) {
        load(one);
        return true;
      })
      .Case([&](vector::StoreOp one) {
        store(one);
        return true;
      })
      .Case([&](vector::GatherOp gather) {
        SmallVector<Value> all;
        for (Value offset : lanesOf(gather.getIndices())) {
          Value at = arith::AddIOp::create(b, loc(),
                                           gather.getOffsets().front(), offset);
          all.push_back(memref::LoadOp::create(b, loc(), gather.getBase(), at));
        }
        lanes[gather] = std::move(all);
        return isAllTrue(gather.getMask());
      })
      .Case([&](vector::ScatterOp scatter) {
        for (auto [offset, value] :
             llvm::zip(lanesOf(scatter.getIndices()),
                       lanesOf(scatter.getValueToStore()))) {
          Value at = arith::AddIOp::create(
              b, loc(), scatter.getOffsets().front(), offset);
          memref::StoreOp::create(b, loc(), value, scatter.getBase(), at);
        }
        return isAllTrue(scatter.getMask());
      })
      .Default([](Operation *) { return false; });
}

void VectorSplitter::erase() {
  for (Operation *op : replaced) {
    op->dropAllReferences();
  }
  for (Operation *op : replaced) {
    op->erase();
  }
}

Status takeVectorsApart(Block &block) {
  VectorSplitter splitter(block.getParentOp()->getContext());
  TW_RETURN_IF_ERROR(splitter.run(block));
  splitter.erase();
  return Status::ok();
}

} // namespace tilewright::families
