#!/usr/bin/env python3
"""lone_kernels.py TILEWRIGHT [--only CONFIGURATION,…] [--target T] [--strict]: element-wise nodes that joined nothing.

For each configuration of the real models: the kernels that hold maps alone and stand next to a contraction or reduction, with
their element-wise ONNX nodes, the neighbour, and the codes under which passes refused to join them. Those without arithmetic
(copies, paddings, transposes) are counted only. Exit code 1 when no pass says why one of them stands alone; with --strict,
when an element-wise node is in one at all. Exit code 77: models are not there.
"""

import argparse
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "models"))
import configurations
import onnx

DEFAULT = ["resnet50_b1", "minilm_b1_s128", "nudenet_320", "rapidocr_det_640", "llama_tiny_decode_p128", "llama_tiny_prefill_s128"]
ALONE, UNEXPLAINED = "TWP020", "TWP021"
ELEMENTWISE = set("""Abs Acos Acosh Add And Asin Asinh Atan Atanh BitShift BitwiseAnd BitwiseNot BitwiseOr BitwiseXor Cast CastLike
Ceil Celu Clip Cos Cosh Div Elu Equal Erf Exp Floor Gelu Greater GreaterOrEqual HardSigmoid HardSwish IsInf IsNaN LeakyRelu Less
LessOrEqual Log Max Mean Min Mish Mod Mul Neg Not Or PRelu Pow QuickGelu Reciprocal Relu Round Selu Shrink Sigmoid Sign Sin Sinh
Softplus Softsign Sqrt Sub Sum Swish Tan Tanh ThresholdedRelu Where Xor""".split())


def node_types(graph, types):
    """The operator of each node by the name that the compiler gives it, subgraphs included."""
    for node in graph.node:
        types[node.name or f"{node.op_type}:{next(filter(None, node.output), '')}"] = node.op_type
        for attribute in node.attribute:
            for inner in [attribute.g, *attribute.graphs]:
                node_types(inner, types)
    return types


def explain(program, configuration, target):
    command = [program, "explain", configurations.model_path(configuration), "--no-cache", "--json", *configurations.shape_options(configuration),
               *(["--target", target] if target else [])]
    process = subprocess.run(command, capture_output=True, text=True, check=False)
    if process.returncode:
        sys.exit(process.stderr.strip())
    return json.loads(process.stdout)


def report(name, decisions, types):
    """Prints what stands alone. Returns how many hold element-wise nodes, and how many have no reason."""
    alone = [decision for decision in decisions if decision["code"] in (ALONE, UNEXPLAINED)]
    found = unexplained = 0
    for decision in alone:
        nodes = [node for node in decision["nodes"] if types.get(node) in ELEMENTWISE]
        is_elementwise = nodes and decision["numbers"]["flops"] > 0
        is_unexplained = decision["code"] == UNEXPLAINED
        found += bool(is_elementwise)
        unexplained += is_unexplained
        if is_elementwise or is_unexplained:
            text = ", ".join(f"{node} ({types[node]})" for node in nodes[:4]) + (f" and {len(nodes) - 4} more" if len(nodes) > 4 else "")
            print(f"  {decision['message']}\n    element-wise nodes: {text or 'none'}")
    print(f"{name}: {found} with element-wise nodes, {len(alone) - found} others, {unexplained} without a reason", flush=True)
    return found, unexplained


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--only", type=lambda text: text.split(","), default=DEFAULT)
    parser.add_argument("--target")
    parser.add_argument("--strict", action="store_true")
    arguments = parser.parse_args()
    known, found, unexplained = configurations.load(), 0, 0
    for name in arguments.only:
        path = configurations.model_path(known[name])
        if not os.path.exists(path):
            print(f"skipped: the model of {name} is not there; scripts/fetch_models.py fetches it")
            return 77
        types = node_types(onnx.load(path, load_external_data=False).graph, {})
        counts = report(name, explain(arguments.program, known[name], arguments.target), types)
        found, unexplained = found + counts[0], unexplained + counts[1]
    print(f"{found} kernels with element-wise nodes stand beside a contraction or reduction, {unexplained} without a reason")
    return 1 if unexplained or (arguments.strict and found) else 0


if __name__ == "__main__":
    sys.exit(main())
