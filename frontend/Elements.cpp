//===- Elements.cpp - integers that are known at compile time -------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// Exporters compute sizes with chains of Shape, Gather, Concat and arithmetic.
// This is an evaluator for such chains, over size expressions. An element that
// it cannot express is null.
//
//===----------------------------------------------------------------------===//

#include "frontend/Elements.h"

#include "frontend/ElementArithmetic.h"
#include "frontend/GraphImport.h"

using namespace mlir;

namespace tilewright::frontend {

/// Longer vectors hold data, not sizes.
static constexpr int64_t maxElements = 256;

/// \returns the number of elements of a vector or scalar that is worth
/// following.
static std::optional<int64_t> trackedLength(Value tensor) {
  auto type = dyn_cast_or_null<RankedTensorType>(tensor ? tensor.getType() : Type());
  if (!type || type.getRank() > 1 || !type.hasStaticShape() ||
      type.getNumElements() > maxElements) {
    return std::nullopt;
  }
  return type.getNumElements();
}

//===----------------------------------------------------------------------===//
// Movement: each element of the output is one element of an input
//===----------------------------------------------------------------------===//

namespace {
struct Origin {
  size_t input;
  int64_t position;
};
using Origins = SmallVector<Origin>;
} // namespace

static Origins wholeInput(size_t input, int64_t length) {
  Origins origins;
  for (int64_t i = 0; i < length; ++i) {
    origins.push_back({input, i});
  }
  return origins;
}

static std::optional<Origins> originsOfGather(NodeImport &node, int64_t length) {
  std::optional<SmallVector<int64_t>> indices = node.constantElements(1);
  if (!indices) {
    return std::nullopt;
  }
  Origins origins;
  for (int64_t index : *indices) {
    index += index < 0 ? length : 0;
    if (index < 0 || index >= length) {
      return std::nullopt;
    }
    origins.push_back({0, index});
  }
  return origins;
}

static std::optional<Origins> originsOfSlice(NodeImport &node, int64_t length) {
  std::optional<SmallVector<int64_t>> start, end, step = SmallVector<int64_t>{1};
  if (node.version() < 10) {
    start = node.intsAttribute("starts");
    end = node.intsAttribute("ends");
  } else {
    start = node.constantElements(1);
    end = node.constantElements(2);
    if (node.hasInput(4)) {
      step = node.constantElements(4);
    }
  }
  if (!start || !end || !step || start->size() != 1 || end->size() != 1 || step->size() != 1) {
    return std::nullopt;
  }
  int64_t stride = step->front();
  auto fromEnd = [&](int64_t position) { return position < 0 ? position + length : position; };
  int64_t first = std::min(std::max<int64_t>(fromEnd(start->front()), 0),
                           stride < 0 ? length - 1 : length);
  // Walking backwards, -1 is the end that stands for "all".
  int64_t last = std::min(std::max<int64_t>(fromEnd(end->front()), stride < 0 ? -1 : 0), length);
  Origins origins;
  for (int64_t i = first; stride > 0 ? i < last : i > last; i += stride) {
    origins.push_back({0, i});
    if (stride > length || stride < -length) {
      break;
    }
  }
  return origins;
}

static std::optional<Origins> originsOf(NodeImport &node, size_t output) {
  Value source = node.input(0);
  std::optional<int64_t> length = trackedLength(source);
  StringRef op = node.proto().op_type();
  if (op == "Concat") {
    Origins origins;
    for (size_t i = 0; i < node.numInputs(); ++i) {
      std::optional<int64_t> part = trackedLength(node.input(i));
      if (!part) {
        return std::nullopt;
      }
      llvm::append_range(origins, wholeInput(i, *part));
    }
    return origins;
  }
  if (!length) {
    return std::nullopt;
  }
  if (op == "Identity" || op == "Reshape" || op == "Squeeze" || op == "Unsqueeze" ||
      op == "Flatten") {
    return wholeInput(0, *length);
  }
  if (op == "Expand" && *length == 1) {
    Value result = node.graph().find(node.proto().output(0)).tensor;
    return Origins(trackedLength(result).value_or(0), Origin{0, 0});
  }
  if (op == "Gather") {
    return originsOfGather(node, *length);
  }
  if (op == "Slice") {
    return originsOfSlice(node, *length);
  }
  if (op == "Split") {
    int64_t begin = 0;
    for (size_t i = 0; i < output; ++i) {
      begin += node.wantsOutput(i)
                   ? trackedLength(node.graph().find(node.proto().output(i)).tensor).value_or(0)
                   : maxElements;
    }
    Origins origins;
    Value part = node.graph().find(node.proto().output(output)).tensor;
    for (int64_t i = 0; i < trackedLength(part).value_or(0); ++i) {
      origins.push_back({0, begin + i});
    }
    return origins;
  }
  return std::nullopt;
}

template <typename Element>
static std::optional<SmallVector<Element>>
gather(ArrayRef<Origin> origins, llvm::function_ref<std::optional<SmallVector<Element>>(size_t)> of) {
  SmallVector<Element> result;
  for (auto [input, position] : origins) {
    std::optional<SmallVector<Element>> source = of(input);
    if (!source || position >= static_cast<int64_t>(source->size())) {
      return std::nullopt;
    }
    result.push_back((*source)[position]);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Outputs
//===----------------------------------------------------------------------===//

static std::optional<Dims> integersOf(NodeImport &node, size_t output, int64_t length,
                                      IntegerType type) {
  if (std::optional<Origins> origins = originsOf(node, output)) {
    // An input of which nothing is known has null elements.
    return gather<DimExpr>(*origins, [&](size_t input) -> std::optional<Dims> {
      if (std::optional<Dims> known = node.partialElements(input)) {
        return known;
      }
      return Dims(trackedLength(node.input(input)).value_or(0));
    });
  }
  return computeIntegers(node, length, type);
}

static std::optional<SmallVector<double>> realsOf(NodeImport &node, size_t output, int64_t length,
                                                  FloatType type) {
  if (std::optional<Origins> origins = originsOf(node, output)) {
    return gather<double>(*origins, [&](size_t input) { return node.constantReals(input); });
  }
  return computeReals(node, length, type);
}

static Value constantOfIntegers(NodeImport &node, RankedTensorType type, ArrayRef<DimExpr> known) {
  SmallVector<APInt> values;
  for (DimExpr element : known) {
    values.push_back(APInt(64, *element.getConstant()).trunc(type.getElementTypeBitWidth()));
  }
  return tw::ConstantOp::create(node.builder(), node.loc(), type,
                                DenseElementsAttr::get(type, values));
}

static Value constantOfReals(NodeImport &node, RankedTensorType type, ArrayRef<double> known) {
  auto real = cast<FloatType>(type.getElementType());
  SmallVector<APFloat> values;
  for (double number : known) {
    APFloat value(number);
    bool lost = false;
    value.convert(real.getFloatSemantics(), APFloat::rmNearestTiesToEven, &lost);
    values.push_back(value);
  }
  return tw::ConstantOp::create(node.builder(), node.loc(), type,
                                DenseElementsAttr::get(type, values));
}

/// The tensor with these elements, for what reads it at run time.
static Value tensorOf(NodeImport &node, Value tensor, ArrayRef<DimExpr> known) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (llvm::is_contained(known, DimExpr())) {
    return tensor;
  }
  if (llvm::all_of(known, [](DimExpr element) { return element.getConstant().has_value(); })) {
    return tensor.getDefiningOp<tw::ConstantOp>() ? tensor : constantOfIntegers(node, type, known);
  }
  if (!type.getElementType().isSignlessInteger(64) || tensor.getDefiningOp<tw::SizesOp>()) {
    return tensor;
  }
  return tw::SizesOp::create(node.builder(), node.loc(), type,
                             tw::DimsAttr::get(node.context(), known));
}

static void inferOutput(NodeImport &node, size_t output) {
  const std::string &name = node.proto().output(output);
  ImportedValue value = node.graph().find(name);
  std::optional<int64_t> length = trackedLength(value.tensor);
  if (!length) {
    return;
  }
  Type type = tw::elementTypeOf(value.tensor.getType());
  if (auto integer = dyn_cast<IntegerType>(type); integer && integer.getWidth() <= 64) {
    if (!value.elements) {
      value.elements = integersOf(node, output, *length, integer);
    }
    if (value.elements && static_cast<int64_t>(value.elements->size()) == *length) {
      value.tensor = tensorOf(node, value.tensor, *value.elements);
      node.graph().define(name, value);
    }
  } else if (auto real = dyn_cast<FloatType>(type); real && real.getWidth() >= 16) {
    auto known = realsOf(node, output, *length, real);
    if (known && static_cast<int64_t>(known->size()) == *length) {
      value.tensor =
          constantOfReals(node, cast<RankedTensorType>(value.tensor.getType()), *known);
      node.graph().define(name, value);
    }
  }
}

void inferElements(NodeImport &node) {
  if (!canonicalDomain(node.proto().domain()).empty()) {
    return;
  }
  for (size_t output = 0; output < node.numOutputs(); ++output) {
    if (node.wantsOutput(output)) {
      inferOutput(node, output);
    }
  }
}

} // namespace tilewright::frontend
