//===- Workloads.cpp - models of single operators -------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "bench/kernels/Workloads.h"

#include <functional>
#include <numeric>
#include <set>

namespace tilewright::bench {

using Dims = std::vector<int64_t>;

static double elements(const Dims &dims) {
  return std::accumulate(dims.begin(), dims.end(), 1.0, std::multiplies<>());
}

static double bytesOf(const Dims &dims) {
  return sizeof(float) * elements(dims);
}

static std::string join(const Dims &numbers) {
  std::string text;
  for (int64_t number : numbers) {
    text += (text.empty() ? "" : ", ") + std::to_string(number);
  }
  return text;
}

static std::string tensor(const Dims &dims, const char *name) {
  return "float[" + join(dims) + "] " + name;
}

/// A model from its inputs, its output and its nodes.
static std::string model(const std::string &inputs, const std::string &output,
                         const std::string &nodes,
                         const std::string &initializers = "") {
  return "<ir_version: 10, opset_import: [\"\" : 23]>\nkernel (" + inputs +
         ") => (" + output + ")\n" +
         (initializers.empty() ? "" : "<" + initializers + ">\n") + "{ " +
         nodes + " }\n";
}

static Result<Workload> contract(const Shape &shape) {
  int64_t m = shape.number("m", 1), n = shape.number("n", 1),
          k = shape.number("k", 1), batch = shape.number("batch", 1);
  Workload work;
  bool isConstant = shape.text("b", "constant") == "constant";
  Dims x = {m, k}, w = {k, n}, y = {m, n};
  if (batch > 1) {
    x.insert(x.begin(), batch);
    y.insert(y.begin(), batch);
    if (!isConstant) {
      w.insert(w.begin(), batch);
    }
  }
  if (isConstant) {
    work.constants = {"w"};
  }
  work.text = model(tensor(x, "x") + ", " + tensor(w, "w"), tensor(y, "y"),
                    "y = MatMul(x, w)");
  work.flops = 2.0 * static_cast<double>(k) * elements(y);
  work.bytes = bytesOf(x) + bytesOf(w) + bytesOf(y);
  return work;
}

static Result<Workload> conv(const Shape &shape) {
  int64_t n = shape.number("n", 1), c = shape.number("c", 1),
          h = shape.number("h", 1), w = shape.number("w", h),
          o = shape.number("o", c), k = shape.number("k", 1),
          s = shape.number("s", 1), p = shape.number("p", 0);
  bool isDepthwise = shape.family == "depthwise";
  int64_t group = isDepthwise ? c : shape.number("group", 1);
  if (s < 1 || group < 1 || h + 2 * p < k || w + 2 * p < k) {
    return Status(ErrorCode::OptionInvalid,
                  shape.name + ": the window does not fit");
  }
  Dims input = {n, c, h, w}, weights = {o, c / group, k, k},
       output = {n, o, (h + 2 * p - k) / s + 1, (w + 2 * p - k) / s + 1};
  Workload work;
  work.constants = {"w", "b"};
  work.text =
      model(tensor(input, "x") + ", " + tensor(weights, "w") + ", " +
                tensor({o}, "b"),
            tensor(output, "y"),
            "y = Conv<kernel_shape = [" + join({k, k}) + "], strides = [" +
                join({s, s}) + "], pads = [" + join({p, p, p, p}) +
                "], group = " + std::to_string(group) + ">(x, w, b)");
  double flops =
      2.0 * elements(output) * elements(weights) / static_cast<double>(o);
  work.flops = isDepthwise ? 0 : flops;
  work.bytes = bytesOf(input) + bytesOf(weights) + bytesOf(output);
  return work;
}

static Result<Workload> attention(const Shape &shape) {
  int64_t batch = shape.number("batch", 1), heads = shape.number("heads", 1),
          queries = shape.number("queries", 1),
          keys = shape.number("keys", queries), size = shape.number("size", 64);
  Dims q = {batch, heads, queries, size}, k = {batch, heads, keys, size};
  Workload work;
  work.text =
      model(tensor(q, "q") + ", " + tensor(k, "k") + ", " + tensor(k, "v"),
            tensor(q, "y"),
            "t = Transpose<perm = [0, 1, 3, 2]>(k) scores = "
            "MatMul(q, t) scaled = Mul(scores, scale) weights = "
            "Softmax<axis = -1>(scaled) y = MatMul(weights, v)",
            "float scale = {0.125}");
  work.flops = 4.0 * elements(q) * static_cast<double>(keys);
  work.bytes = 2 * bytesOf(q) + 2 * bytesOf(k);
  return work;
}

static Result<Workload> pointwise(const Shape &shape) {
  static const std::set<std::string> binary = {"Add", "Sub", "Mul", "Div"};
  Dims dims = {shape.number("n", 1)};
  std::string op = shape.text("op", "Relu");
  Workload work;
  work.streams = binary.count(op) ? 2 : 1;
  std::string inputs = tensor(dims, "x");
  if (work.streams == 2) {
    inputs += ", " + tensor(dims, "z");
  }
  work.text = model(inputs, tensor(dims, "y"),
                    "y = " + op + (work.streams == 2 ? "(x, z)" : "(x)"));
  work.bytes = (work.streams + 1) * bytesOf(dims);
  return work;
}

static Result<Workload> softmax(const Shape &shape) {
  Dims dims = {shape.number("rows", 1), shape.number("cols", 1)};
  Workload work;
  work.text =
      model(tensor(dims, "x"), tensor(dims, "y"), "y = Softmax<axis = -1>(x)");
  work.bytes = 2 * bytesOf(dims);
  return work;
}

static Result<Workload> norm(const Shape &shape) {
  int64_t cols = shape.number("cols", 1);
  Dims dims = {shape.number("rows", 1), cols};
  std::string op = shape.text("op", "LayerNormalization");
  bool hasBias = op == "LayerNormalization";
  Workload work;
  work.constants = {"scale"};
  std::string inputs = tensor(dims, "x") + ", " + tensor({cols}, "scale");
  if (hasBias) {
    work.constants.push_back("bias");
    inputs += ", " + tensor({cols}, "bias");
  }
  work.text =
      model(inputs, tensor(dims, "y"),
            "y = " + op + (hasBias ? "(x, scale, bias)" : "(x, scale)"));
  work.bytes = 2 * bytesOf(dims);
  return work;
}

static Result<Workload> reduce(const Shape &shape) {
  int64_t axis = shape.number("axis", 1);
  Dims dims = {shape.number("rows", 1), shape.number("cols", 1)};
  Dims result = {axis == 1 ? dims[0] : dims[1]};
  Workload work;
  work.text =
      model(tensor(dims, "x"), tensor(result, "y"),
            "y = " + shape.text("op", "ReduceSum") + "<keepdims = 0>(x, axes)",
            "int64[1] axes = {" + std::to_string(axis) + "}");
  work.bytes = bytesOf(dims) + bytesOf(result);
  work.writes = false;
  return work;
}

/// Each element of the result is read once and written once.
static Result<Workload> movement(const Shape &shape) {
  std::string op = shape.text("op", "Transpose");
  Dims dims = shape.numbers("dims"), result = dims;
  std::string inputs = tensor(dims, "x"), nodes, initializers;
  if (op == "Transpose") {
    Dims perm = shape.numbers("perm");
    for (size_t i = 0; i < perm.size(); ++i) {
      result[i] = dims.at(perm[i]);
    }
    nodes = "y = Transpose<perm = [" + join(perm) + "]>(x)";
  } else if (op == "Concat") {
    int64_t axis = shape.number("axis", 0);
    result.at(axis) *= 2;
    inputs += ", " + tensor(dims, "z");
    nodes = "y = Concat<axis = " + std::to_string(axis) + ">(x, z)";
  } else if (op == "Pad") {
    int64_t margin = shape.number("margin", 1);
    size_t rank = dims.size();
    Dims pads(2 * rank, 0);
    for (size_t i = rank - 2; i < rank; ++i) {
      result[i] += 2 * margin;
      pads[i] = pads[rank + i] = margin;
    }
    nodes = "y = Pad(x, pads)";
    initializers =
        "int64[" + std::to_string(2 * rank) + "] pads = {" + join(pads) + "}";
  } else {
    return Status(ErrorCode::OptionInvalid,
                  shape.name + ": no movement is called '" + op + "'");
  }
  Workload work;
  work.text = model(inputs, tensor(result, "y"), nodes, initializers);
  work.bytes = 2 * bytesOf(result);
  return work;
}

Result<Workload> makeWorkload(const Shape &shape) {
  using Maker = Result<Workload> (*)(const Shape &);
  static const std::map<std::string, Maker> makers = {
      {"contract", contract},   {"conv", conv},
      {"depthwise", conv},      {"attention", attention},
      {"pointwise", pointwise}, {"softmax", softmax},
      {"norm", norm},           {"reduce", reduce},
      {"movement", movement}};
  auto found = makers.find(shape.family);
  if (found == makers.end()) {
    return Status(ErrorCode::OptionInvalid,
                  "no family of kernels is called '" + shape.family + "'");
  }
  return found->second(shape);
}

} // namespace tilewright::bench
