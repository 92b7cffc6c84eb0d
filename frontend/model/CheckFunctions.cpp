//===- CheckFunctions.cpp - model-local functions as a whole ----*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "frontend/model/Checks.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace tilewright {
namespace {

/// More nodes than any model has; a chain of functions that each call the next
/// one twice gets there in twenty steps.
constexpr uint64_t maxNodes = 500000;

constexpr size_t maxCallDepth = 64;

using FunctionKey = std::tuple<std::string, std::string, std::string>;

FunctionKey keyOf(const onnx::FunctionProto &function) {
  return {canonicalDomain(function.domain()), function.name(),
          function.overload()};
}

FunctionKey keyOf(const onnx::NodeProto &node) {
  return {canonicalDomain(node.domain()), node.op_type(), node.overload()};
}

/// Counts the nodes that a list of nodes becomes when every call of a
/// model-local function is replaced by its body.
class ExpansionCounter {
public:
  explicit ExpansionCounter(const onnx::ModelProto &model) {
    for (const onnx::FunctionProto &function : model.functions()) {
      functions.emplace(keyOf(function), &function);
    }
  }

  Result<uint64_t> count(const NodeList &nodes) {
    uint64_t total = 0;
    for (const onnx::NodeProto &node : nodes) {
      Result<uint64_t> own = count(node);
      if (!own) {
        return own;
      }
      total += *own;
      if (total > maxNodes) {
        return Status(ErrorCode::ModelInvalid,
                      "the model has more than " + std::to_string(maxNodes) +
                          " nodes once its functions are expanded (at " +
                          describe(node) + ")");
      }
    }
    return total;
  }

private:
  Result<uint64_t> count(const onnx::NodeProto &node) {
    uint64_t total = 1;
    for (const onnx::GraphProto *graph : subgraphs(node)) {
      Result<uint64_t> inner = count(graph->node());
      if (!inner) {
        return inner;
      }
      total += *inner;
    }
    auto callee = functions.find(keyOf(node));
    if (callee == functions.end()) {
      return total;
    }
    Result<uint64_t> inner = count(*callee->second, node);
    if (!inner) {
      return inner;
    }
    return total + *inner;
  }

  Result<uint64_t> count(const onnx::FunctionProto &function,
                         const onnx::NodeProto &caller) {
    FunctionKey key = keyOf(function);
    if (auto known = counts.find(key); known != counts.end()) {
      return known->second;
    }
    if (std::find(stack.begin(), stack.end(), key) != stack.end()) {
      return Status(ErrorCode::ModelInvalid,
                    "function '" + function.name() +
                        "' calls itself, by recursion through " +
                        describe(caller) + "; ONNX does not allow that");
    }
    if (stack.size() >= maxCallDepth) {
      return Status(ErrorCode::ModelInvalid,
                    "functions call each other more than " +
                        std::to_string(maxCallDepth) + " deep (at " +
                        describe(caller) + ")");
    }
    stack.push_back(key);
    Result<uint64_t> total = count(function.node());
    stack.pop_back();
    if (total) {
      counts.emplace(key, *total);
    }
    return total;
  }

  std::map<FunctionKey, const onnx::FunctionProto *> functions;
  std::map<FunctionKey, uint64_t> counts;
  std::vector<FunctionKey> stack;
};

} // namespace

Status checkFunctions(const onnx::ModelProto &model) {
  std::set<FunctionKey> seen;
  for (const onnx::FunctionProto &function : model.functions()) {
    if (!seen.insert(keyOf(function)).second) {
      return Status(ErrorCode::ModelInvalid,
                    "function '" + function.name() + "' is defined twice");
    }
  }
  ExpansionCounter counter(model);
  // Functions first: one that nobody calls must not recurse either.
  for (const onnx::FunctionProto &function : model.functions()) {
    onnx::NodeProto call;
    call.set_op_type(function.name());
    call.set_domain(function.domain());
    call.set_overload(function.overload());
    NodeList calls;
    *calls.Add() = call;
    if (Result<uint64_t> total = counter.count(calls); !total) {
      return total.status();
    }
  }
  return counter.count(model.graph().node()).status();
}

} // namespace tilewright
