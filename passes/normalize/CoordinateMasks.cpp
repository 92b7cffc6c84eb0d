//===- CoordinateMasks.cpp - masks that coordinates tell ------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "passes/normalize/CoordinateMasks.h"
#include "ir/BodyBuilder.h"

using namespace mlir;

namespace tilewright {

using namespace tw;

/// Constants of fewer elements stand in bodies.
static constexpr int64_t fewElements = 33;

/// True for a map whose elements cost little more than reading them.
static bool isCheapMap(Operation *op) {
  constexpr size_t fewOperations = 16;
  if (!isa<MapOp>(op) || op->getNumResults() != 1) {
    return false;
  }
  Block &body = op->getRegion(0).front();
  return body.getOperations().size() <= fewOperations &&
         llvm::all_of(body.without_terminator(), [](Operation &inner) {
           if (auto load = dyn_cast<LoadOp>(inner)) {
             return !load.getGuard();
           }
           return isa<arith::ConstantOp, arith::AddIOp, arith::SubIOp,
                      arith::MulIOp, arith::IndexCastOp, arith::CmpIOp,
                      arith::AndIOp, arith::OrIOp, arith::XOrIOp,
                      arith::SelectOp, arith::AddFOp, arith::MulFOp,
                      arith::ExtFOp, arith::TruncFOp>(inner);
         });
}

namespace {

/// start, start + step, … along the only axis that is not of size one.
struct EvenNumbers {
  int64_t start = 0, step = 0;
  unsigned axis = 0;
};

} // namespace

static std::optional<EvenNumbers> evenNumbers(ConstantOp constant) {
  auto type = cast<RankedTensorType>(constant.getType());
  auto elements = dyn_cast<DenseIntElementsAttr>(constant.getValue());
  Type element = type.getElementType();
  if (!elements || !(element.isInteger(32) || element.isInteger(64)) ||
      element.isUnsignedInteger() ||
      llvm::count_if(type.getShape(), [](int64_t n) { return n != 1; }) != 1) {
    return std::nullopt;
  }
  EvenNumbers result;
  while (type.getDimSize(result.axis) == 1) {
    ++result.axis;
  }
  SmallVector<int64_t> numbers;
  constexpr int64_t most = int64_t(1) << 31; // no sum below overflows
  for (const APInt &number : elements) {
    numbers.push_back(number.getSExtValue());
    if (numbers.back() <= -most || numbers.back() >= most) {
      return std::nullopt;
    }
  }
  result.start = numbers[0];
  result.step = numbers.size() > 1 ? numbers[1] - numbers[0] : 0;
  for (auto [i, number] : llvm::enumerate(numbers)) {
    if (number != result.start + static_cast<int64_t>(i) * result.step) {
      return std::nullopt;
    }
  }
  return result;
}

static int64_t elementsOf(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).getNumElements();
}

bool isMaskOfCoordinates(Value result,
                         const llvm::SetVector<Operation *> &operations) {
  constexpr int64_t manyElements = 1 << 12;
  bool compares = false;
  for (Operation *op : operations) {
    if (auto constant = dyn_cast<ConstantOp>(op)) {
      if (elementsOf(constant) >= fewElements && !evenNumbers(constant)) {
        return false;
      }
    } else if (isCheapMap(op)) {
      op->walk([&](arith::CmpIOp) { compares = true; });
    } else if (!isa<ReshapeOp>(op)) {
      return false;
    }
  }
  return compares && cast<RankedTensorType>(result.getType()).getRank() > 1 &&
         elementsOf(result) >= manyElements;
}

void computeEvenNumbers(const llvm::SetVector<Operation *> &operations) {
  for (Operation *op : operations) {
    auto constant = dyn_cast<ConstantOp>(op);
    auto numbers = constant && elementsOf(constant) >= fewElements
                       ? evenNumbers(constant)
                       : std::nullopt;
    if (!numbers) {
      continue;
    }
    OpBuilder builder(constant);
    Type element = elementTypeOf(constant.getType());
    Value map = buildMap(
        builder, constant.getLoc(), dimsOf(constant.getType()), element,
        [&](BodyBuilder &body, ValueRange at) -> Value {
          Value number = body.create<arith::IndexCastOp>(
              element, body.mul(at[numbers->axis], numbers->step));
          return body.addOf(number, body.integer(element, numbers->start));
        });
    constant.getResult().replaceUsesWithIf(map, [&](OpOperand &use) {
      Operation *user = use.getOwner();
      return operations.contains(isa<LoadOp>(user) ? user->getParentOp()
                                                   : user);
    });
  }
}

} // namespace tilewright
