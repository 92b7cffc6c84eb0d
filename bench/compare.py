#!/usr/bin/env python3
"""compare.py TILEWRIGHT [--only A,B] [--threads N] [--runs N] [--json]: Tilewright beside ONNX Runtime on the real models.

Each configuration of models.json is timed on both in turn, in processes of their own, on the same inputs. The last line is
the geometric mean of the ratios of the medians; above 1 means slower than ONNX Runtime.
"""

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile

import numpy as np
import onnx

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "test", "models"))
import configurations


def run_json(command):
    process = subprocess.run(command, capture_output=True, text=True, check=False)
    if process.returncode:
        raise RuntimeError(f"{os.path.basename(command[0])} ended with {process.returncode}: {process.stderr.strip()[-300:]}")
    return json.loads(process.stdout)


def bench_tilewright(program, configuration, threads, runs):
    with tempfile.TemporaryDirectory() as folder:
        arguments = []
        for number, (name, values) in enumerate(configurations.make_inputs(configuration["inputs"]).items()):
            path = os.path.join(folder, f"{number}.npy")
            np.save(path, values)
            arguments += ["--input", f"{name}=@{path}"]
        return run_json([program, "bench", configurations.model_path(configuration), *arguments,
                         "--threads", str(threads), "--runs", str(runs), "--json"])


def bench_onnxruntime(name, threads, runs):
    return run_json([sys.executable, os.path.join(HERE, "peer_onnxruntime.py"), name,
                     "--threads", str(threads), "--runs", str(runs)])


def count_nodes(configuration):
    """Nodes of the main graph."""
    return len(onnx.load(configurations.model_path(configuration), load_external_data=False).graph.node)


def main():
    with open(os.path.join(HERE, "models.json"), encoding="utf-8") as file:
        defaults = json.load(file)
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("--only", type=lambda text: text.split(","), default=defaults["configurations"])
    parser.add_argument("--threads", type=int, default=defaults["threads"])
    parser.add_argument("--runs", type=int, default=defaults["runs"])
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()

    known = configurations.load()
    if not arguments.json:
        print("| configuration | ONNX nodes | kernels | compile s | open ms | peak MB | ms | ORT ms | ratio |")
        print("|---|---|---|---|---|---|---|---|---|")
    rows, failed = [], 0
    for name in arguments.only:
        if not os.path.exists(configurations.model_path(known[name])):
            print(f"skipped: the model of {name} is not there; scripts/fetch_models.py fetches it")
            return 77
        try:
            ours = bench_tilewright(arguments.program, known[name], arguments.threads, arguments.runs)
            theirs = bench_onnxruntime(name, arguments.threads, arguments.runs)
        except RuntimeError as error:
            failed += 1
            print(f"{name}: {error}", file=sys.stderr)
            continue
        ratio = ours["latency_ms"]["p50"] / theirs["latency_ms"]["p50"]
        rows.append({"configuration": name, "onnx_nodes": count_nodes(known[name]), "ratio": ratio,
                     "tilewright": ours, "onnxruntime": theirs})
        if not arguments.json:
            print(f"| `{name}` | {rows[-1]['onnx_nodes']} | {ours['kernels']} | {ours['compile_ms'] / 1e3:.2f} "
                  f"| {ours['load_ms']:.1f} | {ours['peak_rss_mb']:.0f} | {ours['latency_ms']['p50']:.2f} "
                  f"| {theirs['latency_ms']['p50']:.2f} | {ratio:.2f} |", flush=True)
    mean = math.exp(sum(math.log(row["ratio"]) for row in rows) / len(rows)) if rows else None
    if arguments.json:
        print(json.dumps({"rows": rows, "geometric_mean": mean}, indent=1))
    elif mean:
        print(f"geometric mean of {len(rows)} ratios: {mean:.2f}")
    return 1 if failed or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
