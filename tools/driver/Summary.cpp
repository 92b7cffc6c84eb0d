//===- Summary.cpp - what was compiled, in figures ------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "tools/driver/Summary.h"
#include "runtime/Arena.h"
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

static int64_t evaluate(const format::PlanT &plan, uint32_t id) {
  const format::Expr &expr = plan.expressions[id];
  auto a = [&] { return evaluate(plan, expr.a()); };
  auto b = [&] { return evaluate(plan, expr.b()); };
  auto floorDivide = [](int64_t x, int64_t y) {
    return y == 0 ? 0 : x / y - (x % y != 0 && (x < 0) != (y < 0));
  };
  switch (expr.op()) {
  case format::ExprOp_Const:
    return expr.value();
  case format::ExprOp_Symbol:
    return 1;
  case format::ExprOp_Add:
    return a() + b();
  case format::ExprOp_Sub:
    return a() - b();
  case format::ExprOp_Mul:
    return a() * b();
  case format::ExprOp_FloorDiv:
    return floorDivide(a(), b());
  case format::ExprOp_CeilDiv:
    return -floorDivide(-a(), b());
  case format::ExprOp_Mod:
    return a() - b() * floorDivide(a(), b());
  case format::ExprOp_Min:
    return std::min(a(), b());
  case format::ExprOp_Max:
    return std::max(a(), b());
  case format::ExprOp_Select:
    return a() != 0 ? b() : evaluate(plan, expr.c());
  }
  return 0;
}

int64_t arenaBytes(const format::PlanT &plan) {
  int64_t total = 0;
  for (const auto &function : plan.functions) {
    std::vector<ArenaBuffer> buffers;
    for (const format::Buffer &buffer : function->buffers) {
      buffers.push_back({std::max<int64_t>(evaluate(plan, buffer.bytes()), 0),
                         buffer.first(), buffer.last()});
    }
    if (Result<ArenaLayout> layout = planArena(buffers)) {
      total += layout->bytes;
    }
  }
  return total;
}

void summarize(const plan::BuiltPlan &planned, const CpuImage &image,
               CompileSummary &summary) {
  for (const auto &function : planned.plan.functions) {
    summary.commands += function->commands.size();
    for (const auto &command : function->commands) {
      summary.launches += command->body.AsLaunch() != nullptr;
    }
  }
  summary.kernels = image.kernels.size();
  summary.arenaBytes = arenaBytes(planned.plan);
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
                         {"arena_bytes", summary.arenaBytes},
                         {"constant_bytes", summary.constantBytes}};
  // Times stay out of what a module carries: the same input gives the same
  // bytes.
  return json.dump();
}

} // namespace tilewright
