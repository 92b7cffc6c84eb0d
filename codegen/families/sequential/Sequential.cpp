//===- Sequential.cpp - scans ---------------------------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "codegen/families/sequential/Sequential.h"
#include "codegen/families/emit/BodyEmitter.h"
#include "codegen/families/emit/MemoryAccess.h"
#include "codegen/families/nest/Reduction.h"
#include "codegen/families/nest/TaskLoop.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tilewright::tw;

namespace tilewright::families {

Launch sequentialLaunch(const FusedRegion &region) {
  MLIRContext *context = region.op.getContext();
  Launch launch;
  launch.sizes = sizesOf(region.op);
  launch.workspaceBytes = DimExpr::constant(context, 0);
  auto scan = cast<ScanOp>(region.primitives.front());
  SmallVector<DimExpr> lines = region.parallel;
  lines.erase(lines.begin() + scan.getAxis());
  launch.tasks = productOf(context, lines);
  launch.grain = 64;
  return launch;
}

//===----------------------------------------------------------------------===//
// What schedules share
//===----------------------------------------------------------------------===//

ScanFold::ScanFold(KernelFrame &frame)
    : frame(frame), b(frame.getBuilder()),
      scan(cast<ScanOp>(frame.getRegion().primitives.front())),
      scalar(scalarType(elementTypeOf(scan.getType()))),
      isUnsigned(tw::isUnsigned(elementTypeOf(scan.getType())) ||
                 scalar.isInteger(1)) {
  bool isNarrow = scalar.getIntOrFloatBitWidth() < 32;
  accumulator = isa<FloatType>(scalar) ? Type(b.getF64Type())
                : isNarrow             ? Type(b.getI32Type())
                                       : scalar;
}

Status ScanFold::check() const {
  return bodyType(scalar) == scalar
             ? Status::ok()
             : Status(ErrorCode::UnsupportedType,
                      "a scan cannot fold 8-bit or 4-bit floats");
}

Value ScanFold::initial() {
  return b.create<arith::ConstantOp>(
      identityOf(scan.getKind(), accumulator, isUnsigned));
}

Value ScanFold::both(Value x, Value y) {
  return fold(b, scan.getKind(), isUnsigned, x, y);
}

Value ScanFold::fromElement(Value value) {
  return scalar == accumulator ? value
         : isa<FloatType>(scalar)
             ? Value(b.create<arith::ExtFOp>(accumulator, value))
         : isUnsigned ? Value(b.create<arith::ExtUIOp>(accumulator, value))
                      : Value(b.create<arith::ExtSIOp>(accumulator, value));
}

Value ScanFold::toElement(Value value) {
  return scalar == accumulator ? value
         : isa<FloatType>(scalar)
             ? Value(b.create<arith::TruncFOp>(scalar, value))
             : Value(b.create<arith::TruncIOp>(scalar, value));
}

SmallVector<Lanes> ScanFold::lines() {
  SmallVector<Lanes> counts;
  for (auto [axis, extent] : llvm::enumerate(frame.getRegion().parallel)) {
    if (axis != scan.getAxis()) {
      counts.push_back(frame.size(extent));
    }
  }
  return counts;
}

SmallVector<Lanes> ScanFold::at(ArrayRef<Value> line,
                                const Lanes &number) const {
  SmallVector<Lanes> coordinates;
  for (Value place : line) {
    coordinates.push_back(Lanes::index(place));
  }
  coordinates.insert(coordinates.begin() + scan.getAxis(), number);
  return coordinates;
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

namespace {

/// One line of a scan after the other.
class ScanEmitter {
public:
  explicit ScanEmitter(KernelFrame &frame)
      : frame(frame), b(frame.getBuilder()), fold(frame), scan(fold.getScan()) {
  }

  Status run();

private:
  Status line(ArrayRef<Value> at);
  Result<Value> step(ArrayRef<Value> line, Value number, Value sum);

  KernelFrame &frame;
  LaneBuilder &b;
  ScanFold fold;
  ScanOp scan;
};

} // namespace

Status ScanEmitter::run() {
  TW_RETURN_IF_ERROR(fold.check());
  return emitTaskLoop(frame, fold.lines(),
                      [&](ArrayRef<Value> at) { return line(at); });
}

Status ScanEmitter::line(ArrayRef<Value> at) {
  Value start = fold.initial();
  Value end = frame.sizeValue(frame.getRegion().parallel[scan.getAxis()]);
  auto loop = b.create<scf::ForOp>(b.constantIndex(0), end, b.constantIndex(1),
                                   ValueRange(start));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value number = loop.getInductionVar();
  if (scan.getReverse()) {
    Value last = b.create<arith::SubIOp>(end, b.constantIndex(1));
    number = b.create<arith::SubIOp>(last, number);
  }
  Result<Value> sum = step(at, number, loop.getRegionIterArg(0));
  TW_RETURN_IF_ERROR(sum.status());
  b.create<scf::YieldOp>(ValueRange(*sum));
  return Status::ok();
}

/// Folds one element in and writes the prefix. \returns the new fold.
Result<Value> ScanEmitter::step(ArrayRef<Value> line, Value number, Value sum) {
  SmallVector<Lanes> coordinates = fold.at(line, Lanes::index(number));
  BodyEmitter emitter(frame, scan.getBody().front(), Value());
  TW_RETURN_IF_ERROR(emitter.emit(0, coordinates));
  Value value =
      fold.fromElement(b.first(emitter.get(yieldOf(scan).getOperand(0))));
  Value next = fold.both(sum, value);
  Value prefix = fold.toElement(scan.getExclusive() ? sum : next);
  for (const Memory &memory : frame.outputsOf(scan.getResult())) {
    Lanes offset = offsetOf(frame, memory, scan.getType(), coordinates);
    storeLanes(frame, memory, offset, Lanes::scalar(prefix), Value());
  }
  return next;
}

Result<twk::KernelOp> buildSequential(const FusedRegion &region,
                                      const TargetSpec &target, StringRef name,
                                      OpBuilder &builder) {
  KernelFrame frame(region, target, name, builder);
  return frame.finish(ScanEmitter(frame).run());
}

} // namespace tilewright::families
