#!/usr/bin/env python3
"""gpu_traffic.py TILEWRIGHT [--show]: kernels for GPUs move what their tiles need, and shared memory serves them without conflicts.

Contractions, softmaxes, norms and attention with aligned sizes run on the simulator, which counts the 32-byte sectors of global memory that each
launch touches and the passes that bank conflicts add. Of every such kernel,

- the sectors are at most 1.15 times what operands, results and the tile's re-reads require (worked out here for contractions, from the
  tile in the kernel's name),
- the compiler's own figure (`inspect --json`) agrees with the counters within 5 %,
- contractions and attention have no bank conflicts.

Exit code 1 when one does not; 77: NVRTC is not there.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

import onnx.parser

SKIPPED, NO_COMPILER = 77, "TW1311"
SECTOR = 32
HEAD = '<ir_version: 10, opset_import: ["" : 23]> f '
TYPES = {"float": 4, "float16": 2}
PLANES = [(128, 128, 128), (512, 256, 1024), (128, 2048, 256)]  # rows, depth, columns
ROWS = [(256, 768), (128, 1024), (128, 8192), (8, 20480), (8, 65536)]  # in registers, in shared memory, read twice


def contractions():
    """Name, model, and the bytes that an epilogue reads for each element of the result."""
    for rows, depth, columns in PLANES:
        for element, size in TYPES.items():
            operands = f"{element}[{rows},{depth}] a, {element}[{depth},{columns}] b"
            result = f"=> ({element}[{rows},{columns}] c)"
            name = f"{element} {rows}x{depth}x{columns}"
            yield name, f"({operands}) {result} {{ c = MatMul(a, b) }}", 0
            yield (name + " bias", f"({operands}, {element}[{columns}] d) {result} {{ p = MatMul(a, b) q = Add(p, d) c = Relu(q) }}", size)
            yield (name + " residual",
                   f"({operands}, {element}[{rows},{columns}] d) {result} {{ p = MatMul(a, b) q = Add(p, d) c = Sigmoid(q) }}", size)


def rows():
    for count, length in ROWS:
        x, y, scale = f"float[{count},{length}] x", f"=> (float[{count},{length}] y)", f"float[{length}] s"
        yield f"softmax {count}x{length}", f"({x}) {y} {{ y = Softmax(x) }}"
        yield f"layer norm {count}x{length}", f"({x}, {scale}, float[{length}] b) {y} {{ y = LayerNormalization(x, s, b) }}"
        yield f"RMS norm {count}x{length}", f"({x}, {scale}) {y} {{ y = RMSNormalization(x, s) }}"


def required(kernel, case, extra, is_whole):
    """Bytes that a contraction's launch must load and store, by the tile in its name. Where the depth is divided, the parts' sums are
    stored, and another kernel adds them."""
    element, shape = case.split()[:2]
    m, k, n = map(int, shape.split("x"))
    size = TYPES[element]
    tile = re.search(r"_(\d+)x(\d+)x\d+_", kernel)
    if not tile:
        return None  # the sum of a contraction's parts
    loads = (-(-m // int(tile[1])) * k * n + -(-n // int(tile[2])) * m * k) * size
    return loads + (m * n * extra if is_whole else 0), m * n * size if is_whole else None


def attentions():
    for element in TYPES:
        for queries, keys in ((96, 96), (1, 512), (1, 4096)):
            q, k = (f"{element}[1,{heads},{length},64]" for heads, length in ((8, queries), (2, keys)))
            yield (f"attention {element} 8x{queries}x64 over 2x{keys}",
                   f"({q} q, {k} k, {k} v) => ({q} y) {{ y = Attention(q, k, v) }}")
    for heads, queries, depth in ((4, 128, 128), (2, 256, 64)):
        for element in TYPES:
            shape = f"{element}[1,{heads},{queries},{depth}]"
            for name, attribute in (("", ""), (" causal", "<is_causal: int = 1>")):
                yield (f"attention {element} {heads}x{queries}x{depth}{name}",
                       f"({shape} q, {shape} k, {shape} v) => ({shape} y) {{ y = Attention {attribute} (q, k, v) }}")


class Simulator:
    def __init__(self, program, folder):
        self.program, self.folder = program, folder

    def run(self, *arguments, **environment):
        process = subprocess.run([self.program, *arguments], capture_output=True, text=True, check=False,
                                 env={**os.environ, **environment})
        if process.returncode:
            raise RuntimeError(process.stderr.strip())
        return process.stdout

    def launches(self, body):
        """Of every launch of the model what was counted, and the compiler's figures."""
        source, module, trace = (os.path.join(self.folder, name) for name in ("m.onnx", "m.twm", "trace"))
        onnx.save(onnx.parser.parse_model(HEAD + body), source)
        self.run("compile", source, "-o", module, "--target", "sim:sm_80")
        listed = json.loads(self.run("inspect", module, "--json"))["variants"][0]["device_launches"]
        figures = {launch["kernel"]: launch for launch in listed}
        if os.path.exists(trace):
            os.remove(trace)
        self.run("run", module, "--target", "sim:sm_80", TILEWRIGHT_SIM_CHECKS="0", TILEWRIGHT_SIM_COUNTERS="1",
                 TILEWRIGHT_SIM_TRACE=trace)
        with open(trace, encoding="utf-8") as file:
            return [(launch, figures[launch["kernel"]]) for launch in map(json.loads, file)]


def check(case, counted, figures, limits):
    """What is wrong with a launch."""
    wrong = []
    for what, bytes_modelled, limit in (("loads", figures["load_bytes"], limits and limits[0]),
                                        ("stores", figures["store_bytes"], limits and limits[1])):
        moved = counted[f"{what}_sectors"] * SECTOR
        if abs(bytes_modelled - moved) > 0.05 * moved:
            wrong.append(f"{what} {moved} bytes, the model says {bytes_modelled}")
        if limit and moved > 1.15 * limit:
            wrong.append(f"{what} {moved} bytes, {limit} are required")
    if "_rows_" not in counted["kernel"] and counted["shared_conflicts"]:
        wrong.append(f"{counted['shared_conflicts']} bank conflicts in {counted['shared_requests']} accesses of shared memory")
    return [f"{case}: {counted['kernel']}: {text}" for text in wrong]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--show", action="store_true", help="print every launch's figures")
    arguments = parser.parse_args()
    wrong, number = [], 0
    with tempfile.TemporaryDirectory() as folder:
        simulator = Simulator(arguments.program, folder)
        cases = [*contractions(), *((name, body, None) for name, body in [*rows(), *attentions()])]
        for name, body, extra in cases:
            try:
                launches = simulator.launches(body)
            except RuntimeError as error:
                print(f"{name}: {error}")
                return SKIPPED if NO_COMPILER in str(error) else 1
            family = "_contract_" if extra is not None else "_attention_" if name.startswith("attention") else "_rows_"
            if not any(family in counted["kernel"] for counted, _ in launches):
                wrong.append(f"{name}: no kernel of the family{family.replace('_', ' ')}")
            is_whole = not any("_parts_" in counted["kernel"] for counted, _ in launches)
            for counted, figures in launches:
                number += 1
                wrong += check(name, counted, figures, None if extra is None else required(counted["kernel"], name, extra, is_whole))
                if arguments.show:
                    print(f"{name:32} {counted['kernel']:68} loads {counted['loads_sectors'] * SECTOR:9} model {figures['load_bytes']:9}"
                          f" stores {counted['stores_sectors'] * SECTOR:8} model {figures['store_bytes']:8}"
                          f" conflicts {counted['shared_conflicts']} of {counted['shared_requests']}")
    print("\n".join(wrong) or f"{number} launches of {len(cases)} models move what their tiles need, without bank conflicts")
    return 1 if wrong else 0


sys.exit(main())
