//===- MmaCases.cpp - products of matrices to test ------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "codegen/families/test/MmaCases.h"

#include "llvm/ADT/APFloat.h"
#include <cmath>
#include <cstring>
#include <random>

using namespace llvm;

namespace tilewright::test {

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

static const fltSemantics *semanticsOf(const std::string &type) {
  return type == "f16"        ? &APFloat::IEEEhalf()
         : type == "bf16"     ? &APFloat::BFloat()
         : type == "f32"      ? &APFloat::IEEEsingle()
         : type == "f8E4M3FN" ? &APFloat::Float8E4M3FN()
         : type == "f8E5M2"   ? &APFloat::Float8E5M2()
                              : nullptr;
}

static size_t bytesOf(const std::string &type) {
  return type == "f32" || type == "i32"    ? 4
         : type == "f16" || type == "bf16" ? 2
                                           : 1;
}

static void encode(const std::string &type, double value, uint8_t *to) {
  if (const fltSemantics *semantics = semanticsOf(type)) {
    APFloat number(value);
    bool lost;
    number.convert(*semantics, APFloat::rmNearestTiesToEven, &lost);
    uint64_t bits = number.bitcastToAPInt().getZExtValue();
    std::memcpy(to, &bits, bytesOf(type));
    return;
  }
  auto integer = static_cast<int64_t>(value);
  std::memcpy(to, &integer, bytesOf(type));
}

static double decode(const std::string &type, const uint8_t *from) {
  uint64_t bits = 0;
  std::memcpy(&bits, from, bytesOf(type));
  if (const fltSemantics *semantics = semanticsOf(type)) {
    APFloat number(*semantics,
                   APInt(static_cast<unsigned>(8 * bytesOf(type)), bits));
    bool lost;
    number.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &lost);
    return number.convertToDouble();
  }
  return type == "ui8"  ? double(bits)
         : type == "i8" ? double(static_cast<int8_t>(bits))
                        : double(static_cast<int32_t>(bits));
}

using Bytes = std::vector<uint8_t>;

Bytes randomNumbers(const std::string &type, size_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<double> distribution(-1, 1);
  Bytes bytes(count * bytesOf(type));
  for (size_t i = 0; i < count; ++i) {
    double value = distribution(generator);
    value = type == "ui8"  ? std::floor(128 + 128 * value)
            : type == "i8" ? std::floor(128 * value)
                           : value;
    encode(type, value, &bytes[i * bytesOf(type)]);
  }
  return bytes;
}

double numberAt(const std::string &type, const Bytes &bytes, int64_t index) {
  return decode(type, &bytes[index * bytesOf(type)]);
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

static bool isInteger(const MmaCase &test) { return !semanticsOf(test.a); }

static std::string sumTypeOf(const MmaCase &test) {
  return isInteger(test) ? "i32" : "f32";
}

/// Integer products become floats where something follows.
static std::string resultTypeOf(const MmaCase &test) {
  if (isInteger(test)) {
    return test.epilogue == Epilogue::None ? "i32" : "f32";
  }
  return bytesOf(test.a) == 1 ? "f32" : test.a;
}

static std::string tensorType(const MmaCase &test,
                              const std::vector<std::string> &dims,
                              const std::string &element) {
  std::string shape, list;
  for (const std::string &dim : dims) {
    std::string size = dim;
    if (test.isStatic) {
      const MmaShape &only = test.shapes.front();
      size = std::to_string(dim == "B"   ? only.batch
                            : dim == "M" ? only.m
                            : dim == "N" ? only.n
                                         : only.k);
    }
    shape += (test.isStatic ? size : "?") + "x";
    list += (list.empty() ? "" : ", ") + size;
  }
  return "tensor<" + shape + element +
         (test.isStatic ? ">" : ", #tw.dims<[" + list + "]>>");
}

static std::string extension(const std::string &value, const std::string &type,
                             const std::string &result) {
  std::string loaded = type == "ui8" ? "i8" : type;
  if (type == "f32") {
    return "";
  }
  std::string op = type == "ui8"  ? "arith.extui"
                   : type == "i8" ? "arith.extsi"
                                  : "arith.extf";
  return result + " = " + op + " " + value + " : " + loaded + " to " +
         (semanticsOf(type) ? "f32" : "i32") + "\n";
}

static std::string moduleText(const MmaCase &test) {
  std::string sum = sumTypeOf(test), to = resultTypeOf(test);
  auto type = [&](const std::vector<std::string> &dims,
                  const std::string &element) {
    return tensorType(test, dims, element);
  };
  std::string a = test.transposeA ? type({"B", "K", "M"}, test.a)
                                  : type({"B", "M", "K"}, test.a);
  std::string b = test.transposeB ? type({"B", "N", "K"}, test.b)
                                  : type({"B", "K", "N"}, test.b);
  std::string c = type({"B", "M", "N"}, sum), y = type({"B", "M", "N"}, to);
  bool hasBias = test.epilogue == Epilogue::BiasRelu;
  bool hasResidual = test.epilogue == Epilogue::ResidualSigmoid;
  std::string extra = hasBias ? type({"N"}, "f32") : y;
  std::string k = test.isStatic ? std::to_string(test.shapes.front().k) : "K";
  auto loaded = [](const std::string &t) { return t == "ui8" ? "i8" : t; };
  std::string text = std::string("module attributes {tw.precision = \"") +
                     (test.isPlain ? "f32" : "tf32") +
                     "\"} {\nfunc.func @f(%x: " + a + ", %w: " + b;
  bool hasExtra = hasBias || hasResidual;
  text += (hasExtra ? ", %e: " + extra : std::string()) + ") {\n";
  text += "%r = tw.fused @mm(%a = %x : " + a + ", %b = %w : " + b;
  text += (hasExtra ? ", %d = %e : " + extra : std::string()) + ") {\n";
  text += "%s = tw.reduce add (%z, %i, %j) over (%k) in <[" + k +
          "]> attributes {root = \"matmul\"} {\n";
  text += std::string("%p = tw.load %a[%z, ") +
          (test.transposeA ? "%k, %i" : "%i, %k") + "] : " + a + " -> " +
          loaded(test.a) + "\n";
  text += std::string("%q = tw.load %b[%z, ") +
          (test.transposeB ? "%j, %k" : "%k, %j") + "] : " + b + " -> " +
          loaded(test.b) + "\n";
  text += extension("%p", test.a, "%pw") + extension("%q", test.b, "%qw");
  text += std::string("%t = ") +
          (isInteger(test) ? "arith.muli " : "arith.mulf ") +
          (test.a == "f32" ? "%p" : "%pw") + ", " +
          (test.b == "f32" ? "%q" : "%qw") + " : " + sum +
          "\ntw.yield %t : " + sum + "\n} : " + c + "\n";
  if (!hasExtra && to == sum) {
    return text + "tw.yield %s : " + c + "\n} : " + c + "\nreturn\n}\n}";
  }
  text += "%m = tw.map(%z, %i, %j) {\n%v0 = tw.load %s[%z, %i, %j] : " + c +
          " -> " + sum + "\n";
  text += isInteger(test) ? "%v1 = arith.sitofp %v0 : i32 to f32\n"
                            "%scale = arith.constant 0.0009765625 : f32\n"
                            "%v = arith.mulf %v1, %scale : f32\n"
                          : "%one = arith.constant 1.0 : f32\n"
                            "%v = arith.mulf %v0, %one : f32\n";
  if (hasBias) {
    text += "%g = tw.load %d[%j] : " + extra + " -> f32\n" +
            "%h = arith.addf %v, %g : f32\n%zero = arith.constant 0.0 : f32\n" +
            "%o = arith.maximumf %h, %zero : f32\n";
  } else if (hasResidual) {
    text += "%g0 = tw.load %d[%z, %i, %j] : " + y + " -> " + to + "\n";
    text += to == "f32" ? "" : "%g1 = arith.extf %g0 : " + to + " to f32\n";
    text += std::string("%h = arith.addf %v, ") +
            (to == "f32" ? "%g0" : "%g1") +
            " : f32\n%n = arith.negf %h : f32\n%ex = math.exp %n : f32\n"
            "%unit = arith.constant 1.0 : f32\n"
            "%den = arith.addf %ex, %unit : f32\n"
            "%o = arith.divf %unit, %den : f32\n";
  } else {
    text += "%zero = arith.constant -0.0 : f32\n"
            "%o = arith.addf %v, %zero : f32\n";
  }
  text += to == "f32" ? "tw.yield %o : f32\n"
                      : "%y = arith.truncf %o : f32 to " + to +
                            "\ntw.yield %y : " + to + "\n";
  return text + "} : " + y + "\ntw.yield %m : " + y + "\n} : " + y +
         "\nreturn\n}\n}";
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

static bool isFloat8(const MmaCase &test) {
  return !isInteger(test) && bytesOf(test.a) == 1;
}

std::unique_ptr<SimtRegion> compileCase(const MmaCase &test,
                                        const TargetSpec *target) {
  if (!target) {
    target = findTarget(isFloat8(test) ? "sm_89" : "sm_80");
  }
  std::function<mlir::DictionaryAttr(mlir::MLIRContext *)> parameters;
  if (test.tile) {
    parameters = [&](mlir::MLIRContext *context) {
      return test.tile->toAttribute(context, "contract.mma");
    };
  }
  if (test.plainTile) {
    parameters = [&](mlir::MLIRContext *context) {
      return test.plainTile->toAttribute(context, "contract.simt");
    };
  }
  return SimtRegion::compile(moduleText(test), *target, parameters);
}

void checkCase(SimtRegion &region, const MmaCase &test, const MmaShape &shape) {
  auto [batch, m, n, k] = shape;
  std::string to = resultTypeOf(test);
  std::vector<Bytes> buffers = {randomNumbers(test.a, batch * m * k, 1),
                                randomNumbers(test.b, batch * k * n, 2)};
  bool hasBias = test.epilogue == Epilogue::BiasRelu;
  if (hasBias) {
    buffers.push_back(randomNumbers("f32", n, 3));
  } else if (test.epilogue == Epilogue::ResidualSigmoid) {
    buffers.push_back(randomNumbers(to, batch * m * n, 3));
  }
  buffers.push_back(Bytes(batch * m * n * bytesOf(to)));
  int status =
      region.run(buffers, 1, {{"B", batch}, {"M", m}, {"N", n}, {"K", k}});
  EXPECT_EQ(status, 0);
  auto decoded = [&](size_t buffer, const std::string &type) {
    std::vector<double> numbers(buffers[buffer].size() / bytesOf(type));
    for (size_t i = 0; i < numbers.size(); ++i) {
      numbers[i] = numberAt(type, buffers[buffer], i);
    }
    return numbers;
  };
  std::vector<double> left = decoded(0, test.a), right = decoded(1, test.b);
  std::vector<double> results = decoded(buffers.size() - 1, to);
  std::vector<double> extra = decoded(2, hasBias ? "f32" : to);
  // Sums of f32 round each time; tf32 has 10 bits of mantissa.
  double ofSum = double(k + 2) * std::ldexp(1.0, -23) +
                 (test.a == "f32" && !test.isPlain ? std::ldexp(1.0, -10) : 0);
  double ofResult = to == "f16"    ? std::ldexp(1.0, -11)
                    : to == "bf16" ? std::ldexp(1.0, -8)
                                   : std::ldexp(1.0, -22);
  int shown = 0;
  for (int64_t index = 0; index < batch * m * n && shown < 4; ++index) {
    int64_t z = index / (m * n), i = index / n % m, j = index % n;
    double sum = 0, size = 0;
    for (int64_t p = 0; p < k; ++p) {
      double x =
          left[test.transposeA ? (z * k + p) * m + i : (z * m + i) * k + p];
      double y =
          right[test.transposeB ? (z * n + j) * k + p : (z * k + p) * n + j];
      sum += x * y;
      size += std::abs(x * y);
    }
    double expected = sum;
    if (isInteger(test)) {
      ofSum = 0;
      if (test.epilogue != Epilogue::None) {
        expected /= 1024;
        size /= 1024;
      }
    }
    if (hasBias) {
      expected = std::max(0.0, expected + extra[j]);
    } else if (test.epilogue == Epilogue::ResidualSigmoid) {
      expected = 1 / (1 + std::exp(-(expected + extra[index])));
    }
    double actual = results[index];
    double bound = ofSum * size + (ofResult + std::ldexp(1.0, -21)) *
                                      (std::abs(expected) + 1e-3);
    bound += isInteger(test) && test.epilogue != Epilogue::None
                 ? std::ldexp(size, -23)
                 : 0;
    bool isExact = isInteger(test) && test.epilogue == Epilogue::None;
    if (isExact ? actual != expected
                : !(std::abs(actual - expected) <= bound)) {
      ADD_FAILURE() << "element " << z << ", " << i << ", " << j << ": "
                    << actual << ", expected " << expected << " within "
                    << bound;
      ++shown;
    }
  }
}

//===----------------------------------------------------------------------===//
// The cases
//===----------------------------------------------------------------------===//

std::string MmaCase::name() const {
  std::string text = a + (b == a ? "" : "_" + b) + "_" +
                     (transposeA ? "T" : "N") + (transposeB ? "T" : "N") +
                     (epilogue == Epilogue::None       ? ""
                      : epilogue == Epilogue::BiasRelu ? "_bias"
                                                       : "_residual");
  if (tile) {
    text += "_" + std::to_string(tile->rows) + "x" +
            std::to_string(tile->columns) + "x" + std::to_string(tile->depth) +
            "x" + std::to_string(tile->stages) + "_warps" +
            std::to_string(tile->threads() / 32);
  }
  if (plainTile) {
    text += "_" + std::to_string(plainTile->rows) + "x" +
            std::to_string(plainTile->columns) + "x" +
            std::to_string(plainTile->step) + "_" +
            std::to_string(plainTile->threadRows) + "x" +
            std::to_string(plainTile->threadColumns) + "_" +
            std::to_string(plainTile->stages);
  }
  if (isStatic) {
    const MmaShape &only = shapes.front();
    text += "_fixed_" + std::to_string(only.m) + "_" + std::to_string(only.n) +
            "_" + std::to_string(only.k);
  }
  return text;
}

std::vector<MmaCase> allMmaCases() {
  std::vector<MmaCase> cases;
  // The first has whole tiles and aligned rows.
  const std::vector<MmaShape> shapes = {
      {1, 64, 64, 128}, {2, 33, 40, 96}, {1, 1, 7, 5}, {1, 17, 65, 31},
      {2, 48, 24, 200}, {1, 40, 72, 64}, {1, 5, 16, 0}};
  const std::vector<std::pair<const char *, const char *>> types = {
      {"f16", "f16"},        {"bf16", "bf16"}, {"f32", "f32"},
      {"i8", "i8"},          {"ui8", "i8"},    {"f8E4M3FN", "f8E4M3FN"},
      {"f8E5M2", "f8E4M3FN"}};
  int number = 0;
  for (auto [a, b] : types) {
    for (bool transposeA : {false, true}) {
      for (bool transposeB : {false, true}) {
        MmaCase test{a, b, transposeA, transposeB};
        test.epilogue = static_cast<Epilogue>(number++ % 3);
        test.shapes = shapes;
        cases.push_back(test);
      }
    }
  }
  cases.push_back({"i8", "ui8", false, true});
  cases.back().shapes = shapes;
  cases.push_back({"ui8", "ui8", true, false});
  cases.back().shapes = shapes;
  cases.push_back({"f8E5M2", "f8E5M2"});
  cases.back().shapes = shapes;
  cases.push_back({"f8E4M3FN", "f8E5M2", true, true});
  cases.back().shapes = shapes;
  // Every shape of tile, in every order of the operands.
  int64_t most = findTarget("sm_80")->gpu->sharedBytesPerBlock;
  std::vector<families::MmaTile> tiles = families::mmaTiles(2);
  for (size_t i = 0; i < tiles.size(); ++i) {
    const families::MmaTile &tile = tiles[i];
    bool isNew = tile.sharedBytes(2) <= most &&
                 (cases.empty() || !cases.back().tile ||
                  cases.back().tile->rows != tile.rows ||
                  cases.back().tile->columns != tile.columns ||
                  cases.back().tile->threads() != tile.threads());
    if (!isNew) {
      continue;
    }
    MmaCase test{number % 2 ? "bf16" : "f16", number % 2 ? "bf16" : "f16",
                 number % 4 >= 2, number % 3 == 0};
    test.tile = tile;
    test.epilogue = static_cast<Epilogue>(number++ % 3);
    test.shapes = {{1, tile.rows, tile.columns, 2 * tile.depth},
                   {1, tile.rows + 8, 72, 2 * tile.depth - 8}};
    cases.push_back(test);
  }
  // Sizes that the compiler knows.
  const int64_t fixed[][3] = {{64, 64, 64},  {16, 16, 16},  {100, 36, 72},
                              {7, 9, 11},    {33, 257, 40}, {128, 8, 256},
                              {2, 130, 520}, {65, 3, 8}};
  for (auto [m, n, k] : fixed) {
    MmaCase test{"f16", "f16", m % 4 == 1, n % 3 == 0};
    test.isStatic = true;
    test.epilogue = static_cast<Epilogue>(m % 3);
    test.shapes = {{m % 2 ? 3 : 1, m, n, k}};
    cases.push_back(test);
  }
  return cases;
}

} // namespace tilewright::test
