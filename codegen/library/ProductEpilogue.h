//===- ProductEpilogue.h - what follows a product ---------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "codegen/families/contract/MatrixProduct.h"
#include "runtime/format/module_generated.h"

namespace tilewright::library {

/// activation(alpha sum + residual + bias)
struct ProductEpilogue {
  float alpha = 1;
  /// Of the region's operands; -1: there is none.
  int residual = -1, bias = -1;
  format::Activation activation = format::Activation_None;
};

/// \returns what the maps behind a region's product do with its sums, if that
/// has this form; a bias has an element for each of `columns`, which are
/// coordinates of the product, a residual lies like the result. Unless
/// `strict`, the product's own rounding is left out where the result is rounded
/// anyway.
std::optional<ProductEpilogue>
matchProductEpilogue(const families::FusedRegion &region,
                     const families::MatrixProduct &product,
                     llvm::ArrayRef<unsigned> columns, bool strict);

/// \returns how far apart the elements that `load` reads lie along each
/// coordinate of its body, from its indices and the row-major order of its
/// source; nothing if an index is more than a coordinate.
std::optional<llvm::SmallVector<tw::DimExpr>> stridesOfLoad(tw::LoadOp load);

} // namespace tilewright::library
