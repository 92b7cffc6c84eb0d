//===- BodyBuilder.h - writing scalar bodies --------------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// Importer and decompositions write bodies of maps and reductions with this
// builder. It folds constants on the fly, keeps division and conversion free
// of undefined cases, and offers one-line builders for whole primitives.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "ir/TwOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace tilewright::tw {

/// Builds scalars inside the body of a primitive.
class BodyBuilder : public mlir::ImplicitLocOpBuilder {
public:
  using ImplicitLocOpBuilder::ImplicitLocOpBuilder;
  using Value = mlir::Value;
  using ValueRange = mlir::ValueRange;

  //===--- Coordinates (type index) ---------------------------------------===//
  Value index(int64_t value);
  Value size(DimExpr size);
  Value add(Value a, Value b);
  Value sub(Value a, Value b);
  Value mul(Value a, Value b);
  Value add(Value a, int64_t b) { return add(a, index(b)); }
  Value sub(Value a, int64_t b) { return sub(a, index(b)); }
  Value mul(Value a, int64_t b) { return mul(a, index(b)); }
  /// Rounds toward minus infinity. \pre `b` is positive.
  Value floorDiv(Value a, Value b);
  /// \pre `b` is positive; the result is in [0, b).
  Value mod(Value a, Value b);
  Value min(Value a, Value b);
  Value max(Value a, Value b);
  /// 0 <= a < bound.
  Value inside(Value a, Value bound);
  Value inside(Value a, DimExpr bound) { return inside(a, size(bound)); }
  Value less(Value a, Value b);
  Value lessEqual(Value a, Value b);
  Value equal(Value a, Value b);
  /// The logical and; a null Value is true.
  Value both(Value a, Value b);
  /// A data-dependent integer scalar as a coordinate; negative ones count from
  /// the end when `wrap`; what lies outside is reported at run time.
  Value dataIndex(Value scalar, DimExpr bound, bool wrap,
                  bool isUnsignedScalar = false);

  //===--- Scalars --------------------------------------------------------===//
  /// A constant of a float or integer type.
  Value constant(mlir::Type type, double value);
  Value integer(mlir::Type type, int64_t value);
  Value boolean(bool value);
  Value select(Value condition, Value ifTrue, Value ifFalse);

  /// Reads an element. Small floats come out as they are stored.
  Value load(Value tensor, ValueRange coordinates);
  /// `guard ? tensor[coordinates] : otherwise`; the load does not happen where
  /// the guard is false.
  Value load(Value tensor, ValueRange coordinates, Value guard,
             Value otherwise);
  /// Reads an element with numpy's broadcasting: `coordinates` are those of
  /// the result; missing leading axes and axes of size one are dropped.
  Value loadBroadcast(Value tensor, ValueRange coordinates);
  /// The same where `dims` are the result's: an axis whose size may turn out
  /// to be one at run time is clamped.
  Value loadBroadcast(Value tensor, ValueRange coordinates,
                      llvm::ArrayRef<DimExpr> dims);

  /// A small float as f32; other types unchanged.
  Value widen(Value scalar);
  /// A computed value in the scalar type `type` of its element: rounds f32 to
  /// a small float, leaves the rest.
  Value narrow(Value scalar, mlir::Type type);

  /// ONNX's Cast between element types: float to integer truncates and
  /// saturates, NaN gives 0; to bool is `!= 0`; small floats saturate unless
  /// `saturate` is false.
  Value cast(Value scalar, mlir::Type from, mlir::Type to,
             bool saturate = true);

  //===--- Arithmetic by element type -------------------------------------===//
  // Signedness comes from `element`; floats are widened scalars.
  Value addOf(Value a, Value b);
  Value subOf(Value a, Value b);
  Value mulOf(Value a, Value b);
  /// Integers: truncates; by zero gives 0, MIN / -1 gives MIN.
  Value divOf(Value a, Value b, mlir::Type element);
  /// Integers: sign of the dividend (C's %); by zero gives 0.
  Value remOf(Value a, Value b, mlir::Type element);
  /// NaN propagates.
  Value minOf(Value a, Value b, mlir::Type element);
  Value maxOf(Value a, Value b, mlir::Type element);
  Value lessOf(Value a, Value b, mlir::Type element);
  Value lessEqualOf(Value a, Value b, mlir::Type element);
  Value equalOf(Value a, Value b);
};

using CoordinateBody = llvm::function_ref<mlir::Value(
    BodyBuilder &, mlir::ValueRange coordinates)>;
using CoordinateBodies = llvm::function_ref<llvm::SmallVector<mlir::Value>(
    BodyBuilder &, mlir::ValueRange coordinates)>;

/// Builds a `tw.map` with one result; `body` gives the element at coordinates,
/// in the scalar type of `element`.
mlir::Value buildMap(mlir::OpBuilder &builder, mlir::Location loc,
                     llvm::ArrayRef<DimExpr> dims, mlir::Type element,
                     CoordinateBody body, llvm::StringRef root = "");

/// Builds a `tw.map` with several results.
llvm::SmallVector<mlir::Value>
buildMap(mlir::OpBuilder &builder, mlir::Location loc,
         llvm::ArrayRef<DimExpr> dims, mlir::TypeRange elements,
         CoordinateBodies body, llvm::StringRef root = "");

/// Builds a `tw.reduce`; `body` takes the result's coordinates, then the
/// reduction's, and gives the scalar to fold.
mlir::Value buildReduce(mlir::OpBuilder &builder, mlir::Location loc,
                        FoldKind kind, llvm::ArrayRef<DimExpr> dims,
                        llvm::ArrayRef<DimExpr> extents, mlir::Type element,
                        CoordinateBody body, llvm::StringRef root = "");

mlir::Value buildScan(mlir::OpBuilder &builder, mlir::Location loc,
                      FoldKind kind, int64_t axis, bool exclusive, bool reverse,
                      llvm::ArrayRef<DimExpr> dims, mlir::Type element,
                      CoordinateBody body);

/// `body` gives one coordinate per axis of `init`, then the scalar.
mlir::Value buildScatter(mlir::OpBuilder &builder, mlir::Location loc,
                         FoldKind kind, mlir::Value init,
                         llvm::ArrayRef<DimExpr> extents,
                         CoordinateBodies body);

/// An element-wise map over operands that broadcast to `dims`; `body` gets one
/// widened scalar per operand and gives a widened scalar of `element`.
mlir::Value buildElementwise(
    mlir::OpBuilder &builder, mlir::Location loc, llvm::ArrayRef<DimExpr> dims,
    mlir::Type element, mlir::ValueRange operands,
    llvm::function_ref<mlir::Value(BodyBuilder &, mlir::ValueRange scalars)>
        body);

/// `tw.reshape` to the given dims; the operand itself if it has them already.
mlir::Value buildReshape(mlir::OpBuilder &builder, mlir::Location loc,
                         mlir::Value tensor, llvm::ArrayRef<DimExpr> dims);

/// A small or large constant from raw little-endian element bytes.
mlir::Value buildConstant(mlir::OpBuilder &builder, mlir::Location loc,
                          mlir::RankedTensorType type,
                          llvm::ArrayRef<char> bytes,
                          std::shared_ptr<const void> owner);
mlir::Value buildConstant(mlir::OpBuilder &builder, mlir::Location loc,
                          llvm::ArrayRef<int64_t> values, bool scalar = false);
mlir::Value buildConstant(mlir::OpBuilder &builder, mlir::Location loc,
                          mlir::Type floatType, double value);

/// \returns the raw bytes of a `tw.constant`, as stored in memory at run time
/// (a bool and a sub-byte element take one byte); nullopt for other values.
std::optional<std::vector<char>> constantBytes(mlir::Value value);
/// \returns the element that all elements of a constant equal, bit by bit; null
/// if they differ.
mlir::TypedAttr uniformElement(ConstantOp constant);
/// \returns the elements of a small integer constant.
std::optional<llvm::SmallVector<int64_t>> constantIntegers(mlir::Value value);

} // namespace tilewright::tw
