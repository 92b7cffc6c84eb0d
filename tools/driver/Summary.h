//===- Summary.h - what was compiled, in figures ----------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "onnx/onnx_pb.h"
#include "passes/plan/PlanBuilder.h"
#include "tools/driver/Compiler.h"

namespace tilewright {

/// \returns the number of nodes of a graph and of its subgraphs.
int64_t countNodes(const onnx::GraphProto &graph);

/// Fills in what a plan tells: commands, kernels, bytes.
void summarize(const plan::BuiltPlan &planned, CompileSummary &summary);

/// \returns the bytes of all arenas of a plan with every symbol one.
int64_t arenaBytes(const format::PlanT &plan);

std::string toJson(const CompileSummary &summary);

} // namespace tilewright
