#!/usr/bin/env python3
"""make_cases.py [FOLDER]: writes ONNX's node tests as files that a C++ program reads with ONNX's own library.

FOLDER is ~/.cache/tilewright/node-tests-VERSION when none is given. What is there stays.

    cases.txt             one line per case, sorted: NAME RTOL ATOL
    NAME/model.onnx
    NAME/input_K.pb       what the model's input K gets, and
    NAME/output_K.pb      what its output K must be: a TensorProto, SequenceProto or OptionalProto, as its type says
"""

import os
import shutil
import sys
import warnings

import onnx
from onnx import numpy_helper


def to_proto(value, declared):
    """The protobuf message of a value whose graph input or output is `declared`."""
    kind = declared.type.WhichOneof("value")
    if isinstance(value, onnx.TensorProto):
        return value
    if kind == "sequence_type":
        return numpy_helper.from_list(value, declared.name)
    if kind == "optional_type":
        return numpy_helper.from_optional(value, declared.name)
    return numpy_helper.from_array(value, declared.name)


def write(path, message):
    with open(path, "wb") as file:
        file.write(message.SerializeToString())


def write_case(case, folder):
    """Writes one case. All of ONNX's node tests have exactly one data set."""
    ((inputs, outputs),) = case.data_sets
    os.makedirs(folder)
    write(os.path.join(folder, "model.onnx"), case.model)
    for kind, values, declared in (("input", inputs, case.model.graph.input), ("output", outputs, case.model.graph.output)):
        if len(values) != len(declared):
            raise ValueError(f"{case.name} has {len(values)} {kind}s for {len(declared)} declared ones")
        for number, (value, parameter) in enumerate(zip(values, declared)):
            write(os.path.join(folder, f"{kind}_{number}.pb"), to_proto(value, parameter))


def main(folder):
    index = os.path.join(folder, "cases.txt")
    if os.path.exists(index):
        print(f"{index} is there")
        return
    warnings.filterwarnings("ignore")
    from onnx.backend.test.case.node import collect_testcases

    staged = f"{folder}.{os.getpid()}"
    lines = []
    try:
        for case in collect_testcases(None):
            write_case(case, os.path.join(staged, case.name))
            lines.append(f"{case.name} {case.rtol} {case.atol}\n")
        with open(os.path.join(staged, "cases.txt"), "w", encoding="utf-8") as file:
            file.writelines(sorted(lines))
        shutil.rmtree(folder, ignore_errors=True)
        os.rename(staged, folder)
    finally:
        shutil.rmtree(staged, ignore_errors=True)
    print(f"{len(lines)} cases in {folder}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else os.path.expanduser(f"~/.cache/tilewright/node-tests-{onnx.__version__}"))
