//===- OperatorReference.cpp - which ONNX operators compile ---------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "tools/reference/OperatorReference.h"

#include "frontend/OperatorTable.h"
#include "onnx/defs/schema.h"

#include <algorithm>
#include <map>
#include <set>

namespace tilewright::reference {
namespace {

/// What the importer does with one version of an operator.
enum class Way { Direct, Body, NoTensors, None };

class Classifier {
public:
  Way classify(const onnx::OpSchema &schema);

private:
  bool bodyCompiles(const onnx::OpSchema &schema);
  std::map<const onnx::OpSchema *, Way> known;
};

/// The versions of one operator that are treated in the same way.
using Versions = std::map<Way, std::vector<int>>;

} // namespace

/// \returns whether a parameter takes no tensor of numbers: sequences,
/// optionals, maps and strings have no representation in the runtime.
static bool lacksTensors(const onnx::OpSchema::FormalParameter &parameter) {
  const auto &types = parameter.GetTypes();
  return !types.empty() &&
         std::none_of(types.begin(), types.end(), [](const std::string *type) {
           return type->compare(0, 7, "tensor(") == 0 &&
                  *type != "tensor(string)";
         });
}

static bool needsOtherThanTensors(const onnx::OpSchema &schema) {
  for (const auto *parameters : {&schema.inputs(), &schema.outputs()}) {
    for (const onnx::OpSchema::FormalParameter &parameter : *parameters) {
      if (parameter.GetOption() != onnx::OpSchema::Optional &&
          lacksTensors(parameter)) {
        return true;
      }
    }
  }
  return false;
}

/// \returns whether the importer knows all that ONNX's body of the operator
/// uses. Bodies that depend on the operands' types are taken to be so.
bool Classifier::bodyCompiles(const onnx::OpSchema &schema) {
  const onnx::FunctionProto *body = schema.GetFunction();
  if (!body) {
    return schema.HasContextDependentFunction();
  }
  for (const onnx::NodeProto &node : body->node()) {
    int version = schema.since_version();
    for (const onnx::OperatorSetIdProto &import : body->opset_import()) {
      version = import.domain() == node.domain()
                    ? static_cast<int>(import.version())
                    : version;
    }
    const onnx::OpSchema *inner =
        onnx::OpSchemaRegistry::Schema(node.op_type(), version, node.domain());
    if (!inner) {
      return false;
    }
    Way way = classify(*inner);
    if (way != Way::Direct && way != Way::Body) {
      return false;
    }
  }
  return true;
}

Way Classifier::classify(const onnx::OpSchema &schema) {
  auto [entry, isNew] = known.try_emplace(&schema, Way::None);
  if (!isNew) {
    return entry->second;
  }
  Way way = Way::None;
  if (frontend::findOperator(schema.domain(), schema.Name(),
                             schema.since_version())) {
    way = Way::Direct;
  } else if (needsOtherThanTensors(schema)) {
    way = Way::NoTensors;
  } else if (bodyCompiles(schema)) {
    way = Way::Body;
  }
  return known[&schema] = way;
}

static const char *describe(Way way) {
  switch (way) {
  case Way::Direct:
    return "imported";
  case Way::Body:
    return "by its function body";
  case Way::NoTensors:
    return "no: sequences, optionals, maps or strings";
  case Way::None:
    break;
  }
  return "no";
}

static std::string listOf(const std::vector<int> &versions) {
  std::string text;
  for (int version : versions) {
    text += (text.empty() ? "" : ", ") + std::to_string(version);
  }
  return text;
}

/// `imported`, or `imported (9, 14), no (1)` where versions differ.
static std::string describe(const Versions &versions) {
  if (versions.size() == 1) {
    return describe(versions.begin()->first);
  }
  std::string text;
  for (const auto &[way, numbers] : versions) {
    text += (text.empty() ? "" : "; ") + std::string(describe(way)) + " (" +
            listOf(numbers) + ")";
  }
  return text;
}

/// The best of the ways: what counts for the sums at the top.
static Way bestOf(const Versions &versions) { return versions.begin()->first; }

static std::string sectionOf(const std::string &domain,
                             const std::map<std::string, Versions> &operators) {
  std::map<Way, int> counts;
  std::string rows;
  for (const auto &[name, versions] : operators) {
    ++counts[bestOf(versions)];
    std::vector<int> all;
    for (const auto &[way, numbers] : versions) {
      all.insert(all.end(), numbers.begin(), numbers.end());
    }
    std::sort(all.begin(), all.end());
    rows +=
        "| " + name + " | " + listOf(all) + " | " + describe(versions) + " |\n";
  }
  return "\n## Domain `" + domain + "`\n\n" + std::to_string(operators.size()) +
         " operators: " + std::to_string(counts[Way::Direct]) + " imported, " +
         std::to_string(counts[Way::Body]) + " by their function bodies, " +
         std::to_string(counts[Way::NoTensors] + counts[Way::None]) +
         " not.\n\n| operator | since versions | compiles |\n|---|---|---|\n" +
         rows;
}

std::string operatorReference() {
  Classifier classifier;
  std::map<std::string, std::map<std::string, Versions>> domains;
  // The registry hands out copies; the classifier needs the schemas themselves.
  for (const onnx::OpSchema &copy :
       onnx::OpSchemaRegistry::get_all_schemas_with_history()) {
    const onnx::OpSchema *schema = onnx::OpSchemaRegistry::Schema(
        copy.Name(), copy.since_version(), copy.domain());
    if (schema) {
      domains[copy.domain()][copy.Name()][classifier.classify(*schema)]
          .push_back(copy.since_version());
    }
  }
  std::string text =
      "# ONNX operators\n\n"
      "Which operators of ONNX 1.23.2 compile. *Imported*: a function of "
      "`frontend/ops` builds them. *By its function body*: ONNX defines them "
      "by\n"
      "other operators. An operator that does not compile is the error\n"
      "[TW2001](../errors/TW2001.md), which names the node; element types and "
      "attribute values that "
      "are not supported have\n"
      "[TW2002](../errors/TW2002.md) and [TW2003](../errors/TW2003.md). "
      "Functions that a model "
      "defines itself are expanded.\n";
  for (auto &[domain, operators] : domains) {
    for (auto &[name, versions] : operators) {
      for (auto &[way, numbers] : versions) {
        std::sort(numbers.begin(), numbers.end());
      }
    }
    text += sectionOf(domain.empty() ? "ai.onnx" : domain, operators);
  }
  return text;
}

} // namespace tilewright::reference
