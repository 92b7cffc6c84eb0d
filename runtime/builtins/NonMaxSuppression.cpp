//===- NonMaxSuppression.cpp - boxes that do not overlap ------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "runtime/builtins/Builtins.h"

#include <algorithm>
#include <limits>

using namespace tilewright;

namespace {

struct Box {
  float top, left, bottom, right;
  float area() const { return (bottom - top) * (right - left); }
};

struct Settings {
  int64_t mostPerClass = 0;
  float overlap = 0;
  float score = -std::numeric_limits<float>::infinity();
  bool filterByScore = false;
  bool centers = false;
};

} // namespace

/// From [y1, x1, y2, x2] with corners in any order, or [x, y, width, height]
/// around the centre.
static Box readBox(const float *p, bool centers) {
  if (centers) {
    return {p[1] - p[3] / 2, p[0] - p[2] / 2, p[1] + p[3] / 2, p[0] + p[2] / 2};
  }
  return {std::min(p[0], p[2]), std::min(p[1], p[3]), std::max(p[0], p[2]),
          std::max(p[1], p[3])};
}

/// Whether intersection over union exceeds `threshold`.
static bool overlaps(const Box &a, const Box &b, float threshold) {
  float height = std::min(a.bottom, b.bottom) - std::max(a.top, b.top);
  float width = std::min(a.right, b.right) - std::max(a.left, b.left);
  if (!(height > 0 && width > 0)) {
    return false;
  }
  float common = height * width;
  float both = a.area() + b.area() - common;
  return both > 0 && common / both > threshold;
}

/// Appends the boxes of one class, best first, that no better one overlaps.
static void selectBoxes(const float *boxes, const float *scores, int64_t count,
                        const Settings &settings,
                        std::vector<int64_t> &chosen) {
  std::vector<int64_t> order;
  for (int64_t i = 0; i < count; ++i) {
    if (!settings.filterByScore || scores[i] > settings.score) {
      order.push_back(i);
    }
  }
  // NaN after everything else; among equals the lower index first.
  std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    if (scores[a] != scores[a] || scores[b] != scores[b]) {
      bool bothNaN = scores[a] != scores[a] && scores[b] != scores[b];
      return bothNaN ? a < b : scores[a] == scores[a];
    }
    return scores[a] != scores[b] ? scores[a] > scores[b] : a < b;
  });
  std::vector<Box> kept;
  for (int64_t candidate : order) {
    if (static_cast<int64_t>(kept.size()) >= settings.mostPerClass) {
      return;
    }
    Box box = readBox(boxes + candidate * 4, settings.centers);
    bool free = std::none_of(kept.begin(), kept.end(), [&](const Box &other) {
      return overlaps(box, other, settings.overlap);
    });
    if (free) {
      kept.push_back(box);
      chosen.push_back(candidate);
    }
  }
}

/// Reads an optional scalar of type T.
template <typename T>
static bool readScalar(const BuiltinCall &call, size_t index, DType dtype,
                       T &out) {
  const TensorView *view = call.input(index);
  if (!view) {
    return true;
  }
  if (view->dtype != dtype || view->elements() != 1) {
    return false;
  }
  out = *view->as<T>();
  return true;
}

Status builtins::nonMaxSuppression(BuiltinCall &call) {
  const TensorView &boxes = *call.input(0);
  const TensorView &scores = *call.input(1);
  if (boxes.dtype != DType::F32 || scores.dtype != DType::F32) {
    return call.unsupportedType(boxes.dtype != DType::F32 ? boxes.dtype
                                                          : scores.dtype);
  }
  if (boxes.shape.rank() != 3 || scores.shape.rank() != 3 ||
      boxes.shape[2] != 4 || boxes.shape[0] != scores.shape[0] ||
      boxes.shape[1] != scores.shape[2]) {
    return call.invalid("boxes " + boxes.shape.toString() + " and scores " +
                        scores.shape.toString() +
                        " of NonMaxSuppression do not fit together");
  }
  Settings settings;
  settings.centers = call.ints()[0] != 0;
  settings.filterByScore = call.input(4) != nullptr;
  if (!readScalar(call, 2, DType::I64, settings.mostPerClass) ||
      !readScalar(call, 3, DType::F32, settings.overlap) ||
      !readScalar(call, 4, DType::F32, settings.score)) {
    return call.invalid("a limit of NonMaxSuppression is not one number of the "
                        "right type");
  }

  std::vector<int64_t> triples;
  std::vector<int64_t> chosen;
  int64_t classes = scores.shape[1];
  int64_t count = scores.shape[2];
  for (int64_t batch = 0; batch < boxes.shape[0] && count > 0; ++batch) {
    for (int64_t label = 0; label < classes; ++label) {
      chosen.clear();
      selectBoxes(boxes.as<float>() + batch * count * 4,
                  scores.as<float>() + (batch * classes + label) * count, count,
                  settings, chosen);
      for (int64_t box : chosen) {
        triples.insert(triples.end(), {batch, label, box});
      }
    }
  }
  int64_t shape[] = {static_cast<int64_t>(triples.size() / 3), 3};
  TW_RETURN_IF_ERROR(call.allocate({shape[0]}));
  TW_RETURN_IF_ERROR(call.expectOutput(0, DType::I64, ShapeRef(shape, 2)));
  if (const TensorView *out = call.output(0)) {
    std::copy(triples.begin(), triples.end(), out->as<int64_t>());
  }
  return Status::ok();
}
