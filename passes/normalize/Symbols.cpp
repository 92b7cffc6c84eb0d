//===- Symbols.cpp - where size symbols come from and go to ---------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "passes/normalize/Symbols.h"
#include "mlir/IR/AttrTypeSubElements.h"

using namespace mlir;

namespace tilewright {

using tw::DimExpr;

SmallVector<StringRef> symbolsDefinedBy(Operation *op) {
  SmallVector<StringRef> symbols;
  if (auto defines = op->getAttrOfType<ArrayAttr>("defines")) {
    for (Attribute name : defines) {
      if (auto text = dyn_cast<StringAttr>(name)) {
        symbols.push_back(text.getValue());
      }
    }
  }
  return symbols;
}

void collectSymbolsUsedBy(Operation *op, bool nested,
                          llvm::StringSet<> &symbols) {
  AttrTypeWalker walker;
  walker.addWalk([&](tw::SizeAttr size) {
    StringRef name = DimExpr(size).symbolName();
    if (!name.empty()) {
      symbols.insert(name);
    }
  });
  auto visit = [&](Operation *one) {
    walker.walk(one->getAttrDictionary());
    for (Type type : one->getResultTypes()) {
      walker.walk(type);
    }
    for (Region &region : one->getRegions()) {
      for (Block &block : region) {
        for (Type type : block.getArgumentTypes()) {
          walker.walk(type);
        }
      }
    }
  };
  if (nested) {
    op->walk(visit);
  } else {
    visit(op);
  }
}

void substituteSymbols(Operation *op,
                       llvm::function_ref<DimExpr(StringRef)> replacement) {
  AttrTypeReplacer replacer;
  replacer.addReplacement(
      [&](tw::SizeAttr size) -> std::pair<Attribute, WalkResult> {
        return {DimExpr(size).substitute(replacement).getAttribute(),
                WalkResult::skip()};
      });
  auto substituted = [&](tw::DimsAttr dims) {
    return llvm::map_to_vector(dims.getDims(), [&](DimExpr dim) {
      return dim.substitute(replacement);
    });
  };
  replacer.addReplacement(
      [&](tw::DimsAttr dims) -> std::pair<Attribute, WalkResult> {
        return {tw::DimsAttr::get(dims.getContext(), substituted(dims)),
                WalkResult::skip()};
      });
  // A tensor may become static, and then loses its encoding.
  replacer.addReplacement(
      [&](RankedTensorType type) -> std::pair<Type, WalkResult> {
        auto dims = dyn_cast_or_null<tw::DimsAttr>(type.getEncoding());
        return {dims ? tw::tensorType(substituted(dims), type.getElementType())
                     : type,
                WalkResult::skip()};
      });
  replacer.recursivelyReplaceElementsIn(op, /*replaceAttrs=*/true,
                                        /*replaceLocs=*/false,
                                        /*replaceTypes=*/true);
}

} // namespace tilewright
