//===- SimtVectors.h - vectors of a thread --------------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// Nests evaluate a body for neighbouring elements at once, as vectors. A thread
// of a GPU has no vector arithmetic, but it loads and stores up to 16 bytes: so
// vectors become scalars everywhere but at memory.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "ir/twk/TwkOps.h"
#include "tilewright/Status.h"

namespace tilewright::families {

/// Takes the vectors in a block of a kernel of the model `simt` apart; none
/// comes from outside of it or leaves it. Loads and stores
/// stay vectors of as many bytes as their `alignment` says; without one they
/// become accesses of single elements.
/// Error: Internal, for a vector operation that only processors have.
Status takeVectorsApart(mlir::Block &block);

} // namespace tilewright::families
