//===- NarrowConstants.cpp - store small integers in bytes ----------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// The weights of an integer product are written as a widening to i32, which
// constant folding evaluates. Where all elements fit 8 bits, the contraction
// reads bytes and widens them itself: a quarter of the memory, and what the
// 8-bit units of a GPU multiply.
//
//===----------------------------------------------------------------------===//

#include "ir/BodyBuilder.h"
#include "passes/ReasonCodes.h"
#include "passes/fuse/Access.h"
#include "passes/fuse/Passes.h"

using namespace mlir;

namespace tilewright {

#define GEN_PASS_DEF_NARROWCONSTANTS
#include "passes/fuse/Passes.h.inc"

using namespace tw;

/// \returns the elements of an i32 constant as signed bytes, nothing if some do
/// not fit.
static std::optional<std::vector<char>> bytesOf(ConstantOp constant) {
  std::optional<std::vector<char>> wide = constantBytes(constant.getResult());
  if (!wide) {
    return std::nullopt;
  }
  std::vector<char> narrow(wide->size() / sizeof(int32_t));
  for (size_t i = 0; i < narrow.size(); ++i) {
    int32_t value = 0;
    std::memcpy(&value, wide->data() + i * sizeof(value), sizeof(value));
    if (value != static_cast<int8_t>(value)) {
      return std::nullopt;
    }
    narrow[i] = static_cast<char>(value);
  }
  return narrow;
}

/// \returns the load of an i32 constant that is a factor of `contraction`.
static LoadOp constantFactor(ReduceOp contraction) {
  Operation *product = yieldOf(contraction).getOperand(0).getDefiningOp();
  for (Value factor : product->getOperands()) {
    auto load = factor.getDefiningOp<LoadOp>();
    if (load && load.getSource().getDefiningOp<ConstantOp>() &&
        elementTypeOf(load.getSource().getType()).isSignlessInteger(32)) {
      return load;
    }
  }
  return {};
}

/// Reads `load` from a constant of bytes. \returns false if it has larger
/// elements.
static bool narrow(LoadOp load) {
  auto constant = load.getSource().getDefiningOp<ConstantOp>();
  std::optional<std::vector<char>> bytes = bytesOf(constant);
  bool isPadded =
      load.getGuard() && !matchPattern(load.getOtherwise(), m_Zero());
  if (!bytes || isPadded) {
    return false;
  }
  OpBuilder builder(constant);
  Type i8 = builder.getIntegerType(8);
  auto type = cast<RankedTensorType>(constant.getType());
  auto owner = std::make_shared<const std::vector<char>>(std::move(*bytes));
  Value narrow =
      buildConstant(builder, constant.getLoc(),
                    RankedTensorType::get(type.getShape(), i8), *owner, owner);
  BodyBuilder body(load.getLoc(), OpBuilder(load));
  Value stored = load.getGuard()
                     ? body.load(narrow, load.getIndices(), load.getGuard(),
                                 body.integer(i8, 0))
                     : body.load(narrow, load.getIndices());
  Value wide = body.create<arith::ExtSIOp>(load.getType(), stored);
  load.replaceAllUsesWith(wide);
  load.erase();
  return true;
}

namespace {

class NarrowConstants : public impl::NarrowConstantsBase<NarrowConstants> {
public:
  explicit NarrowConstants(DecisionLog *log) : log(log) {}

  void runOnOperation() override {
    Decisions decisions(log, remarks);
    getOperation()->walk([&](ReduceOp reduce) {
      LoadOp load = isContraction(reduce) ? constantFactor(reduce) : LoadOp();
      if (load && narrow(load)) {
        decisions.did(reasons::constantNarrowed, reduce.getLoc(), "constant");
      }
    });
  }

private:
  DecisionLog *log;
};

} // namespace

std::unique_ptr<Pass> createNarrowConstantsPass(DecisionLog *log) {
  return std::make_unique<NarrowConstants>(log);
}

} // namespace tilewright
