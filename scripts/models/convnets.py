"""ResNet-50, SqueezeNet and ShuffleNet: the topologies that the `onnx` package carries for its light tests, with weights.

The light models replace each weight by a ConstantOfShape. Here each gets seeded random values of a sensible size, and the
statistics of BatchNorm are measured on a seeded batch, so that activations stay in range through all the layers.
"""

import os
import zlib

import numpy as np
import onnx
import onnxruntime
from onnx import helper, numpy_helper

LIGHT = os.path.join(os.path.dirname(onnx.__file__), "backend", "test", "data", "light", "light_{}.onnx")


def draw(generator, op, operand, shape):
    """Values for operand number `operand` of an `op`, or None where the model's own value stays."""
    if op in ("Conv", "Gemm") and operand == 1:  # He: keeps the variance through a ReLU
        return generator.normal(0, np.sqrt(2 / np.prod(shape[1:])), shape)
    if op in ("Conv", "Gemm") and operand == 2:
        return generator.normal(0, 0.05, shape)
    if op == "BatchNormalization":  # scale, bias, mean, variance
        return {1: lambda: generator.uniform(0.8, 1.2, shape), 2: lambda: generator.normal(0, 0.1, shape),
                3: lambda: np.zeros(shape), 4: lambda: np.ones(shape)}[operand]()
    return None


def weights_of(graph, generator):
    """Every constant of the graph by name: drawn, or as it stands."""
    stored = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
    shapes = {node.output[0]: tuple(stored[node.input[0]]) for node in graph.node if node.op_type == "ConstantOfShape"}
    weights = {}
    for node in graph.node:
        for operand, name in enumerate(node.input):
            shape = shapes.get(name, stored[name].shape if name in stored else None)
            if shape is None or name in weights or node.op_type == "ConstantOfShape":
                continue
            values = draw(generator, node.op_type, operand, shape)
            if values is not None:
                weights[name] = values.astype(np.float32)
            elif node.op_type == "Reshape":  # the batch, which the light model fixes at 1, is copied from the input
                weights[name] = np.concatenate([[0], stored[name][1:]]).astype(np.int64)
            else:
                raise ValueError(f"{node.op_type} has a constant operand {operand} of unknown purpose")
    return weights


def free_batch(value):
    dim = value.type.tensor_type.shape.dim[0]
    dim.Clear()
    dim.dim_param = "batch"
    return value


def assemble(light, weights, opset, nodes, outputs):
    inputs = [free_batch(v) for v in light.graph.input
              if v.name not in weights and any(v.name in node.input for node in nodes)]
    constants = [numpy_helper.from_array(value, name) for name, value in weights.items()]
    graph = helper.make_graph(nodes, light.graph.name, inputs, outputs, constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=4 if opset < 10 else 8,
                             producer_name="tilewright")


def calibrate(light, weights, nodes, generator):
    """Sets each BatchNorm's mean and variance to those of its input on a seeded batch.

    One run of the same graph whose BatchNorms are in training mode, with momentum 0: they normalise with the batch's
    statistics and return them.
    """
    training, outputs, targets = [], [], []
    for number, node in enumerate(nodes):
        copy = onnx.NodeProto()
        copy.CopyFrom(node)
        if node.op_type == "BatchNormalization":
            results = [f"mean_{number}", f"variance_{number}"]
            kept = [attribute for attribute in node.attribute if attribute.name == "epsilon"]
            del copy.attribute[:]
            copy.attribute.extend(kept + [helper.make_attribute("training_mode", 1), helper.make_attribute("momentum", 0.0)])
            copy.output.extend(results)
            outputs += [helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, None) for name in results]
            targets += node.input[3:5]
        training.append(copy)
    if not targets:
        return
    model = assemble(light, weights, 15, training, outputs)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    batch = generator.standard_normal((4, 3, 224, 224)).astype(np.float32)
    for name, value in zip(targets, session.run(None, {session.get_inputs()[0].name: batch})):
        weights[name] = value


def build(topology):
    """The model of that topology, with a free batch size, at opset 9."""
    light = onnx.load(LIGHT.format(topology))
    generator = np.random.default_rng(zlib.crc32(topology.encode()))
    weights = weights_of(light.graph, generator)
    nodes = [node for node in light.graph.node if node.op_type != "ConstantOfShape"]
    calibrate(light, weights, nodes, generator)
    model = assemble(light, weights, light.opset_import[0].version, nodes, [free_batch(v) for v in light.graph.output])
    onnx.checker.check_model(model)
    return model
