//===- PrimitiveBuilders.cpp - whole primitives and constants in one call -===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "ir/BodyBuilder.h"

using namespace mlir;

namespace tilewright::tw {

/// Positions a BodyBuilder in the (empty) body of a fresh primitive.
static BodyBuilder bodyOf(Operation *primitive, Location loc) {
  Block &block = primitive->getRegion(0).front();
  if (!block.empty() && block.back().hasTrait<OpTrait::IsTerminator>()) {
    block.back().erase();
  }
  return BodyBuilder(loc, OpBuilder::atBlockEnd(&block));
}

static void finish(BodyBuilder &body, ValueRange results) {
  body.create<YieldOp>(results);
}

SmallVector<Value> buildMap(OpBuilder &builder, Location loc,
                            ArrayRef<DimExpr> dims, TypeRange elements,
                            CoordinateBodies write, StringRef root) {
  SmallVector<Type> types;
  for (Type element : elements) {
    types.push_back(tensorType(dims, element));
  }
  auto map = MapOp::create(builder, loc, types);
  if (!root.empty()) {
    map.setRoot(root);
  }
  BodyBuilder body = bodyOf(map, loc);
  finish(body, write(body, map.getBody().getArguments()));
  return SmallVector<Value>(map.getResults());
}

Value buildMap(OpBuilder &builder, Location loc, ArrayRef<DimExpr> dims,
               Type element, CoordinateBody write, StringRef root) {
  return buildMap(
             builder, loc, dims, TypeRange(element),
             [&](BodyBuilder &body, ValueRange coordinates) {
               return SmallVector<Value>{write(body, coordinates)};
             },
             root)
      .front();
}

Value buildReduce(OpBuilder &builder, Location loc, FoldKind kind,
                  ArrayRef<DimExpr> dims, ArrayRef<DimExpr> extents,
                  Type element, CoordinateBody write, StringRef root) {
  auto reduce =
      ReduceOp::create(builder, loc, tensorType(dims, element), kind, extents);
  if (!root.empty()) {
    reduce.setRoot(root);
  }
  BodyBuilder body = bodyOf(reduce, loc);
  finish(body, write(body, reduce.getBody().getArguments()));
  return reduce.getResult();
}

Value buildScan(OpBuilder &builder, Location loc, FoldKind kind, int64_t axis,
                bool exclusive, bool reverse, ArrayRef<DimExpr> dims,
                Type element, CoordinateBody write) {
  auto scan = ScanOp::create(builder, loc, tensorType(dims, element), kind,
                             axis, exclusive, reverse);
  BodyBuilder body = bodyOf(scan, loc);
  finish(body, write(body, scan.getBody().getArguments()));
  return scan.getResult();
}

Value buildScatter(OpBuilder &builder, Location loc, FoldKind kind, Value init,
                   ArrayRef<DimExpr> extents, CoordinateBodies write) {
  auto scatter = ScatterOp::create(builder, loc, init, kind, extents);
  BodyBuilder body = bodyOf(scatter, loc);
  finish(body, write(body, scatter.getBody().getArguments()));
  return scatter.getResult();
}

Value buildElementwise(
    OpBuilder &builder, Location loc, ArrayRef<DimExpr> dims, Type element,
    ValueRange operands,
    llvm::function_ref<Value(BodyBuilder &, ValueRange)> write) {
  return buildMap(
      builder, loc, dims, element,
      [&](BodyBuilder &body, ValueRange coordinates) {
        SmallVector<Value> scalars;
        for (Value operand : operands) {
          scalars.push_back(
              body.widen(body.loadBroadcast(operand, coordinates, dims)));
        }
        return body.narrow(write(body, scalars), scalarType(element));
      });
}

Value buildReshape(OpBuilder &builder, Location loc, Value tensor,
                   ArrayRef<DimExpr> dims) {
  RankedTensorType type = tensorType(dims, elementTypeOf(tensor.getType()));
  if (type == tensor.getType()) {
    return tensor;
  }
  return ReshapeOp::create(builder, loc, type, tensor);
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

/// Up to this many elements a constant is visible in the IR.
static constexpr int64_t maxInlineElements = 32;

static DenseElementsAttr denseFromBytes(RankedTensorType type,
                                        ArrayRef<char> bytes) {
  Type element = type.getElementType();
  RankedTensorType plain = RankedTensorType::get(type.getShape(), element);
  if (element.isInteger(1)) {
    SmallVector<bool> values;
    for (char byte : bytes) {
      values.push_back(byte != 0);
    }
    return DenseElementsAttr::get(plain, values);
  }
  if (auto integer = dyn_cast<IntegerType>(element);
      integer && integer.getWidth() < 8) {
    SmallVector<APInt> values;
    for (char byte : bytes) {
      values.push_back(
          APInt(8, static_cast<uint8_t>(byte)).trunc(integer.getWidth()));
    }
    return DenseElementsAttr::get(plain, values);
  }
  if (auto real = dyn_cast<FloatType>(element); real && real.getWidth() < 8) {
    SmallVector<APFloat> values;
    for (char byte : bytes) {
      values.push_back(
          APFloat(real.getFloatSemantics(),
                  APInt(8, static_cast<uint8_t>(byte)).trunc(real.getWidth())));
    }
    return DenseElementsAttr::get(plain, values);
  }
  return DenseElementsAttr::getFromRawBuffer(plain, bytes);
}

Value buildConstant(OpBuilder &builder, Location loc, RankedTensorType type,
                    ArrayRef<char> bytes, std::shared_ptr<const void> owner) {
  MLIRContext *context = builder.getContext();
  if (type.getNumElements() <= maxInlineElements) {
    return ConstantOp::create(builder, loc, type, denseFromBytes(type, bytes));
  }
  ConstantStore &store = context->getOrLoadDialect<TwDialect>()->getConstants();
  std::string hash = store.add(bytes, std::move(owner));
  return ConstantOp::create(builder, loc, type, BlobAttr::get(context, hash));
}

Value buildConstant(OpBuilder &builder, Location loc, ArrayRef<int64_t> values,
                    bool scalar) {
  SmallVector<int64_t> shape;
  if (!scalar) {
    shape.push_back(values.size());
  }
  auto type = RankedTensorType::get(shape, builder.getI64Type());
  std::vector<char> bytes(values.size() * sizeof(int64_t));
  if (!values.empty()) {
    std::memcpy(bytes.data(), values.data(), bytes.size());
  }
  auto owner = std::make_shared<const std::vector<char>>(std::move(bytes));
  return buildConstant(builder, loc, type, *owner, owner);
}

Value buildConstant(OpBuilder &builder, Location loc, Type floatType,
                    double value) {
  auto type = RankedTensorType::get({}, floatType);
  auto attribute =
      DenseElementsAttr::get(type, builder.getFloatAttr(floatType, value));
  return ConstantOp::create(builder, loc, type, attribute);
}

/// The element that all of a constant's bytes repeat, or nothing.
static std::optional<ArrayRef<char>> uniformBytes(ArrayRef<char> bytes,
                                                  int64_t elements) {
  if (elements == 0 || bytes.empty() || bytes.size() % elements != 0) {
    return std::nullopt;
  }
  size_t size = bytes.size() / elements;
  bool isUniform =
      std::memcmp(bytes.data(), bytes.data() + size, bytes.size() - size) == 0;
  return isUniform ? std::optional(bytes.take_front(size)) : std::nullopt;
}

TypedAttr uniformElement(ConstantOp constant) {
  auto type = cast<RankedTensorType>(constant.getType());
  auto dense = dyn_cast<DenseElementsAttr>(constant.getValue());
  if (auto blob = dyn_cast<BlobAttr>(constant.getValue())) {
    auto *dialect = constant->getContext()->getLoadedDialect<TwDialect>();
    auto bytes = dialect->getConstants().find(blob.getHash());
    auto first =
        bytes ? uniformBytes(*bytes, type.getNumElements()) : std::nullopt;
    if (first) {
      dense = denseFromBytes(RankedTensorType::get({1}, type.getElementType()),
                             *first);
    }
  }
  return dense && dense.isSplat() ? dense.getSplatValue<TypedAttr>()
                                  : TypedAttr();
}

std::optional<std::vector<char>> constantBytes(Value value) {
  auto constant = value.getDefiningOp<ConstantOp>();
  if (!constant) {
    return std::nullopt;
  }
  if (auto blob = dyn_cast<BlobAttr>(constant.getValue())) {
    auto *dialect = constant->getContext()->getLoadedDialect<TwDialect>();
    std::optional<ArrayRef<char>> bytes =
        dialect->getConstants().find(blob.getHash());
    if (!bytes) {
      return std::nullopt;
    }
    return std::vector<char>(bytes->begin(), bytes->end());
  }
  auto dense = dyn_cast<DenseElementsAttr>(constant.getValue());
  if (!dense) {
    return std::nullopt;
  }
  std::vector<char> bytes;
  Type element = dense.getElementType();
  auto append = [&](const APInt &bits) {
    unsigned size = (bits.getBitWidth() + 7) / 8;
    uint64_t raw = bits.getZExtValue();
    const char *from = reinterpret_cast<const char *>(&raw);
    bytes.insert(bytes.end(), from, from + size);
  };
  if (isa<FloatType>(element)) {
    for (const APFloat &number : dense.getValues<APFloat>()) {
      append(number.bitcastToAPInt());
    }
  } else {
    for (const APInt &number : dense.getValues<APInt>()) {
      append(number);
    }
  }
  return bytes;
}

std::optional<SmallVector<int64_t>> constantIntegers(Value value) {
  auto constant = value.getDefiningOp<ConstantOp>();
  auto dense =
      constant ? dyn_cast<DenseIntElementsAttr>(constant.getValue()) : nullptr;
  if (!dense) {
    return std::nullopt;
  }
  bool zeroExtend =
      isUnsigned(dense.getElementType()) || dense.getElementType().isInteger(1);
  SmallVector<int64_t> values;
  for (const APInt &number : dense.getValues<APInt>()) {
    values.push_back(zeroExtend ? number.getZExtValue()
                                : number.getSExtValue());
  }
  return values;
}

} // namespace tilewright::tw
