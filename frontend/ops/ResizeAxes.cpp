//===- ResizeAxes.cpp - sizes and factors of Resize -----------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "frontend/ops/Sampling.h"
#include "frontend/ops/Scalars.h"
#include <cmath>

using namespace mlir;

namespace tilewright::frontend {

/// Which inputs hold what; a left-out input is nullopt.
struct ResizeInputs {
  std::optional<size_t> roi, scales, sizes;
};

static ResizeInputs inputsOf(NodeImport &node) {
  ResizeInputs inputs;
  auto given = [&](size_t i) -> std::optional<size_t> {
    // An empty tensor stands for a left-out one.
    bool isEmpty =
        node.hasInput(i) && node.rank(i) == 1 && node.dims(i)[0].isConstant(0);
    return node.hasInput(i) && !isEmpty ? std::optional<size_t>(i)
                                        : std::nullopt;
  };
  if (node.version() < 11) {
    inputs.scales = given(1);
    return inputs;
  }
  return {given(1), given(2), given(3)};
}

/// floor(size * scale) of every axis, for scales that are data.
static Result<Dims> scaledSizes(NodeImport &node, ArrayRef<ResizedAxis> axes) {
  Type i64 = node.builder().getI64Type();
  DimExpr count = node.constant(axes.size());
  Value sizes = tw::buildMap(
      node.builder(), node.loc(), count, i64,
      [&](BodyBuilder &b, ValueRange at) {
        Value result = b.integer(i64, 0);
        for (size_t k = 0; k < axes.size(); ++k) {
          Value exact =
              b.mulOf(axes[k].scale(b),
                      toScalar(b, b.size(axes[k].in), b.getF64Type()));
          Value whole =
              b.cast(b.create<math::FloorOp>(exact), b.getF64Type(), i64);
          result = b.select(b.equal(at[0], b.index(k)), whole, result);
        }
        return result;
      });
  return node.readSizes(sizes);
}

/// Factors that are `known`, or else elements of `tensor`.
static Status setScales(NodeImport &node,
                        std::optional<SmallVector<double>> known, Value tensor,
                        SmallVector<ResizedAxis> &axes) {
  for (size_t k = 0; k < axes.size(); ++k) {
    if (known) {
      axes[k].knownScale = (*known)[k];
      if (!((*known)[k] > 0)) {
        return node.error(ErrorCode::AttributeInvalid,
                          "scales must be positive, not " +
                              std::to_string((*known)[k]));
      }
    }
    axes[k].scales = tensor;
    axes[k].scaleElement = k;
  }
  bool allKnown = known && llvm::all_of(axes, [](const ResizedAxis &axis) {
                    return axis.in.getConstant() || *axis.knownScale == 1.0 ||
                           *axis.knownScale == std::floor(*axis.knownScale);
                  });
  if (!allKnown) {
    Result<Dims> sizes = scaledSizes(node, axes);
    if (!sizes) {
      return sizes.status();
    }
    for (auto [axis, size] : llvm::zip(axes, *sizes)) {
      axis.out = size;
    }
    return Status::ok();
  }
  for (ResizedAxis &axis : axes) {
    double scale = *axis.knownScale;
    std::optional<int64_t> in = axis.in.getConstant();
    axis.out = in ? node.constant(static_cast<int64_t>(std::floor(*in * scale)))
                  : axis.in * static_cast<int64_t>(scale);
  }
  return Status::ok();
}

/// One factor for all axes, so that no size is larger (or smaller) than asked
/// for; a scalar of f64.
static Value commonScale(NodeImport &node, ArrayRef<ResizedAxis> axes,
                         ArrayRef<DimExpr> sizes, bool notLarger) {
  return tw::buildMap(
      node.builder(), node.loc(), {}, node.builder().getF64Type(),
      [&](BodyBuilder &b, ValueRange) {
        Type real = b.getF64Type();
        Value scale;
        for (auto [axis, size] : llvm::zip(axes, sizes)) {
          Value ratio = divide(b, toScalar(b, b.size(size), real),
                               toScalar(b, b.size(axis.in), real));
          scale = !scale      ? ratio
                  : notLarger ? b.minOf(scale, ratio, real)
                              : b.maxOf(scale, ratio, real);
        }
        return scale;
      });
}

static Status setSizes(NodeImport &node, size_t input,
                       SmallVector<ResizedAxis> &axes) {
  Result<Dims> sizes = node.elementsOrRead(input);
  if (!sizes) {
    return sizes.status();
  }
  std::string policy =
      node.stringAttribute("keep_aspect_ratio_policy", "stretch");
  if (policy == "stretch") {
    for (auto [axis, size] : llvm::zip(axes, *sizes)) {
      axis.out = size;
    }
    return Status::ok();
  }
  if (policy != "not_larger" && policy != "not_smaller") {
    return node.error(ErrorCode::AttributeInvalid,
                      "keep_aspect_ratio_policy is '" + policy + "'");
  }
  Value scale = commonScale(node, axes, *sizes, policy == "not_larger");
  Type i64 = node.builder().getI64Type();
  Value rounded = tw::buildMap(
      node.builder(), node.loc(), node.constant(axes.size()), i64,
      [&](BodyBuilder &b, ValueRange at) {
        Type real = b.getF64Type();
        Value result = b.integer(i64, 0);
        for (size_t k = 0; k < axes.size(); ++k) {
          Value exact =
              b.mulOf(b.load(scale, {}), toScalar(b, b.size(axes[k].in), real));
          Value whole =
              b.create<math::FloorOp>(b.addOf(exact, b.constant(real, 0.5)));
          result = b.select(b.equal(at[0], b.index(k)),
                            b.cast(whole, real, i64), result);
        }
        return result;
      });
  Result<Dims> read = node.readSizes(rounded);
  if (!read) {
    return read.status();
  }
  for (auto [axis, size] : llvm::zip(axes, *read)) {
    axis.out = size;
    axis.scales = scale;
  }
  return Status::ok();
}

Result<SmallVector<ResizedAxis>> resizedAxes(NodeImport &node,
                                             const ResizeMode &mode) {
  Dims dims = node.dims(0);
  SmallVector<ResizedAxis> axes;
  Result<std::optional<SmallVector<int64_t>>> listed =
      constantAxes(node, std::nullopt, dims.size());
  if (!listed) {
    return listed.status();
  }
  SmallVector<int64_t> numbers =
      listed->value_or(llvm::to_vector(llvm::seq<int64_t>(0, dims.size())));
  for (int64_t number : numbers) {
    ResizedAxis axis;
    axis.axis = number;
    axis.in = dims[number];
    axes.push_back(axis);
  }
  ResizeInputs inputs = inputsOf(node);
  DimExpr count = node.constant(axes.size());
  if (mode.coordinates == CoordinateMode::TfCropAndResize) {
    if (!inputs.roi) {
      return node.error(ErrorCode::ModelInvalid,
                        "tf_crop_and_resize needs the input roi");
    }
    TW_RETURN_IF_ERROR(requireDims(node, *inputs.roi, "roi", count * 2));
    for (size_t k = 0; k < axes.size(); ++k) {
      axes[k].roi = node.input(*inputs.roi);
      axes[k].roiBegin = k;
      axes[k].roiEnd = k + axes.size();
    }
  }
  if (inputs.sizes) {
    TW_RETURN_IF_ERROR(requireDims(node, *inputs.sizes, "sizes", count));
    TW_RETURN_IF_ERROR(setSizes(node, *inputs.sizes, axes));
    return axes;
  }
  if (inputs.scales) {
    TW_RETURN_IF_ERROR(requireDims(node, *inputs.scales, "scales", count));
    std::optional<SmallVector<double>> known =
        node.constantReals(*inputs.scales);
    TW_RETURN_IF_ERROR(
        setScales(node, known, node.input(*inputs.scales), axes));
    return axes;
  }
  // Upsample 7 has the factors in an attribute.
  SmallVector<double> attribute = node.floatsAttribute("scales");
  if (attribute.size() == axes.size() && !axes.empty()) {
    TW_RETURN_IF_ERROR(setScales(node, attribute, {}, axes));
    return axes;
  }
  return node.error(ErrorCode::ModelInvalid,
                    "neither scales nor sizes are given");
}

} // namespace tilewright::frontend
