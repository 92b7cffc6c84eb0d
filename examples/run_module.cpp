//===- run_module.cpp - running a compiled model from C++ -----------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
//   run_module MODEL.twm [--seed N] [--size AXIS=N]… [--threads N]
//
// Fills the inputs with zeros, or with seeded random numbers, runs the model
// and prints the shape and the first elements of each output. Sizes that the
// model leaves open are 1 unless --size says otherwise.
//
//===----------------------------------------------------------------------===//

#include "tilewright/Tilewright.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <random>

using namespace tilewright;

namespace {
struct Options {
  std::string path;
  std::map<std::string, int64_t> sizes;
  bool random = false;
  unsigned seed = 0;
  unsigned threads = 0;
};
} // namespace

static int fail(const Status &status) {
  std::fprintf(stderr, "%s\n", status.toString().c_str());
  return status.kind() == ErrorKind::User ? 2 : 3;
}

static bool parse(int argc, char **argv, Options &options) {
  for (int i = 1; i < argc; ++i) {
    std::string argument = argv[i];
    if (argument.compare(0, 2, "--") != 0) {
      options.path = argument;
      continue;
    }
    if (++i == argc) {
      return false;
    }
    std::string value = argv[i];
    size_t equals = value.find('=');
    if (argument == "--seed") {
      options.random = true;
      options.seed = static_cast<unsigned>(std::strtoul(argv[i], nullptr, 10));
    } else if (argument == "--threads") {
      options.threads =
          static_cast<unsigned>(std::strtoul(argv[i], nullptr, 10));
    } else if (argument == "--size" && equals != std::string::npos) {
      options.sizes[value.substr(0, equals)] =
          std::strtoll(value.c_str() + equals + 1, nullptr, 10);
    } else {
      return false;
    }
  }
  return !options.path.empty();
}

/// An input of the declared type; open sizes are taken from the options.
static Result<Tensor> makeInput(const Parameter &parameter,
                                const Options &options, std::mt19937 &random) {
  std::vector<int64_t> shape;
  for (const std::string &dim : parameter.dims) {
    char *end = nullptr;
    int64_t size = std::strtoll(dim.c_str(), &end, 10);
    if (*end || dim.empty()) {
      auto found = options.sizes.find(dim);
      size = found == options.sizes.end() ? 1 : found->second;
    }
    shape.push_back(size);
  }
  Result<Tensor> tensor = Tensor::create(parameter.dtype, shape);
  if (!tensor) {
    return tensor;
  }
  std::memset(tensor->data(), 0, static_cast<size_t>(tensor->bytes()));
  if (options.random && parameter.dtype == DType::F32) {
    std::normal_distribution<float> normal;
    for (int64_t i = 0; i < tensor->elements(); ++i) {
      tensor->as<float>()[i] = normal(random);
    }
  } else if (options.random && parameter.dtype == DType::I64) {
    for (int64_t i = 0; i < tensor->elements(); ++i) {
      tensor->as<int64_t>()[i] = random() & 1;
    }
  }
  return tensor;
}

static void print(const Parameter &parameter, const Tensor &tensor) {
  std::printf("%s: %s%s", parameter.name.c_str(), nameOf(tensor.dtype()),
              ShapeRef(tensor.shape()).toString().c_str());
  for (int64_t i = 0; i < tensor.elements() && i < 8; ++i) {
    if (tensor.dtype() == DType::F32) {
      std::printf(" %g", static_cast<double>(tensor.as<float>()[i]));
    } else if (tensor.dtype() == DType::I64) {
      std::printf(" %lld", static_cast<long long>(tensor.as<int64_t>()[i]));
    }
  }
  std::printf("%s\n", tensor.elements() > 8 ? " …" : "");
}

int main(int argc, char **argv) {
  Options options;
  if (!parse(argc, argv, options)) {
    std::fprintf(stderr, "usage: run_module MODEL.twm [--seed N] "
                         "[--size AXIS=N]... [--threads N]\n");
    return 2;
  }
  auto module = Module::open(options.path);
  if (!module) {
    return fail(module.status());
  }
  ContextOptions contextOptions;
  contextOptions.threads = options.threads;
  auto context = Context::create(*module, contextOptions);
  if (!context) {
    return fail(context.status());
  }

  std::mt19937 random(options.seed);
  std::vector<Tensor> inputs;
  std::vector<TensorView> views;
  for (const Parameter &parameter : (*module)->inputs()) {
    Result<Tensor> input = makeInput(parameter, options, random);
    if (!input) {
      return fail(input.status());
    }
    inputs.push_back(std::move(*input));
  }
  for (const Tensor &input : inputs) {
    views.push_back(input.view());
  }
  auto outputs = (*context)->run(views);
  if (!outputs) {
    return fail(outputs.status());
  }
  for (size_t i = 0; i < outputs->size(); ++i) {
    print((*module)->outputs()[i], (*outputs)[i]);
  }
  return 0;
}
