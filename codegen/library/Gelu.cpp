//===- Gelu.cpp - recognising GELU by its arithmetic ----------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// Each scalar is written as p(x) + q(x) tanh(r(x)) with polynomials p, q and r.
// Sums and products of such forms are such forms as long as there is one tanh
// and it is not squared, so that the order of the terms does not matter.
//
//===----------------------------------------------------------------------===//

#include "codegen/library/Gelu.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/DenseMap.h"
#include <array>
#include <cmath>
#include <optional>

using namespace mlir;

namespace tilewright::library {

namespace {

constexpr size_t terms = 5; // up to the fourth power
using Polynomial = std::array<double, terms>;

Polynomial operator+(const Polynomial &a, const Polynomial &b) {
  Polynomial sum;
  for (size_t i = 0; i < terms; ++i) {
    sum[i] = a[i] + b[i];
  }
  return sum;
}

/// \returns nothing if a power does not fit.
std::optional<Polynomial> operator*(const Polynomial &a, const Polynomial &b) {
  Polynomial product = {};
  for (size_t i = 0; i < terms; ++i) {
    for (size_t j = 0; j < terms; ++j) {
      if (a[i] != 0 && b[j] != 0) {
        if (i + j >= terms) {
          return std::nullopt;
        }
        product[i + j] += a[i] * b[j];
      }
    }
  }
  return product;
}

bool isZero(const Polynomial &a) {
  return llvm::all_of(a, [](double term) { return term == 0; });
}

/// plain + factor tanh(inner)
struct Form {
  Polynomial plain = {}, factor = {}, inner = {};
  bool hasTanh() const { return !isZero(factor); }
};

using MaybeForm = std::optional<Form>;

/// The forms of scalars in terms of one of them.
class Forms {
public:
  explicit Forms(Value x) { known[x] = Form{{0, 1}, {}, {}}; }

  MaybeForm of(Value value) {
    auto found = known.find(value);
    if (found != known.end()) {
      return found->second;
    }
    return known[value] = compute(value);
  }

private:
  MaybeForm compute(Value value) {
    FloatAttr constant;
    if (matchPattern(value, m_Constant(&constant))) {
      return Form{{constant.getValueAsDouble()}, {}, {}};
    }
    Operation *op = value.getDefiningOp();
    if (isa_and_nonnull<arith::AddFOp>(op)) {
      return add(of(op->getOperand(0)), of(op->getOperand(1)));
    }
    if (isa_and_nonnull<arith::MulFOp>(op)) {
      return multiply(of(op->getOperand(0)), of(op->getOperand(1)));
    }
    if (isa_and_nonnull<math::FmaOp>(op)) {
      return add(multiply(of(op->getOperand(0)), of(op->getOperand(1))),
                 of(op->getOperand(2)));
    }
    if (isa_and_nonnull<math::TanhOp>(op)) {
      MaybeForm inner = of(op->getOperand(0));
      return inner && !inner->hasTanh() ? MaybeForm({{}, {1}, inner->plain})
                                        : std::nullopt;
    }
    return std::nullopt;
  }

  static MaybeForm add(const MaybeForm &a, const MaybeForm &b) {
    if (!a || !b || !haveOneTanh(*a, *b)) {
      return std::nullopt;
    }
    return Form{a->plain + b->plain, a->factor + b->factor,
                a->hasTanh() ? a->inner : b->inner};
  }

  static MaybeForm multiply(const MaybeForm &a, const MaybeForm &b) {
    if (!a || !b || (a->hasTanh() && b->hasTanh())) {
      return std::nullopt;
    }
    const Form &with = a->hasTanh() ? *a : *b, &other = a->hasTanh() ? *b : *a;
    auto plain = with.plain * other.plain, factor = with.factor * other.plain;
    return plain && factor ? MaybeForm({*plain, *factor, with.inner})
                           : std::nullopt;
  }

  static bool haveOneTanh(const Form &a, const Form &b) {
    return !a.hasTanh() || !b.hasTanh() || a.inner == b.inner;
  }

  llvm::DenseMap<Value, MaybeForm> known;
};

bool isNear(const Polynomial &found, const Polynomial &expected) {
  // Constants are rounded to 16 bits in some models.
  constexpr double tolerance = 1e-3;
  for (size_t i = 0; i < terms; ++i) {
    if (!(std::fabs(found[i] - expected[i]) <= tolerance * expected[i])) {
      return false;
    }
  }
  return true;
}

bool isGelu(const Form &form) {
  const double scale = std::sqrt(2 / M_PI);
  constexpr double cubic = 0.044715;
  return isNear(form.plain, {0, 0.5}) && isNear(form.factor, {0, 0.5}) &&
         isNear(form.inner, {0, scale, 0, scale * cubic});
}

} // namespace

Value geluArgument(Value y) {
  Operation *last = y.getDefiningOp();
  for (Operation *op = last ? last->getPrevNode() : nullptr; op;
       op = op->getPrevNode()) {
    if (op->getNumResults() != 1 || op->getResult(0).getType() != y.getType()) {
      continue;
    }
    MaybeForm form = Forms(op->getResult(0)).of(y);
    if (form && isGelu(*form)) {
      return op->getResult(0);
    }
  }
  return {};
}

} // namespace tilewright::library
