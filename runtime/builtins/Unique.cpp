//===- Unique.cpp - different elements or slices --------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "runtime/builtins/Axis.h"
#include "runtime/builtins/Builtins.h"
#include "runtime/builtins/Elements.h"

#include <algorithm>
#include <numeric>

using namespace tilewright;

namespace {

/// Which slice belongs to which group of equal slices.
struct Groups {
  std::vector<int64_t> first;   ///< per group: its first slice
  std::vector<int64_t> counts;  ///< per group
  std::vector<int64_t> groupOf; ///< per slice
};

} // namespace

/// Compares slices `a` and `b` element by element: -1, 0 or 1.
template <typename T>
static int compareSlices(const T *data, const AxisView &view, int64_t a,
                         int64_t b) {
  for (int64_t o = 0; o < view.outer; ++o) {
    const T *left = data + (o * view.size + a) * view.inner;
    const T *right = data + (o * view.size + b) * view.inner;
    for (int64_t n = 0; n < view.inner; ++n) {
      auto x = keyOf(left[n]);
      auto y = keyOf(right[n]);
      if (keyLess(x, y)) {
        return -1;
      }
      if (keyLess(y, x)) {
        return 1;
      }
    }
  }
  return 0;
}

template <typename T>
static Groups findGroups(const T *data, const AxisView &view, bool sorted) {
  std::vector<int64_t> order(static_cast<size_t>(view.size));
  std::iota(order.begin(), order.end(), int64_t(0));
  std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    int sign = compareSlices(data, view, a, b);
    return sign != 0 ? sign < 0 : a < b;
  });
  Groups groups;
  groups.groupOf.resize(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    if (i == 0 || compareSlices(data, view, order[i - 1], order[i]) != 0) {
      groups.first.push_back(order[i]);
      groups.counts.push_back(0);
    }
    ++groups.counts.back();
    groups.groupOf[order[i]] = static_cast<int64_t>(groups.first.size()) - 1;
  }
  if (sorted) {
    return groups;
  }
  // By first occurrence.
  std::vector<int64_t> byFirst(groups.first.size());
  std::iota(byFirst.begin(), byFirst.end(), int64_t(0));
  std::sort(byFirst.begin(), byFirst.end(), [&](int64_t a, int64_t b) {
    return groups.first[a] < groups.first[b];
  });
  Groups result = groups;
  std::vector<int64_t> place(byFirst.size());
  for (size_t i = 0; i < byFirst.size(); ++i) {
    result.first[i] = groups.first[byFirst[i]];
    result.counts[i] = groups.counts[byFirst[i]];
    place[byFirst[i]] = static_cast<int64_t>(i);
  }
  for (int64_t &group : result.groupOf) {
    group = place[group];
  }
  return result;
}

template <typename T>
static Status run(BuiltinCall &call, const AxisView &view,
                  std::vector<int64_t> shape, size_t axis) {
  const TensorView &x = *call.input(0);
  const T *data = x.as<T>();
  Groups groups = findGroups(data, view, call.ints()[0] != 0);
  int64_t count = static_cast<int64_t>(groups.first.size());
  shape[axis] = count;
  TW_RETURN_IF_ERROR(call.allocate({count}));
  TW_RETURN_IF_ERROR(call.expectOutput(0, x.dtype, shape));

  if (const TensorView *y = call.output(0)) {
    T *out = y->as<T>();
    for (int64_t o = 0; o < view.outer && view.inner > 0; ++o) {
      for (int64_t first : groups.first) {
        out = std::copy_n(data + (o * view.size + first) * view.inner,
                          view.inner, out);
      }
    }
  }
  const std::vector<int64_t> *lists[] = {&groups.first, &groups.groupOf,
                                         &groups.counts};
  for (size_t i = 0; i < 3; ++i) {
    int64_t length = static_cast<int64_t>(lists[i]->size());
    TW_RETURN_IF_ERROR(
        call.expectOutput(i + 1, DType::I64, ShapeRef(&length, 1)));
    if (const TensorView *out = call.output(i + 1)) {
      std::copy(lists[i]->begin(), lists[i]->end(), out->as<int64_t>());
    }
  }
  return Status::ok();
}

Status builtins::unique(BuiltinCall &call) {
  const TensorView &x = *call.input(0);
  AxisView view;
  std::vector<int64_t> shape = {0};
  size_t axis = 0;
  if (call.ints().size() == 1) {
    view.size = x.elements();
  } else {
    if (!AxisView::make(x.shape, call.ints()[1], view, axis)) {
      return call.invalid("the tensor has no axis " +
                          std::to_string(call.ints()[1]));
    }
    shape = x.shape.vec();
  }
  Status status;
  bool known = withNumber(x.dtype, [&](auto element) {
    status = run<decltype(element)>(call, view, shape, axis);
  });
  return known ? status : call.unsupportedType(x.dtype);
}
