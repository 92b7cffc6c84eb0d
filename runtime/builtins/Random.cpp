//===- Random.cpp - seeded random numbers ---------------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// The generator is a function of seed, occurrence and position (splitmix64 by
// Steele, Lea and Flood, 2014), so that a run can be repeated and elements may
// be computed in any order.
//
//===----------------------------------------------------------------------===//

#include "runtime/builtins/Builtins.h"
#include "runtime/builtins/Elements.h"

#include <algorithm>
#include <cmath>

using namespace tilewright;

namespace {

class Generator {
public:
  explicit Generator(BuiltinCall &call)
      : start(mix(static_cast<uint64_t>(call.ints()[0])) ^
              mix(~call.occurrence())) {}

  /// \returns number `index` of the sequence, in [0, 1).
  double uniform(uint64_t index) const {
    return static_cast<double>(mix(start + index * increment) >> 11) * 0x1p-53;
  }

  /// The same with mean 0 and variance 1 (Box and Muller, 1958).
  double normal(uint64_t index) const {
    constexpr double twoPi = 6.283185307179586476925;
    double radius = std::sqrt(-2 * std::log(1 - uniform(2 * index)));
    return radius * std::cos(twoPi * uniform(2 * index + 1));
  }

private:
  static constexpr uint64_t increment = 0x9e3779b97f4a7c15;

  static uint64_t mix(uint64_t x) {
    x += increment;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
  }

  uint64_t start;
};

} // namespace

/// Fills output 0, of a float type, with `sample(i)`.
template <typename Sample>
static Status fill(BuiltinCall &call, Sample sample) {
  TW_RETURN_IF_ERROR(call.allocate({}));
  const TensorView *out = call.output(0);
  if (!out) {
    return Status::ok();
  }
  bool known = withFloat(out->dtype, [&](auto element) {
    using T = decltype(element);
    for (int64_t i = 0; i < out->elements(); ++i) {
      out->as<T>()[i] = elementFromDouble<T>(sample(static_cast<uint64_t>(i)));
    }
  });
  return known ? Status::ok() : call.unsupportedType(out->dtype);
}

Status builtins::randomNormal(BuiltinCall &call) {
  Generator generator(call);
  double mean = call.floats()[0];
  double deviation = call.floats()[1];
  return fill(
      call, [&](uint64_t i) { return mean + deviation * generator.normal(i); });
}

Status builtins::randomUniform(BuiltinCall &call) {
  Generator generator(call);
  double low = call.floats()[0];
  double high = call.floats()[1];
  return fill(call, [&](uint64_t i) {
    return low + (high - low) * generator.uniform(i);
  });
}

Status builtins::bernoulli(BuiltinCall &call) {
  Generator generator(call);
  const TensorView &x = *call.input(0);
  TW_RETURN_IF_ERROR(call.allocate({}));
  const TensorView *out = call.output(0);
  if (!out) {
    return Status::ok();
  }
  TW_RETURN_IF_ERROR(call.expectOutput(0, out->dtype, x.shape));
  bool knownInput = false;
  bool known = withNumber(out->dtype, [&](auto result) {
    using R = decltype(result);
    knownInput = withFloat(x.dtype, [&](auto element) {
      using T = decltype(element);
      for (int64_t i = 0; i < x.elements(); ++i) {
        bool one = generator.uniform(static_cast<uint64_t>(i)) <
                   static_cast<double>(keyOf(x.as<T>()[i]));
        out->as<R>()[i] = elementFromDouble<R>(one);
      }
    });
  });
  if (!known || !knownInput) {
    return call.unsupportedType(known ? x.dtype : out->dtype);
  }
  return Status::ok();
}

/// Turns logarithms of unnormalised probabilities into running sums of
/// probabilities times a constant.
template <typename T>
static void accumulate(const T *logarithms, std::vector<double> &sums) {
  double highest = -HUGE_VAL;
  for (size_t i = 0; i < sums.size(); ++i) {
    highest = std::max(highest, static_cast<double>(keyOf(logarithms[i])));
  }
  double sum = 0;
  for (size_t i = 0; i < sums.size(); ++i) {
    sum += std::exp(static_cast<double>(keyOf(logarithms[i])) - highest);
    sums[i] = sum;
  }
}

Status builtins::multinomial(BuiltinCall &call) {
  Generator generator(call);
  const TensorView &x = *call.input(0);
  TW_RETURN_IF_ERROR(call.allocate({}));
  const TensorView *out = call.output(0);
  if (!out) {
    return Status::ok();
  }
  if (x.shape.rank() != 2 || x.shape[1] == 0 || out->shape.rank() != 2 ||
      out->shape[0] != x.shape[0]) {
    return call.invalid("Multinomial takes [batch, classes], not " +
                        x.shape.toString());
  }
  if (out->dtype != DType::I32 && out->dtype != DType::I64) {
    return call.unsupportedType(out->dtype);
  }
  std::vector<double> sums(static_cast<size_t>(x.shape[1]));
  int64_t samples = out->shape[1];
  bool known = withFloat(x.dtype, [&](auto element) {
    using T = decltype(element);
    for (int64_t batch = 0; batch < x.shape[0]; ++batch) {
      accumulate(x.as<T>() + batch * x.shape[1], sums);
      for (int64_t i = batch * samples; i < (batch + 1) * samples; ++i) {
        double draw = generator.uniform(static_cast<uint64_t>(i)) * sums.back();
        auto found = std::upper_bound(sums.begin(), sums.end() - 1, draw);
        int64_t label = found - sums.begin();
        if (out->dtype == DType::I32) {
          out->as<int32_t>()[i] = static_cast<int32_t>(label);
        } else {
          out->as<int64_t>()[i] = label;
        }
      }
    }
  });
  return known ? Status::ok() : call.unsupportedType(x.dtype);
}
