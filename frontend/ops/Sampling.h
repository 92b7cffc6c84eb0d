//===- Sampling.h - how Resize samples along one axis -----------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "frontend/ops/Common.h"

namespace tilewright::frontend {

enum class CoordinateMode {
  HalfPixel,
  HalfPixelSymmetric,
  PytorchHalfPixel,
  AlignCorners,
  Asymmetric,
  TfHalfPixelForNearest,
  TfCropAndResize
};
enum class NearestMode { RoundPreferFloor, RoundPreferCeil, Floor, Ceil };
enum class Interpolation { Nearest, Linear, Cubic };

/// The attributes of Resize.
struct ResizeMode {
  Interpolation interpolation = Interpolation::Nearest;
  CoordinateMode coordinates = CoordinateMode::HalfPixel;
  NearestMode nearest = NearestMode::RoundPreferFloor;
  bool antialias = false;
  bool excludesOutside = false;
  double cubicCoefficient = -0.75;
  double extrapolation = 0;
};

/// One axis that is resized. All reals are f64: positions decide which element
/// is taken.
struct ResizedAxis {
  int64_t axis = 0;
  DimExpr in, out;
  /// The factor: a constant, an element of a float tensor (or a scalar one), or
  /// `out / in` where both are missing.
  std::optional<double> knownScale;
  Value scales;
  int64_t scaleElement = 0;
  /// Where the region of interest begins and ends (for TfCropAndResize).
  Value roi;
  int64_t roiBegin = 0, roiEnd = 0;

  Value scale(BodyBuilder &b) const;
  /// The position in the input that element `at` of the result stands for.
  Value position(BodyBuilder &b, Value at, const ResizeMode &mode) const;
  /// Whether a position lies outside the input.
  Value isOutside(BodyBuilder &b, Value position) const;
  /// The element nearest to where `at` samples, inside the input.
  Value nearest(BodyBuilder &b, Value at, const ResizeMode &mode) const;
  /// A coordinate moved into the input.
  Value clamped(BodyBuilder &b, Value coordinate) const;
  /// The factor where every element is repeated that many times; else nullopt.
  std::optional<int64_t> repeats(const ResizeMode &mode) const;
  bool isIdentity(const ResizeMode &mode) const;
};

/// The axes that a Resize or Upsample changes, with their factors and sizes.
Result<SmallVector<ResizedAxis>> resizedAxes(NodeImport &node,
                                             const ResizeMode &mode);

/// Resamples `tensor` (f32 or f64) along one axis, linear or cubic.
Value resample(NodeImport &node, Value tensor, const ResizedAxis &axis,
               const ResizeMode &mode);

} // namespace tilewright::frontend
