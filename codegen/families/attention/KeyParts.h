//===- KeyParts.h - attention over parts of the keys ------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// One region has each part's greatest scores, sums of exponentials and sums of
// these times values, with the part as first coordinate; it is attention as
// before, with weights that are not divided. Another one joins the parts of an
// element, always in the same order, and goes on with the maps that followed.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "passes/fuse/AttentionForm.h"

namespace tilewright::families {

/// Replaces a region of form Attention by two. The last parts may have fewer
/// keys than the others, or none.
void divideKeys(tw::FusedOp op, const AttentionForm &form, int64_t parts);

} // namespace tilewright::families
