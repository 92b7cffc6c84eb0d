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

/// Larger tensors hold data, not sizes.
static constexpr int64_t maxElements = 256;
static constexpr int64_t maxRank = 4;

/// \returns the number of elements of a tensor that is worth following: by
/// default a vector or scalar.
static std::optional<int64_t> trackedLength(Value tensor, int64_t maxRank = 1) {
  auto type =
      dyn_cast_or_null<RankedTensorType>(tensor ? tensor.getType() : Type());
  if (!type || type.getRank() > maxRank || !type.hasStaticShape() ||
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

static std::optional<Origins> originsOfGather(NodeImport &node,
                                              int64_t length) {
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

/// The positions along one axis that a Slice takes.
static SmallVector<int64_t> slicePositions(int64_t start, int64_t end,
                                           int64_t step, int64_t length) {
  auto fromEnd = [&](int64_t position) {
    return position < 0 ? position + length : position;
  };
  int64_t first = std::min(std::max<int64_t>(fromEnd(start), 0),
                           step < 0 ? length - 1 : length);
  // Walking backwards, -1 is the end that stands for "all".
  int64_t last =
      std::min(std::max<int64_t>(fromEnd(end), step < 0 ? -1 : 0), length);
  SmallVector<int64_t> positions;
  for (int64_t i = first; step > 0 ? i < last : i > last; i += step) {
    positions.push_back(i);
    if (step > length || step < -length) {
      break;
    }
  }
  return positions;
}

/// The elements of a row-major tensor at the given positions of each axis.
static Origins originsAt(ArrayRef<SmallVector<int64_t>> positions,
                         ArrayRef<int64_t> strides) {
  Origins origins = {{0, 0}};
  for (auto [axis, stride] : llvm::zip(positions, strides)) {
    Origins next;
    for (Origin origin : origins) {
      for (int64_t position : axis) {
        next.push_back({0, origin.position + position * stride});
      }
    }
    origins = std::move(next);
  }
  return origins;
}

static SmallVector<int64_t> shapeOf(Value tensor) {
  return SmallVector<int64_t>(
      cast<RankedTensorType>(tensor.getType()).getShape());
}

static SmallVector<int64_t> stridesOf(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> strides(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;) {
    strides[i - 1] = strides[i] * shape[i];
  }
  return strides;
}

static std::optional<Origins> originsOfSlice(NodeImport &node) {
  std::optional<SmallVector<int64_t>> starts, ends, axes, steps;
  if (node.version() < 10) {
    starts = node.intsAttribute("starts");
    ends = node.intsAttribute("ends");
    axes = node.intsAttribute("axes");
  } else {
    starts = node.constantElements(1);
    ends = node.constantElements(2);
    axes = node.hasInput(3) ? node.constantElements(3) : SmallVector<int64_t>();
    steps =
        node.hasInput(4) ? node.constantElements(4) : SmallVector<int64_t>();
  }
  if (!starts || !ends || !axes || (node.version() >= 10 && !steps)) {
    return std::nullopt;
  }
  SmallVector<int64_t> shape = shapeOf(node.input(0));
  auto rank = static_cast<int64_t>(shape.size());
  SmallVector<SmallVector<int64_t>> positions;
  for (int64_t size : shape) {
    positions.push_back(llvm::to_vector(llvm::seq<int64_t>(0, size)));
  }
  for (size_t i = 0; i < starts->size(); ++i) {
    int64_t axis = axes->empty() ? i : (*axes)[i];
    axis += axis < 0 ? rank : 0;
    int64_t step = steps && !steps->empty() ? (*steps)[i] : 1;
    positions[axis] =
        slicePositions((*starts)[i], (*ends)[i], step, shape[axis]);
  }
  return originsAt(positions, stridesOf(shape));
}

static Origins originsOfTranspose(NodeImport &node) {
  SmallVector<int64_t> shape = shapeOf(node.input(0)),
                       strides = stridesOf(shape), order;
  order = llvm::to_vector(llvm::reverse(llvm::seq<int64_t>(0, shape.size())));
  SmallVector<SmallVector<int64_t>> positions;
  SmallVector<int64_t> permuted;
  for (int64_t axis : node.intsAttribute("perm", order)) {
    positions.push_back(llvm::to_vector(llvm::seq<int64_t>(0, shape[axis])));
    permuted.push_back(strides[axis]);
  }
  return originsAt(positions, permuted);
}

static std::optional<Origins> originsOf(NodeImport &node, size_t output) {
  StringRef op = node.proto().op_type();
  Value source = node.input(0);
  std::optional<int64_t> whole = trackedLength(source, maxRank);
  if (whole && (op == "Identity" || op == "Reshape" || op == "Squeeze" ||
                op == "Unsqueeze" || op == "Flatten")) {
    return wholeInput(0, *whole);
  }
  if (whole && op == "Slice") {
    return originsOfSlice(node);
  }
  if (whole && op == "Transpose") {
    return originsOfTranspose(node);
  }
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
  std::optional<int64_t> length = trackedLength(source);
  if (!length) {
    return std::nullopt;
  }
  if (op == "Expand" && *length == 1) {
    Value result = node.graph().find(node.proto().output(0)).tensor;
    return Origins(trackedLength(result).value_or(0), Origin{0, 0});
  }
  if (op == "Gather") {
    return originsOfGather(node, *length);
  }
  if (op == "Split") {
    int64_t begin = 0;
    for (size_t i = 0; i < output; ++i) {
      begin +=
          node.wantsOutput(i)
              ? trackedLength(node.graph().find(node.proto().output(i)).tensor)
                    .value_or(0)
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
gather(ArrayRef<Origin> origins,
       llvm::function_ref<std::optional<SmallVector<Element>>(size_t)> of) {
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

static std::optional<Dims> wholeNumbersOf(NodeImport &node, size_t output,
                                          int64_t length, Type type) {
  if (std::optional<Origins> origins = originsOf(node, output)) {
    // An input of which nothing is known has null elements.
    return gather<DimExpr>(*origins, [&](size_t input) -> std::optional<Dims> {
      if (std::optional<Dims> known = node.wholeElements(input)) {
        return known;
      }
      return Dims(trackedLength(node.input(input), maxRank).value_or(0));
    });
  }
  return computeWholeNumbers(node, length, type);
}

static std::optional<SmallVector<double>>
realsOf(NodeImport &node, size_t output, int64_t length, FloatType type) {
  if (std::optional<Origins> origins = originsOf(node, output)) {
    return gather<double>(
        *origins, [&](size_t input) { return node.constantReals(input); });
  }
  return computeReals(node, length, type);
}

static Value constantOfIntegers(NodeImport &node, RankedTensorType type,
                                ArrayRef<DimExpr> known) {
  SmallVector<APInt> values;
  for (DimExpr element : known) {
    values.push_back(
        APInt(64, *element.getConstant()).trunc(type.getElementTypeBitWidth()));
  }
  return tw::ConstantOp::create(node.builder(), node.loc(), type,
                                DenseElementsAttr::get(type, values));
}

static Value constantOfReals(NodeImport &node, RankedTensorType type,
                             ArrayRef<double> known) {
  auto real = cast<FloatType>(type.getElementType());
  SmallVector<APFloat> values;
  for (double number : known) {
    APFloat value(number);
    bool lost = false;
    value.convert(real.getFloatSemantics(), APFloat::rmNearestTiesToEven,
                  &lost);
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
  if (llvm::all_of(known, [](DimExpr element) {
        return element.getConstant().has_value();
      })) {
    return tensor.getDefiningOp<tw::ConstantOp>()
               ? tensor
               : constantOfIntegers(node, type, known);
  }
  if (!type.getElementType().isSignlessInteger(64) || type.getRank() > 1 ||
      tensor.getDefiningOp<tw::SizesOp>()) {
    return tensor;
  }
  return tw::SizesOp::create(node.builder(), node.loc(), type,
                             tw::DimsAttr::get(node.context(), known));
}

static void inferOutput(NodeImport &node, size_t output) {
  const std::string &name = node.proto().output(output);
  ImportedValue value = node.graph().find(name);
  std::optional<int64_t> length = trackedLength(value.tensor, maxRank);
  if (!length) {
    return;
  }
  Type type = tw::elementTypeOf(value.tensor.getType());
  if (auto real = dyn_cast<FloatType>(type); real && real.getWidth() >= 16) {
    auto known = realsOf(node, output, *length, real);
    if (known && static_cast<int64_t>(known->size()) == *length) {
      value.tensor = constantOfReals(
          node, cast<RankedTensorType>(value.tensor.getType()), *known);
      node.graph().define(name, value);
      return;
    }
  }
  if (!value.elements) {
    value.elements = wholeNumbersOf(node, output, *length, type);
  }
  if (!value.elements ||
      static_cast<int64_t>(value.elements->size()) != *length) {
    return;
  }
  if (isa<IntegerType>(type)) {
    value.tensor = tensorOf(node, value.tensor, *value.elements);
  }
  node.graph().define(name, value);
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
