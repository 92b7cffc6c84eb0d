#!/usr/bin/env python3
"""count_kernels.py BUILD [--check]: writes the table of kernels per run in README.md.

Each listed model is compiled as it is, for cpu:avx2, so that the table does not depend on the machine. --check writes
nothing and fails when the table is stale. Exit code 77: models are not there.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile

README = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "README.md"))
BEGIN, END = "<!-- count_kernels.py -->\n", "<!-- end -->\n"
MODELS = ["resnet50", "squeezenet", "shufflenet", "rapidocr_det", "rapidocr_rec", "rapidocr_cls", "nudenet", "magika", "minilm",
          "llama_tiny", "silero", "silero_16k_op15", "silero_op18_ifless", "silero_half", "silero_16k_seq"]


def compile_model(program, path):
    with tempfile.TemporaryDirectory() as folder:
        process = subprocess.run([program, "compile", path, "-o", os.path.join(folder, "out.twm"), "--target", "cpu:avx2", "--json"],
                                 capture_output=True, text=True, check=False)
    if process.returncode:
        sys.exit(process.stderr.strip())
    return json.loads(process.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    folder = os.environ.get("TILEWRIGHT_MODELS") or os.path.expanduser("~/.cache/tilewright/models")
    table = "| model | ONNX nodes | kernels per run | distinct kernels |\n|---|---|---|---|\n"
    for name in MODELS:
        path = os.path.join(folder, name + ".onnx")
        if not os.path.exists(path):
            print(f"skipped: {name}.onnx is not there; scripts/fetch_models.py fetches it")
            return 77
        figures = compile_model(os.path.join(arguments.build, "bin", "tilewright"), path)
        table += f"| {name} | {figures['onnx_nodes']} | {figures['launches']} | {figures['kernels']} |\n"
    with open(README, encoding="utf-8") as file:
        text = file.read()
    before, rest = text.split(BEGIN)
    old, after = rest.split(END)
    if old == table:
        print("the table is fresh")
        return 0
    if arguments.check:
        print(f"README.md is stale: run docs/reference/count_kernels.py BUILD. The table is\n{table}")
        return 1
    with open(README, "w", encoding="utf-8") as file:
        file.write(before + BEGIN + table + END + after)
    return 0


if __name__ == "__main__":
    sys.exit(main())
