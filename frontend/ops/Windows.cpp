//===- Windows.cpp - sliding windows of convolutions and pools ------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "frontend/ops/Windows.h"

using namespace mlir;

namespace tilewright::frontend {

/// A list of one entry per spatial axis, all ones by default.
static Result<SmallVector<int64_t>>
perAxis(NodeImport &node, llvm::StringRef name, size_t spatial) {
  SmallVector<int64_t> values = node.intsAttribute(name);
  if (values.empty()) {
    values.assign(spatial, 1);
  }
  if (values.size() != spatial) {
    return node.error(ErrorCode::AttributeInvalid,
                      name + " must have " + Twine(spatial) + " entries, not " +
                          Twine(values.size()));
  }
  return values;
}

Result<Dims> kernelShape(NodeImport &node, size_t spatial) {
  SmallVector<int64_t> values = node.intsAttribute("kernel_shape");
  if (values.size() != spatial || spatial == 0) {
    return node.error(ErrorCode::AttributeInvalid,
                      "kernel_shape must have " + Twine(spatial) +
                          " entries, not " + Twine(values.size()));
  }
  Dims dims;
  for (int64_t value : values) {
    dims.push_back(node.constant(value));
  }
  return dims;
}

Result<WindowSpec> windowAttributes(NodeImport &node,
                                    ArrayRef<DimExpr> kernel) {
  WindowSpec spec;
  size_t spatial = kernel.size();
  spec.kernel.assign(kernel.begin(), kernel.end());
  Result<SmallVector<int64_t>> strides = perAxis(node, "strides", spatial);
  Result<SmallVector<int64_t>> dilations = perAxis(node, "dilations", spatial);
  if (!strides || !dilations) {
    return !strides ? strides.status() : dilations.status();
  }
  spec.strides = *strides;
  spec.dilations = *dilations;

  std::string autoPad = node.stringAttribute("auto_pad", "NOTSET");
  if (autoPad == "SAME_UPPER" || autoPad == "SAME_LOWER") {
    return spec;
  }
  if (autoPad != "NOTSET" && autoPad != "VALID" && !autoPad.empty()) {
    return node.error(
        ErrorCode::AttributeInvalid,
        "auto_pad must be NOTSET, VALID, SAME_UPPER or SAME_LOWER, not '" +
            autoPad + "'");
  }
  SmallVector<int64_t> pads = node.intsAttribute("pads");
  if (pads.empty() || autoPad == "VALID") {
    pads.assign(2 * spatial, 0);
  }
  if (pads.size() != 2 * spatial) {
    return node.error(ErrorCode::AttributeInvalid,
                      "pads must have " + Twine(2 * spatial) +
                          " entries, not " + Twine(pads.size()));
  }
  for (int64_t pad : pads) {
    if (pad < 0) {
      return node.error(ErrorCode::AttributeInvalid,
                        "pads must not be negative");
    }
    spec.pads.push_back(node.constant(pad));
  }
  return spec;
}

/// Pads of auto_pad SAME: the result has ceil(input / stride) elements.
static void padToSame(NodeImport &node, WindowSpec &spec,
                      ArrayRef<DimExpr> input) {
  bool upper = node.stringAttribute("auto_pad", "") == "SAME_UPPER";
  Dims begins, ends;
  for (size_t i = 0; i < input.size(); ++i) {
    DimExpr out = input[i].ceilDiv(spec.strides[i]);
    DimExpr total = ((out - 1) * spec.strides[i] + spec.reach(i) - input[i])
                        .max(node.constant(0));
    DimExpr less = total.floorDiv(2), more = total - less;
    begins.push_back(upper ? less : more);
    ends.push_back(upper ? more : less);
    spec.out.push_back(out);
  }
  spec.pads = begins;
  spec.pads.append(ends);
}

Result<WindowSpec> slidingWindow(NodeImport &node, ArrayRef<DimExpr> input,
                                 ArrayRef<DimExpr> kernel, bool roundUp) {
  Result<WindowSpec> spec = windowAttributes(node, kernel);
  if (!spec) {
    return spec;
  }
  if (spec->pads.empty()) {
    padToSame(node, *spec, input);
    return spec;
  }
  size_t spatial = input.size();
  for (size_t i = 0; i < spatial; ++i) {
    DimExpr padded = input[i] + spec->pads[i] + spec->pads[spatial + i];
    DimExpr room = padded - spec->reach(i);
    if (room.getConstant().value_or(0) < 0) {
      return node.error(ErrorCode::ShapeMismatch,
                        "the window of " + spec->reach(i).toString() +
                            " elements along spatial axis " + Twine(i) +
                            " is larger than the padded input, " +
                            padded.toString());
    }
    DimExpr out = room.floorDiv(spec->strides[i]) + 1;
    if (roundUp && spec->strides[i] > 1) {
      // A window that would begin in the padding at the end does not count.
      out = room.ceilDiv(spec->strides[i]) + 1;
      DimExpr beyond =
          (out - 1) * spec->strides[i] - input[i] - spec->pads[i] + 1;
      out = DimExpr::select(beyond.max(node.constant(0)), out - 1, out);
    }
    spec->out.push_back(out);
  }
  return spec;
}

} // namespace tilewright::frontend
