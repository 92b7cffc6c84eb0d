//===- TopK.cpp - the largest or smallest elements of an axis -------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "runtime/builtins/Axis.h"
#include "runtime/builtins/Builtins.h"
#include "runtime/builtins/Elements.h"

#include <algorithm>

using namespace tilewright;

namespace {

template <typename T> struct Candidate {
  decltype(keyOf(T())) key;
  int64_t index;
};

} // namespace

/// Puts the best `k` candidates first, in order. NaN counts as the largest;
/// among equals the lower index wins.
template <typename T>
static void select(Candidate<T> *candidates, int64_t size, int64_t k,
                   bool largest) {
  auto before = [largest](const Candidate<T> &a, const Candidate<T> &b) {
    bool less = keyLess(a.key, b.key);
    bool greater = keyLess(b.key, a.key);
    if (less || greater) {
      return largest ? greater : less;
    }
    return a.index < b.index;
  };
  if (k < size) {
    std::nth_element(candidates, candidates + k, candidates + size, before);
  }
  std::sort(candidates, candidates + k, before);
}

template <typename T>
static Status run(BuiltinCall &call, const AxisView &view, int64_t k) {
  const T *data = call.input(0)->as<T>();
  const TensorView *values = call.output(0);
  const TensorView *indices = call.output(1);
  bool largest = call.ints()[1] != 0;
  if (k == 0 || view.outer == 0 || view.inner == 0) {
    return Status::ok();
  }
  // One list per worker, allocated here: a task cannot report an error.
  std::vector<Candidate<T>> lists(call.threads().size() *
                                  static_cast<size_t>(view.size));
  // A slice is worth another thread from about 16,000 elements on.
  int64_t grain = std::max<int64_t>(1, 16384 / view.size);
  call.threads().forEach(
      view.outer * view.inner, grain,
      [&](int64_t begin, int64_t end, int worker) {
        Candidate<T> *list = lists.data() + worker * view.size;
        for (int64_t slice = begin; slice < end; ++slice) {
          int64_t o = slice / view.inner;
          int64_t n = slice % view.inner;
          const T *from = data + o * view.size * view.inner + n;
          for (int64_t i = 0; i < view.size; ++i) {
            list[i] = {keyOf(from[i * view.inner]), i};
          }
          select<T>(list, view.size, k, largest);
          int64_t to = o * k * view.inner + n;
          for (int64_t i = 0; i < k; ++i, to += view.inner) {
            if (values) {
              values->as<T>()[to] = from[list[i].index * view.inner];
            }
            if (indices) {
              indices->as<int64_t>()[to] = list[i].index;
            }
          }
        }
      });
  return Status::ok();
}

Status builtins::topk(BuiltinCall &call) {
  const TensorView &x = *call.input(0);
  const TensorView &kInput = *call.input(1);
  if (kInput.dtype != DType::I64 || kInput.elements() != 1) {
    return call.invalid("K of TopK must be one i64");
  }
  AxisView view;
  size_t axis = 0;
  if (!AxisView::make(x.shape, call.ints()[0], view, axis)) {
    return call.invalid("the tensor has no axis " +
                        std::to_string(call.ints()[0]));
  }
  int64_t k = *kInput.as<int64_t>();
  if (k < 0 || k > view.size) {
    return call.invalid("K of TopK is " + std::to_string(k) +
                        ", and the axis has " + std::to_string(view.size) +
                        " elements");
  }
  TW_RETURN_IF_ERROR(call.allocate({k}));
  std::vector<int64_t> shape = x.shape.vec();
  shape[axis] = k;
  TW_RETURN_IF_ERROR(call.expectOutput(0, x.dtype, shape));
  TW_RETURN_IF_ERROR(call.expectOutput(1, DType::I64, shape));
  Status status;
  bool known = withNumber(x.dtype, [&](auto element) {
    status = run<decltype(element)>(call, view, k);
  });
  return known ? status : call.unsupportedType(x.dtype);
}
