#!/usr/bin/env python3
"""stream_orders.py TILEWRIGHT [--seeds N]: whatever order streams leave open, a module gives the same bits.

A model with branches is compiled for a GPU, where they are put on streams of their own, and run on the simulator, whose seed draws the
order of the work of different streams. Exit code 1 when a result differs, a run fails, or the plan has one stream only; 77: NVRTC is
not there.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile

import onnx.parser

MODEL = """
<ir_version: 8, opset_import: ["" : 17]>
branches (float[256,256] x, float[256,256] w, float[512,64] v) => (float[256,64] y, float[256,256] z) {
  a = MatMul(x, w)
  s = Softmax(a)
  b = MatMul(s, x)
  c = MatMul(w, s)
  d = Relu(b)
  e = Tanh(c)
  t = Concat<axis = 1>(d, e)
  y = MatMul(t, v)
  f = MatMul(d, e)
  g = MatMul(e, d)
  z = Add(f, g)
}
"""
SKIPPED, NO_COMPILER = 77, "TW1311"


def run(command, **environment):
    return subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, **environment})


def results(program, module, folder, seed):
    """The bytes of the outputs, or an error."""
    process = run([program, "run", module, "--target", "sim:sm_80", "--seed", "1", "--output-dir", folder],
                  TILEWRIGHT_SIM_SEED=str(seed))
    if process.returncode:
        return process.stderr.strip()
    contents = {}
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), "rb") as file:
            contents[name] = file.read()
    return contents


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--seeds", type=int, default=20)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        source, module = os.path.join(folder, "model.onnx"), os.path.join(folder, "model.twm")
        with open(source, "wb") as file:
            file.write(onnx.parser.parse_model(MODEL).SerializeToString())
        compiled = run([arguments.program, "compile", source, "-o", module, "--target", "sim:sm_80"])
        if compiled.returncode:
            print(compiled.stderr.strip())
            return SKIPPED if NO_COMPILER in compiled.stderr else 1
        plan = run([arguments.program, "inspect", module, "--streams"]).stdout
        if " 1 stream," in plan:
            print("the plan has one stream:\n" + plan)
            return 1
        expected = None
        for seed in range(arguments.seeds):
            outputs = os.path.join(folder, str(seed))
            os.makedirs(outputs)
            found = results(arguments.program, module, outputs, seed)
            if isinstance(found, str) or (expected is not None and found != expected):
                print(f"seed {seed}: {found if isinstance(found, str) else 'other bits than with seed 0'}")
                return 1
            expected = found
        print(f"{arguments.seeds} orders, {json.dumps(sorted(expected))}: the same bits")
        return 0 if expected else 1


if __name__ == "__main__":
    sys.exit(main())
