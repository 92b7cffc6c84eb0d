//===- Einsum.cpp - sums of products by an equation -----------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "frontend/ops/Families.h"
#include "frontend/ops/Scalars.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace tilewright::frontend {

namespace {

/// One term of an equation: a label per axis. The axes of an ellipsis get the
/// labels "0", "1", …, counted from the right.
using Term = SmallVector<std::string>;

struct Equation {
  SmallVector<Term> operands;
  Term result;
};

} // namespace

/// Splits "ab...c" into labels; `rank` tells how many axes the ellipsis has
/// (nullopt: as many as `ellipsisRank`, which otherwise grows to it).
static Result<Term> parseTerm(NodeImport &node, llvm::StringRef text,
                              std::optional<size_t> rank,
                              size_t &ellipsisRank) {
  size_t letters =
      llvm::count_if(text, [](char c) { return llvm::isAlpha(c); });
  Term term;
  bool hasEllipsis = false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (llvm::isAlpha(text[i])) {
      term.push_back(std::string(1, text[i]));
    } else if (text.substr(i).starts_with("...") && !hasEllipsis) {
      hasEllipsis = true;
      i += 2;
      size_t axes =
          rank ? (*rank >= letters ? *rank - letters : 0) : ellipsisRank;
      ellipsisRank = std::max(ellipsisRank, axes);
      for (size_t k = axes; k-- > 0;) {
        term.push_back(std::to_string(k));
      }
    } else {
      return node.error(ErrorCode::AttributeInvalid,
                        "the equation's term '" + text +
                            "' has an unexpected '" + Twine(text[i]) + "'");
    }
  }
  if (rank && term.size() != *rank) {
    return node.error(ErrorCode::ShapeMismatch,
                      "the equation's term '" + text + "' names " +
                          Twine(term.size()) + " axes, but its operand has " +
                          Twine(*rank));
  }
  return term;
}

/// The result of an equation without "->": the ellipsis, then every label that
/// occurs once, in alphabetical order.
static Term implicitResult(ArrayRef<Term> operands, size_t ellipsisRank) {
  Term result;
  for (size_t k = ellipsisRank; k-- > 0;) {
    result.push_back(std::to_string(k));
  }
  std::string once;
  llvm::MapVector<char, int> counts;
  for (const Term &term : operands) {
    for (const std::string &label : term) {
      ++counts[label[0]];
    }
  }
  for (auto [label, count] : counts) {
    if (llvm::isAlpha(label) && count == 1) {
      once.push_back(label);
    }
  }
  llvm::sort(once);
  for (char label : once) {
    result.push_back(std::string(1, label));
  }
  return result;
}

static Result<Equation> parseEquation(NodeImport &node) {
  std::string text = node.stringAttribute("equation", "");
  llvm::erase(text, ' ');
  llvm::StringRef whole = text;
  auto [left, right] = whole.split("->");
  SmallVector<llvm::StringRef> terms;
  left.split(terms, ',');
  if (terms.size() != node.numInputs()) {
    return node.error(ErrorCode::AttributeInvalid,
                      "the equation '" + text + "' has " + Twine(terms.size()) +
                          " terms for " + Twine(node.numInputs()) +
                          " operands");
  }
  Equation equation;
  size_t ellipsisRank = 0;
  for (size_t i = 0; i < terms.size(); ++i) {
    Result<Term> term = parseTerm(node, terms[i], node.rank(i), ellipsisRank);
    if (!term) {
      return term.status();
    }
    equation.operands.push_back(*term);
  }
  if (!whole.contains("->")) {
    equation.result = implicitResult(equation.operands, ellipsisRank);
    return equation;
  }
  Result<Term> term = parseTerm(node, right, std::nullopt, ellipsisRank);
  if (!term) {
    return term.status();
  }
  equation.result = *term;
  return equation;
}

/// The size of every label, in order of first use.
static Result<llvm::MapVector<llvm::StringRef, DimExpr>>
sizesOf(NodeImport &node, const Equation &equation) {
  llvm::MapVector<llvm::StringRef, DimExpr> sizes;
  for (size_t i = 0; i < equation.operands.size(); ++i) {
    Dims dims = node.dims(i);
    for (auto [label, dim] : llvm::zip(equation.operands[i], dims)) {
      DimExpr &size = sizes[label];
      if (!size || size.isConstant(1)) {
        size = dim;
      } else if (!dim.isConstant(1) && !mayBeEqual(size, dim)) {
        return node.error(ErrorCode::ShapeMismatch,
                          "label '" + label + "' stands for sizes " +
                              size.toString() + " and " + dim.toString());
      } else if (!size.getConstant() && dim.getConstant() &&
                 !dim.isConstant(1)) {
        size = dim;
      }
    }
  }
  for (size_t i = 0; i < equation.result.size(); ++i) {
    const std::string &label = equation.result[i];
    if (!sizes.count(label)) {
      return node.error(ErrorCode::AttributeInvalid,
                        "label '" + label +
                            "' of the result stands in no operand's term");
    }
    if (llvm::is_contained(ArrayRef(equation.result).take_front(i), label)) {
      return node.error(ErrorCode::AttributeInvalid,
                        "label '" + label + "' stands twice in the result");
    }
  }
  return sizes;
}

static Status importEinsum(NodeImport &node) {
  TW_RETURN_IF_ERROR(requireNumber(node, 0));
  TW_RETURN_IF_ERROR(requireSameElement(node, node.numInputs()));
  Result<Equation> equation = parseEquation(node);
  if (!equation) {
    return equation.status();
  }
  Result<llvm::MapVector<llvm::StringRef, DimExpr>> sizes =
      sizesOf(node, *equation);
  if (!sizes) {
    return sizes.status();
  }
  Dims dims, extents;
  SmallVector<llvm::StringRef> order;
  for (const std::string &label : equation->result) {
    dims.push_back((*sizes)[label]);
    order.push_back(label);
  }
  for (auto [label, size] : *sizes) {
    if (!llvm::is_contained(equation->result, label)) {
      extents.push_back(size);
      order.push_back(label);
    }
  }
  auto product = [&](BodyBuilder &b, ValueRange at) {
    Value result;
    for (size_t i = 0; i < equation->operands.size(); ++i) {
      Dims own = node.dims(i);
      SmallVector<Value> from;
      for (auto [label, dim] : llvm::zip(equation->operands[i], own)) {
        size_t position = llvm::find(order, label) - order.begin();
        from.push_back(dim.isConstant(1) ? b.index(0) : at[position]);
      }
      Value x = b.widen(b.load(node.input(i), from));
      result = result ? b.mulOf(result, x) : x;
    }
    return result;
  };
  Type element = node.element(0);
  if (extents.empty()) {
    node.setOutput(0, tw::buildMap(node.builder(), node.loc(), dims, element,
                                   [&](BodyBuilder &b, ValueRange at) {
                                     return b.narrow(product(b, at), element);
                                   }));
    return Status::ok();
  }
  Value sum =
      tw::buildReduce(node.builder(), node.loc(), FoldKind::Add, dims, extents,
                      tw::computeType(element), product, "einsum");
  node.setOutput(0, castTensor(node, sum, element));
  return Status::ok();
}

OperatorFamily einsumOperators() {
  static const OperatorEntry entries[] = {
      {"", "Einsum", 12, importEinsum},
  };
  return entries;
}

} // namespace tilewright::frontend
