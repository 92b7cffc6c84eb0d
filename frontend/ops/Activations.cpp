//===- Activations.cpp - activation functions by name ---------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "frontend/ops/Activations.h"
#include "frontend/ops/Scalars.h"

using namespace mlir;

namespace tilewright::frontend {

Value Activation::apply(BodyBuilder &b, Value x) const {
  auto number = [&](double value) { return literal(b, x, value); };
  if (name == "sigmoid") {
    return sigmoid(b, x);
  }
  if (name == "tanh") {
    return b.create<math::TanhOp>(x);
  }
  if (name == "relu") {
    return b.create<arith::MaximumFOp>(x, number(0));
  }
  if (name == "affine") {
    return b.addOf(b.mulOf(number(alpha), x), number(beta));
  }
  if (name == "leakyrelu") {
    return b.select(lower(b, x, number(0)), b.mulOf(number(alpha), x), x);
  }
  if (name == "thresholdedrelu") {
    return b.select(lower(b, x, number(alpha)), number(0), x);
  }
  if (name == "scaledtanh") {
    return b.mulOf(number(alpha),
                   b.create<math::TanhOp>(b.mulOf(number(beta), x)));
  }
  if (name == "hardsigmoid") {
    return hardSigmoid(b, x, alpha, beta);
  }
  if (name == "elu") {
    return elu(b, x, alpha);
  }
  if (name == "softsign") {
    return softsign(b, x);
  }
  return softplus(b, x);
}

namespace {

/// A function and the parameters that it takes; nullopt: it takes none.
struct KnownActivation {
  llvm::StringLiteral name;
  std::optional<double> alpha, beta;
};

} // namespace

static const KnownActivation *findActivation(llvm::StringRef name) {
  static const KnownActivation known[] = {
      {"affine", 1.0, 0.0},
      {"elu", 1.0, {}},
      {"hardsigmoid", 0.2, 0.5},
      {"leakyrelu", 0.01, {}},
      {"relu", {}, {}},
      {"scaledtanh", 1.0, 1.0},
      {"sigmoid", {}, {}},
      {"softplus", {}, {}},
      {"softsign", {}, {}},
      {"tanh", {}, {}},
      {"thresholdedrelu", 1.0, {}},
  };
  const auto *found = llvm::find_if(
      known, [&](const auto &entry) { return entry.name == name; });
  return found == std::end(known) ? nullptr : found;
}

Result<SmallVector<Activation>>
activationsOf(NodeImport &node, ArrayRef<llvm::StringRef> defaults,
              int64_t directions) {
  std::vector<std::string> names = node.stringsAttribute("activations");
  if (names.empty()) {
    for (int64_t d = 0; d < directions; ++d) {
      names.insert(names.end(), defaults.begin(), defaults.end());
    }
  }
  if (names.size() != defaults.size() * directions) {
    return node.error(ErrorCode::AttributeInvalid,
                      "activations must name " +
                          Twine(defaults.size() * directions) +
                          " functions, not " + Twine(names.size()));
  }
  SmallVector<double> alphas = node.floatsAttribute("activation_alpha");
  SmallVector<double> betas = node.floatsAttribute("activation_beta");
  size_t usedAlphas = 0, usedBetas = 0;
  SmallVector<Activation> result;
  for (const std::string &name : names) {
    Activation activation{llvm::StringRef(name).lower()};
    const KnownActivation *known = findActivation(activation.name);
    if (!known) {
      return node.error(ErrorCode::AttributeInvalid,
                        "there is no activation '" + name + "'");
    }
    if (known->alpha) {
      activation.alpha =
          usedAlphas < alphas.size() ? alphas[usedAlphas++] : *known->alpha;
    }
    if (known->beta) {
      activation.beta =
          usedBetas < betas.size() ? betas[usedBetas++] : *known->beta;
    }
    result.push_back(activation);
  }
  return result;
}

} // namespace tilewright::frontend
