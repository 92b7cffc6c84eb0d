#!/usr/bin/env python3
"""count_kernels.py BUILD [--check]: writes the tables of kernels per run (README.md) and of bytes moved (docs/performance.md).

The models of the first are compiled as they are, the configurations of the second with their sizes; all for cpu:avx2, so that
the tables do not depend on the machine. --check writes nothing and fails when one is stale. Exit code 77: models are not there.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
sys.path.insert(0, os.path.join(ROOT, "test", "models"))
sys.dont_write_bytecode = True
import configurations
import marked_block

BLOCK = "count_kernels.py"
OPEN = " (open sizes)"
MODELS = ["resnet50", "squeezenet", "shufflenet", "rapidocr_det", "rapidocr_rec", "rapidocr_cls", "nudenet", "magika", "minilm",
          "llama_tiny", "silero", "silero_16k_op15", "silero_op18_ifless", "silero_half", "silero_16k_seq"]


def compile_model(program, path, options=()):
    """The compiler's figures, or its error as text."""
    with tempfile.TemporaryDirectory() as folder:
        process = subprocess.run([program, "compile", path, "-o", os.path.join(folder, "out.twm"), "--target", "cpu:avx2", "--json",
                                  *options], capture_output=True, text=True, check=False)
    return process.stderr.strip() if process.returncode else json.loads(process.stdout)


def kernels_table(program):
    text = "| model | ONNX nodes | kernels per run | distinct kernels |\n|---|---|---|---|\n"
    for name in MODELS:
        figures = compile_model(program, configurations.model_path({"model": name}))
        if isinstance(figures, str):
            sys.exit(figures)
        text += f"| {name} | {figures['onnx_nodes']} | {figures['launches']} | {figures['kernels']} |\n"
    return text


def bytes_table(program):
    text = "| configuration | nodes that are work | MB if each were a kernel | kernels | MB by kernels | share |\n|---|---|---|---|---|---|\n"
    for name, configuration in configurations.load().items():
        path, sizes = configurations.model_path(configuration), configurations.shape_options(configuration)
        figures = compile_model(program, path, sizes)
        if isinstance(figures, str):  # an If with a branch for other sizes
            figures, name = compile_model(program, path), name + OPEN
        if isinstance(figures, str):
            sys.exit(figures)
        before, after = figures["node_traffic_bytes"], figures["kernel_traffic_bytes"]
        text += (f"| {name} | {figures['node_kernels']} | {before / 1e6:.1f} | {figures['launches']} | {after / 1e6:.1f} "
                 f"| {after / before:.2f} |\n")
    return text


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    needed = {*MODELS, *(configuration["model"] for configuration in configurations.load().values())}
    for name in sorted(needed):
        if not os.path.exists(configurations.model_path({"model": name})):
            print(f"skipped: {name}.onnx is not there; scripts/fetch_models.py fetches it")
            return 77
    program, stale = os.path.join(arguments.build, "bin", "tilewright"), 0
    for document, make in (("README.md", kernels_table), ("docs/performance.md", bytes_table)):
        path, table = os.path.join(ROOT, document), make(program)
        if marked_block.read(path, BLOCK) == table:
            print(f"the table in {document} is fresh")
        elif arguments.check:
            stale += 1
            print(f"{document} is stale: run docs/reference/count_kernels.py BUILD. The table is\n{table}")
        else:
            marked_block.write(path, BLOCK, table)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
