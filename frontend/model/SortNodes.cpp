//===- SortNodes.cpp - names, and the order of nodes ------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "frontend/model/Checks.h"

#include <algorithm>
#include <queue>
#include <set>
#include <unordered_map>
#include <unordered_set>

namespace tilewright {
namespace {

Status invalid(const std::string &why) {
  return Status(ErrorCode::ModelInvalid, why);
}

/// The names of one list of nodes, inside the names around it.
struct Scope {
  const Scope *outer = nullptr;
  std::unordered_set<std::string> given;          // inputs and initializers
  std::unordered_map<std::string, int> definedBy; // results, by node

  bool has(const std::string &name) const {
    return given.count(name) != 0 || definedBy.count(name) != 0;
  }
  bool sees(const std::string &name) const {
    for (const Scope *scope = this; scope != nullptr; scope = scope->outer) {
      if (scope->has(name)) {
        return true;
      }
    }
    return false;
  }
};

/// Names of outer scopes that a graph reads. Ordered, so that messages do not
/// depend on hashing.
using Captures = std::set<std::string>;

Status defineResults(const NodeList &nodes, Scope &scope) {
  for (int index = 0; index < nodes.size(); ++index) {
    for (const std::string &output : nodes[index].output()) {
      if (output.empty()) {
        continue;
      }
      if (scope.given.count(output) != 0) {
        return invalid("value '" + output +
                       "' is defined twice: it is an input or an initializer, "
                       "and a result of " +
                       describe(nodes[index]));
      }
      auto [first, isNew] = scope.definedBy.emplace(output, index);
      if (!isNew) {
        return invalid("value '" + output + "' is defined twice: by " +
                       describe(nodes[first->second]) + " and by " +
                       describe(nodes[index]));
      }
    }
  }
  return Status::ok();
}

/// For each node the nodes of the same list that it reads from, by name.
using Dependencies = std::vector<std::vector<std::pair<int, std::string>>>;

/// \returns a message that follows the cycle around. Every node outside of
/// `placed` waits for another one outside of it.
Status cycleError(const NodeList &nodes, const Dependencies &dependencies,
                  const std::vector<bool> &placed) {
  int node = static_cast<int>(std::find(placed.begin(), placed.end(), false) -
                              placed.begin());
  std::vector<int> path;
  std::vector<std::string> values;
  while (std::find(path.begin(), path.end(), node) == path.end()) {
    path.push_back(node);
    for (const auto &[producer, value] : dependencies[node]) {
      if (!placed[producer]) {
        values.push_back(value);
        node = producer;
        break;
      }
    }
  }
  constexpr size_t maxShown = 10;
  size_t start = std::find(path.begin(), path.end(), node) - path.begin();
  std::string text = "the nodes form a cycle: " + describe(nodes[node]);
  for (size_t step = start; step < path.size(); ++step) {
    if (step - start >= maxShown) {
      text += ", … (" + std::to_string(path.size() - start) + " nodes)";
      break;
    }
    int producer = step + 1 < path.size() ? path[step + 1] : node;
    text += " reads '" + values[step] + "' of " + describe(nodes[producer]);
    text += step + 1 < path.size() ? ", which" : "";
  }
  return Status(ErrorCode::GraphNotSorted, text);
}

/// Sorts topologically; nodes that are in order already stay where they are.
Status sort(NodeList &nodes, const Dependencies &dependencies) {
  int count = nodes.size();
  std::vector<int> waitsFor(count, 0);
  std::vector<std::vector<int>> readers(count);
  for (int node = 0; node < count; ++node) {
    for (const auto &[producer, value] : dependencies[node]) {
      readers[producer].push_back(node);
      ++waitsFor[node];
    }
  }
  std::priority_queue<int, std::vector<int>, std::greater<int>> ready;
  for (int node = 0; node < count; ++node) {
    if (waitsFor[node] == 0) {
      ready.push(node);
    }
  }
  std::vector<onnx::NodeProto *> order;
  std::vector<bool> placed(count, false);
  while (!ready.empty()) {
    int node = ready.top();
    ready.pop();
    placed[node] = true;
    order.push_back(nodes.Mutable(node));
    for (int reader : readers[node]) {
      if (--waitsFor[reader] == 0) {
        ready.push(reader);
      }
    }
  }
  if (static_cast<int>(order.size()) != count) {
    return cycleError(nodes, dependencies, placed);
  }
  std::copy(order.begin(), order.end(), nodes.pointer_begin());
  return Status::ok();
}

Status sortGraph(onnx::GraphProto &graph, const Scope *outer,
                 Captures &captures);

/// Handles the nodes of a scope whose `given` names are complete.
Status sortScope(NodeList &nodes, Scope &scope, Captures &captures) {
  TW_RETURN_IF_ERROR(defineResults(nodes, scope));
  Dependencies dependencies(nodes.size());
  for (int index = 0; index < nodes.size(); ++index) {
    onnx::NodeProto &node = nodes[index];
    Captures reads(node.input().begin(), node.input().end());
    reads.erase("");
    for (onnx::GraphProto *graph : subgraphs(node)) {
      TW_RETURN_IF_ERROR(sortGraph(*graph, &scope, reads));
    }
    for (const std::string &name : reads) {
      auto producer = scope.definedBy.find(name);
      if (producer != scope.definedBy.end()) {
        dependencies[index].emplace_back(producer->second, name);
      } else if (scope.given.count(name) == 0) {
        if (!scope.sees(name)) {
          return invalid(describe(node) + " reads the value '" + name +
                         "', which nothing defines");
        }
        captures.insert(name);
      }
    }
  }
  return sort(nodes, dependencies);
}

Status sortGraph(onnx::GraphProto &graph, const Scope *outer,
                 Captures &captures) {
  Scope scope;
  scope.outer = outer;
  for (const onnx::ValueInfoProto &input : graph.input()) {
    if (input.name().empty()) {
      return invalid("an input of graph '" + graph.name() + "' has no name");
    }
    if (!scope.given.insert(input.name()).second) {
      return invalid("input '" + input.name() +
                     "' is defined twice in graph '" + graph.name() + "'");
    }
  }
  for (const onnx::TensorProto &tensor : graph.initializer()) {
    scope.given.insert(tensor.name());
  }
  TW_RETURN_IF_ERROR(sortScope(*graph.mutable_node(), scope, captures));
  std::unordered_set<std::string> outputs;
  for (const onnx::ValueInfoProto &output : graph.output()) {
    const std::string &name = output.name();
    // A branch may hand on a value of the graph around it.
    if (!scope.sees(name)) {
      return invalid("output '" + name + "' of graph '" + graph.name() +
                     "' is a value that nothing defines");
    }
    if (!scope.has(name)) {
      captures.insert(name);
    }
    if (outer == nullptr && !outputs.insert(name).second) {
      return invalid("output '" + name + "' is defined twice in graph '" +
                     graph.name() + "'");
    }
  }
  return Status::ok();
}

Status sortFunction(onnx::FunctionProto &function) {
  Scope scope;
  for (const std::string &input : function.input()) {
    if (!scope.given.insert(input).second) {
      return invalid("input '" + input + "' is defined twice");
    }
  }
  Captures captures;
  TW_RETURN_IF_ERROR(sortScope(*function.mutable_node(), scope, captures));
  for (const std::string &output : function.output()) {
    if (!scope.has(output)) {
      return invalid("output '" + output + "' is a value that nothing defines");
    }
  }
  return Status::ok();
}

} // namespace

Status sortNodes(onnx::ModelProto &model) {
  Captures none;
  TW_RETURN_IF_ERROR(sortGraph(*model.mutable_graph(), nullptr, none));
  for (onnx::FunctionProto &function : *model.mutable_functions()) {
    if (Status status = sortFunction(function); !status) {
      return Status(status.code(), "in function '" + function.name() +
                                       "': " + status.message());
    }
  }
  return Status::ok();
}

} // namespace tilewright
