//===- Values.cpp - where values lie and which shapes they have -----------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "runtime/exec/Executor.h"
#include "runtime/exec/Expressions.h"

using namespace tilewright;

std::string Executor::describe(uint32_t value) const {
  const std::string &name = plan.values[value]->name;
  return name.empty() ? "value " + std::to_string(value)
                      : "value '" + name + "'";
}

std::string Executor::describe(const format::CommandT &command) const {
  if (command.nodes.empty()) {
    return "a node";
  }
  std::string out = command.nodes.size() == 1 ? "node " : "nodes ";
  for (size_t i = 0; i < command.nodes.size(); ++i) {
    out += (i ? ", '" : "'") + plan.nodes[command.nodes[i]] + "'";
  }
  return out;
}

/// The shape that a parameter or a result of If or Loop really has, or that
/// computeShape has found.
ShapeRef Executor::actualShape(uint32_t value) {
  return ShapeRef(shapeOf(value), plan.values[value]->dims.size());
}

Status Executor::computeShape(uint32_t value) {
  const std::vector<uint32_t> &dims = plan.values[value]->dims;
  int64_t *shape = shapeOf(value);
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    shape[axis] = expressions[dims[axis]];
    if (shape[axis] < 0) {
      std::string size = expressionText(plan, dims[axis]);
      return Status(ErrorCode::DataInvalid,
                    describe(value) + " would have " +
                        (shape[axis] == overflowedSize
                             ? "too many elements"
                             : std::to_string(shape[axis]) + " elements") +
                        " in axis " + std::to_string(axis) + " (" + size + ")");
    }
  }
  return Status::ok();
}

/// Gives `view` the value's shape and memory, which must exist.
Status Executor::resolve(uint32_t value, TensorView &view) {
  TW_RETURN_IF_ERROR(computeShape(value));
  view.dtype = static_cast<DType>(plan.values[value]->dtype);
  view.shape = actualShape(value);
  int64_t bytes = view.bytes();
  if (bytes < 0) {
    return Status(ErrorCode::OutOfMemory,
                  describe(value) + " would have the shape " +
                      view.shape.toString() + ", more than memory holds");
  }
  uint32_t root = verified.root[value];
  if (root != value) {
    TW_RETURN_IF_ERROR(computeShape(root));
    ShapeRef whole = actualShape(root);
    if (bytesOf(static_cast<DType>(plan.values[root]->dtype), whole) != bytes) {
      return Status(ErrorCode::DataInvalid,
                    describe(value) + " would have the shape " +
                        view.shape.toString() +
                        ", which does not have the "
                        "elements of " +
                        describe(root) + " of shape " + whole.toString());
    }
  }
  const format::ValueT &storage = *plan.values[root];
  int64_t capacity = 0;
  switch (storage.storage) {
  case format::Storage_Parameter:
    view.data = slots[root].data;
    capacity = slots[root].capacity;
    break;
  case format::Storage_Constant:
    view.data = const_cast<char *>(device.constants()[storage.index].data);
    capacity = static_cast<int64_t>(device.constants()[storage.index].bytes);
    break;
  case format::Storage_Arena: {
    const FunctionState &state = functions[verified.definer[root]];
    view.data = bufferData(state, storage.index);
    capacity = state.buffers[storage.index].bytes;
    break;
  }
  case format::Storage_Owned:
  case format::Storage_Alias: // An alias is never a root.
    view.data = slots[root].block.data();
    capacity = slots[root].block.capacity();
    break;
  }
  if (bytes > capacity || !view.data) {
    return planError(describe(value) + " needs " + std::to_string(bytes) +
                     " bytes and has " + std::to_string(capacity));
  }
  return Status::ok();
}

/// The same for an output: an Owned value gets memory first, unless it has.
Status Executor::define(uint32_t value, TensorView &view) {
  uint32_t root = verified.root[value];
  if (plan.values[root]->storage == format::Storage_Owned &&
      !slots[root].block) {
    TW_RETURN_IF_ERROR(computeShape(root));
    int64_t bytes = bytesOf(static_cast<DType>(plan.values[root]->dtype),
                            actualShape(root));
    if (bytes < 0) {
      return Status(ErrorCode::OutOfMemory, describe(root) +
                                                " would have the shape " +
                                                actualShape(root).toString() +
                                                ", more than memory holds");
    }
    Result<Block> block = blocks.take(bytes, plan.values[root]->name);
    if (!block) {
      return Status(block.status().code(), describe(root) + " of shape " +
                                               actualShape(root).toString() +
                                               ": " + block.status().message());
    }
    slots[root].block = std::move(*block);
  }
  return resolve(value, view);
}

/// Like resolve, with memory that the processor can read until
/// Device::endHostAccess().
Status Executor::readOnHost(uint32_t value, TensorView &view) {
  TW_RETURN_IF_ERROR(resolve(value, view));
  const format::ValueT &storage = *plan.values[verified.root[value]];
  if (storage.storage == format::Storage_Constant) {
    view.data = const_cast<char *>(module.constants[storage.index].data);
    return Status::ok();
  }
  return device.readOnHost(view);
}

/// Reads a tensor of one boolean.
Status Executor::readFlag(uint32_t value, bool &flag) {
  TensorView view;
  TW_RETURN_IF_ERROR(readOnHost(value, view));
  if (view.elements() != 1) {
    return Status(ErrorCode::DataInvalid,
                  describe(value) + ", a condition, has the shape " +
                      view.shape.toString() + ", not one element");
  }
  flag = *view.as<uint8_t>() != 0;
  return device.endHostAccess();
}

/// Whether a result of If or Loop has the shape that the plan computes with.
Status Executor::checkShape(uint32_t value) {
  const std::vector<uint32_t> &dims = plan.values[value]->dims;
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    if (shapeOf(value)[axis] != expressions[dims[axis]]) {
      return Status(ErrorCode::DataInvalid,
                    describe(value) + " has the shape " +
                        actualShape(value).toString() + " where " +
                        expressionText(plan, dims[axis]) + " = " +
                        std::to_string(expressions[dims[axis]]) +
                        " was expected in axis " + std::to_string(axis));
    }
  }
  return Status::ok();
}
