//===- Lanes.cpp - a scalar of a body across vector lanes -----------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "codegen/families/emit/Lanes.h"
#include "ir/twk/TwkOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;

namespace tilewright::families {

//===----------------------------------------------------------------------===//
// Lanes
//===----------------------------------------------------------------------===//

Lanes Lanes::scalar(Value value) {
  Lanes lanes;
  lanes.value = value;
  lanes.isIndex = value.getType().isIndex();
  return lanes;
}

Lanes Lanes::vector(Value value) {
  Lanes lanes;
  lanes.kind = Kind::Vector;
  lanes.value = value;
  lanes.isIndex = cast<VectorType>(value.getType()).getElementType().isIndex();
  return lanes;
}

Lanes Lanes::index(int64_t constant) {
  Lanes lanes;
  lanes.isIndex = true;
  lanes.offset = constant;
  lanes.alignment = 0;
  return lanes;
}

Lanes Lanes::index(Value base, int64_t alignment) {
  Lanes lanes = scalar(base);
  lanes.alignment = alignment;
  return lanes;
}

Lanes Lanes::coordinate(Value base, int64_t alignment) {
  Lanes lanes = index(base, alignment);
  lanes.kind = Kind::Linear;
  lanes.stride = 1;
  return lanes;
}

int64_t Lanes::firstAlignment() const { return std::gcd(alignment, offset); }

bool Lanes::operator==(const Lanes &other) const {
  return kind == other.kind && value == other.value &&
         isIndex == other.isIndex && offset == other.offset &&
         stride == other.stride && strideValue == other.strideValue;
}

//===----------------------------------------------------------------------===//
// Materialising
//===----------------------------------------------------------------------===//

Value LaneBuilder::constantIndex(int64_t value) {
  return arith::ConstantIndexOp::create(*this, getLoc(), value);
}

Value LaneBuilder::named(StringRef name, Value value) {
  if (Operation *op = value.getDefiningOp()) {
    op->setAttr(twk::nameAttr, getStringAttr(name));
  }
  return value;
}

Value LaneBuilder::first(const Lanes &lanes) {
  if (!lanes.isIndex) {
    return lanes.value;
  }
  if (!lanes.value) {
    return constantIndex(lanes.offset);
  }
  return lanes.offset == 0 ? lanes.value
                           : Value(create<arith::AddIOp>(
                                 lanes.value, constantIndex(lanes.offset)));
}

Value LaneBuilder::splat(Value scalar) {
  return createOrFold<vector::BroadcastOp>(vectorOf(scalar.getType()), scalar);
}

Value LaneBuilder::asVector(const Lanes &lanes) {
  if (lanes.isVector()) {
    return lanes.value;
  }
  Value start = splat(first(lanes));
  if (lanes.isUniform()) {
    return start;
  }
  SmallVector<Attribute> steps;
  for (int64_t lane = 0; lane < width; ++lane) {
    steps.push_back(
        getIndexAttr(lane * (lanes.strideValue ? 1 : lanes.stride)));
  }
  Value step = create<arith::ConstantOp>(
      DenseElementsAttr::get(vectorOf(getIndexType()), steps));
  if (lanes.strideValue) {
    step = create<arith::MulIOp>(step, splat(lanes.strideValue));
  }
  return create<arith::AddIOp>(start, step);
}

//===----------------------------------------------------------------------===//
// Index arithmetic
//===----------------------------------------------------------------------===//

Lanes LaneBuilder::vectorBinary(StringRef op, const Lanes &a, const Lanes &b) {
  bool isVector = !a.isUniform() || !b.isUniform();
  Value left = isVector ? asVector(a) : first(a);
  Value right = isVector ? asVector(b) : first(b);
  OperationState state(getLoc(), op, {left, right}, {left.getType()});
  Value result = OpBuilder::create(state)->getResult(0);
  return isVector ? Lanes::vector(result) : Lanes::index(result);
}

Lanes LaneBuilder::add(const Lanes &a, const Lanes &b) {
  if (a.isVector() || b.isVector()) {
    return vectorBinary("arith.addi", a, b);
  }
  Lanes sum = a.isLinear() ? a : b;
  const Lanes &other = a.isLinear() ? b : a;
  if (other.isLinear()) {
    if (a.strideValue || b.strideValue) {
      return vectorBinary("arith.addi", a, b);
    }
    sum.stride = a.stride + b.stride;
  }
  sum.offset = a.offset + b.offset;
  if (a.value && b.value) {
    sum.value = create<arith::AddIOp>(a.value, b.value);
  } else {
    sum.value = a.value ? a.value : b.value;
  }
  sum.alignment = std::gcd(a.alignment, b.alignment);
  if (sum.isLinear() && !sum.strideValue && sum.stride == 0) {
    sum.kind = Lanes::Kind::Uniform;
  }
  return sum;
}

Lanes LaneBuilder::mul(const Lanes &a, const Lanes &b) {
  if (b.isConstantIndex() && !a.isVector()) {
    int64_t factor = b.offset;
    if (factor == 1) {
      return a;
    }
    if (factor == 0) {
      return Lanes::index(0);
    }
    Lanes product = a;
    product.offset *= factor;
    product.stride *= factor;
    product.alignment *= std::abs(factor);
    if (a.value) {
      product.value = create<arith::MulIOp>(a.value, constantIndex(factor));
    }
    if (a.strideValue) {
      product.strideValue =
          create<arith::MulIOp>(a.strideValue, constantIndex(factor));
    }
    return product;
  }
  if (a.isConstantIndex() && !b.isVector()) {
    return mul(b, a);
  }
  if (a.isVector() || b.isVector() || (a.isLinear() && b.isLinear())) {
    return vectorBinary("arith.muli", a, b);
  }
  if (b.isLinear()) {
    return mul(b, a);
  }
  Value factor = first(b);
  Value base = first(a);
  Lanes product = Lanes::index(create<arith::MulIOp>(base, factor));
  // What is known to be zero is a multiple of anything.
  product.alignment = std::max<int64_t>(a.firstAlignment(), 1) *
                      std::max<int64_t>(b.firstAlignment(), 1);
  if (a.isLinear()) {
    product.kind = Lanes::Kind::Linear;
    if (a.strideValue) {
      product.strideValue = create<arith::MulIOp>(a.strideValue, factor);
    } else if (a.stride == 1) {
      product.strideValue = factor;
    } else {
      product.strideValue =
          create<arith::MulIOp>(factor, constantIndex(a.stride));
    }
  }
  return product;
}

Lanes LaneBuilder::sub(const Lanes &a, const Lanes &b) {
  if (a.isVector() || b.isVector() || a.strideValue || b.strideValue) {
    return vectorBinary("arith.subi", a, b);
  }
  if (!b.value) {
    Lanes negative = b;
    negative.offset = -b.offset;
    negative.stride = -b.stride;
    return add(a, negative);
  }
  Lanes difference = a;
  difference.offset = a.offset - b.offset;
  difference.stride = a.stride - b.stride;
  difference.kind =
      difference.stride == 0 ? Lanes::Kind::Uniform : Lanes::Kind::Linear;
  difference.alignment = std::gcd(a.alignment, b.alignment);
  if (a.value == b.value) {
    difference.value = Value();
    difference.alignment = 0;
  } else {
    difference.value =
        create<arith::SubIOp>(a.value ? a.value : constantIndex(0), b.value);
  }
  return difference;
}

/// True when `a` steps by one and a vector of it never crosses a multiple of
/// the constant `divisor`.
static bool staysInBlock(const Lanes &a, int64_t divisor, int64_t width) {
  return a.isLinear() && !a.strideValue && a.stride == 1 &&
         divisor % width == 0 && a.firstAlignment() % width == 0;
}

Lanes LaneBuilder::floorDiv(const Lanes &a, const Lanes &b) {
  std::optional<int64_t> divisor;
  if (b.isConstantIndex() && b.offset > 0) {
    divisor = b.offset;
  }
  if (divisor == 1) {
    return a;
  }
  if (divisor && a.isConstantIndex()) {
    return Lanes::index(llvm::divideFloorSigned(a.offset, *divisor));
  }
  if (divisor && staysInBlock(a, *divisor, width)) {
    return Lanes::index(
        create<arith::FloorDivSIOp>(first(a), constantIndex(*divisor)));
  }
  if (divisor && *divisor >= width && a.isLinear() && !a.strideValue &&
      a.stride == 1) {
    // At most one multiple of the divisor lies among the lanes.
    Value start = first(a), by = constantIndex(*divisor);
    Value quotient = create<arith::FloorDivSIOp>(start, by);
    Value rest =
        create<arith::SubIOp>(start, create<arith::MulIOp>(quotient, by));
    Lanes position = Lanes::coordinate(rest, 1);
    Value crosses = create<arith::CmpIOp>(arith::CmpIPredicate::sge,
                                          asVector(position), splat(by));
    Value next = create<arith::AddIOp>(quotient, constantIndex(1));
    return Lanes::vector(
        create<arith::SelectOp>(crosses, splat(next), splat(quotient)));
  }
  return vectorBinary("arith.floordivsi", a, b);
}

Lanes LaneBuilder::mod(const Lanes &a, const Lanes &b) {
  return sub(a, mul(floorDiv(a, b), b));
}

Lanes LaneBuilder::min(const Lanes &a, const Lanes &b) {
  if (a.isConstantIndex() && b.isConstantIndex()) {
    return Lanes::index(std::min(a.offset, b.offset));
  }
  return vectorBinary("arith.minsi", a, b);
}

Lanes LaneBuilder::max(const Lanes &a, const Lanes &b) {
  if (a.isConstantIndex() && b.isConstantIndex()) {
    return Lanes::index(std::max(a.offset, b.offset));
  }
  return vectorBinary("arith.maxsi", a, b);
}

} // namespace tilewright::families
