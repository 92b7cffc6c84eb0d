//===- FoldBatchNorm.cpp - batch normalisation into what precedes it ------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// With constant parameters, batch normalisation is one multiply-add per
// channel: y = x * factor + offset, factor = scale / sqrt(variance + epsilon),
// offset = bias - mean * factor. A convolution takes the factor into its
// weights and the offset into its bias. The coefficients are maps over
// constants, for tw-fold-constants to evaluate.
//
//===----------------------------------------------------------------------===//

#include "ir/BodyBuilder.h"
#include "passes/ReasonCodes.h"
#include "passes/normalize/ConstantSubgraphs.h"
#include "passes/normalize/Passes.h"

using namespace mlir;

namespace tilewright {

#define GEN_PASS_DEF_FOLDBATCHNORM
#include "passes/normalize/Passes.h.inc"

using namespace tw;

/// \returns the elements of a f32 or f64 constant, empty for other values.
static SmallVector<double> realsOf(Value value) {
  SmallVector<double> reals;
  std::optional<std::vector<char>> bytes = constantBytes(value);
  Type element = elementTypeOf(value.getType());
  if (!bytes || !(element.isF32() || element.isF64())) {
    return reals;
  }
  size_t width = element.isF32() ? sizeof(float) : sizeof(double);
  for (size_t at = 0; at + width <= bytes->size(); at += width) {
    float single;
    double real;
    if (element.isF32()) {
      std::memcpy(&single, bytes->data() + at, width);
      real = single;
    } else {
      std::memcpy(&real, bytes->data() + at, width);
    }
    reals.push_back(real);
  }
  return reals;
}

/// True unless the constants visibly give a factor or an offset that is not
/// finite: scaling weights by infinity would make NaN of zeros.
static bool staysFinite(BatchNormOp norm) {
  SmallVector<double> scale = realsOf(norm.getScale()),
                      variance = realsOf(norm.getVariance());
  SmallVector<double> mean = realsOf(norm.getMean()),
                      bias = realsOf(norm.getBias());
  auto finite = [](double x) { return std::isfinite(x); };
  double epsilon = norm.getEpsilon().convertToDouble();
  return llvm::all_of(scale, finite) && llvm::all_of(mean, finite) &&
         llvm::all_of(bias, finite) && llvm::all_of(variance, [&](double v) {
           return finite(v) &&
                  static_cast<float>(v) + static_cast<float>(epsilon) > 0.0f;
         });
}

/// factor[c] = scale[c] / sqrt(variance[c] + epsilon), in the compute type.
static Value buildFactor(OpBuilder &builder, BatchNormOp norm) {
  Type type = computeType(elementTypeOf(norm.getType()));
  SmallVector<DimExpr> channels = dimsOf(norm.getScale().getType());
  return buildMap(
      builder, norm.getLoc(), channels, type,
      [&](BodyBuilder &body, ValueRange at) -> Value {
        auto read = [&](Value tensor) {
          return body.cast(body.load(tensor, at),
                           elementTypeOf(tensor.getType()), type);
        };
        Value epsilon =
            body.constant(type, norm.getEpsilon().convertToDouble());
        Value variance = body.addOf(read(norm.getVariance()), epsilon);
        return body.create<arith::DivFOp>(read(norm.getScale()),
                                          body.create<math::SqrtOp>(variance));
      });
}

/// offset[c] = (convBias[c] - mean[c]) * factor[c] + bias[c], as `element`.
static Value buildOffset(OpBuilder &builder, BatchNormOp norm, Value factor,
                         Value convBias, Type element) {
  Type type = elementTypeOf(factor.getType());
  return buildMap(builder, norm.getLoc(), dimsOf(factor.getType()), element,
                  [&](BodyBuilder &body, ValueRange at) {
                    auto read = [&](Value tensor) {
                      return body.cast(body.load(tensor, at),
                                       elementTypeOf(tensor.getType()), type);
                    };
                    Value start =
                        convBias ? read(convBias) : body.constant(type, 0);
                    Value shifted = body.mulOf(
                        body.subOf(start, read(norm.getMean())), read(factor));
                    return body.cast(body.addOf(shifted, read(norm.getBias())),
                                     type, element);
                  });
}

static bool parametersAreConstant(BatchNormOp norm) {
  return llvm::all_of(norm->getOperands().drop_front(), dependsOnConstantsOnly);
}

/// \returns the convolution that `norm` can fold into, or why there is none.
static FailureOr<ConvOp> foldableConv(BatchNormOp norm, Decisions &decisions) {
  auto conv = norm.getInput().getDefiningOp<ConvOp>();
  if (!conv) {
    return failure();
  }
  if (!conv->hasOneUse()) {
    decisions.refused(reasons::batchNormSharedConv, norm.getLoc(),
                      "batch normalisation");
    return failure();
  }
  if (!dependsOnConstantsOnly(conv.getWeights()) ||
      (conv.getBias() && !dependsOnConstantsOnly(conv.getBias()))) {
    decisions.refused(reasons::batchNormNotConstant, norm.getLoc(),
                      "batch normalisation");
    return failure();
  }
  return conv;
}

/// Scales the convolution's weights and gives it the bias of both.
static void foldIntoConv(BatchNormOp norm, ConvOp conv) {
  OpBuilder builder(norm);
  Value factor = buildFactor(builder, norm);
  Value weights = conv.getWeights();
  Type element = elementTypeOf(weights.getType());
  Type type = elementTypeOf(factor.getType());
  Value scaled =
      buildMap(builder, norm.getLoc(), dimsOf(weights.getType()), element,
               [&](BodyBuilder &body, ValueRange at) {
                 Value w = body.cast(body.load(weights, at), element, type);
                 return body.cast(body.mulOf(w, body.load(factor, at[0])), type,
                                  element);
               });
  Value bias = buildOffset(builder, norm, factor, conv.getBias(), element);
  Location loc =
      mergeLocations(norm.getContext(), {conv.getLoc(), norm.getLoc()});
  auto folded =
      ConvOp::create(builder, loc, norm.getType(), conv.getInput(), scaled,
                     bias, conv.getStridesAttr(), conv.getPadsAttr(),
                     conv.getDilationsAttr(), conv.getGroupAttr());
  norm.replaceAllUsesWith(folded.getResult());
  norm.erase();
  conv.erase();
}

/// Replaces the normalisation by x * factor[c] + offset[c].
static void becomeMultiplyAdd(BatchNormOp norm) {
  OpBuilder builder(norm);
  Value factor = buildFactor(builder, norm);
  Value offset = buildOffset(builder, norm, factor, Value(),
                             elementTypeOf(factor.getType()));
  Type element = elementTypeOf(norm.getType());
  Value result =
      buildMap(builder, norm.getLoc(), dimsOf(norm.getType()), element,
               [&](BodyBuilder &body, ValueRange at) {
                 Value channel = at.size() > 1 ? at[1] : body.index(0);
                 Value x = body.widen(body.load(norm.getInput(), at));
                 Value y = body.addOf(body.mulOf(x, body.load(factor, channel)),
                                      body.load(offset, channel));
                 return body.narrow(y, element);
               });
  norm.replaceAllUsesWith(result);
  norm.erase();
}

namespace {

class FoldBatchNorm : public impl::FoldBatchNormBase<FoldBatchNorm> {
public:
  explicit FoldBatchNorm(DecisionLog *log) : log(log) {}

  void runOnOperation() override {
    Decisions decisions(log, remarks);
    SmallVector<BatchNormOp> norms;
    getOperation()->walk([&](BatchNormOp norm) { norms.push_back(norm); });
    for (BatchNormOp norm : norms) {
      Location loc = norm.getLoc();
      if (!parametersAreConstant(norm)) {
        decisions.refused(reasons::batchNormNotConstant, loc,
                          "batch normalisation");
        continue;
      }
      if (!staysFinite(norm)) {
        decisions.refused(reasons::batchNormNotFinite, loc,
                          "batch normalisation");
        continue;
      }
      if (FailureOr<ConvOp> conv = foldableConv(norm, decisions);
          succeeded(conv)) {
        foldIntoConv(norm, *conv);
        decisions.did(reasons::batchNormIntoConv, loc, "batch normalisation");
      } else {
        becomeMultiplyAdd(norm);
        decisions.did(reasons::batchNormAlone, loc, "batch normalisation");
      }
    }
  }

private:
  DecisionLog *log;
};

} // namespace

std::unique_ptr<Pass> createFoldBatchNormPass(DecisionLog *log) {
  return std::make_unique<FoldBatchNorm>(log);
}

} // namespace tilewright
