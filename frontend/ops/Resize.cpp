//===- Resize.cpp - Resize and Upsample -----------------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// Nearest is one map that picks elements; linear and cubic resample one axis
// after the other, which gives the same as all at once.
//
//===----------------------------------------------------------------------===//

#include "frontend/ops/Families.h"
#include "frontend/ops/Sampling.h"
#include "frontend/ops/Scalars.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace tilewright::frontend {

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

static Status readNearestMode(NodeImport &node, ResizeMode &mode) {
  std::string text = node.stringAttribute("nearest_mode", "round_prefer_floor");
  auto known = llvm::StringSwitch<std::optional<NearestMode>>(text)
                   .Case("round_prefer_floor", NearestMode::RoundPreferFloor)
                   .Case("round_prefer_ceil", NearestMode::RoundPreferCeil)
                   .Case("floor", NearestMode::Floor)
                   .Case("ceil", NearestMode::Ceil)
                   .Default(std::nullopt);
  if (!known) {
    return node.error(ErrorCode::AttributeInvalid,
                      "nearest_mode is '" + text + "'");
  }
  mode.nearest = *known;
  return Status::ok();
}

static Status readCoordinateMode(NodeImport &node, ResizeMode &mode) {
  std::string text =
      node.stringAttribute("coordinate_transformation_mode", "half_pixel");
  auto known =
      llvm::StringSwitch<std::optional<CoordinateMode>>(text)
          .Case("half_pixel", CoordinateMode::HalfPixel)
          .Case("half_pixel_symmetric", CoordinateMode::HalfPixelSymmetric)
          .Case("pytorch_half_pixel", CoordinateMode::PytorchHalfPixel)
          .Case("align_corners", CoordinateMode::AlignCorners)
          .Case("asymmetric", CoordinateMode::Asymmetric)
          .Case("tf_half_pixel_for_nn", CoordinateMode::TfHalfPixelForNearest)
          .Case("tf_crop_and_resize", CoordinateMode::TfCropAndResize)
          .Default(std::nullopt);
  if (!known) {
    return node.error(ErrorCode::AttributeInvalid,
                      "coordinate_transformation_mode is '" + text + "'");
  }
  mode.coordinates = *known;
  return Status::ok();
}

static Result<ResizeMode> readMode(NodeImport &node) {
  ResizeMode mode;
  std::string text = node.stringAttribute("mode", "nearest");
  auto known = llvm::StringSwitch<std::optional<Interpolation>>(text)
                   .Case("nearest", Interpolation::Nearest)
                   .Case("linear", Interpolation::Linear)
                   .Case("bilinear", Interpolation::Linear)
                   .Case("cubic", Interpolation::Cubic)
                   .Default(std::nullopt);
  if (!known) {
    return node.error(ErrorCode::AttributeInvalid,
                      "mode must be nearest, linear or cubic, not '" + text +
                          "'");
  }
  mode.interpolation = *known;
  if (node.version() < 11) {
    mode.coordinates = CoordinateMode::Asymmetric;
    mode.nearest = NearestMode::Floor;
    return mode;
  }
  TW_RETURN_IF_ERROR(readCoordinateMode(node, mode));
  TW_RETURN_IF_ERROR(readNearestMode(node, mode));
  mode.antialias = node.intAttribute("antialias", 0) != 0;
  mode.excludesOutside = node.intAttribute("exclude_outside", 0) != 0;
  mode.cubicCoefficient = node.floatAttribute("cubic_coeff_a", -0.75);
  mode.extrapolation = node.floatAttribute("extrapolation_value", 0);
  return mode;
}

//===----------------------------------------------------------------------===//
// The operator
//===----------------------------------------------------------------------===//

static Value resizeNearest(NodeImport &node, ArrayRef<ResizedAxis> axes,
                           const ResizeMode &mode) {
  Dims dims = node.dims(0);
  for (const ResizedAxis &axis : axes) {
    dims[axis.axis] = axis.out;
  }
  Type element = node.element(0);
  return tw::buildMap(
      node.builder(), node.loc(), dims, element,
      [&](BodyBuilder &b, ValueRange at) {
        SmallVector<Value> from(at);
        Value outside;
        for (const ResizedAxis &axis : axes) {
          if (axis.isIdentity(mode)) {
            continue;
          }
          from[axis.axis] = axis.nearest(b, at[axis.axis], mode);
          if (mode.coordinates == CoordinateMode::TfCropAndResize) {
            Value leaves =
                axis.isOutside(b, axis.position(b, at[axis.axis], mode));
            outside = outside ? Value(b.create<arith::OrIOp>(outside, leaves))
                              : leaves;
          }
        }
        Value value = b.load(node.input(0), from);
        return outside ? b.select(outside,
                                  b.constant(tw::scalarType(element),
                                             mode.extrapolation),
                                  value)
                       : value;
      },
      "resize");
}

static Status importResize(NodeImport &node) {
  Result<ResizeMode> mode = readMode(node);
  if (!mode) {
    return mode.status();
  }
  if (mode->interpolation != Interpolation::Nearest) {
    TW_RETURN_IF_ERROR(requireNumber(node, 0));
  }
  Result<SmallVector<ResizedAxis>> axes = resizedAxes(node, *mode);
  if (!axes) {
    return axes.status();
  }
  if (mode->interpolation == Interpolation::Nearest) {
    node.setOutput(0, resizeNearest(node, *axes, *mode));
    return Status::ok();
  }
  Type element = node.element(0);
  Type real = isFloat(element) ? tw::computeType(element)
                               : Type(node.builder().getF32Type());
  Value value = castTensor(node, node.input(0), real);
  for (const ResizedAxis &axis : *axes) {
    if (!axis.isIdentity(*mode)) {
      value = resample(node, value, axis, *mode);
    }
  }
  node.setOutput(0, castTensor(node, value, element));
  return Status::ok();
}

OperatorFamily resizeOperators() {
  static const OperatorEntry entries[] = {
      {"", "Resize", 10, importResize},
      {"", "Upsample", 7, importResize},
  };
  return entries;
}

} // namespace tilewright::frontend
