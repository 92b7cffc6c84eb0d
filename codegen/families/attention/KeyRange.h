//===- KeyRange.h - the keys that a tile of queries walks -------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "codegen/families/attention/AttentionKernel.h"
#include "codegen/families/attention/VisibleKeys.h"

namespace tilewright::families {

/// The keys from `begin` up to `end`, of which there are none if it is less.
struct KeyRange {
  mlir::Value begin, end;
};

/// Emits the range of the keys that one of the queries `first` to `last` sees,
/// within those that exist.
Result<KeyRange> emitKeyRange(AttentionKernel &kernel,
                              const VisibleKeys &visible, mlir::Value first,
                              mlir::Value last);

} // namespace tilewright::families
