//===- Normalization.cpp - softmax and norms ------------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "frontend/ops/Axes.h"
#include "frontend/ops/Families.h"
#include "frontend/ops/Scalars.h"

using namespace mlir;

namespace tilewright::frontend {

/// The attribute `axis` of an operator on input 0.
static Result<int64_t> axisOf(NodeImport &node, int64_t otherwise) {
  TW_RETURN_IF_ERROR(requireRankAtLeast(node, 0, 1));
  return node.normalizeAxis(node.intAttribute("axis", otherwise), node.rank(0));
}

/// Fails unless input `i` broadcasts into input 0 without growing it.
static Status requireBroadcastable(NodeImport &node, size_t i,
                                   llvm::StringRef what) {
  Dims dims = node.dims(0), own = node.dims(i);
  bool fits = own.size() <= dims.size();
  for (size_t k = 0; fits && k < own.size(); ++k) {
    fits = own[k].isConstant(1) ||
           mayBeEqual(own[k], dims[dims.size() - own.size() + k]);
  }
  return fits ? Status::ok()
              : node.error(ErrorCode::ShapeMismatch,
                           Twine(what) + " of shape " + textOf(own) +
                               " does not broadcast to " + textOf(dims));
}

//===----------------------------------------------------------------------===//
// Softmax
//===----------------------------------------------------------------------===//

/// Before opset 13 all axes from `axis` on count as one.
template <bool isLog> static Status importSoftmax(NodeImport &node) {
  TW_RETURN_IF_ERROR(requireFloat(node, 0));
  bool flattens = node.version() < 13;
  Result<int64_t> axis = axisOf(node, flattens ? 1 : -1);
  if (!axis) {
    return axis.status();
  }
  Dims dims = node.dims(0);
  Value input = node.input(0);
  int64_t along = *axis;
  if (flattens && along + 1 < static_cast<int64_t>(dims.size())) {
    Dims flat(dims.begin(), dims.begin() + along);
    flat.push_back(
        tw::productOf(node.context(), ArrayRef(dims).drop_front(along)));
    input = tw::buildReshape(node.builder(), node.loc(), input, flat);
  }
  Value result = tw::SoftmaxOp::create(node.builder(), node.loc(),
                                       input.getType(), input, along, isLog);
  node.setOutput(0, tw::buildReshape(node.builder(), node.loc(), result, dims));
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// Layer, RMS, group and instance norms
//===----------------------------------------------------------------------===//

/// Mean and 1 / sqrt(variance + epsilon) over the axes from `axis` on.
static void setStatistics(NodeImport &node, int64_t axis, double epsilon) {
  ReducedAxes axes =
      reducedAxes(node, llvm::to_vector(llvm::seq<int64_t>(axis, node.rank(0))),
                  /*keepDims=*/true);
  Type real = tw::computeType(node.element(0));
  DimExpr count = axes.count(node.context());
  OpBuilder &builder = node.builder();
  Location loc = node.loc();
  auto average =
      [&](llvm::function_ref<Value(BodyBuilder &, Value, ValueRange)> body) {
        Value sum = tw::buildReduce(
            builder, loc, FoldKind::Add, axes.kept, axes.extents, real,
            [&](BodyBuilder &b, ValueRange at) {
              Value x = b.load(node.input(0), axes.inputCoordinates(b, at));
              return body(b, b.widen(x), at.take_front(axes.kept.size()));
            });
        return tw::buildElementwise(
            builder, loc, axes.kept, real, sum,
            [&](BodyBuilder &b, ValueRange x) {
              return divide(b, x[0], toScalar(b, b.size(count), real));
            });
      };
  Value mean = average([](BodyBuilder &, Value x, ValueRange) { return x; });
  Value variance = average([&](BodyBuilder &b, Value x, ValueRange row) {
    Value centered = b.subOf(x, b.load(mean, row));
    return b.mulOf(centered, centered);
  });
  // The statistics are f32 unless stash_type says bfloat16.
  Type element =
      node.intAttribute("stash_type", 1) == onnx::TensorProto::BFLOAT16
          ? Type(builder.getBF16Type())
          : real;
  if (node.wantsOutput(1)) {
    node.setOutput(1, castTensor(node, mean, element));
  }
  if (node.wantsOutput(2)) {
    node.setOutput(2, tw::buildElementwise(
                          builder, loc, axes.kept, element, variance,
                          [&](BodyBuilder &b, ValueRange x) {
                            Value shifted =
                                b.addOf(x[0], literal(b, x[0], epsilon));
                            return divide(b, literal(b, x[0], 1.0),
                                          b.create<math::SqrtOp>(shifted));
                          }));
  }
}

template <bool rms> static Status importLayerNorm(NodeImport &node) {
  TW_RETURN_IF_ERROR(requireFloat(node, 0));
  TW_RETURN_IF_ERROR(requireFloat(node, 1));
  Result<int64_t> axis = axisOf(node, -1);
  if (!axis) {
    return axis.status();
  }
  TW_RETURN_IF_ERROR(requireBroadcastable(node, 1, "the scale"));
  Value bias;
  if (node.hasInput(2)) {
    TW_RETURN_IF_ERROR(requireBroadcastable(node, 2, "the bias"));
    bias = node.input(2);
  }
  double epsilon = node.floatAttribute("epsilon", 1e-5);
  Type result =
      tw::tensorType(node.dims(0), rms ? node.element(1) : node.element(0));
  node.setOutput(0,
                 tw::NormalizeOp::create(node.builder(), node.loc(), result,
                                         node.input(0), node.input(1), bias,
                                         *axis, llvm::APFloat(epsilon), rms));
  if (!rms && (node.wantsOutput(1) || node.wantsOutput(2))) {
    setStatistics(node, *axis, epsilon);
  }
  return Status::ok();
}

/// `tensor` of shape [C] as one that broadcasts along axis 1 of `rank` axes.
static Value alongChannels(NodeImport &node, Value tensor, size_t rank) {
  Dims dims = tw::dimsOf(tensor.getType());
  dims.resize(rank - 1, node.constant(1));
  return tw::buildReshape(node.builder(), node.loc(), tensor, dims);
}

static Status importInstanceNorm(NodeImport &node) {
  TW_RETURN_IF_ERROR(requireFloat(node, 0));
  TW_RETURN_IF_ERROR(requireRankAtLeast(node, 0, 3));
  TW_RETURN_IF_ERROR(requireDims(node, 1, "the scale", node.dims(0)[1]));
  TW_RETURN_IF_ERROR(requireDims(node, 2, "the bias", node.dims(0)[1]));
  llvm::APFloat epsilon(node.floatAttribute("epsilon", 1e-5));
  size_t rank = node.rank(0);
  node.setOutput(0, tw::NormalizeOp::create(
                        node.builder(), node.loc(), node.input(0).getType(),
                        node.input(0), alongChannels(node, node.input(1), rank),
                        alongChannels(node, node.input(2), rank), /*axis=*/2,
                        epsilon, /*rms=*/false));
  return Status::ok();
}

/// Scale and bias are per group in opset 18, per channel from 21 on.
static Status importGroupNorm(NodeImport &node) {
  TW_RETURN_IF_ERROR(requireFloat(node, 0));
  TW_RETURN_IF_ERROR(requireRankAtLeast(node, 0, 2));
  int64_t groups = node.intAttribute("num_groups", 0);
  Dims dims = node.dims(0);
  std::optional<DimExpr> perGroup;
  if (groups > 0) {
    perGroup = dims[1].exactDiv(node.constant(groups));
    std::optional<int64_t> channels = dims[1].getConstant();
    if (!perGroup && !(channels && *channels % groups != 0)) {
      perGroup = dims[1].floorDiv(groups);
    }
  }
  if (!perGroup) {
    return node.error(ErrorCode::AttributeInvalid,
                      "num_groups is " + Twine(groups) +
                          ", which does not divide the " + dims[1].toString() +
                          " channels");
  }
  bool scalesGroups = node.version() < 21;
  DimExpr scales = scalesGroups ? node.constant(groups) : dims[1];
  TW_RETURN_IF_ERROR(requireDims(node, 1, "the scale", scales));
  TW_RETURN_IF_ERROR(requireDims(node, 2, "the bias", scales));

  Dims grouped{dims[0], node.constant(groups), *perGroup};
  grouped.append(dims.begin() + 2, dims.end());
  OpBuilder &builder = node.builder();
  Value input = tw::buildReshape(builder, node.loc(), node.input(0), grouped);
  auto operand = [&](size_t i) {
    Dims own{scalesGroups ? scales : node.constant(groups),
             scalesGroups ? node.constant(1) : *perGroup};
    own.resize(grouped.size() - 1, node.constant(1));
    return tw::buildReshape(builder, node.loc(), node.input(i), own);
  };
  llvm::APFloat epsilon(node.floatAttribute("epsilon", 1e-5));
  Value result = tw::NormalizeOp::create(builder, node.loc(), input.getType(),
                                         input, operand(1), operand(2),
                                         /*axis=*/2, epsilon, /*rms=*/false);
  node.setOutput(0, tw::buildReshape(builder, node.loc(), result, dims));
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// Norms of vectors, responses of channels
//===----------------------------------------------------------------------===//

static Status importLpNorm(NodeImport &node) {
  TW_RETURN_IF_ERROR(requireFloat(node, 0));
  Result<int64_t> axis = axisOf(node, -1);
  if (!axis) {
    return axis.status();
  }
  int64_t p = node.intAttribute("p", 2);
  if (p != 1 && p != 2) {
    return node.error(ErrorCode::AttributeInvalid,
                      "p must be 1 or 2, not " + Twine(p));
  }
  ReducedAxes axes = reducedAxes(node, *axis, /*keepDims=*/true);
  Type element = node.element(0);
  Value sum = tw::buildReduce(
      node.builder(), node.loc(), FoldKind::Add, axes.kept, axes.extents,
      tw::computeType(element), [&](BodyBuilder &b, ValueRange at) {
        Value x = b.widen(b.load(node.input(0), axes.inputCoordinates(b, at)));
        return p == 1 ? absolute(b, x) : b.mulOf(x, x);
      });
  // A vector of zeros stays one.
  node.setOutput(
      0,
      tw::buildElementwise(
          node.builder(), node.loc(), node.dims(0), element,
          ValueRange({node.input(0), sum}), [&](BodyBuilder &b, ValueRange x) {
            Value norm = p == 1 ? x[1] : Value(b.create<math::SqrtOp>(x[1]));
            Value zero = literal(b, norm, 0.0);
            Value divisor =
                b.select(b.equalOf(norm, zero), literal(b, norm, 1.0), norm);
            return divide(b, x[0], divisor);
          }));
  return Status::ok();
}

/// x / (bias + alpha / size * sum of squares of nearby channels) ^ beta.
static Status importLrn(NodeImport &node) {
  TW_RETURN_IF_ERROR(requireFloat(node, 0));
  TW_RETURN_IF_ERROR(requireRankAtLeast(node, 0, 2));
  int64_t size = node.intAttribute("size", 0);
  if (size <= 0) {
    return node.error(ErrorCode::AttributeInvalid,
                      "size must be positive, not " + Twine(size));
  }
  double alpha = node.floatAttribute("alpha", 1e-4),
         beta = node.floatAttribute("beta", 0.75);
  double bias = node.floatAttribute("bias", 1.0);
  Dims dims = node.dims(0);
  Type element = node.element(0);
  Value sum = tw::buildReduce(
      node.builder(), node.loc(), FoldKind::Add, dims, node.constant(size),
      tw::computeType(element), [&](BodyBuilder &b, ValueRange at) {
        SmallVector<Value> from(at.drop_back());
        from[1] = b.add(b.sub(at[1], (size - 1) / 2), at.back());
        Value x =
            b.widen(b.load(node.input(0), from, b.inside(from[1], dims[1]),
                           b.constant(element, 0)));
        return b.mulOf(x, x);
      });
  node.setOutput(0, tw::buildElementwise(
                        node.builder(), node.loc(), dims, element,
                        ValueRange({node.input(0), sum}),
                        [&](BodyBuilder &b, ValueRange x) {
                          Value scaled =
                              b.mulOf(x[1], literal(b, x[1], alpha / size));
                          Value base = b.addOf(literal(b, x[1], bias), scaled);
                          return divide(b, x[0], power(b, base, beta));
                        }));
  return Status::ok();
}

OperatorFamily normalizationOperators() {
  static const OperatorEntry entries[] = {
      {"", "GroupNormalization", 18, importGroupNorm},
      {"", "InstanceNormalization", 1, importInstanceNorm},
      {"", "LRN", 1, importLrn},
      {"", "LayerNormalization", 17, importLayerNorm<false>},
      {"", "LogSoftmax", 1, importSoftmax<true>},
      {"", "LpNormalization", 1, importLpNorm},
      {"", "RMSNormalization", 23, importLayerNorm<true>},
      {"", "Softmax", 1, importSoftmax<false>},
  };
  return entries;
}

} // namespace tilewright::frontend
