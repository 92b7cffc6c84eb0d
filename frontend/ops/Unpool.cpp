//===- Unpool.cpp - MaxUnpool and Col2Im ----------------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "frontend/ops/Families.h"
#include "frontend/ops/Windows.h"

using namespace mlir;

namespace tilewright::frontend {

//===----------------------------------------------------------------------===//
// MaxUnpool
//===----------------------------------------------------------------------===//

/// The shape that was pooled, as far as the window tells.
static Dims unpooledDims(NodeImport &node, const WindowSpec &window) {
  Dims dims = node.dims(0);
  size_t spatial = window.rank();
  for (size_t i = 0; i < spatial; ++i) {
    dims[2 + i] = (dims[2 + i] - 1) * window.strides[i] + window.kernel[i] -
                  window.pads[i] - window.pads[spatial + i];
  }
  return dims;
}

/// Indices count in the shape that was pooled; a larger output_shape gets the
/// result in its corner.
static Status importMaxUnpool(NodeImport &node) {
  TW_RETURN_IF_ERROR(requireNumber(node, 0));
  TW_RETURN_IF_ERROR(requireRankAtLeast(node, 0, 3));
  TW_RETURN_IF_ERROR(requireDims(node, 1, "the indices", node.dims(0)));
  Result<Dims> kernel = kernelShape(node, node.rank(0) - 2);
  if (!kernel) {
    return kernel.status();
  }
  Result<WindowSpec> window = windowAttributes(node, *kernel);
  if (!window) {
    return window.status();
  }
  if (window->pads.empty()) {
    return node.unsupported("auto_pad of MaxUnpool");
  }
  Dims pooled = unpooledDims(node, *window), dims = pooled;
  if (node.hasInput(2)) {
    Result<Dims> wanted = node.elementsOrRead(2);
    if (!wanted) {
      return wanted.status();
    }
    if (wanted->size() != pooled.size()) {
      return node.error(ErrorCode::ShapeMismatch, "output_shape must have " +
                                                      Twine(pooled.size()) +
                                                      " elements");
    }
    dims = *wanted;
  }
  Type element = node.element(0), indexElement = node.element(1);
  Value zeros = tw::buildMap(node.builder(), node.loc(), dims, element,
                             [&](BodyBuilder &b, ValueRange) {
                               return b.constant(tw::scalarType(element), 0);
                             });
  node.setOutput(0, tw::buildScatter(
                        node.builder(), node.loc(), FoldKind::Assign, zeros,
                        node.dims(0), [&](BodyBuilder &b, ValueRange at) {
                          DimExpr count = tw::productOf(node.context(), pooled);
                          Value flat = b.cast(b.load(node.input(1), at),
                                              indexElement, b.getI64Type());
                          Value rest = b.dataIndex(flat, count, /*wrap=*/false);
                          SmallVector<Value> result(pooled.size());
                          for (size_t i = pooled.size(); i-- > 0;) {
                            Value size = b.size(pooled[i]);
                            result[i] =
                                b.min(b.mod(rest, size), b.size(dims[i] - 1));
                            rest = b.floorDiv(rest, size);
                          }
                          result.push_back(b.load(node.input(0), at));
                          return result;
                        }));
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// Col2Im
//===----------------------------------------------------------------------===//

/// Inputs: columns [N, C * product(block), L], image_shape, block_shape. An
/// element of the image sums the block positions k whose window covers it:
/// (position + pad - k * dilation) is a multiple of the stride.
static Status importCol2Im(NodeImport &node) {
  TW_RETURN_IF_ERROR(requireNumber(node, 0));
  TW_RETURN_IF_ERROR(requireRank(node, 0, 3));
  Result<Dims> image = node.elementsOrRead(1, /*minimum=*/1);
  Result<Dims> block = node.elementsOrRead(2, /*minimum=*/1);
  if (!image || !block) {
    return !image ? image.status() : block.status();
  }
  size_t spatial = image->size();
  if (block->size() != spatial || spatial == 0) {
    return node.error(
        ErrorCode::ShapeMismatch,
        "image_shape and block_shape must have the same number of elements");
  }
  Result<WindowSpec> window = windowAttributes(node, *block);
  if (!window) {
    return window.status();
  }
  Dims columns = node.dims(0), counts;
  for (size_t i = 0; i < spatial; ++i) {
    DimExpr padded = (*image)[i] + window->pads[i] + window->pads[spatial + i];
    counts.push_back((padded - window->reach(i)).floorDiv(window->strides[i]) +
                     1);
  }
  DimExpr blockCount = tw::productOf(node.context(), *block);
  Dims dims{columns[0], columns[1].floorDiv(blockCount)};
  dims.append(*image);
  Type element = node.element(0);
  Value sum = tw::buildReduce(
      node.builder(), node.loc(), FoldKind::Add, dims, *block,
      tw::computeType(element), [&](BodyBuilder &b, ValueRange at) {
        Value tap = b.index(0), column = b.index(0), guard;
        for (size_t i = 0; i < spatial; ++i) {
          Value k = at[2 + spatial + i], stride = b.index(window->strides[i]);
          Value reached = b.sub(b.add(at[2 + i], b.size(window->pads[i])),
                                b.mul(k, window->dilations[i]));
          Value position = b.floorDiv(reached, stride);
          guard = b.both(guard, b.equal(b.mul(position, stride), reached));
          guard = b.both(guard, b.inside(position, counts[i]));
          tap = b.add(b.mul(tap, b.size((*block)[i])), k);
          column = b.add(b.mul(column, b.size(counts[i])), position);
        }
        Value channel = b.add(b.mul(at[1], b.size(blockCount)), tap);
        return b.widen(b.load(node.input(0), {at[0], channel, column}, guard,
                              b.constant(tw::scalarType(element), 0)));
      });
  node.setOutput(0, castTensor(node, sum, element));
  return Status::ok();
}

OperatorFamily unpoolOperators() {
  static const OperatorEntry entries[] = {
      {"", "Col2Im", 18, importCol2Im},
      {"", "MaxUnpool", 9, importMaxUnpool},
  };
  return entries;
}

} // namespace tilewright::frontend
