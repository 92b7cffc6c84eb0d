//===- Compress.cpp - the slices that a condition selects -----------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "runtime/builtins/Axis.h"
#include "runtime/builtins/Builtins.h"

#include <algorithm>
#include <cstring>

using namespace tilewright;

Status builtins::compress(BuiltinCall &call) {
  const TensorView &x = *call.input(0);
  const TensorView &condition = *call.input(1);
  if (condition.dtype != DType::Bool) {
    return call.unsupportedType(condition.dtype);
  }
  AxisView view;
  std::vector<int64_t> shape = {0};
  size_t axis = 0;
  if (call.ints().empty()) {
    view.size = x.elements();
  } else {
    if (!AxisView::make(x.shape, call.ints()[0], view, axis)) {
      return call.invalid("the tensor has no axis " +
                          std::to_string(call.ints()[0]));
    }
    shape = x.shape.vec();
  }
  // A condition may be shorter than the axis, and what it lacks is false.
  const uint8_t *wanted = condition.as<uint8_t>();
  int64_t length = std::min(condition.elements(), view.size);
  int64_t count = length - std::count(wanted, wanted + length, uint8_t(0));
  shape[axis] = count;

  TW_RETURN_IF_ERROR(call.allocate({count}));
  TW_RETURN_IF_ERROR(call.expectOutput(0, x.dtype, shape));
  if (!call.output(0)) {
    return Status::ok();
  }
  size_t bytes = static_cast<size_t>(view.inner) * sizeOf(x.dtype);
  char *out = call.output(0)->as<char>();
  for (int64_t o = 0; o < view.outer && bytes > 0; ++o) {
    for (int64_t i = 0; i < length; ++i) {
      if (wanted[i]) {
        std::memcpy(out, x.as<char>() + (o * view.size + i) * bytes, bytes);
        out += bytes;
      }
    }
  }
  return Status::ok();
}
