//===- Sequential.cpp - scans ---------------------------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "codegen/families/Sequential.h"
#include "codegen/families/BodyEmitter.h"
#include "codegen/families/MemoryAccess.h"
#include "codegen/families/Reduction.h"
#include "codegen/families/TaskLoop.h"
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

namespace {

/// One line of a scan after the other.
class ScanEmitter {
public:
  explicit ScanEmitter(KernelFrame &frame)
      : frame(frame), b(frame.getBuilder()),
        scan(cast<ScanOp>(frame.getRegion().primitives.front())),
        element(elementTypeOf(scan.getType())),
        isUnsigned(tw::isUnsigned(element)) {}

  Status run();

private:
  Status line(ArrayRef<Value> at);
  Result<Value> step(ArrayRef<Value> line, Value number, Value sum);
  Value fromElement(Value value);
  Value toElement(Value value);

  KernelFrame &frame;
  LaneBuilder &b;
  ScanOp scan;
  Type element;
  bool isUnsigned;
  Type accumulator;
};

} // namespace

Status ScanEmitter::run() {
  Type scalar = scalarType(element);
  if (bodyType(scalar) != scalar) {
    return Status(ErrorCode::UnsupportedType,
                  "a scan cannot fold 8-bit or 4-bit floats");
  }
  isUnsigned |= scalar.isInteger(1);
  // Long sums lose less in f64; the result is rounded once per element.
  accumulator = isa<FloatType>(scalar) ? Type(b.getF64Type()) : scalar;
  SmallVector<Lanes> counts;
  for (auto [axis, extent] : llvm::enumerate(frame.getRegion().parallel)) {
    if (axis != scan.getAxis()) {
      counts.push_back(frame.size(extent));
    }
  }
  return emitTaskLoop(frame, counts,
                      [&](ArrayRef<Value> at) { return line(at); });
}

Status ScanEmitter::line(ArrayRef<Value> at) {
  Value start = b.create<arith::ConstantOp>(
      identityOf(scan.getKind(), accumulator, isUnsigned));
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

Value ScanEmitter::fromElement(Value value) {
  return value.getType() == accumulator
             ? value
             : Value(b.create<arith::ExtFOp>(accumulator, value));
}

Value ScanEmitter::toElement(Value value) {
  Type type = scalarType(element);
  return type == accumulator ? value
                             : Value(b.create<arith::TruncFOp>(type, value));
}

/// Folds one element in and writes the prefix. \returns the new fold.
Result<Value> ScanEmitter::step(ArrayRef<Value> line, Value number, Value sum) {
  SmallVector<Lanes> coordinates;
  for (Value at : line) {
    coordinates.push_back(Lanes::index(at));
  }
  coordinates.insert(coordinates.begin() + scan.getAxis(),
                     Lanes::index(number));
  BodyEmitter emitter(frame, scan.getBody().front(), Value());
  TW_RETURN_IF_ERROR(emitter.emit(0, coordinates));
  Value value = fromElement(b.first(emitter.get(yieldOf(scan).getOperand(0))));
  Value next = fold(b, scan.getKind(), isUnsigned, sum, value);
  Value prefix = toElement(scan.getExclusive() ? sum : next);
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
  Status status = ScanEmitter(frame).run();
  if (!status) {
    frame.getKernel()->erase();
    return status;
  }
  return frame.getKernel();
}

} // namespace tilewright::families
