//===- RoiAlign.cpp - pooling of regions that are data --------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "frontend/ops/Families.h"
#include "frontend/ops/Scalars.h"

using namespace mlir;

namespace tilewright::frontend {

namespace {

/// The element's position along one axis and the two elements around it, with
/// the weight of the second.
struct Neighbours {
  Value low, high, weight, inside;
};

struct RoiAlign {
  NodeImport &node;
  int64_t samples;
  double spatialScale;
  bool isHalfPixel, isMax;
  Dims dims; // of the input
  Type real;

  /// Begin and size of region `roi` along an axis (0: height, 1: width).
  std::pair<Value, Value> extent(BodyBuilder &b, Value roi, int64_t axis) const;
  Neighbours sample(BodyBuilder &b, Value roi, Value bin, Value tap,
                    int64_t axis, int64_t bins) const;
};

} // namespace

std::pair<Value, Value> RoiAlign::extent(BodyBuilder &b, Value roi,
                                         int64_t axis) const {
  // A region is x1, y1, x2, y2.
  auto bound = [&](int64_t i) {
    Value x = b.widen(b.load(node.input(1), {roi, b.index(i)}));
    x = b.mulOf(x, literal(b, x, spatialScale));
    return isHalfPixel ? b.subOf(x, literal(b, x, 0.5)) : x;
  };
  Value begin = bound(1 - axis), end = bound(3 - axis);
  Value size = b.subOf(end, begin);
  if (!isHalfPixel) {
    size = b.create<arith::MaximumFOp>(size, literal(b, size, 1.0));
  }
  return {begin, size};
}

Neighbours RoiAlign::sample(BodyBuilder &b, Value roi, Value bin, Value tap,
                            int64_t axis, int64_t bins) const {
  auto [begin, size] = extent(b, roi, axis);
  Value binSize = divide(b, size, b.constant(real, static_cast<double>(bins)));
  Value step = b.addOf(toScalar(b, tap, real), b.constant(real, 0.5));
  Value offset = divide(b, b.mulOf(step, binSize),
                        b.constant(real, static_cast<double>(samples)));
  Value x =
      b.addOf(b.addOf(begin, b.mulOf(toScalar(b, bin, real), binSize)), offset);
  Value length = toScalar(b, b.size(dims[2 + axis]), real);
  Neighbours result;
  Value below = lower(b, x, b.constant(real, -1.0)),
        above = greater(b, x, length);
  result.inside = b.create<arith::XOrIOp>(b.create<arith::OrIOp>(below, above),
                                          b.boolean(true));
  Value last = b.size(dims[2 + axis] - 1);
  x = b.create<arith::MaximumFOp>(x, b.constant(real, 0.0));
  Value whole = b.create<math::FloorOp>(x);
  Value low = b.createOrFold<arith::IndexCastOp>(
      b.getIndexType(), b.cast(whole, real, b.getI64Type()));
  Value isLast = b.lessEqual(last, low);
  result.low = b.max(b.min(low, last), b.index(0));
  result.high = b.max(b.min(b.add(low, 1), last), b.index(0));
  result.weight = b.select(isLast, b.constant(real, 0.0), b.subOf(x, whole));
  return result;
}

static Status checkOperands(NodeImport &node) {
  TW_RETURN_IF_ERROR(requireFloat(node, 0));
  TW_RETURN_IF_ERROR(requireRank(node, 0, 4));
  TW_RETURN_IF_ERROR(requireRank(node, 1, 2));
  TW_RETURN_IF_ERROR(requireFloat(node, 1));
  TW_RETURN_IF_ERROR(
      requireDims(node, 1, "rois", {node.dims(1)[0], node.constant(4)}));
  TW_RETURN_IF_ERROR(requireInteger(node, 2));
  return requireDims(node, 2, "batch_indices", node.dims(1)[0]);
}

static Status importRoiAlign(NodeImport &node) {
  TW_RETURN_IF_ERROR(checkOperands(node));
  std::string mode = node.stringAttribute("mode", "avg");
  bool oldDefault = node.version() < 16;
  std::string coordinates =
      node.stringAttribute("coordinate_transformation_mode",
                           oldDefault ? "output_half_pixel" : "half_pixel");
  int64_t height = node.intAttribute("output_height", 1),
          width = node.intAttribute("output_width", 1);
  int64_t samples = node.intAttribute("sampling_ratio", 0);
  if ((mode != "avg" && mode != "max") || height < 1 || width < 1 ||
      samples < 0) {
    return node.error(ErrorCode::AttributeInvalid,
                      "mode must be avg or max, sizes positive and "
                      "sampling_ratio not negative");
  }
  if (samples == 0) {
    return node.unsupported(
        "sampling_ratio 0, which makes the number of samples depend on data");
  }
  Dims x = node.dims(0);
  Type element = node.element(0), real = tw::computeType(element);
  RoiAlign align{node,
                 samples,
                 node.floatAttribute("spatial_scale", 1.0),
                 coordinates == "half_pixel",
                 mode == "max",
                 x,
                 tw::computeType(node.element(1))};
  Dims dims{node.dims(1)[0], x[1], node.constant(height), node.constant(width)};
  DimExpr count = node.constant(samples);
  Value pooled = tw::buildReduce(
      node.builder(), node.loc(), align.isMax ? FoldKind::Max : FoldKind::Add,
      dims, {count, count}, real, [&](BodyBuilder &b, ValueRange at) {
        Value batch =
            b.dataIndex(b.load(node.input(2), at[0]), x[0], /*wrap=*/false);
        Neighbours y = align.sample(b, at[0], at[2], at[4], 0, height);
        Neighbours z = align.sample(b, at[0], at[3], at[5], 1, width);
        auto term = [&](Value row, Value column, Value wy, Value wz) {
          Value value =
              b.widen(b.load(node.input(0), {batch, at[1], row, column}));
          return b.mulOf(b.cast(b.mulOf(wy, wz), wy.getType(), real), value);
        };
        Value one = literal(b, y.weight, 1.0);
        Value notY = b.subOf(one, y.weight), notZ = b.subOf(one, z.weight);
        Value corners[] = {term(y.low, z.low, notY, notZ),
                           term(y.low, z.high, notY, z.weight),
                           term(y.high, z.low, y.weight, notZ),
                           term(y.high, z.high, y.weight, z.weight)};
        Value sum = corners[0];
        for (Value corner : ArrayRef(corners).drop_front()) {
          sum = align.isMax ? Value(b.create<arith::MaximumFOp>(sum, corner))
                            : b.addOf(sum, corner);
        }
        Value inside = b.create<arith::AndIOp>(y.inside, z.inside);
        return b.select(inside, sum, b.constant(real, 0));
      });
  node.setOutput(
      0, tw::buildElementwise(
             node.builder(), node.loc(), dims, element, pooled,
             [&](BodyBuilder &b, ValueRange value) {
               double divisor = static_cast<double>(samples) * samples;
               return align.isMax
                          ? value[0]
                          : divide(b, value[0], literal(b, value[0], divisor));
             }));
  return Status::ok();
}

OperatorFamily roiAlignOperators() {
  static const OperatorEntry entries[] = {
      {"", "RoiAlign", 10, importRoiAlign},
  };
  return entries;
}

} // namespace tilewright::frontend
