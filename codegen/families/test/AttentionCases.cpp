//===- AttentionCases.cpp - attention to test -----------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "codegen/families/test/AttentionCases.h"
#include "codegen/families/test/Floats.h"

#include <cmath>

namespace tilewright::test {

/// Keys that a query of a decoder with a window sees.
static constexpr int decoderWindow = 24;

static std::string tensor(const std::vector<std::string> &dims,
                          const std::string &element = "f32") {
  std::string shape, encoding;
  bool isDynamic = false;
  for (const std::string &dim : dims) {
    bool isSymbol = !isdigit(dim.front());
    isDynamic |= isSymbol;
    shape += (isSymbol ? "?" : dim) + "x";
    encoding += (encoding.empty() ? "" : ", ") + dim;
  }
  return "tensor<" + shape + element +
         (isDynamic ? ", #tw.dims<[" + encoding + "]>" : "") + ">";
}

static void replaceAll(std::string &text, const std::string &from,
                       const std::string &to) {
  for (size_t at = text.find(from); at != std::string::npos;
       at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

/// Loads that stand as `pattern`, the place and the type `source`, in f32.
static void loadOperand(std::string &text, const std::string &pattern,
                        const std::string &name, const std::string &source,
                        const std::string &element) {
  bool isWide = element == "f32";
  std::string loaded = name + (isWide ? "" : "o");
  for (size_t at = text.find(pattern); at != std::string::npos;
       at = text.find(pattern, at + 1)) {
    size_t end = text.find('\n', at);
    std::string place =
        text.substr(at + pattern.size(), end - at - pattern.size());
    if (place.size() < source.size() ||
        place.substr(place.size() - source.size()) != source) {
      continue;
    }
    std::string line = loaded + " = tw.load" + place + " -> " + element;
    if (!isWide) {
      line +=
          "\n" + name + " = arith.extf " + loaded + " : " + element + " to f32";
    }
    text.replace(at, end - at, line);
  }
}

std::string attentionModule(const AttentionVariety &v) {
  std::string depth = std::to_string(v.depth), width = std::to_string(v.width);
  std::string text = R"(
    func.func @f(%q: QT, %k: KT, %v: VT, %mask: MT) {
      %r = tw.fused @attention(%a = %q : QT, %b = %k : KT, %c = %v : VT, %m = %mask : MT) attributes {attention} {
        %scores = tw.reduce add (%h, %i, %j) over (%r) in <[DEPTH]> {
          %group = arith.constant GROUP : index
          %g = arith.floordivsi %h, %group : index
          LOADX %a[%h, %i, %r] : QT
          LOADY %b[KINDEX] : KT
          %p = arith.mulf %x, %y : f32
          tw.yield %p : f32
        } : ST
        %masked = tw.map(%h, %i, %j) {
          %scale = arith.constant 0.25 : f32
          %s = tw.load %scores[%h, %i, %j] : ST -> f32
          MASK
          ROUND(%x) SCORES
        } : SCORES
        %max = tw.reduce max (%h, %i) over (%r) in <[KEYS]> {
          LOAD(%x) %masked[%h, %i, %r] : SCORES
          tw.yield %x : f32
        } : RT
        EXPMAP
        %sum = tw.reduce add (%h, %i) over (%j) in <[KEYS]> {
          EXP
          tw.yield %e : f32
        } : RT
        ROWMAP
        %weights = tw.map(%h, %i, %j) {
          EXP
          SCALE
          CLEAR
          ROUND(YIELD) WEIGHTS
        } : WEIGHTS
        %values = tw.reduce add (%i, %h, %d) over (%r) in <[KEYS]> {
          %group = arith.constant GROUP : index
          %g = arith.floordivsi %h, %group : index
          LOAD(%x) %weights[%h, %i, %r] : WEIGHTS
          LOADY %c[%g, %r, %d] : VT
          %p = arith.mulf %x, %y : f32
          tw.yield %p : f32
        } : OT
        %out = tw.map(%i, %h, %d) {
          %x = tw.load %values[%i, %h, %d] : OT -> f32
          %y = arith.addf %x, %x : f32
          tw.yield %y : f32
        } : OT
        tw.yield %out : OT
      } : OT
      return
    })";
  const std::string inlineExp = R"(
          LOAD(%sc) %masked[%h, %i, %j] : SCORES
          %mx = tw.load %max[%h, %i] : RT -> f32
          %df = arith.subf %sc, %mx : f32
          %e = math.exp %df : f32)";
  replaceAll(text, "EXPMAP",
             v.separateExp ? "%exps = tw.map(%h, %i, %j) {" + inlineExp + R"(
          tw.yield %e : f32
        } : ST)"
                           : "");
  replaceAll(text, "EXP\n",
             (v.separateExp ? "%e = tw.load %exps[%h, %i, %j] : ST -> f32"
                            : inlineExp) +
                 std::string("\n"));
  replaceAll(text, "ROWMAP",
             v.reciprocal ? R"(%inverse = tw.map(%h, %i) {
          %one = arith.constant 1.0 : f32
          %s = tw.load %sum[%h, %i] : RT -> f32
          %y = arith.divf %one, %s : f32
          tw.yield %y : f32
        } : RT)"
                          : "");
  replaceAll(text, "SCALE",
             v.reciprocal ? R"(
          %s = tw.load %inverse[%h, %i] : RT -> f32
          %w = arith.mulf %e, %s : f32)"
                          : R"(
          %s = tw.load %sum[%h, %i] : RT -> f32
          %w = arith.divf %e, %s : f32)");
  replaceAll(text, "CLEAR",
             v.clearsRows ? R"(
          %one = arith.constant 1 : index
          %zero = arith.constant 0.0 : f32
          %clear = arith.cmpi eq, %i, %one : index
          %y = arith.select %clear, %zero, %w : f32)"
                          : "");
  replaceAll(text, "YIELD", v.clearsRows ? "%y" : "%w");
  for (auto [pattern, name] :
       {std::pair("LOADX", "%x"), std::pair("LOADY", "%y")}) {
    loadOperand(text, pattern, name, "T", v.element);
  }
  for (auto [name, isRounded] : {std::pair("SCORES", v.roundsScores),
                                 std::pair("WEIGHTS", v.roundsWeights)}) {
    std::string type = isRounded ? v.element : "f32";
    for (std::string scalar : {"%x", "%sc"}) {
      loadOperand(text, "LOAD(" + scalar + ")", scalar, name, type);
    }
    for (std::string scalar : {"%x", "%y", "%w"}) {
      std::string rounding = isRounded ? "%rounded = arith.truncf " + scalar +
                                             " : f32 to " + type +
                                             "\ntw.yield %rounded : " + type
                                       : "tw.yield " + scalar + " : f32";
      replaceAll(text, "ROUND(" + scalar + ") " + name, rounding);
    }
    replaceAll(text, name, tensor({v.heads, v.queries, v.keys}, type));
  }
  replaceAll(text, "DEPTH", depth);
  replaceAll(text, "GROUP", std::to_string(v.group));
  std::string keyHeads =
      std::to_string(AttentionProblemCase::headCount / v.group);
  replaceAll(text, "MASK", v.mask);
  replaceAll(text, "KINDEX", v.keysLast ? "%g, %r, %j" : "%g, %j, %r");
  replaceAll(text, "QT", tensor({v.heads, v.queries, depth}, v.element));
  replaceAll(text, "KT",
             v.keysLast ? tensor({keyHeads, depth, v.keys}, v.element)
                        : tensor({keyHeads, v.keys, depth}, v.element));
  replaceAll(text, "VT", tensor({keyHeads, v.keys, width}, v.element));
  replaceAll(text, "MT", tensor({v.queries, v.keys}));
  replaceAll(text, "ST", tensor({v.heads, v.queries, v.keys}));
  replaceAll(text, "RT", tensor({v.heads, v.queries}));
  replaceAll(text, "OT", tensor({v.queries, v.heads, width}));
  replaceAll(text, "KEYS", v.keys);
  return v.tf32 ? "module attributes {tw.precision = \"tf32\"} {" + text + "}"
                : text;
}

AttentionVariety seeing(const std::string &see) {
  AttentionVariety variety;
  variety.mask = see + R"(
          %none = arith.constant 0xFF800000 : f32
          %u = arith.mulf %s, %scale : f32
          %x = arith.select %see, %u, %none : f32)";
  return variety;
}

AttentionVariety paddedDecoder(bool window) {
  AttentionVariety variety;
  variety.mask = R"(
          %first = arith.constant 0 : index
          %half = arith.constant 0.5 : f32
          %kept = tw.load %m[%first, %j] : MT -> f32
          %is_kept = arith.cmpf ogt, %kept, %half : f32
          %jj = arith.index_cast %j : index to i64
          %ii = arith.index_cast %i : index to i64
          %size = arith.constant SIZE : i64
          %end = arith.addi %jj, %size : i64
          %not_later = arith.cmpi sle, %jj, %ii : i64
          %recent = arith.cmpi sgt, %end, %ii : i64
          %near = arith.andi %not_later, WINDOW : i1
          %see = arith.andi %is_kept, %near : i1
          %none = arith.constant -3.40282347E+38 : f32
          %zero = arith.constant 0.0 : f32
          %u = arith.mulf %s, %scale : f32
          %hide = arith.select %see, %zero, %none : f32
          %x = arith.addf %u, %hide : f32)";
  replaceAll(variety.mask, "WINDOW", window ? "%recent" : "%not_later");
  replaceAll(variety.mask, "SIZE", std::to_string(decoderWindow));
  return variety;
}

std::function<float(float, int, int, float)>
decoderScore(AttentionProblemCase &problem, int padded, bool window) {
  std::vector<float> kept(problem.keys, 1);
  std::fill_n(kept.begin(), padded, 0.0f);
  std::copy(kept.begin(), kept.end(), problem.mask.begin());
  return [kept, window](float s, int i, int j, float) {
    bool sees = j <= i && (!window || j > i - decoderWindow) && kept[j] > 0.5f;
    return sees ? s * 0.25f : s * 0.25f + std::numeric_limits<float>::lowest();
  };
}

AttentionProblemCase::AttentionProblemCase(int queries, int keys,
                                           const AttentionVariety &variety)
    : queries(queries), keys(keys), depth(variety.depth), width(variety.width),
      group(variety.group), keysLast(variety.keysLast),
      q(randomFloats(headCount * queries * depth, 1)),
      k(randomFloats(headCount / group * keys * depth, 2)),
      v(randomFloats(headCount / group * keys * width, 3)),
      mask(randomFloats(queries * keys, 4)),
      out(queries * headCount * width, -7) {}

std::vector<float> AttentionProblemCase::expected(
    const std::function<float(float, int, int, float)> &score) const {
  std::vector<float> result(out.size());
  for (int h = 0; h < headCount; ++h) {
    for (int i = 0; i < queries; ++i) {
      std::vector<double> row(keys);
      double greatest = -std::numeric_limits<float>::infinity(), sum = 0;
      for (int j = 0; j < keys; ++j) {
        double product = 0;
        for (int r = 0; r < depth; ++r) {
          product += double(q[(h * queries + i) * depth + r]) * key(h, j, r);
        }
        row[j] = score(product, i, j, mask[i * keys + j]);
        bool isGreater = std::isnan(row[j]) || row[j] > greatest;
        greatest = isGreater ? row[j] : greatest;
      }
      for (double &x : row) {
        x = std::exp(x - greatest);
        sum += x;
      }
      for (int d = 0; d < width; ++d) {
        double value = 0;
        for (int j = 0; j < keys; ++j) {
          value += row[j] / sum * v[(h / group * keys + j) * width + d];
        }
        result[(i * headCount + h) * width + d] = 2 * value;
      }
    }
  }
  return result;
}

float AttentionProblemCase::key(int head, int position, int r) const {
  return keysLast ? k[(head / group * depth + r) * keys + position]
                  : k[(head / group * keys + position) * depth + r];
}

} // namespace tilewright::test
