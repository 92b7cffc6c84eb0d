//===- Movement.cpp - operators that rearrange whole axes -----------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "frontend/ops/Common.h"
#include "frontend/ops/Families.h"
#include "frontend/ops/Sizes.h"

using namespace mlir;

namespace tilewright::frontend {

/// Sets output `output` to a map of `dims` that reads input 0 where `position`
/// says.
static void
setMoved(NodeImport &node, size_t output, ArrayRef<DimExpr> dims,
         llvm::function_ref<SmallVector<Value>(BodyBuilder &, ValueRange)>
             position) {
  Value source = node.input(0);
  node.setOutput(output,
                 tw::buildMap(node.builder(), node.loc(), dims, node.element(0),
                              [&](BodyBuilder &body, ValueRange coordinates) {
                                return body.load(source,
                                                 position(body, coordinates));
                              }));
}

//===----------------------------------------------------------------------===//
// Transpose
//===----------------------------------------------------------------------===//

static Status importTranspose(NodeImport &node) {
  Dims dims = node.dims(0);
  auto rank = static_cast<int64_t>(dims.size());
  auto axes = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  SmallVector<int64_t> order =
      node.intsAttribute("perm", llvm::to_vector(llvm::reverse(axes)));
  SmallVector<int64_t> sorted = order;
  llvm::sort(sorted);
  if (sorted != axes) {
    return node.error(
        ErrorCode::AttributeInvalid,
        "'perm' is no permutation of the axes of a tensor of rank " +
            Twine(rank));
  }
  Dims result;
  for (int64_t axis : order) {
    result.push_back(dims[axis]);
  }
  setMoved(node, 0, result, [&](BodyBuilder &, ValueRange at) {
    SmallVector<Value> position(rank);
    for (auto [to, from] : llvm::enumerate(order)) {
      position[from] = at[to];
    }
    return position;
  });
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// Concat and Split
//===----------------------------------------------------------------------===//

/// The dims of a concatenation; sizes off the axis must agree.
static Result<Dims> concatDims(NodeImport &node, int64_t axis) {
  Dims result = node.dims(0);
  for (size_t i = 1; i < node.numInputs(); ++i) {
    TW_RETURN_IF_ERROR(requireRank(node, i, result.size()));
    Dims dims = node.dims(i);
    for (size_t k = 0; k < dims.size(); ++k) {
      if (static_cast<int64_t>(k) == axis) {
        result[k] = result[k] + dims[k];
        continue;
      }
      if (!mayBeEqual(result[k], dims[k])) {
        return node.error(ErrorCode::ShapeMismatch,
                          "operands of shapes " + textOf(node.dims(0)) +
                              " and " + textOf(dims) +
                              " cannot be joined along axis " + Twine(axis));
      }
      result[k] = node.unify(result[k], dims[k]);
    }
  }
  return result;
}

static Status importConcat(NodeImport &node) {
  TW_RETURN_IF_ERROR(requireRankAtLeast(node, 0, 1));
  TW_RETURN_IF_ERROR(requireSameElement(node, node.numInputs()));
  Result<int64_t> axis =
      node.normalizeAxis(node.intAttribute("axis", 1), node.rank(0));
  if (!axis) {
    return axis.status();
  }
  Result<Dims> dims = concatDims(node, *axis);
  if (!dims) {
    return dims.status();
  }
  if (node.numInputs() == 1) {
    node.setOutput(0, node.input(0));
    return Status::ok();
  }
  Type element = node.element(0);
  SmallVector<Value> operands = node.inputs();
  auto write = [&](BodyBuilder &body, ValueRange at) {
    Value result = body.constant(tw::scalarType(element), 0.0);
    DimExpr offset = node.constant(0);
    for (Value operand : operands) {
      DimExpr size = tw::dimsOf(operand.getType())[*axis];
      SmallVector<Value> position(at);
      position[*axis] = body.sub(at[*axis], body.size(offset));
      result = body.load(operand, position, body.inside(position[*axis], size),
                         result);
      offset = offset + size;
    }
    return result;
  };
  node.setOutput(
      0, tw::buildMap(node.builder(), node.loc(), *dims, element, write));
  return Status::ok();
}

/// Equal parts of an axis; from opset 18 on the last one may be smaller.
static Result<Dims> equalParts(NodeImport &node, DimExpr size) {
  auto count = static_cast<int64_t>(node.numOutputs());
  bool isUneven = node.version() >= 18;
  if (isUneven && node.intAttribute("num_outputs", count) != count) {
    return node.error(ErrorCode::AttributeInvalid,
                      "'num_outputs' is not the number of outputs, " +
                          Twine(count));
  }
  DimExpr part = isUneven ? size.ceilDiv(count) : size.floorDiv(count);
  Dims parts(count, part);
  if (isUneven) {
    parts.back() = (size - part * (count - 1)).max(node.constant(0));
  }
  return parts;
}

static Result<Dims> splitParts(NodeImport &node, DimExpr size) {
  Dims parts;
  if (node.hasAttribute("split")) {
    for (int64_t part : node.intsAttribute("split")) {
      parts.push_back(node.constant(part));
    }
  } else {
    Result<Dims> given =
        node.hasInput(1) ? node.elementsOrRead(1) : equalParts(node, size);
    if (!given) {
      return given;
    }
    parts = *given;
  }
  TW_RETURN_IF_ERROR(checkSizes(node, parts));
  if (parts.size() != node.numOutputs()) {
    return node.error(ErrorCode::ShapeMismatch,
                      Twine(parts.size()) + " sizes are given for " +
                          Twine(node.numOutputs()) + " outputs");
  }
  DimExpr sum = node.constant(0);
  for (DimExpr part : parts) {
    sum = sum + part;
  }
  if (!mayBeEqual(sum, size)) {
    return node.error(ErrorCode::ShapeMismatch,
                      "an axis of size " + size.toString() +
                          " cannot be split into " + textOf(parts));
  }
  node.unify(sum, size);
  return parts;
}

static Status importSplit(NodeImport &node) {
  TW_RETURN_IF_ERROR(requireRankAtLeast(node, 0, 1));
  Result<int64_t> axis =
      node.normalizeAxis(node.intAttribute("axis", 0), node.rank(0));
  if (!axis) {
    return axis.status();
  }
  Dims dims = node.dims(0);
  Result<Dims> parts = splitParts(node, dims[*axis]);
  if (!parts) {
    return parts.status();
  }
  DimExpr offset = node.constant(0);
  for (auto [i, part] : llvm::enumerate(*parts)) {
    dims[*axis] = part;
    setMoved(node, i, dims, [&](BodyBuilder &body, ValueRange at) {
      SmallVector<Value> position(at);
      position[*axis] = body.add(at[*axis], body.size(offset));
      return position;
    });
    offset = offset + part;
  }
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// Tile
//===----------------------------------------------------------------------===//

/// How often each axis is repeated. Opset 1 tiled one axis.
static Result<Dims> tileCounts(NodeImport &node) {
  Result<Dims> counts = node.elementsOrRead(1);
  if (!counts || node.version() >= 6) {
    return counts;
  }
  std::optional<SmallVector<int64_t>> axis = node.constantElements(2);
  if (!axis || axis->size() != 1 || counts->size() != 1) {
    return node.error(ErrorCode::UnsupportedShape, "the axis must be constant");
  }
  Result<int64_t> normal = node.normalizeAxis(axis->front(), node.rank(0));
  if (!normal) {
    return normal.status();
  }
  Dims all(node.rank(0), node.constant(1));
  all[*normal] = counts->front();
  return all;
}

static Status importTile(NodeImport &node) {
  Dims dims = node.dims(0);
  Result<Dims> counts = tileCounts(node);
  if (!counts) {
    return counts.status();
  }
  TW_RETURN_IF_ERROR(checkSizes(node, *counts));
  if (counts->size() != dims.size()) {
    return node.error(ErrorCode::ShapeMismatch,
                      Twine(counts->size()) +
                          " repeats are given for a tensor of rank " +
                          Twine(dims.size()));
  }
  Dims result;
  for (auto [dim, count] : llvm::zip(dims, *counts)) {
    result.push_back(dim * count);
  }
  setMoved(node, 0, result, [&](BodyBuilder &body, ValueRange at) {
    SmallVector<Value> position;
    for (auto [coordinate, dim, count] : llvm::zip(at, dims, *counts)) {
      position.push_back(count.isConstant(1)
                             ? coordinate
                             : body.mod(coordinate, body.size(dim)));
    }
    return position;
  });
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// DepthToSpace and SpaceToDepth
//===----------------------------------------------------------------------===//

static Result<int64_t> blockSize(NodeImport &node) {
  TW_RETURN_IF_ERROR(requireRank(node, 0, 4));
  int64_t block = node.intAttribute("blocksize", 0);
  if (block <= 0 || block > (int64_t(1) << 30)) {
    return node.error(ErrorCode::AttributeInvalid,
                      "a blocksize of " + Twine(block) + " is not possible");
  }
  return block;
}

/// `size / divisor`; a remainder is an error.
static Result<DimExpr> dividedSize(NodeImport &node, DimExpr size,
                                   int64_t divisor) {
  DimExpr remainder = size.mod(node.constant(divisor));
  if (remainder.getConstant().value_or(0) != 0) {
    return node.error(ErrorCode::ShapeMismatch, "a size of " + size.toString() +
                                                    " is not divisible by " +
                                                    Twine(divisor));
  }
  node.requireZero(remainder);
  return size.floorDiv(divisor);
}

/// Whether the depth varies fastest in the channels of the deep tensor ("DCR"
/// puts the block's rows and columns first).
static Result<bool> depthIsInner(NodeImport &node) {
  std::string mode = node.stringAttribute("mode", "DCR");
  if (mode != "DCR" && mode != "CRD") {
    return node.error(ErrorCode::AttributeInvalid,
                      "the mode '" + mode + "' is neither DCR nor CRD");
  }
  return mode == "DCR";
}

static Status importDepthToSpace(NodeImport &node) {
  Result<int64_t> block = blockSize(node);
  if (!block) {
    return block.status();
  }
  Result<bool> isInner = depthIsInner(node);
  if (!isInner) {
    return isInner.status();
  }
  Dims dims = node.dims(0);
  Result<DimExpr> depth = dividedSize(node, dims[1], *block * *block);
  if (!depth) {
    return depth.status();
  }
  Dims result = {dims[0], *depth, dims[2] * *block, dims[3] * *block};
  setMoved(node, 0, result,
           [&](BodyBuilder &body, ValueRange at) -> SmallVector<Value> {
             Value by = body.index(*block);
             Value row = body.mod(at[2], by), column = body.mod(at[3], by);
             Value inBlock = body.add(body.mul(row, by), column);
             Value channel =
                 *isInner
                     ? body.add(body.mul(inBlock, body.size(*depth)), at[1])
                     : body.add(body.mul(at[1], body.index(*block * *block)),
                                inBlock);
             return {at[0], channel, body.floorDiv(at[2], by),
                     body.floorDiv(at[3], by)};
           });
  return Status::ok();
}

static Status importSpaceToDepth(NodeImport &node) {
  Result<int64_t> block = blockSize(node);
  if (!block) {
    return block.status();
  }
  Result<bool> isInner = depthIsInner(node);
  if (!isInner) {
    return isInner.status();
  }
  Dims dims = node.dims(0);
  Result<DimExpr> height = dividedSize(node, dims[2], *block);
  if (!height) {
    return height.status();
  }
  Result<DimExpr> width = dividedSize(node, dims[3], *block);
  if (!width) {
    return width.status();
  }
  Dims result = {dims[0], dims[1] * (*block * *block), *height, *width};
  setMoved(node, 0, result,
           [&](BodyBuilder &body, ValueRange at) -> SmallVector<Value> {
             Value by = body.index(*block), depth = body.size(dims[1]);
             Value area = body.index(*block * *block);
             Value inBlock =
                 *isInner ? body.floorDiv(at[1], depth) : body.mod(at[1], area);
             Value channel =
                 *isInner ? body.mod(at[1], depth) : body.floorDiv(at[1], area);
             return {at[0], channel,
                     body.add(body.mul(at[2], by), body.floorDiv(inBlock, by)),
                     body.add(body.mul(at[3], by), body.mod(inBlock, by))};
           });
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// ReverseSequence and Trilu
//===----------------------------------------------------------------------===//

static Status importReverseSequence(NodeImport &node) {
  TW_RETURN_IF_ERROR(requireRankAtLeast(node, 0, 2));
  TW_RETURN_IF_ERROR(requireInteger(node, 1));
  int64_t batch = node.intAttribute("batch_axis", 1),
          time = node.intAttribute("time_axis", 0);
  if (std::min(batch, time) != 0 || std::max(batch, time) != 1) {
    return node.error(ErrorCode::AttributeInvalid,
                      "'batch_axis' and 'time_axis' must be 0 and 1, one each");
  }
  Dims dims = node.dims(0);
  TW_RETURN_IF_ERROR(requireDims(node, 1, "sequence_lens", dims[batch]));
  Value lengths = node.input(1);
  Type lengthType = node.element(1), i64 = node.builder().getI64Type();
  setMoved(node, 0, dims, [&](BodyBuilder &body, ValueRange at) {
    Value length = body.cast(body.load(lengths, at[batch]), lengthType, i64);
    Value step = toScalar(body, at[time], i64);
    Value mirrored = body.subOf(body.subOf(length, body.integer(i64, 1)), step);
    Value source = body.select(body.lessOf(step, length, i64), mirrored, step);
    SmallVector<Value> position(at);
    position[time] = body.dataIndex(source, dims[time], /*wrap=*/false);
    return position;
  });
  return Status::ok();
}

static Status importTrilu(NodeImport &node) {
  TW_RETURN_IF_ERROR(requireRankAtLeast(node, 0, 2));
  Value diagonal;
  if (node.hasInput(1)) {
    TW_RETURN_IF_ERROR(requireInteger(node, 1));
    if (!tw::productOf(node.context(), node.dims(1)).isConstant(1)) {
      return node.error(ErrorCode::ShapeMismatch, "k must be a scalar");
    }
    diagonal = node.input(1);
  }
  bool upper = node.intAttribute("upper", 1) != 0;
  Value source = node.input(0);
  Type element = node.element(0);
  auto write = [&](BodyBuilder &body, ValueRange at) {
    Value shift = body.index(0);
    if (diagonal) {
      Value scalar =
          body.load(diagonal, SmallVector<Value>(node.rank(1), body.index(0)));
      shift =
          body.createOrFold<arith::IndexCastOp>(body.getIndexType(), scalar);
    }
    Value edge = body.add(at[at.size() - 2], shift), column = at.back();
    Value kept =
        upper ? body.lessEqual(edge, column) : body.lessEqual(column, edge);
    return body.load(source, at, kept,
                     body.constant(tw::scalarType(element), 0.0));
  };
  node.setOutput(0, tw::buildMap(node.builder(), node.loc(), node.dims(0),
                                 element, write));
  return Status::ok();
}

static constexpr OperatorEntry entries[] = {
    {"", "Concat", 1, importConcat},
    {"", "DepthToSpace", 1, importDepthToSpace},
    {"", "ReverseSequence", 10, importReverseSequence},
    {"", "SpaceToDepth", 1, importSpaceToDepth},
    {"", "Split", 1, importSplit},
    {"", "Tile", 1, importTile},
    {"", "Transpose", 1, importTranspose},
    {"", "Trilu", 14, importTrilu},
};

OperatorFamily movementOperators() { return entries; }

} // namespace tilewright::frontend
