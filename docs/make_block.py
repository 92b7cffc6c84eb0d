#!/usr/bin/env python3
"""make_block.py OUT.onnx: the model that docs/hacking.md follows: Conv, BatchNormalization, Relu, as in many networks."""

import sys

import numpy as np
from onnx import TensorProto, helper, numpy_helper

CONSTANTS = {"w": (8, 3, 3, 3), "scale": (8,), "shift": (8,), "mean": (8,), "variance": (8,)}


def main(target):
    random = np.random.default_rng(0)
    # Eighths are exact in f32, so that the text of the constants is short.
    constants = [numpy_helper.from_array((random.integers(1, 9, shape) / 8).astype(np.float32), name)
                 for name, shape in CONSTANTS.items()]
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["conv_out"], name="conv", pads=[1, 1, 1, 1]),
        helper.make_node("BatchNormalization", ["conv_out", "scale", "shift", "mean", "variance"], ["norm_out"], name="norm"),
        helper.make_node("Relu", ["norm_out"], ["y"], name="relu"),
    ]
    graph = helper.make_graph(nodes, "block",
                              [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, 32, 32])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 8, 32, 32])], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    with open(target, "wb") as file:
        file.write(model.SerializeToString())


if __name__ == "__main__":
    main(sys.argv[1])
