//===- KernelFrame.cpp - a kernel under construction ----------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "codegen/families/emit/KernelFrame.h"
#include "codegen/families/emit/Grid.h"
#include "codegen/families/emit/MemoryAccess.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tilewright::tw;

namespace tilewright::families {

Type bodyType(Type scalar) {
  auto type = dyn_cast<FloatType>(scalar);
  return type && type.getWidth() < 16
             ? IntegerType::get(scalar.getContext(), type.getWidth())
             : scalar;
}

Type storageType(Type element) {
  Type type = bodyType(scalarType(element));
  return type.isIntOrFloat() && type.getIntOrFloatBitWidth() < 8
             ? IntegerType::get(element.getContext(), 8)
             : type;
}

int64_t storageBytes(Type element) {
  return storageType(element).getIntOrFloatBitWidth() / 8;
}

static SmallVector<Type> bufferTypes(const FusedRegion &region) {
  SmallVector<Type> types;
  for (Value argument : region.op->getRegion(0).getArguments()) {
    types.push_back(storageType(elementTypeOf(argument.getType())));
  }
  for (Value value : region.getYield().getOperands()) {
    types.push_back(storageType(elementTypeOf(value.getType())));
  }
  return types;
}

KernelFrame::KernelFrame(const FusedRegion &region, const TargetSpec &target,
                         StringRef name, OpBuilder &builder)
    : region(region), target(target), b(region.op->getLoc(), builder, 1) {
  SmallVector<DimExpr> arguments = sizesOf(region.op);
  kernel = twk::KernelOp::create(b, b.getLoc(), name,
                                 target.isGpu() ? twk::ExecutionModel::simt
                                                : twk::ExecutionModel::simd,
                                 bufferTypes(region), arguments.size());
  if (target.isGpu()) {
    auto tactic = cast<DictionaryAttr>(*region.op.getTactic());
    Grid grid = Grid::fromAttribute(tactic);
    kernel.setThreads(grid.threads);
    team = grid.team;
  }
  b.setInsertionPointToStart(&kernel.getEntry());
  entryEnd = twk::ReturnOp::create(b, b.getLoc());
  b.setInsertionPoint(entryEnd);
  for (auto [i, size] : llvm::enumerate(arguments)) {
    sizes[size] = Lanes::index(kernel.getSize(i));
  }
  unsigned buffer = 0;
  for (BlockArgument argument : region.op->getRegion(0).getArguments()) {
    memories[argument] = {kernel.getBuffer(buffer++),
                          elementTypeOf(argument.getType()), 0,
                          sliceOfArgument(argument)};
  }
  for (auto [number, value] :
       llvm::enumerate(region.getYield().getOperands())) {
    outputs[stripReshapes(value)].push_back({kernel.getBuffer(buffer++),
                                             elementTypeOf(value.getType()), 0,
                                             sliceOfResult(region.op, number)});
  }
  for (auto constant : region.op->getRegion(0).front().getOps<ConstantOp>()) {
    makeConstant(constant);
  }
  // Code follows this loop-invariant part.
  entryEnd = arith::ConstantIndexOp::create(b, b.getLoc(), 0);
}

/// A small constant of the region is a table on the stack.
Result<twk::KernelOp> KernelFrame::finish(const Status &status) {
  if (!status) {
    kernel->erase();
    return status;
  }
  return kernel;
}

void KernelFrame::makeConstant(ConstantOp constant) {
  auto values = dyn_cast<DenseElementsAttr>(constant.getValue());
  if (!values) {
    return;
  }
  Type element = elementTypeOf(constant.getType());
  Type storage = storageType(element);
  auto type =
      MemRefType::get({std::max<int64_t>(values.getNumElements(), 1)}, storage);
  Value table = b.create<memref::AllocaOp>(type);
  int64_t position = 0;
  for (Attribute value : values.getValues<Attribute>()) {
    APInt bits = isa<FloatAttr>(value)
                     ? cast<FloatAttr>(value).getValue().bitcastToAPInt()
                     : cast<IntegerAttr>(value).getValue();
    TypedAttr stored;
    if (auto real = dyn_cast<FloatType>(storage)) {
      stored = FloatAttr::get(real, APFloat(real.getFloatSemantics(), bits));
    } else {
      stored = IntegerAttr::get(
          storage, bits.zextOrTrunc(storage.getIntOrFloatBitWidth()));
    }
    b.create<memref::StoreOp>(b.create<arith::ConstantOp>(stored), table,
                              b.constantIndex(position++));
  }
  auto flat = MemRefType::get({ShapedType::kDynamic}, storage);
  memories[constant.getResult()] = {b.create<memref::CastOp>(flat, table),
                                    element};
}

Lanes KernelFrame::size(DimExpr expr) {
  if (std::optional<int64_t> value = expr.getConstant()) {
    return Lanes::index(*value);
  }
  auto it = sizes.find(expr);
  if (it != sizes.end()) {
    return it->second;
  }
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(entryEnd);
  Lanes result = compute(expr);
  result = result.isConstantIndex() ? result : Lanes::index(b.first(result));
  sizes[expr] = result;
  return result;
}

Lanes KernelFrame::compute(DimExpr expr) {
  SmallVector<DimExpr, 4> operands = expr.operands();
  auto fold = [&](auto combine) {
    Lanes result = size(operands[0]);
    for (DimExpr operand : ArrayRef(operands).drop_front()) {
      result = combine(result, size(operand));
    }
    return result;
  };
  switch (expr.kind()) {
  case DimExpr::Kind::Add:
    return fold([&](Lanes x, Lanes y) { return b.add(x, y); });
  case DimExpr::Kind::Mul:
    return fold([&](Lanes x, Lanes y) { return b.mul(x, y); });
  case DimExpr::Kind::FloorDiv:
    return fold([&](Lanes x, Lanes y) {
      return b.floorDiv(x, b.max(y, Lanes::index(1)));
    });
  case DimExpr::Kind::Mod:
    return fold(
        [&](Lanes x, Lanes y) { return b.mod(x, b.max(y, Lanes::index(1))); });
  case DimExpr::Kind::Min:
    return fold([&](Lanes x, Lanes y) { return b.min(x, y); });
  case DimExpr::Kind::Max:
    return fold([&](Lanes x, Lanes y) { return b.max(x, y); });
  case DimExpr::Kind::Select: {
    Value isZero = b.create<arith::CmpIOp>(
        arith::CmpIPredicate::eq, sizeValue(operands[0]), b.constantIndex(0));
    return Lanes::index(b.create<arith::SelectOp>(
        isZero, sizeValue(operands[2]), sizeValue(operands[1])));
  }
  case DimExpr::Kind::Symbol:
    kernel->setAttr(missingSizeName, b.getStringAttr(expr.toString()));
    break;
  case DimExpr::Kind::Const:
    // sizesOf lists every size that stands alone, with the factors of sums and
    // products: whatever the kernel multiplies ends at one of those.
    break;
  }
  return Lanes::index(0);
}

ArrayRef<Lanes> KernelFrame::stridesOf(Type tensor) {
  auto [it, isNew] = strides.try_emplace(tensor);
  if (isNew) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(entryEnd);
    SmallVector<DimExpr> dims = dimsOf(tensor);
    SmallVector<Lanes> result(dims.size());
    Lanes stride = Lanes::index(1);
    for (size_t i = dims.size(); i-- > 0;) {
      result[i] = stride;
      stride = b.mul(stride, size(dims[i]));
    }
    it = strides.find(tensor);
    it->second = std::move(result);
  }
  return it->second;
}

Value KernelFrame::laneOfTeam() {
  Value thread = b.create<gpu::ThreadIdOp>(gpu::Dimension::x);
  return team == *kernel.getThreads()
             ? thread
             : Value(b.create<arith::RemUIOp>(thread, b.constantIndex(team)));
}

Value KernelFrame::placeAcross() {
  return b.create<arith::RemUIOp>(laneOfTeam(), b.constantIndex(across));
}

Value KernelFrame::laneOfResult() {
  return across == 1 ? laneOfTeam()
                     : Value(b.create<arith::DivUIOp>(laneOfTeam(),
                                                      b.constantIndex(across)));
}

Value KernelFrame::teamOfGrid() {
  int64_t threads = *kernel.getThreads();
  Value block = b.create<gpu::BlockIdOp>(gpu::Dimension::x);
  if (team == threads) {
    return block;
  }
  Value teams =
      b.named(team == 1 ? "threads" : "teams", b.constantIndex(threads / team));
  Value own = b.create<gpu::ThreadIdOp>(gpu::Dimension::x);
  if (team > 1) {
    own = b.create<arith::DivUIOp>(own, b.constantIndex(team));
  }
  Value first = b.create<arith::MulIOp>(block, teams);
  return b.create<arith::AddIOp>(first, own);
}

Value KernelFrame::teamsOfGrid() {
  int64_t teams = *kernel.getThreads() / team;
  return teams == 1 ? Value(kernel.getBlocks())
                    : Value(b.create<arith::MulIOp>(kernel.getBlocks(),
                                                    b.constantIndex(teams)));
}

Value KernelFrame::sharedView(Type element, int64_t byteOffset, int64_t count) {
  auto space =
      gpu::AddressSpaceAttr::get(b.getContext(), gpu::AddressSpace::Workgroup);
  auto typeOf = [&](Type of) {
    return MemRefType::get({ShapedType::kDynamic}, of, AffineMap(), space);
  };
  Value bytes = b.create<gpu::DynamicSharedMemoryOp>(typeOf(b.getI8Type()));
  return b.create<memref::ViewOp>(typeOf(element), bytes,
                                  b.constantIndex(byteOffset),
                                  ValueRange(b.constantIndex(count)));
}

Value KernelFrame::takeShared(Type element, int64_t count, int64_t slotBytes) {
  Value view = sharedView(element, sharedTaken, count);
  sharedTaken += count * slotBytes;
  return view;
}

Lanes KernelFrame::wholeLines(const Lanes &bytes) {
  constexpr int64_t lineBytes = 64;
  Lanes lines = b.floorDiv(b.add(bytes, Lanes::index(lineBytes - 1)),
                           Lanes::index(lineBytes));
  return b.mul(lines, Lanes::index(lineBytes));
}

Value KernelFrame::workspace(const Lanes &bytesOfOne) {
  if (!isSimt()) {
    return kernel.getWorkspace();
  }
  Value bytes = b.first(bytesOfOne);
  Value start = b.create<arith::MulIOp>(teamOfGrid(), bytes);
  return b.create<memref::ViewOp>(
      cast<MemRefType>(kernel.getWorkspace().getType()), kernel.getWorkspace(),
      start, ValueRange(bytes));
}

const Memory *KernelFrame::memoryOf(Value value) const {
  auto it = memories.find(stripReshapes(value));
  return it == memories.end() ? nullptr : &it->second;
}

void KernelFrame::setMemory(Value value, Memory memory) {
  memories[value] = memory;
}

ArrayRef<Memory> KernelFrame::outputsOf(Value value) const {
  auto it = outputs.find(value);
  return it == outputs.end() ? ArrayRef<Memory>()
                             : ArrayRef<Memory>(it->second);
}

void KernelFrame::setStreaming(ArrayRef<Value> values, bool isStreamed) {
  for (Value value : values) {
    for (Memory &memory : outputs[value]) {
      memory.isStreamed = isStreamed;
    }
  }
}

void KernelFrame::readOperandsAhead() {
  if (isSimt()) {
    return; // other warps run while one waits
  }
  for (Value argument : region.op.getBody().front().getArguments()) {
    memories[argument].readsAhead = true;
  }
}

const Lanes *KernelFrame::registerOf(Value value, unsigned copy) const {
  auto it = registers.find({stripReshapes(value), copy});
  return it == registers.end() ? nullptr : &it->second;
}

void KernelFrame::setRegister(Value value, unsigned copy, Lanes lanes) {
  registers[{value, copy}] = lanes;
}

void KernelFrame::reportBadIndex(Value condition) {
  auto branch = b.create<scf::IfOp>(condition, /*withElse=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  Value code = b.create<arith::ConstantOp>(b.getI32IntegerAttr(1));
  if (isSimt()) { // other threads may report at the same time
    b.create<memref::AtomicRMWOp>(arith::AtomicRMWKind::maxs, code,
                                  kernel.getStatus(),
                                  ValueRange(b.constantIndex(0)));
    return;
  }
  b.create<memref::StoreOp>(code, kernel.getStatus(), b.constantIndex(0));
}

} // namespace tilewright::families
