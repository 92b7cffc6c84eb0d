//===- Scan.cpp - Scan as a loop ------------------------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// A Scan is a Loop of known length whose body reads one slice of each scanned
// input. What the loop stacks on axis 0 is moved to where the Scan wants it.
//
//===----------------------------------------------------------------------===//

#include "frontend/ops/Common.h"
#include "frontend/ops/Families.h"
#include "frontend/ops/LoopBuilder.h"

using namespace mlir;

namespace tilewright::frontend {
namespace {

/// Where a scanned input or output lies in its tensor.
struct ScanAxis {
  int64_t axis = 0;
  bool isReversed = false;
};

} // namespace

/// Entry `i` of the attributes for axes and directions, which may be left out.
static Result<ScanAxis> scanAxis(NodeImport &node, StringRef axes,
                                 StringRef directions, size_t i, int64_t rank) {
  SmallVector<int64_t> allAxes = node.intsAttribute(axes);
  SmallVector<int64_t> allDirections = node.intsAttribute(directions);
  Result<int64_t> axis =
      node.normalizeAxis(i < allAxes.size() ? allAxes[i] : 0, rank);
  if (!axis) {
    return axis.status();
  }
  return ScanAxis{*axis, i < allDirections.size() && allDirections[i] != 0};
}

/// The slice of `tensor` that iteration `iteration` of `trips` reads.
static Value sliceAt(NodeImport &node, Value tensor, ScanAxis where,
                     Value iteration, DimExpr trips) {
  Dims dims = tw::dimsOf(tensor.getType());
  dims.erase(dims.begin() + where.axis);
  auto write = [&](BodyBuilder &body, ValueRange at) {
    Value index =
        body.dataIndex(body.load(iteration, {}), trips, /*wrap=*/false);
    if (where.isReversed) {
      index = body.sub(body.sub(body.size(trips), 1), index);
    }
    SmallVector<Value> position(at);
    position.insert(position.begin() + where.axis, index);
    return body.load(tensor, position);
  };
  return tw::buildMap(node.builder(), node.loc(), dims,
                      tw::elementTypeOf(tensor.getType()), write);
}

/// Axis 0 of `stack` moved to `where`.
static Value moveStack(NodeImport &node, Value stack, ScanAxis where,
                       DimExpr trips) {
  if (where.axis == 0 && !where.isReversed) {
    return stack;
  }
  Dims dims = tw::dimsOf(stack.getType());
  std::rotate(dims.begin(), dims.begin() + 1, dims.begin() + where.axis + 1);
  auto write = [&](BodyBuilder &body, ValueRange at) {
    SmallVector<Value> position(at);
    Value index = position[where.axis];
    position.erase(position.begin() + where.axis);
    if (where.isReversed) {
      index = body.sub(body.sub(body.size(trips), 1), index);
    }
    position.insert(position.begin(), index);
    return body.load(stack, position);
  };
  return tw::buildMap(node.builder(), node.loc(), dims,
                      tw::elementTypeOf(stack.getType()), write);
}

/// The scanned axes of the inputs, which have one length.
static Result<SmallVector<ScanAxis>>
scannedInputs(NodeImport &node, size_t states, DimExpr &trips) {
  SmallVector<ScanAxis> result;
  for (size_t i = states; i < node.numInputs(); ++i) {
    TW_RETURN_IF_ERROR(requireRankAtLeast(node, i, 1));
    Result<ScanAxis> where =
        scanAxis(node, "scan_input_axes", "scan_input_directions", i - states,
                 node.rank(i));
    if (!where) {
      return where.status();
    }
    DimExpr length = node.dims(i)[where->axis];
    if (trips && !mayBeEqual(trips, length)) {
      return node.error(ErrorCode::ShapeMismatch,
                        "scanned inputs have lengths " + trips.toString() +
                            " and " + length.toString());
    }
    trips = trips ? node.unify(trips, length) : length;
    result.push_back(*where);
  }
  return result;
}

static Status importScan(NodeImport &node) {
  const onnx::GraphProto *body = node.graphAttribute("body");
  auto scanned = static_cast<size_t>(node.intAttribute("num_scan_inputs", 0));
  if (!body || scanned < 1 || scanned > node.numInputs()) {
    return node.error(ErrorCode::AttributeInvalid,
                      "'num_scan_inputs' does not fit the inputs");
  }
  size_t states = node.numInputs() - scanned;
  DimExpr trips;
  Result<SmallVector<ScanAxis>> inputs = scannedInputs(node, states, trips);
  if (!inputs) {
    return inputs.status();
  }
  LoopBuilder loop(node);
  Value count = tw::SizesOp::create(
      node.builder(), node.loc(),
      RankedTensorType::get({}, node.builder().getI64Type()),
      tw::DimsAttr::get(node.context(), trips));
  loop.setTripCount(count, Dims{trips});
  for (size_t i = 0; i < states; ++i) {
    loop.carry(node.input(i));
  }
  auto importBody = [&](ArrayRef<ImportedValue> arguments) -> Result<Values> {
    Values values(arguments.drop_front(2));
    for (size_t i = 0; i < scanned; ++i) {
      values.push_back({sliceAt(node, node.input(states + i), (*inputs)[i],
                                arguments[0].tensor, trips),
                        {}});
    }
    Result<Values> results = node.graph().importGraph(*body, values);
    if (results) {
      results->insert(results->begin(), arguments[1]);
    }
    return results;
  };
  size_t stacks = node.numOutputs() - std::min(states, node.numOutputs());
  Result<SmallVector<Value>> results = loop.build(stacks, importBody);
  if (!results) {
    return results.status();
  }
  for (size_t i = 0; i < node.numOutputs(); ++i) {
    Value value = (*results)[i];
    if (i >= states) {
      Result<ScanAxis> where =
          scanAxis(node, "scan_output_axes", "scan_output_directions",
                   i - states, tw::dimsOf(value.getType()).size());
      if (!where) {
        return where.status();
      }
      value = moveStack(node, value, *where, trips);
    }
    node.setOutput(i, value);
  }
  return Status::ok();
}

static Status refuseScan8(NodeImport &node) {
  return node.error(ErrorCode::UnsupportedOperator,
                    "Scan of opset 8 is not supported: convert the model to "
                    "opset 9 or newer");
}

static constexpr OperatorEntry entries[] = {
    {"", "Scan", 8, refuseScan8},
    {"", "Scan", 9, importScan},
};

OperatorFamily scanOperators() { return entries; }

} // namespace tilewright::frontend
