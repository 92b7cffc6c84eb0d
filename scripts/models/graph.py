"""A small builder of ONNX graphs for the models that this project makes itself."""

import numpy as np
import onnx
from onnx import helper, numpy_helper


class GraphBuilder:
    """Collects nodes and constants in order and gives every node a name."""

    def __init__(self, name):
        self.name = name
        self.nodes = []
        self.constants = {}
        self.inputs = []
        self.outputs = []

    def constant(self, name, value, dtype=None):
        """A named constant; the same name gives the same constant again."""
        if name not in self.constants:
            self.constants[name] = np.ascontiguousarray(value, dtype).reshape(np.shape(value))
        return name

    def ints(self, *values):
        """A constant vector of int64, as shapes, axes and starts are."""
        return self.constant("ints_" + "_".join(map(str, values)).replace("-", "m"), values, np.int64)

    def scalar(self, name, value, dtype=np.float32):
        return self.constant(name, np.asarray(value, dtype))

    def node(self, op, *operands, output=None, **attributes):
        """Appends a node and returns the name of its only result."""
        number = len(self.nodes)
        output = output or f"{op.lower()}_{number}"
        self.nodes.append(helper.make_node(op, list(operands), [output], name=f"{op}_{number}", **attributes))
        return output

    def input(self, name, dtype, shape):
        self.inputs.append(helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(np.dtype(dtype)), shape))
        return name

    def output(self, name, dtype, shape):
        self.outputs.append(helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(np.dtype(dtype)), shape))

    def model(self, opset=17, ir_version=8):
        tensors = [numpy_helper.from_array(value, name) for name, value in self.constants.items()]
        graph = helper.make_graph(self.nodes, self.name, self.inputs, self.outputs, tensors)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=ir_version,
                                  producer_name="tilewright")
        onnx.checker.check_model(model, full_check=True)
        return model
