//===- NodeOperands.cpp - a node's operands and what is known of them -----===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "frontend/GraphImport.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>

using namespace mlir;

namespace tilewright::frontend {

size_t NodeImport::numInputs() const { return node.input_size(); }
size_t NodeImport::numOutputs() const { return node.output_size(); }

bool NodeImport::hasInput(size_t i) const {
  return i < numInputs() && !node.input(i).empty();
}

bool NodeImport::wantsOutput(size_t i) const {
  return i < numOutputs() && !node.output(i).empty();
}

Value NodeImport::input(size_t i) {
  return hasInput(i) ? graphImport.find(node.input(i)).tensor : Value();
}

SmallVector<Value> NodeImport::inputs() {
  SmallVector<Value> values;
  for (size_t i = 0; i < numInputs(); ++i) {
    values.push_back(input(i));
  }
  return values;
}

Dims NodeImport::dims(size_t i) { return tw::dimsOf(input(i).getType()); }

size_t NodeImport::rank(size_t i) {
  return cast<RankedTensorType>(input(i).getType()).getRank();
}

Type NodeImport::element(size_t i) {
  return tw::elementTypeOf(input(i).getType());
}

//===----------------------------------------------------------------------===//
// Known elements
//===----------------------------------------------------------------------===//

/// The bytes of small tensors alone are worth looking at.
static constexpr int64_t maxKnownElements = 4096;

/// \returns the elements of a constant of integers, `bytes` of them.
static SmallVector<int64_t> decodeIntegers(IntegerType type,
                                           ArrayRef<char> bytes) {
  unsigned size = (type.getWidth() + 7) / 8;
  bool zeroExtend = type.isUnsigned() || type.getWidth() == 1;
  SmallVector<int64_t> values;
  for (size_t at = 0; at + size <= bytes.size(); at += size) {
    uint64_t raw = 0;
    std::memcpy(&raw, bytes.data() + at, size);
    if (type.getWidth() < 64) {
      raw &= (uint64_t(1) << type.getWidth()) - 1;
      values.push_back(zeroExtend ? static_cast<int64_t>(raw)
                                  : llvm::SignExtend64(raw, type.getWidth()));
    } else {
      values.push_back(static_cast<int64_t>(raw));
    }
  }
  return values;
}

static SmallVector<double> decodeReals(FloatType type, ArrayRef<char> bytes) {
  unsigned size = (type.getWidth() + 7) / 8;
  SmallVector<double> values;
  for (size_t at = 0; at + size <= bytes.size(); at += size) {
    uint64_t raw = 0;
    std::memcpy(&raw, bytes.data() + at, size);
    APInt bits(size * 8, raw);
    APFloat number(type.getFloatSemantics(), bits.zextOrTrunc(type.getWidth()));
    bool lost = false;
    number.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &lost);
    values.push_back(number.convertToDouble());
  }
  return values;
}

/// \returns the bytes of a constant of at most `maxKnownElements`.
static std::optional<std::vector<char>> smallConstant(Value tensor) {
  auto type = dyn_cast<RankedTensorType>(tensor.getType());
  if (!type || !type.hasStaticShape() ||
      type.getNumElements() > maxKnownElements) {
    return std::nullopt;
  }
  return tw::constantBytes(tensor);
}

std::optional<SmallVector<int64_t>> NodeImport::constantElements(size_t i) {
  if (std::optional<Dims> known = elements(i)) {
    SmallVector<int64_t> values;
    for (DimExpr element : *known) {
      std::optional<int64_t> value = element.getConstant();
      if (!value) {
        return std::nullopt;
      }
      values.push_back(*value);
    }
    return values;
  }
  return std::nullopt;
}

std::optional<Dims> NodeImport::partialElements(size_t i) {
  if (!hasInput(i) || rank(i) > 1 || !isa<IntegerType>(element(i))) {
    return std::nullopt;
  }
  return wholeElements(i);
}

std::optional<Dims> NodeImport::wholeElements(size_t i) {
  if (!hasInput(i)) {
    return std::nullopt;
  }
  ImportedValue value = graphImport.find(node.input(i));
  if (value.elements) {
    return value.elements;
  }
  std::optional<std::vector<char>> bytes = smallConstant(value.tensor);
  if (!bytes) {
    return std::nullopt;
  }
  Dims known;
  if (auto integer = dyn_cast<IntegerType>(element(i));
      integer && integer.getWidth() <= 64) {
    for (int64_t number : decodeIntegers(integer, *bytes)) {
      known.push_back(constant(number));
    }
  } else if (auto real = dyn_cast<FloatType>(element(i))) {
    for (double number : decodeReals(real, *bytes)) {
      bool isWhole = std::abs(number) < 1e15 && number == std::floor(number);
      known.push_back(isWhole ? constant(static_cast<int64_t>(number))
                              : DimExpr());
    }
  } else {
    return std::nullopt;
  }
  return known;
}

std::optional<Dims> NodeImport::elements(size_t i) {
  std::optional<Dims> known = partialElements(i);
  if (known && llvm::is_contained(*known, DimExpr())) {
    return std::nullopt;
  }
  return known;
}

std::optional<SmallVector<double>> NodeImport::constantReals(size_t i) {
  if (std::optional<SmallVector<int64_t>> integers = constantElements(i)) {
    return SmallVector<double>(integers->begin(), integers->end());
  }
  Value tensor = input(i);
  std::optional<std::vector<char>> bytes =
      tensor ? smallConstant(tensor) : std::nullopt;
  if (!bytes) {
    return std::nullopt;
  }
  Type type = element(i);
  if (auto real = dyn_cast<FloatType>(type)) {
    return decodeReals(real, *bytes);
  }
  if (auto integer = dyn_cast<IntegerType>(type)) {
    SmallVector<int64_t> values = decodeIntegers(integer, *bytes);
    return SmallVector<double>(values.begin(), values.end());
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Sizes read at run time
//===----------------------------------------------------------------------===//

/// \returns how many elements a vector or scalar has; nullopt when that is
/// known only at run time, or it is no vector.
static std::optional<int64_t> lengthOf(Value tensor) {
  Dims dims = tw::dimsOf(tensor.getType());
  return dims.empty()       ? 1
         : dims.size() == 1 ? dims[0].getConstant()
                            : std::nullopt;
}

/// Defines a symbol for each of the listed elements of `tensor`.
static void readElements(NodeImport &node, Value tensor,
                         ArrayRef<int64_t> positions,
                         ArrayRef<StringRef> symbols, int64_t minimum) {
  OpBuilder &builder = node.builder();
  Type element = tw::elementTypeOf(tensor.getType());
  Type wanted = builder.getI64Type();
  if (element != wanted) {
    tensor = tw::buildElementwise(
        builder, node.loc(), tw::dimsOf(tensor.getType()), wanted, tensor,
        [&](tw::BodyBuilder &body, ValueRange scalars) {
          return body.cast(scalars[0], element, wanted);
        });
  }
  tw::ReadSizesOp::create(
      builder, node.loc(), tensor, builder.getDenseI64ArrayAttr(positions),
      builder.getStrArrayAttr(symbols), builder.getI64IntegerAttr(minimum));
}

Result<Dims> NodeImport::readSizes(Value tensor, int64_t minimum) {
  std::optional<int64_t> length = lengthOf(tensor);
  if (!length || !isa<IntegerType>(tw::elementTypeOf(tensor.getType()))) {
    return error(ErrorCode::UnsupportedShape,
                 "sizes must be a vector of integers, of a length known at "
                 "compile time");
  }
  Dims symbols;
  SmallVector<StringRef> names;
  for (int64_t i = 0; i < *length; ++i) {
    symbols.push_back(freshSymbol());
    names.push_back(symbols.back().symbolName());
  }
  if (!symbols.empty()) {
    readElements(*this, tensor, llvm::to_vector(llvm::seq<int64_t>(0, *length)),
                 names, minimum);
  }
  return symbols;
}

Result<Dims> NodeImport::elementsOrRead(size_t i, int64_t minimum) {
  Value tensor = input(i);
  std::optional<int64_t> length = tensor ? lengthOf(tensor) : std::nullopt;
  if (!length || *length > maxKnownElements || !isa<IntegerType>(element(i))) {
    return error(
        ErrorCode::UnsupportedShape,
        "input " + Twine(i) +
            " must be a vector of integers, of a length known at compile time");
  }
  Dims known = partialElements(i).value_or(Dims(*length));
  SmallVector<int64_t> positions;
  SmallVector<StringRef> names;
  for (auto [position, element] : llvm::enumerate(known)) {
    if (!element) {
      element = freshSymbol();
      positions.push_back(position);
      names.push_back(element.symbolName());
    }
  }
  if (!positions.empty()) {
    readElements(*this, tensor, positions, names, minimum);
    // Who reads the same elements later gets the same symbols.
    graphImport.define(node.input(i), {tensor, known});
  }
  return known;
}

} // namespace tilewright::frontend
