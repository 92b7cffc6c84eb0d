//===- ScatterCases.cpp - scatters for tests ------------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "codegen/families/test/ScatterCases.h"
#include "codegen/families/test/Floats.h"

namespace tilewright::test {

std::string ScatterCase::text() const {
  auto dim = [&](const char *symbol, int64_t size) {
    return isOpen ? std::string(symbol) : std::to_string(size);
  };
  auto typeOf = [&](std::vector<std::string> dims, const char *element) {
    std::string sizes, expressions;
    for (const std::string &dim : dims) {
      sizes += (isOpen ? "?" : dim) + "x";
      expressions += (expressions.empty() ? "" : ", ") + dim;
    }
    return "tensor<" + sizes + element +
           (isOpen ? ", #tw.dims<[" + expressions + "]>>" : ">");
  };
  std::vector<std::string> whole = {dim("A", a), dim("B", b), dim("D", d)},
                           part = {dim("N", n), dim("K", k), dim("C", c)};
  std::string x = typeOf(whole, "f32"), u = typeOf(part, "f32"),
              w = typeOf(ofElements ? part
                                    : std::vector<std::string>{part[axis]},
                         "i64"),
              at = ofElements ? "%n, %k, %c"
                   : axis     ? "%k"
                              : "%n";
  return "func.func @f(%x: " + x + ", %w: " + w + ", %u: " + u +
         ") {\n%r = tw.fused @r(%a = %x : " + x + ", %b = %w : " + w +
         ", %e = %u : " + u + ") {\n%s = tw.scatter " + kind +
         " %a at (%n, %k, %c) in <[" + part[0] + ", " + part[1] + ", " +
         part[2] + "]> {\n%size = tw.size <" + whole[axis] +
         ">\n%p = tw.load %b[" + at + "] : " + w +
         " -> i64\n%q = arith.index_cast %p : i64 to index\n"
         "%i = tw.clamp_index %q, %size\n%v = tw.load %e[%n, %k, %c] : " +
         u + " -> f32\ntw.yield " + (axis ? "%n, %i" : "%i, %k") +
         ", %c, %v : index, index, index, f32\n} : " + x +
         "\ntw.yield %s : " + x + "\n} : " + x + "\nreturn\n}";
}

std::vector<float> ScatterCase::initial() const {
  return randomFloats(a * b * d, 1);
}

std::vector<float> ScatterCase::updates() const {
  return randomFloats(n * k * c, 2);
}

std::vector<int64_t> ScatterCase::places() const {
  std::vector<int64_t> result(indices());
  int64_t size = axis ? b : a;
  for (size_t i = 0; i < result.size(); ++i) {
    result[i] = int64_t(i * i * 7 + i / 3) % size;
  }
  return result;
}

std::vector<float> ScatterCase::expected() const {
  std::vector<float> result = initial(), values = updates();
  std::vector<int64_t> at = places();
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < k; ++j) {
      for (int64_t l = 0; l < c; ++l) {
        int64_t number = (i * k + j) * c + l;
        int64_t place = at[ofElements ? number : axis ? j : i];
        float &to =
            result[((axis ? i : place) * b + (axis ? place : j)) * d + l];
        float value = values[number];
        to = kind == "add"   ? to + value
             : kind == "mul" ? to * value
             : kind == "max" ? std::max(to, value)
                             : value;
      }
    }
  }
  return result;
}

std::vector<ScatterCase> scatterCases() {
  std::vector<ScatterCase> cases;
  for (const char *kind : {"assign", "add"}) {
    for (bool isOpen : {false, true}) {
      for (bool ofElements : {false, true}) {
        // Slices along the first axis, and along the second; shorter ones.
        cases.push_back({kind, 0, ofElements, 40, 3, 70, 90, 3, 70, isOpen});
        cases.push_back({kind, 1, ofElements, 5, 300, 9, 4, 33, 8, isOpen});
        // No axis but the scattered one is longer than one.
        cases.push_back({kind, 0, ofElements, 500, 1, 1, 1201, 1, 1, isOpen});
        cases.push_back({kind, 0, ofElements, 6, 2, 4, 0, 2, 4, isOpen});
      }
    }
  }
  cases.push_back({"mul", 1, true, 2, 64, 130, 2, 50, 130, false});
  cases.push_back({"max", 0, false, 64, 2, 130, 50, 2, 129, false});
  return cases;
}

} // namespace tilewright::test
