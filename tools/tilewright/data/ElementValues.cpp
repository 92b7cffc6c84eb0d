//===- ElementValues.cpp - single elements of any type --------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "tools/tilewright/data/ElementValues.h"
#include "runtime/builtins/Elements.h"

#include <cmath>
#include <cstdio>
#include <limits>

namespace tilewright {
namespace {

/// How a float of at most 8 bits is written.
struct SmallFloat {
  int exponentBits;
  int mantissaBits;
  int bias;
  enum Special {
    Ieee,         // the highest exponent holds infinities and NaNs
    AllOnesNan,   // only the highest exponent with all mantissa bits is NaN
    MinusZeroNan, // only what would be -0 is NaN
    None
  } special;
};

double decode(const SmallFloat &format, unsigned bits) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  unsigned mantissaMask = (1U << format.mantissaBits) - 1;
  unsigned exponentMask = (1U << format.exponentBits) - 1;
  unsigned mantissa = bits & mantissaMask;
  unsigned exponent = bits >> format.mantissaBits & exponentMask;
  bool isNegative = bits >> (format.mantissaBits + format.exponentBits) & 1;
  if (format.special == SmallFloat::MinusZeroNan && isNegative &&
      mantissa == 0 && exponent == 0) {
    return nan;
  }
  if (exponent == exponentMask) {
    if (format.special == SmallFloat::AllOnesNan && mantissa == mantissaMask) {
      return nan;
    }
    if (format.special == SmallFloat::Ieee) {
      double infinity = std::numeric_limits<double>::infinity();
      return mantissa ? nan : isNegative ? -infinity : infinity;
    }
  }
  unsigned significand =
      exponent ? mantissa + (1U << format.mantissaBits) : mantissa;
  double magnitude =
      std::ldexp(significand, static_cast<int>(exponent ? exponent : 1) -
                                  format.bias - format.mantissaBits);
  return isNegative ? -magnitude : magnitude;
}

/// \returns what the bits of a float of at most 8 bits mean.
double decode(DType dtype, unsigned bits) {
  switch (dtype) {
  case DType::F8E4M3FN:
    return decode({4, 3, 7, SmallFloat::AllOnesNan}, bits);
  case DType::F8E4M3FNUZ:
    return decode({4, 3, 8, SmallFloat::MinusZeroNan}, bits);
  case DType::F8E5M2:
    return decode({5, 2, 15, SmallFloat::Ieee}, bits);
  case DType::F8E5M2FNUZ:
    return decode({5, 2, 16, SmallFloat::MinusZeroNan}, bits);
  case DType::F4E2M1:
    return decode({2, 1, 1, SmallFloat::None}, bits & 15);
  default: // F8E8M0: a power of two
    return bits == 255 ? std::numeric_limits<double>::quiet_NaN()
                       : std::ldexp(1.0, static_cast<int>(bits) - 127);
  }
}

unsigned encode(DType dtype, double value) {
  unsigned count = dtype == DType::F4E2M1 ? 16 : 256;
  unsigned best = 0;
  double distance = std::numeric_limits<double>::infinity();
  for (unsigned bits = 0; bits < count; ++bits) {
    double difference = std::fabs(decode(dtype, bits) - value);
    if (difference < distance) {
      best = bits;
      distance = difference;
    }
  }
  return best;
}

/// The low `bits` of a byte as a signed integer.
int signExtend(uint8_t byte, int bits) {
  int value = byte & ((1 << bits) - 1);
  return value >= 1 << (bits - 1) ? value - (1 << bits) : value;
}

bool isFloat(DType dtype) {
  switch (dtype) {
  case DType::F32:
  case DType::F16:
  case DType::BF16:
  case DType::F64:
  case DType::F8E4M3FN:
  case DType::F8E4M3FNUZ:
  case DType::F8E5M2:
  case DType::F8E5M2FNUZ:
  case DType::F8E8M0:
  case DType::F4E2M1:
    return true;
  default:
    return false;
  }
}

} // namespace

bool hasElementValues(DType dtype) {
  return dtype != DType::String && dtype != DType::C64 && dtype != DType::C128;
}

long double elementAt(const TensorView &tensor, int64_t index) {
  long double value = 0;
  bool isNumber = withNumber(tensor.dtype, [&](auto type) {
    value = keyOf(tensor.as<decltype(type)>()[index]);
  });
  if (isNumber) {
    return tensor.dtype == DType::Bool ? value != 0 : value;
  }
  uint8_t byte = tensor.as<uint8_t>()[index];
  switch (tensor.dtype) {
  case DType::I4:
    return signExtend(byte, 4);
  case DType::I2:
    return signExtend(byte, 2);
  case DType::U4:
    return byte & 15;
  case DType::U2:
    return byte & 3;
  default:
    return decode(tensor.dtype, byte);
  }
}

void setElement(const TensorView &tensor, int64_t index, double value) {
  if (tensor.dtype == DType::Bool) {
    value = value != 0;
  }
  bool isNumber = withNumber(tensor.dtype, [&](auto type) {
    using T = decltype(type);
    tensor.as<T>()[index] = elementFromDouble<T>(value);
  });
  if (isNumber) {
    return;
  }
  switch (tensor.dtype) {
  case DType::I4:
  case DType::U4:
    tensor.as<uint8_t>()[index] = static_cast<int>(value) & 15;
    return;
  case DType::I2:
  case DType::U2:
    tensor.as<uint8_t>()[index] = static_cast<int>(value) & 3;
    return;
  default:
    tensor.as<uint8_t>()[index] =
        static_cast<uint8_t>(encode(tensor.dtype, value));
  }
}

std::string formatElement(const TensorView &tensor, int64_t index) {
  long double value = elementAt(tensor, index);
  if (tensor.dtype == DType::Bool) {
    return value != 0 ? "true" : "false";
  }
  char text[64];
  if (!isFloat(tensor.dtype)) {
    std::snprintf(text, sizeof text, "%.0Lf", value);
  } else if (tensor.dtype == DType::F64) {
    std::snprintf(text, sizeof text, "%.10Lg", value);
  } else {
    std::snprintf(text, sizeof text, "%.7Lg", value);
  }
  return text;
}

std::string formatElements(const TensorView &tensor, int64_t limit) {
  int64_t count = tensor.elements();
  std::string text;
  for (int64_t i = 0; i < count && i < limit; ++i) {
    text += (i ? " " : "") + formatElement(tensor, i);
  }
  return count > limit ? text + " …" : text;
}

} // namespace tilewright
