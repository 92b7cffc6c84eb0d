//===- Checks.h - what a model must pass ------------------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// In the order in which loadModel() applies them: each may rely on those
// before it.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "frontend/model/Bodies.h"

namespace tilewright {

/// IR version and operator set versions are ones that we know. Errors:
/// ModelInvalid, UnsupportedVersion.
Status checkVersions(const onnx::ModelProto &model);

/// Declared types have known element types and sizes that are not negative.
/// Sizes that mean "unknown" (-1, "?") become unset. Errors: TypeMismatch,
/// ModelInvalid.
Status checkTypes(onnx::ModelProto &model, const std::vector<Body> &bodies);

/// Every tensor's data fits its type and sizes. Drops initializers that repeat
/// an earlier one of the same name and content. External data is only looked
/// at for being external: see ModelLoader. Errors: ConstantInvalid,
/// TypeMismatch, ModelInvalid, UnsupportedType.
Status checkTensors(const std::vector<Body> &bodies);

/// \returns all tensors: initializers and attributes.
std::vector<onnx::TensorProto *>
collectTensors(const std::vector<Body> &bodies);

/// Model-local functions are defined once, do not recurse, and do not expand
/// into absurdly many nodes. Errors: ModelInvalid.
Status checkFunctions(const onnx::ModelProto &model);

/// Every name is defined once, every used name is defined, and nodes come
/// after the nodes whose results they read: sorts them where that takes no
/// more than sorting. Errors: ModelInvalid, GraphNotSorted.
Status sortNodes(onnx::ModelProto &model);

/// The attributes of a node are well-formed by themselves: of the type that
/// they say, without values that no operator takes. Part of checkOperators().
/// Errors: AttributeInvalid.
Status checkAttributes(const Body &body, onnx::NodeProto &node);

/// Every operator is a model-local function or is in its operator set, and its
/// attributes and numbers of operands are what that says. Errors:
/// UnsupportedOperator, AttributeInvalid, ModelInvalid.
Status checkOperators(const LoadedModel &model,
                      const std::vector<Body> &bodies);

/// Runs ONNX's shape inference: fills value_info, and refuses operands whose
/// types or shapes do not fit. Errors: ShapeMismatch, TypeMismatch.
Status inferShapes(onnx::ModelProto &model, const std::vector<Body> &bodies);

} // namespace tilewright
