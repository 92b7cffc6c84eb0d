//===- InferShapes.cpp - ONNX's shape inference -----------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// Public models declare wrong ranks for intermediate values and outputs, so
// those declarations are set aside while inference runs: what it then refuses
// is a real contradiction between a node's operands. Declared types come back
// for the values whose type could not be inferred.
//
//===----------------------------------------------------------------------===//

#include "frontend/model/Checks.h"

#include "onnx/shape_inference/implementation.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <unordered_set>

namespace tilewright {
namespace {

using ValueInfos = google::protobuf::RepeatedPtrField<onnx::ValueInfoProto>;

/// Calls `edit` with every tensor type in `type`.
template <typename Edit> void editTensors(onnx::TypeProto &type, Edit edit) {
  switch (type.value_case()) {
  case onnx::TypeProto::kTensorType:
    edit(*type.mutable_tensor_type());
    break;
  case onnx::TypeProto::kSequenceType:
    editTensors(*type.mutable_sequence_type()->mutable_elem_type(), edit);
    break;
  case onnx::TypeProto::kOptionalType:
    editTensors(*type.mutable_optional_type()->mutable_elem_type(), edit);
    break;
  default:
    break;
  }
}

void forgetShapes(ValueInfos &values) {
  for (onnx::ValueInfoProto &value : values) {
    if (value.has_type()) {
      editTensors(*value.mutable_type(),
                  [](auto &tensor) { tensor.clear_shape(); });
    }
  }
}

/// Inference names sizes that it does not know "unk__7"; these say nothing.
void forgetInventedSymbols(onnx::TypeProto &type) {
  editTensors(type, [](auto &tensor) {
    if (tensor.has_shape()) {
      for (auto &dim : *tensor.mutable_shape()->mutable_dim()) {
        if (dim.dim_param().rfind("unk__", 0) == 0) {
          dim.clear_value();
        }
      }
    }
  });
}

/// Removes what the graphs of a model declare, and restores it.
class SetAside {
public:
  SetAside(onnx::ModelProto &model, const std::vector<Body> &bodies)
      : model(model), irVersion(model.ir_version()) {
    // Before version 4 an initializer had to be an input as well; models that
    // do without it are understood all the same.
    model.set_ir_version(onnx::Version::IR_VERSION);
    for (const Body &body : bodies) {
      if (body.graph == nullptr || body.function != nullptr) {
        continue;
      }
      onnx::GraphProto &graph = *body.graph;
      Saved saved{&graph, graph.input(), graph.output(), {}};
      saved.infos.Swap(graph.mutable_value_info());
      forgetShapes(*graph.mutable_output());
      if (&graph != &model.graph()) {
        forgetShapes(*graph.mutable_input());
      }
      graphs.push_back(std::move(saved));
    }
  }
  SetAside(const SetAside &) = delete;
  SetAside &operator=(const SetAside &) = delete;

  ~SetAside() {
    model.set_ir_version(irVersion);
    for (Saved &saved : graphs) {
      restore(saved);
    }
  }

private:
  struct Saved {
    onnx::GraphProto *graph;
    ValueInfos inputs, outputs, infos;
  };

  static void restore(Saved &saved) {
    onnx::GraphProto &graph = *saved.graph;
    graph.mutable_input()->Swap(&saved.inputs);
    graph.mutable_output()->Swap(&saved.outputs);
    std::unordered_set<std::string> inferred;
    for (onnx::ValueInfoProto &info : *graph.mutable_value_info()) {
      inferred.insert(info.name());
      forgetInventedSymbols(*info.mutable_type());
    }
    for (onnx::ValueInfoProto &info : saved.infos) {
      if (inferred.count(info.name()) == 0) {
        graph.add_value_info()->Swap(&info);
      }
    }
    // What was found out about the outputs stands in value_info as well: it is
    // more reliable than their declarations.
    for (onnx::ValueInfoProto &output : saved.outputs) {
      if (output.has_type() && inferred.insert(output.name()).second) {
        forgetInventedSymbols(*output.mutable_type());
        graph.add_value_info()->Swap(&output);
      }
    }
  }

  onnx::ModelProto &model;
  int64_t irVersion;
  std::vector<Saved> graphs;
};

constexpr std::string_view opTag = "(op_type:";
constexpr std::string_view listTag = "Inference error(s): ";

/// One entry of the text that inference throws:
/// "(op_type:Gemm, node name: fc): [ShapeInferenceError] what is wrong". The
/// kind is missing where an operand's type is not one that the operator takes.
struct Complaint {
  std::string_view op;
  std::string_view node;
  std::string_view kind;
  std::string_view text;
};

/// Takes "[Kind] " off the beginning of `text`.
std::string_view takeKind(std::string_view &text) {
  size_t end = text.find("] ");
  if (text.empty() || text[0] != '[' || end == text.npos) {
    return {};
  }
  std::string_view kind = text.substr(1, end - 1);
  text.remove_prefix(end + 2);
  return kind;
}

/// Reads the entry that `text` begins with, if it does.
std::optional<Complaint> parseComplaint(std::string_view text) {
  constexpr std::string_view nameTag = ", node name: ";
  constexpr std::string_view endTag = "): ";
  size_t end = text.find(endTag);
  if (text.substr(0, opTag.size()) != opTag || end == text.npos) {
    return std::nullopt;
  }
  Complaint complaint;
  std::string_view head = text.substr(opTag.size(), end - opTag.size());
  size_t name = head.find(nameTag);
  complaint.op = head.substr(0, name);
  if (name != head.npos) {
    complaint.node = head.substr(name + nameTag.size());
  }
  complaint.text = text.substr(end + endTag.size());
  complaint.kind = takeKind(complaint.text);
  return complaint;
}

bool hasGraphs(std::string_view op) {
  return op == "If" || op == "Loop" || op == "Scan" || op == "SequenceMap";
}

bool isLocalFunction(const onnx::ModelProto &model, std::string_view op) {
  return std::any_of(
      model.functions().begin(), model.functions().end(),
      [&](const onnx::FunctionProto &each) { return each.name() == op; });
}

/// \returns the error that ONNX's text stands for; success where the text says
/// only that inference could not follow.
Status judge(const onnx::ModelProto &model, std::string_view text) {
  takeKind(text);
  while (true) {
    if (text.substr(0, listTag.size()) == listTag) {
      text.remove_prefix(listTag.size());
    }
    std::optional<Complaint> complaint = parseComplaint(text);
    if (!complaint) {
      return Status::ok();
    }
    text = complaint->text;
    bool nested = text.substr(0, listTag.size()) == listTag ||
                  text.substr(0, opTag.size()) == opTag;
    if (nested && hasGraphs(complaint->op)) {
      continue;
    }
    // About the bodies of functions inference is not always right: it does not
    // bind all attributes, and wants every output to be used.
    if (nested || isLocalFunction(model, complaint->op) ||
        text.find("is null") != text.npos ||
        text.find("external tensors") != text.npos) {
      return Status::ok();
    }
    ErrorCode code = complaint->kind == "ShapeInferenceError"
                         ? ErrorCode::ShapeMismatch
                         : ErrorCode::TypeMismatch;
    return Status(code, "node '" + std::string(complaint->node) + "' (" +
                            std::string(complaint->op) + "): " +
                            std::string(text.substr(0, text.find('\n'))));
  }
}

} // namespace

Status inferShapes(onnx::ModelProto &model, const std::vector<Body> &bodies) {
  SetAside setAside(model, bodies);
  onnx::ShapeInferenceOptions options(/*check_type_val=*/true,
                                      /*strict_mode_val=*/1,
                                      /*data_prop_val=*/false);
  try {
    onnx::shape_inference::InferShapes(
        model, onnx::OpSchemaRegistry::Instance(), options);
  } catch (const std::exception &error) {
    return judge(model, error.what());
  }
  return Status::ok();
}

} // namespace tilewright
