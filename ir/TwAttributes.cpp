//===- TwAttributes.cpp - the text of size expressions --------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "ir/TwDialect.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace tilewright::tw;

using Kind = DimExpr::Kind;

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

/// Words that the syntax takes; a symbol of that name is quoted.
static bool isReserved(StringRef name) {
  return llvm::is_contained({"floordiv", "mod", "min", "max", "select"}, name);
}

static bool isIdentifier(StringRef name) {
  return !name.empty() && (llvm::isAlpha(name[0]) || name[0] == '_') &&
         llvm::all_of(name,
                      [](char c) { return llvm::isAlnum(c) || c == '_'; }) &&
         !isReserved(name);
}

/// How tightly an operator binds; an operand that binds less gets parentheses.
enum class Binding { Sum, Product, Atom };

static void print(DimExpr expr, raw_ostream &os, Binding around) {
  SmallVector<DimExpr, 4> operands = expr.operands();
  auto call = [&](StringRef name) {
    os << name << "(";
    llvm::interleaveComma(operands, os,
                          [&](DimExpr e) { print(e, os, Binding::Sum); });
    os << ")";
  };
  auto infix = [&](StringRef sign, Binding own, Binding inner) {
    bool parenthesize = own < around;
    os << (parenthesize ? "(" : "");
    llvm::interleave(
        operands, os, [&](DimExpr e) { print(e, os, inner); }, sign);
    os << (parenthesize ? ")" : "");
  };
  switch (expr.kind()) {
  case Kind::Const:
    os << *expr.getConstant();
    break;
  case Kind::Symbol:
    if (isIdentifier(expr.symbolName())) {
      os << expr.symbolName();
    } else {
      os << '"';
      llvm::printEscapedString(expr.symbolName(), os);
      os << '"';
    }
    break;
  case Kind::Add:
    infix(" + ", Binding::Sum, Binding::Product);
    break;
  case Kind::Mul:
    infix(" * ", Binding::Product, Binding::Atom);
    break;
  case Kind::FloorDiv:
    infix(" floordiv ", Binding::Product, Binding::Atom);
    break;
  case Kind::Mod:
    infix(" mod ", Binding::Product, Binding::Atom);
    break;
  case Kind::Min:
    call("min");
    break;
  case Kind::Max:
    call("max");
    break;
  case Kind::Select:
    call("select");
    break;
  }
}

std::string DimExpr::toString() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  print(*this, os, Binding::Sum);
  return text;
}

//===----------------------------------------------------------------------===//
// Parsing
//===----------------------------------------------------------------------===//

static FailureOr<DimExpr> parseSum(AsmParser &parser);

static FailureOr<DimExpr> parseCall(AsmParser &parser, StringRef name,
                                    size_t arity) {
  SmallVector<DimExpr> operands;
  auto parseOperand = [&]() -> ParseResult {
    FailureOr<DimExpr> operand = parseSum(parser);
    if (failed(operand)) {
      return failure();
    }
    operands.push_back(*operand);
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren,
                                     parseOperand)) {
    return failure();
  }
  if (operands.size() != arity) {
    return parser.emitError(parser.getNameLoc())
           << name << " takes " << arity << " operands, found "
           << operands.size();
  }
  if (name == "min") {
    return operands[0].min(operands[1]);
  }
  if (name == "max") {
    return operands[0].max(operands[1]);
  }
  return DimExpr::select(operands[0], operands[1], operands[2]);
}

static FailureOr<DimExpr> parseAtom(AsmParser &parser) {
  MLIRContext *context = parser.getContext();
  int64_t value;
  OptionalParseResult integer = parser.parseOptionalInteger(value);
  if (integer.has_value()) {
    return failed(*integer) ? FailureOr<DimExpr>(failure())
                            : DimExpr::constant(context, value);
  }
  if (succeeded(parser.parseOptionalLParen())) {
    FailureOr<DimExpr> inner = parseSum(parser);
    if (failed(inner) || parser.parseRParen()) {
      return failure();
    }
    return inner;
  }
  std::string quoted;
  if (succeeded(parser.parseOptionalString(&quoted))) {
    return DimExpr::symbol(context, quoted);
  }
  StringRef name;
  if (failed(parser.parseOptionalKeyword(&name))) {
    return parser.emitError(parser.getCurrentLocation(),
                            "expected a size: a number, a symbol, "
                            "min, max, select or a parenthesis");
  }
  if (name == "min" || name == "max") {
    return parseCall(parser, name, 2);
  }
  if (name == "select") {
    return parseCall(parser, name, 3);
  }
  return DimExpr::symbol(context, name);
}

static FailureOr<DimExpr> parseProduct(AsmParser &parser) {
  FailureOr<DimExpr> left = parseAtom(parser);
  while (succeeded(left)) {
    bool times = succeeded(parser.parseOptionalStar());
    bool divide = !times && succeeded(parser.parseOptionalKeyword("floordiv"));
    bool remainder =
        !times && !divide && succeeded(parser.parseOptionalKeyword("mod"));
    if (!times && !divide && !remainder) {
      return left;
    }
    FailureOr<DimExpr> right = parseAtom(parser);
    if (failed(right)) {
      return failure();
    }
    left = times    ? *left * *right
           : divide ? left->floorDiv(*right)
                    : left->mod(*right);
  }
  return failure();
}

static FailureOr<DimExpr> parseSum(AsmParser &parser) {
  FailureOr<DimExpr> left = parseProduct(parser);
  while (succeeded(left) && succeeded(parser.parseOptionalPlus())) {
    FailureOr<DimExpr> right = parseProduct(parser);
    if (failed(right)) {
      return failure();
    }
    left = *left + *right;
  }
  return left;
}

//===----------------------------------------------------------------------===//
// #tw.size and #tw.dims
//===----------------------------------------------------------------------===//

void SizeAttr::print(AsmPrinter &printer) const {
  printer << "<" << DimExpr(*this).toString() << ">";
}

Attribute SizeAttr::parse(AsmParser &parser, Type) {
  if (parser.parseLess()) {
    return {};
  }
  FailureOr<DimExpr> expr = parseSum(parser);
  if (failed(expr) || parser.parseGreater()) {
    return {};
  }
  return expr->getAttribute();
}

void DimsAttr::print(AsmPrinter &printer) const {
  printer << "<[";
  llvm::interleaveComma(getDims(), printer,
                        [&](DimExpr e) { printer << e.toString(); });
  printer << "]>";
}

Attribute DimsAttr::parse(AsmParser &parser, Type) {
  SmallVector<DimExpr> dims;
  auto parseDim = [&]() -> ParseResult {
    FailureOr<DimExpr> dim = parseSum(parser);
    if (failed(dim)) {
      return failure();
    }
    dims.push_back(*dim);
    return success();
  };
  if (parser.parseLess() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseDim) ||
      parser.parseGreater()) {
    return {};
  }
  return DimsAttr::get(parser.getContext(), dims);
}

DimsAttr DimsAttr::get(MLIRContext *context, ArrayRef<DimExpr> dims) {
  SmallVector<Attribute> sizes;
  for (DimExpr dim : dims) {
    sizes.push_back(dim.getAttribute());
  }
  return Base::get(context, sizes);
}

SmallVector<DimExpr> DimsAttr::getDims() const {
  return llvm::map_to_vector(getSizes(),
                             [](Attribute a) { return DimExpr(a); });
}

//===----------------------------------------------------------------------===//
// Dialect
//===----------------------------------------------------------------------===//

#include "ir/TwEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "ir/TwAttributes.cpp.inc"

void TwDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "ir/TwAttributes.cpp.inc"
      >();
}
