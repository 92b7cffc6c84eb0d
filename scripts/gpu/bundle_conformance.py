"""ONNX's node tests for a bundle: those that the compiler's list of expected failures does not name."""

import glob
import os
import subprocess

import numpy as np
import onnx
from onnx import numpy_helper

HERE = os.path.dirname(os.path.abspath(__file__))
EXPECTED_FAILURES = os.path.join(HERE, "..", "..", "test", "conformance", "expected_failures.txt")
SMALL = ["test_add_bcast", "test_matmul_3d", "test_softmax_axis_2", "test_conv_with_strides_padding", "test_nonzero_example",
         "test_cast_FLOAT_to_BFLOAT16", "test_dequantizelinear_int4", "test_if"]
# Bits of types that the runtime keeps in the low bits of a byte.
NARROW = {"INT4": 4, "UINT4": 4, "FLOAT4E2M1": 4, "INT2": 2, "UINT2": 2}


def default_folder():
    return os.path.expanduser(f"~/.cache/tilewright/node-tests-{onnx.__version__}")


def read_cases(folder):
    """Name and tolerances of each case."""
    with open(os.path.join(folder, "cases.txt"), encoding="utf-8") as file:
        for line in file:
            name, relative, absolute = line.split()
            yield name, [float(relative), float(absolute)]


def expected_failures():
    with open(EXPECTED_FAILURES, encoding="utf-8") as file:
        return {line.split()[0] for line in file if line.split("#")[0].strip()}


def read_tensor(path):
    """The array in a TensorProto, elements below a byte in the low bits of one; None where it is something else."""
    tensor = onnx.TensorProto()
    with open(path, "rb") as file:
        try:
            tensor.ParseFromString(file.read())
            values = numpy_helper.to_array(tensor)
        except Exception:  # protobuf's and onnx's own kinds
            return None
    bits = NARROW.get(onnx.TensorProto.DataType.Name(tensor.data_type))
    if bits:
        values = values.view(np.uint8) & ((1 << bits) - 1)
    return None if values.dtype == object else values


def compile_cases(bundle, folder, names):
    """Compiles cases in one go; returns why those without a module have none, by name."""
    command = [os.path.join(bundle.build, "bin", "ConformanceModules"), folder, os.path.join(bundle.folder, "modules"),
               "--target", bundle.target.removeprefix("cuda:"), "--workers", str(bundle.jobs), "--only", *names]
    process = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return dict(line.split(" ", 1) for line in process.stdout.splitlines() if line.startswith("test_"))


def add_case(bundle, folder, name, tolerance):
    """Writes the data of a compiled case; returns its entry, or why there is none, and its files."""
    entry = {"name": name, "module": os.path.join("modules", name + ".twm"), "tolerance": tolerance, "inputs": [], "outputs": []}
    files = [entry["module"]]
    for kind in ("input", "output"):
        count = len(glob.glob(os.path.join(folder, name, f"{kind}_*.pb")))
        for number in range(count):
            values = read_tensor(os.path.join(folder, name, f"{kind}_{number}.pb"))
            if values is None:
                return "has values that are no tensors of numbers", files
            files.append(bundle.store(f"{name}/{kind}_{number}", values))
            if kind == "input":
                entry["inputs"].append(files[-1])
            else:
                entry["outputs"].append({"name": str(number), "shape": list(values.shape), "values": files[-1]})
    return entry, files


def collect(bundle, folder, names, room, left_out):
    """The entries that fit, and the packed bytes that they take."""
    if not os.path.exists(os.path.join(folder, "cases.txt")):
        raise SystemExit(f"error: {folder} holds no cases; test/conformance/make_cases.py writes them")
    failures = expected_failures()
    cases = [case for case in read_cases(folder) if case[0] not in failures and (names is None or case[0] in names)]
    refused = compile_cases(bundle, folder, [name for name, _ in cases])
    entries, used = [], 0
    for name, tolerance in cases:
        entry, files = (refused[name], []) if name in refused else add_case(bundle, folder, name, tolerance)
        size = bundle.packed_bytes(*files)
        if isinstance(entry, dict) and used + size <= room:
            entries.append(entry)
            used += size
            continue
        bundle.remove(*files)
        why = f"does not fit: {size} bytes" if isinstance(entry, dict) else entry
        left_out.append({"section": "conformance", "name": name, "why": why})
    return entries, used
