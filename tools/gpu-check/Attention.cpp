//===- Attention.cpp - attention, timed -----------------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "tools/gpu-check/Matrix.h"
#include "tools/gpu-check/Tables.h"
#include "tools/gpu-check/TimedModule.h"
#include "tools/tilewright/data/ElementValues.h"

#include <cmath>
#include <random>

namespace tilewright::gpucheck {

static constexpr int checkedRows = 24;

namespace {

struct Attention {
  DType type = DType::F32;
  int64_t batch, heads, sharedHeads, queries, keys, dim;
  bool causal;

  /// How many keys a query sees.
  int64_t visible(int64_t query) const {
    return causal ? std::min(query + 1, keys) : keys;
  }
  double operations() const {
    double pairs = 0;
    for (int64_t i = 0; i < queries; ++i) {
      pairs += static_cast<double>(visible(i));
    }
    return 4.0 * static_cast<double>(batch * heads * dim) * pairs;
  }
};

} // namespace

static Result<Attention> parse(const nlohmann::json &entry) {
  auto number = [&](const char *key) { return entry.value(key, int64_t(0)); };
  Attention result;
  std::string name = entry.value("type", "");
  std::optional<DType> type = dtypeFromName(name);
  result.batch = number("batch");
  result.heads = number("heads");
  result.sharedHeads = number("kv_heads");
  result.queries = number("queries");
  result.keys = number("keys");
  result.dim = number("dim");
  result.causal = entry.value("causal", false);
  bool isFloat =
      type == DType::F32 || type == DType::F16 || type == DType::BF16;
  if (!isFloat || result.batch < 1 || result.heads < 1 ||
      result.sharedHeads < 1 || result.heads % result.sharedHeads != 0 ||
      result.queries < 1 || result.keys < 1 || result.dim < 1) {
    return Status(ErrorCode::OptionInvalid,
                  "no attention is described by " + entry.dump());
  }
  result.type = *type;
  return result;
}

/// \returns how far an element may be off; values are below one.
static double boundOf(DType type) {
  return type == DType::F32 ? 1e-4 : type == DType::F16 ? 2e-3 : 1.6e-2;
}

/// One row of the result in double precision.
static std::vector<double> rowOf(const Attention &shape, const TensorView &q,
                                 const TensorView &k, const TensorView &v,
                                 int64_t batch, int64_t head, int64_t query) {
  int64_t shared = head / (shape.heads / shape.sharedHeads);
  int64_t row = ((batch * shape.heads + head) * shape.queries + query);
  int64_t first = (batch * shape.sharedHeads + shared) * shape.keys;
  std::vector<double> weights;
  double largest = -HUGE_VAL, sum = 0;
  for (int64_t t = 0; t < shape.visible(query); ++t) {
    double score = 0;
    for (int64_t d = 0; d < shape.dim; ++d) {
      score += static_cast<double>(elementAt(q, row * shape.dim + d) *
                                   elementAt(k, (first + t) * shape.dim + d));
    }
    weights.push_back(score / std::sqrt(static_cast<double>(shape.dim)));
    largest = std::max(largest, weights.back());
  }
  std::vector<double> result(static_cast<size_t>(shape.dim));
  for (double &weight : weights) {
    weight = std::exp(weight - largest);
    sum += weight;
  }
  for (size_t t = 0; t < weights.size(); ++t) {
    int64_t position = (first + static_cast<int64_t>(t)) * shape.dim;
    for (int64_t d = 0; d < shape.dim; ++d) {
      result[static_cast<size_t>(d)] +=
          weights[t] / sum * static_cast<double>(elementAt(v, position + d));
    }
  }
  return result;
}

static std::string check(const Attention &shape, const TensorView &q,
                         const TensorView &k, const TensorView &v,
                         const TensorView &y) {
  std::mt19937_64 generator(1);
  auto draw = [&](int64_t below) {
    return static_cast<int64_t>(generator() % static_cast<uint64_t>(below));
  };
  for (int i = 0; i < checkedRows; ++i) {
    int64_t batch = draw(shape.batch), head = draw(shape.heads);
    int64_t query = i == 0   ? 0
                    : i == 1 ? shape.queries - 1
                             : draw(shape.queries);
    std::vector<double> expected = rowOf(shape, q, k, v, batch, head, query);
    int64_t row = (batch * shape.heads + head) * shape.queries + query;
    for (int64_t d = 0; d < shape.dim; ++d) {
      auto actual = static_cast<double>(elementAt(y, row * shape.dim + d));
      double wanted = expected[static_cast<size_t>(d)];
      if (!(std::abs(actual - wanted) <= boundOf(shape.type))) {
        return "element [" + std::to_string(batch) + ", " +
               std::to_string(head) + ", " + std::to_string(query) + ", " +
               std::to_string(d) + "] is " + std::to_string(actual) +
               ", expected " + std::to_string(wanted);
      }
    }
  }
  return "";
}

Result<nlohmann::json> runAttention(const Session &session,
                                    const nlohmann::json &entry,
                                    const std::filesystem::path &folder) {
  Result<Attention> shape = parse(entry);
  if (!shape) {
    return shape.status();
  }
  std::vector<int64_t> keyShape = {shape->batch, shape->sharedHeads,
                                   shape->keys, shape->dim};
  Result<Tensor> q = seeded(
      shape->type, {shape->batch, shape->heads, shape->queries, shape->dim}, 1);
  Result<Tensor> k = seeded(shape->type, keyShape, 2);
  Result<Tensor> v = seeded(shape->type, keyShape, 3);
  if (!q || !k || !v) {
    return !q ? q.status() : !k ? k.status() : v.status();
  }
  Result<TimedRun> run =
      runTimed(session, folder / entry["module"].get<std::string>(),
               {q->view(), k->view(), v->view()}, shape->operations());
  if (!run) {
    return run.status();
  }
  if (run->output.elements() != q->elements()) {
    return Status(ErrorCode::ModuleDamaged,
                  "the module computes attention of another size");
  }
  nlohmann::json figures = std::move(run->figures);
  figures["wrong"] =
      check(*shape, q->view(), k->view(), v->view(), run->output.view());
  return figures;
}

} // namespace tilewright::gpucheck
