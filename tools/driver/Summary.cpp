//===- Summary.cpp - what was compiled, in figures ------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "tools/driver/Summary.h"
#include "runtime/Arena.h"
#include "tools/driver/Traffic.h"
#include <nlohmann/json.hpp>

namespace tilewright {

int64_t countNodes(const onnx::GraphProto &graph) {
  int64_t count = graph.node_size();
  for (const onnx::NodeProto &node : graph.node()) {
    for (const onnx::AttributeProto &attribute : node.attribute()) {
      if (attribute.has_g()) {
        count += countNodes(attribute.g());
      }
      for (const onnx::GraphProto &inner : attribute.graphs()) {
        count += countNodes(inner);
      }
    }
  }
  return count;
}

int64_t arenaBytes(const format::PlanT &plan) {
  std::vector<int64_t> sizes = sizesOfOnes(plan);
  int64_t total = 0;
  for (const auto &function : plan.functions) {
    std::vector<ArenaBuffer> buffers;
    for (const format::Buffer &buffer : function->buffers) {
      buffers.push_back({std::max<int64_t>(sizes[buffer.bytes()], 0),
                         buffer.first(), buffer.last()});
    }
    if (Result<ArenaLayout> layout = planArena(buffers)) {
      total += layout->bytes;
    }
  }
  return total;
}

void summarize(const plan::BuiltPlan &planned, CompileSummary &summary) {
  for (const auto &function : planned.plan.functions) {
    summary.commands += function->commands.size();
    for (const auto &command : function->commands) {
      summary.launches += command->body.AsLaunch() != nullptr;
    }
  }
  summary.kernels = planned.plan.kernels.size();
  summary.arenaBytes = arenaBytes(planned.plan);
  summary.kernelTrafficBytes += bytesCopied(planned.plan);
  for (tw::ConstantOp constant : planned.constants) {
    auto type = llvm::cast<mlir::RankedTensorType>(constant.getType());
    if (std::optional<DType> dtype = tw::dtypeOf(type.getElementType())) {
      summary.constantBytes +=
          type.getNumElements() * static_cast<int64_t>(sizeOf(*dtype));
    }
  }
}

std::string toJson(const CompileSummary &summary) {
  nlohmann::json json = {{"onnx_nodes", summary.onnxNodes},
                         {"commands", summary.commands},
                         {"launches", summary.launches},
                         {"kernels", summary.kernels},
                         {"node_kernels", summary.nodeKernels},
                         {"node_traffic_bytes", summary.nodeTrafficBytes},
                         {"kernel_traffic_bytes", summary.kernelTrafficBytes},
                         {"arena_bytes", summary.arenaBytes},
                         {"constant_bytes", summary.constantBytes}};
  // Times stay out of what a module carries: the same input gives the same
  // bytes.
  return json.dump();
}

} // namespace tilewright
