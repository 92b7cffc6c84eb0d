//===- ElementValues.h - single elements of any type ------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "tilewright/Tensor.h"

#include <string>

namespace tilewright {

/// \returns element `index` of a tensor of any type but strings and complex
/// numbers. `long double` holds each of them exactly, 64-bit integers included.
long double elementAt(const TensorView &tensor, int64_t index);

/// Writes element `index`, rounded to the nearest value of the tensor's type.
void setElement(const TensorView &tensor, int64_t index, double value);

/// \returns whether elementAt() and setElement() know the type.
bool hasElementValues(DType dtype);

/// \returns an element as people write it: "0.25", "-3", "true", "nan".
std::string formatElement(const TensorView &tensor, int64_t index);

/// \returns the first `limit` elements: "1 2 3 …".
std::string formatElements(const TensorView &tensor, int64_t limit);

} // namespace tilewright
