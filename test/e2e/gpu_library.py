#!/usr/bin/env python3
"""gpu_library.py TILEWRIGHT: products that cuBLASLt computes give what the processor gives.

Each model is compiled for GPUs with all that the library can compute left to it, run on the simulator, which plays the library as well,
and held against the processor's results. Exit code 1 when a result differs or the library did not compute what it should; 77: NVRTC is
not there.
"""

import json
import os
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnx.parser

SKIPPED, NO_COMPILER = 77, "TW1311"

# Name, products that the library computes, architectures, options, model.
MODELS = [
    ("relu", 1, ("sm_80", "sm_90a"), [], """
     (float16[N,48,64] x, float16[64,40] w, float16[40] b) => (float16[N,48,40] y)
     { t = MatMul(x, w) u = Add(t, b) y = Relu(u) }"""),
    ("gelu", 1, ("sm_80",), [], """
     (bfloat16[N,64] x, bfloat16[64,40] w, bfloat16[40] b) => (bfloat16[N,40] y)
     { t = MatMul(x, w) u = Add(b, t) y = Gelu<approximate = "tanh">(u) }"""),
    ("residual", 1, ("sm_80",), [], """
     (float[7,33] x, float[33,24] w, float[24] b, float[7,24] r) => (float[7,24] y)
     { t = MatMul(x, w) u = Add(t, b) y = Add(u, r) }"""),
    ("batches", 1, ("sm_80",), [], """
     (float[B,3,16,32] x, float[B,3,32,20] w) => (float[B,3,16,20] y) { y = MatMul(x, w) }"""),
    ("transposed", 1, ("sm_80",), [], """
     (float[40,32] x, float[24,32] w, float[40,24] c) => (float[40,24] y)
     { y = Gemm<transB = 1, alpha = 0.5>(x, w, c) }"""),
    ("tf32", 1, ("sm_80",), ["--precision", "tf32"], """
     (float[64,32] x, float[32,48] w) => (float[64,48] y) { y = MatMul(x, w) }"""),
    ("chain", 2, ("sm_80",), [], """
     (float[16,32] x, float[32,48] v, float[48,24] w) => (float[16,24] y)
     { h = MatMul(x, v) r = Relu(h) y = MatMul(r, w) }"""),
    ("bytes", 1, ("sm_80",), [], """
     (int8[9,32] x, int8[24,32] w) => (int32[9,24] y) { t = Transpose(w) y = MatMulInteger(x, t) }"""),
    ("float8", 1, ("sm_89",), [], """
     (float8e4m3fn[8,32] x, float8e4m3fn[16,32] w) => (float[8,16] y)
     { a = Cast<to = 1>(x) b = Cast<to = 1>(w) t = Transpose(b) y = MatMul(a, t) }"""),
    ("pointwise_conv", 1, ("sm_80",), [], """
     (float[2,16,8,8] x, float[32,16,1,1] w) => (float[2,32,8,8] y) { y = Conv(x, w) }"""),
    # Nothing of the library's: another function, a product of windows, bytes across rows.
    ("sigmoid", 0, ("sm_80",), [], """
     (float[16,32] x, float[32,48] w) => (float[16,48] y) { t = MatMul(x, w) y = Sigmoid(t) }"""),
    ("bytes_across", 0, ("sm_80",), [], """
     (int8[9,32] x, int8[32,24] w) => (int32[9,24] y) { y = MatMulInteger(x, w) }"""),
    ("conv", 0, ("sm_80",), [], """
     (float[1,8,9,9] x, float[16,8,3,3] w) => (float[1,16,9,9] y) { y = Conv<pads = [1, 1, 1, 1]>(x, w) }"""),
]
SHAPES = {"relu": ["--shape", "x=2x48x64"], "gelu": ["--shape", "x=5x64"], "batches": ["--shape", "x=2x3x16x32", "--shape", "w=2x3x32x20"]}


def run(program, model, folder, *options):
    command = [program, "run", model, "--seed", "3", "--json", "--output-dir", folder, *options]
    process = subprocess.run(command, capture_output=True, text=True, check=False)
    if NO_COMPILER in process.stderr:
        print("skipped: NVRTC is not installed: scripts/setup.sh brings it")
        sys.exit(SKIPPED)
    if process.returncode:
        print(" ".join(command), process.stderr, sep="\n")
        sys.exit(1)
    return json.loads(process.stdout)


def difference(expected, found, rounding):
    scale = np.maximum(np.abs(expected), np.abs(expected).mean())
    return float(np.max(np.abs(found - expected) / scale)) / rounding


def values(folder):
    array = np.load(os.path.join(folder, "y.npy"))
    if array.dtype.kind == "V":  # bfloat16
        array = (array.view(np.uint16).astype(np.uint32) << 16).view(np.float32)
    return array.astype(np.float64)


def main():
    program, wrong = sys.argv[1], 0
    with tempfile.TemporaryDirectory() as folder:
        for name, products, architectures, options, text in MODELS:
            model = os.path.join(folder, f"{name}.onnx")
            onnx.save(onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["" : 20]> {name} {text}'), model)
            shapes = SHAPES.get(name, [])
            expected_folder = os.path.join(folder, name)
            run(program, model, expected_folder, "--target", "cpu", *shapes)
            expected = values(expected_folder)
            for architecture in architectures:
                found_folder = os.path.join(folder, f"{name}.{architecture}")
                report = run(program, model, found_folder, "--target", f"sim:{architecture}", "--cublaslt", "always", *options, *shapes)
                rounding = {"relu": 2e-3, "gelu": 2e-2, "tf32": 3e-3}.get(name, 1e-4)
                off = difference(expected, values(found_folder), rounding)
                if off > 1 or report["library_calls"] != products or report["library_refusal"]:
                    wrong += 1
                    print(f"{name} {architecture}: {off:.2f} of the tolerance, {report['library_calls']} calls of {products}; "
                          f"{report['library_refusal']}")
    print(f"{len(MODELS)} models, {wrong} wrong")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
