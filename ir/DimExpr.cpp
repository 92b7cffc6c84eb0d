//===- DimExpr.cpp - the algebra of size expressions ----------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "ir/DimExpr.h"
#include "ir/TwDialect.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <map>

using namespace mlir;

namespace tilewright::tw {

using Kind = DimExpr::Kind;

static SizeAttr node(DimExpr expr) {
  return cast<SizeAttr>(expr.getAttribute());
}

static DimExpr make(MLIRContext *context, Kind kind, ArrayRef<DimExpr> operands,
                    int64_t value = 0, StringRef name = "") {
  SmallVector<Attribute> attributes;
  for (DimExpr operand : operands) {
    attributes.push_back(operand.getAttribute());
  }
  return DimExpr(SizeAttr::get(context, static_cast<int64_t>(kind), value,
                               StringAttr::get(context, name), attributes));
}

DimExpr DimExpr::constant(MLIRContext *context, int64_t value) {
  return make(context, Kind::Const, {}, value);
}

DimExpr DimExpr::symbol(MLIRContext *context, StringRef name) {
  return make(context, Kind::Symbol, {}, 0, name);
}

Kind DimExpr::kind() const { return static_cast<Kind>(node(*this).getKind()); }

std::optional<int64_t> DimExpr::getConstant() const {
  if (kind() != Kind::Const) {
    return std::nullopt;
  }
  return node(*this).getValue();
}

StringRef DimExpr::symbolName() const {
  return kind() == Kind::Symbol ? node(*this).getName().getValue()
                                : StringRef();
}

SmallVector<DimExpr, 4> DimExpr::operands() const {
  return llvm::map_to_vector<4>(node(*this).getOperands(),
                                [](Attribute a) { return DimExpr(a); });
}

/// A total order that depends on content alone, so that compiles are
/// deterministic.
static int compare(DimExpr a, DimExpr b) {
  if (a == b) {
    return 0;
  }
  if (a.kind() != b.kind()) {
    return a.kind() < b.kind() ? -1 : 1;
  }
  if (a.kind() == Kind::Const) {
    return *a.getConstant() < *b.getConstant() ? -1 : 1;
  }
  if (a.kind() == Kind::Symbol) {
    return a.symbolName().compare(b.symbolName());
  }
  SmallVector<DimExpr, 4> left = a.operands(), right = b.operands();
  for (auto [x, y] : llvm::zip(left, right)) {
    if (int order = compare(x, y)) {
      return order;
    }
  }
  return left.size() < right.size() ? -1 : 1;
}

namespace {

struct AtomsLess {
  bool operator()(const SmallVector<DimExpr> &a,
                  const SmallVector<DimExpr> &b) const {
    // Higher degrees first, so that `H * W + W` reads as one expects.
    if (a.size() != b.size()) {
      return a.size() > b.size();
    }
    for (auto [x, y] : llvm::zip(a, b)) {
      if (int order = compare(x, y)) {
        return order < 0;
      }
    }
    return false;
  }
};

/// Atoms, sorted → coefficient. The empty product is the constant term.
using Polynomial = std::map<SmallVector<DimExpr>, int64_t, AtomsLess>;

} // namespace

/// Wraps on overflow, as every evaluation does; sizes that large are refused
/// when they are bound.
static int64_t wrapMul(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) *
                              static_cast<uint64_t>(b));
}
static int64_t wrapAdd(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) +
                              static_cast<uint64_t>(b));
}

static void addTerm(Polynomial &polynomial, SmallVector<DimExpr> atoms,
                    int64_t coefficient) {
  auto [it, isNew] = polynomial.try_emplace(std::move(atoms), coefficient);
  if (!isNew) {
    it->second = wrapAdd(it->second, coefficient);
  }
  if (it->second == 0) {
    polynomial.erase(it);
  }
}

static void addProduct(Polynomial &polynomial, DimExpr expr, int64_t factor) {
  if (std::optional<int64_t> value = expr.getConstant()) {
    addTerm(polynomial, {}, wrapMul(*value, factor));
    return;
  }
  if (expr.kind() != Kind::Mul) {
    addTerm(polynomial, {expr}, factor);
    return;
  }
  SmallVector<DimExpr> atoms;
  for (DimExpr operand : expr.operands()) {
    if (std::optional<int64_t> value = operand.getConstant()) {
      factor = wrapMul(factor, *value);
    } else {
      atoms.push_back(operand);
    }
  }
  addTerm(polynomial, std::move(atoms), factor);
}

static Polynomial toPolynomial(DimExpr expr, int64_t factor = 1) {
  Polynomial result;
  if (expr.kind() == Kind::Add) {
    for (DimExpr term : expr.operands()) {
      addProduct(result, term, factor);
    }
  } else {
    addProduct(result, expr, factor);
  }
  return result;
}

static DimExpr fromPolynomial(MLIRContext *context,
                              const Polynomial &polynomial) {
  SmallVector<DimExpr> terms;
  for (const auto &[atoms, coefficient] : polynomial) {
    DimExpr factor = DimExpr::constant(context, coefficient);
    if (atoms.empty()) {
      terms.push_back(factor);
    } else if (atoms.size() == 1 && coefficient == 1) {
      terms.push_back(atoms.front());
    } else {
      SmallVector<DimExpr> operands;
      if (coefficient != 1) {
        operands.push_back(factor);
      }
      llvm::append_range(operands, atoms);
      terms.push_back(make(context, Kind::Mul, operands));
    }
  }
  if (terms.empty()) {
    return DimExpr::constant(context, 0);
  }
  return terms.size() == 1 ? terms.front() : make(context, Kind::Add, terms);
}

DimExpr DimExpr::operator+(DimExpr other) const {
  Polynomial sum = toPolynomial(*this);
  for (auto &[atoms, coefficient] : toPolynomial(other)) {
    addTerm(sum, atoms, coefficient);
  }
  return fromPolynomial(getContext(), sum);
}

DimExpr DimExpr::operator-(DimExpr other) const {
  Polynomial sum = toPolynomial(*this);
  for (auto &[atoms, coefficient] : toPolynomial(other, -1)) {
    addTerm(sum, atoms, coefficient);
  }
  return fromPolynomial(getContext(), sum);
}

DimExpr DimExpr::operator*(DimExpr other) const {
  Polynomial left = toPolynomial(*this), right = toPolynomial(other), product;
  for (const auto &[atomsA, a] : left) {
    for (const auto &[atomsB, b] : right) {
      SmallVector<DimExpr> atoms(atomsA);
      llvm::append_range(atoms, atomsB);
      llvm::sort(atoms, [](DimExpr x, DimExpr y) { return compare(x, y) < 0; });
      addTerm(product, std::move(atoms), wrapMul(a, b));
    }
  }
  return fromPolynomial(getContext(), product);
}

std::optional<DimExpr> DimExpr::exactDiv(DimExpr divisor) const {
  if (divisor.isConstant(0)) {
    return std::nullopt;
  }
  if (*this == divisor) {
    return constant(getContext(), 1);
  }
  // A monomial divides a polynomial when it divides every term.
  Polynomial by = toPolynomial(divisor);
  if (by.size() != 1) {
    return std::nullopt;
  }
  const auto &[divisorAtoms, divisorCoefficient] = *by.begin();
  Polynomial quotient;
  for (const auto &[atoms, coefficient] : toPolynomial(*this)) {
    if (divisorCoefficient == -1 || coefficient % divisorCoefficient != 0) {
      return std::nullopt;
    }
    SmallVector<DimExpr> rest(atoms);
    for (DimExpr atom : divisorAtoms) {
      auto *it = llvm::find(rest, atom);
      if (it == rest.end()) {
        return std::nullopt;
      }
      rest.erase(it);
    }
    addTerm(quotient, std::move(rest), coefficient / divisorCoefficient);
  }
  return fromPolynomial(getContext(), quotient);
}

static int64_t floorDivide(int64_t a, int64_t b) {
  return b == 0 ? 0 : b == -1 ? wrapMul(a, -1) : llvm::divideFloorSigned(a, b);
}

DimExpr DimExpr::floorDiv(DimExpr divisor) const {
  MLIRContext *context = getContext();
  std::optional<int64_t> value = getConstant(), by = divisor.getConstant();
  if (value && by) {
    return constant(context, floorDivide(*value, *by));
  }
  // x / x is 1 only where x is not zero: a zero divisor gives zero.
  if (by && *by > 0) {
    // Multiples of the divisor leave the division: (4 N + r) / 4 = N + r / 4.
    Polynomial whole, rest;
    for (const auto &[atoms, coefficient] : toPolynomial(*this)) {
      int64_t quotient = floorDivide(coefficient, *by);
      if (coefficient % *by == 0 || atoms.empty()) {
        addTerm(whole, atoms, quotient);
        addTerm(rest, atoms, coefficient - quotient * *by);
      } else {
        addTerm(rest, atoms, coefficient);
      }
    }
    DimExpr outside = fromPolynomial(context, whole);
    DimExpr inside = fromPolynomial(context, rest);
    if (std::optional<int64_t> insideValue = inside.getConstant()) {
      return outside + floorDivide(*insideValue, *by);
    }
    // (x / a + c) / b = (x + a c) / (a b), for whole c and positive a and b.
    int64_t added = 0;
    if (auto constant = rest.find({}); constant != rest.end()) {
      added = constant->second;
    }
    DimExpr quotient = inside - added;
    if (quotient.kind() == Kind::FloorDiv) {
      std::optional<int64_t> inner = quotient.operands()[1].getConstant();
      if (inner && *inner > 0) {
        return outside + (quotient.operands()[0] + *inner * added)
                             .floorDiv(divisor * *inner);
      }
    }
    return outside + make(context, Kind::FloorDiv, {inside, divisor});
  }
  // Exact by a symbolic divisor: right for every non-zero value of it, and the
  // importer divides by dims that are zero only when the dividend is, too.
  if (std::optional<DimExpr> exact = exactDiv(divisor)) {
    return *exact;
  }
  return make(context, Kind::FloorDiv, {*this, divisor});
}

DimExpr DimExpr::ceilDiv(DimExpr divisor) const {
  return (*this + divisor - 1).floorDiv(divisor);
}

DimExpr DimExpr::mod(DimExpr divisor) const {
  std::optional<int64_t> value = getConstant(), by = divisor.getConstant();
  if (value && by) {
    return constant(getContext(),
                    *by == 0 ? 0 : *value - *by * floorDivide(*value, *by));
  }
  if (by && *by > 0) {
    Polynomial rest;
    for (const auto &[atoms, coefficient] : toPolynomial(*this)) {
      addTerm(rest, atoms, coefficient - *by * floorDivide(coefficient, *by));
    }
    DimExpr inside = fromPolynomial(getContext(), rest);
    if (std::optional<int64_t> insideValue = inside.getConstant()) {
      return constant(getContext(), *insideValue);
    }
    return make(getContext(), Kind::Mod, {inside, divisor});
  }
  if (exactDiv(divisor)) {
    return constant(getContext(), 0);
  }
  return make(getContext(), Kind::Mod, {*this, divisor});
}

static DimExpr pick(DimExpr a, DimExpr b, Kind kind) {
  DimExpr difference = a - b;
  if (difference.isNonNegative()) {
    return kind == Kind::Max ? a : b;
  }
  if ((b - a).isNonNegative()) {
    return kind == Kind::Max ? b : a;
  }
  if (compare(a, b) > 0) {
    std::swap(a, b);
  }
  return make(a.getContext(), kind, {a, b});
}

DimExpr DimExpr::min(DimExpr other) const {
  return pick(*this, other, Kind::Min);
}
DimExpr DimExpr::max(DimExpr other) const {
  return pick(*this, other, Kind::Max);
}

DimExpr DimExpr::select(DimExpr condition, DimExpr ifNonZero, DimExpr ifZero) {
  if (std::optional<int64_t> value = condition.getConstant()) {
    return *value != 0 ? ifNonZero : ifZero;
  }
  if (ifNonZero == ifZero) {
    return ifZero;
  }
  // Broadcasting N against what is 1 where N is 1, such as min(512, N): N.
  if (ifNonZero.kind() == Kind::Symbol && condition == ifNonZero - 1) {
    StringRef symbol = ifNonZero.symbolName();
    DimExpr one = constant(condition.getContext(), 1);
    DimExpr otherwise = ifZero.substitute(
        [&](StringRef name) { return name == symbol ? one : DimExpr(); });
    if (otherwise == one) {
      return ifNonZero;
    }
  }
  return make(condition.getContext(), Kind::Select,
              {condition, ifNonZero, ifZero});
}

static bool atomIsNonNegative(DimExpr atom) {
  SmallVector<DimExpr, 4> operands = atom.operands();
  switch (atom.kind()) {
  case Kind::Symbol:
    return true;
  case Kind::FloorDiv:
    return operands[0].isNonNegative() && operands[1].isNonNegative();
  case Kind::Mod:
    return operands[1].isNonNegative();
  case Kind::Min:
    return operands[0].isNonNegative() && operands[1].isNonNegative();
  case Kind::Max:
    return operands[0].isNonNegative() || operands[1].isNonNegative();
  case Kind::Select:
    return operands[1].isNonNegative() && operands[2].isNonNegative();
  default:
    return false;
  }
}

bool DimExpr::isNonNegative() const {
  return llvm::all_of(toPolynomial(*this), [](const auto &term) {
    return term.second >= 0 && llvm::all_of(term.first, atomIsNonNegative);
  });
}

static DimExpr rebuild(Kind kind, ArrayRef<DimExpr> operands) {
  DimExpr result = operands[0];
  switch (kind) {
  case Kind::Add:
    for (DimExpr operand : operands.drop_front()) {
      result = result + operand;
    }
    return result;
  case Kind::Mul:
    for (DimExpr operand : operands.drop_front()) {
      result = result * operand;
    }
    return result;
  case Kind::FloorDiv:
    return operands[0].floorDiv(operands[1]);
  case Kind::Mod:
    return operands[0].mod(operands[1]);
  case Kind::Min:
    return operands[0].min(operands[1]);
  case Kind::Max:
    return operands[0].max(operands[1]);
  case Kind::Select:
    return DimExpr::select(operands[0], operands[1], operands[2]);
  default:
    return result;
  }
}

DimExpr
DimExpr::substitute(llvm::function_ref<DimExpr(StringRef)> replacement) const {
  if (kind() == Kind::Const) {
    return *this;
  }
  if (kind() == Kind::Symbol) {
    DimExpr other = replacement(symbolName());
    return other ? other : *this;
  }
  return rebuild(kind(), llvm::map_to_vector(operands(), [&](DimExpr e) {
                   return e.substitute(replacement);
                 }));
}

void DimExpr::forEachSymbol(llvm::function_ref<void(StringRef)> visit) const {
  if (kind() == Kind::Symbol) {
    visit(symbolName());
  }
  for (DimExpr operand : operands()) {
    operand.forEachSymbol(visit);
  }
}

std::optional<int64_t> DimExpr::evaluate(
    llvm::function_ref<std::optional<int64_t>(StringRef)> values) const {
  MLIRContext *context = getContext();
  DimExpr closed = substitute([&](StringRef name) {
    std::optional<int64_t> value = values(name);
    return value ? constant(context, *value) : DimExpr();
  });
  return closed.getConstant();
}

DimExpr productOf(MLIRContext *context, ArrayRef<DimExpr> dims) {
  DimExpr product = DimExpr::constant(context, 1);
  for (DimExpr dim : dims) {
    product = product * dim;
  }
  return product;
}

} // namespace tilewright::tw
