#!/usr/bin/env python3
"""peers.py TILEWRIGHT [--threads 1,2] [--only A,B] [--peers A,B] [--rounds N] [--json [FILE]] [--update-docs]

Times Tilewright, ONNX Runtime, OpenVINO in f32 and IREE on the configurations of models.json. The programs run in turn, each
in a process of its own on the same inputs, forwards in one round and backwards in the next; a figure is the median of the
rounds. The ratio of a configuration is the latency of the best peer over ours: above 1, Tilewright is faster. A program that
cannot run a model stands in the table with its reason.

--update-docs writes the tables and the picture of docs/performance.md; with --from FILE, from what --json FILE kept.
"""

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "test", "models"))
sys.dont_write_bytecode = True
import configurations
import numpy as np
import peers_environment
import peers_report

PEERS = ["onnxruntime", "openvino", "iree"]
OURS = "tilewright"
TIMEOUT = 900  # seconds for one process, IREE's compile included


def run_json(command, environment=None):
    """What a program prints, or {"error": …}."""
    try:
        process = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        return {"error": f"no result within {TIMEOUT} s"}
    try:
        return json.loads(process.stdout)
    except json.JSONDecodeError:
        lines = (process.stderr or process.stdout).strip().splitlines() or [f"ended with {process.returncode}"]
        return {"error": lines[-1][:300]}


class Case:
    """One configuration with its inputs as files, and every program that can be run on it."""

    def __init__(self, name, configuration, folder, arguments):
        self.name, self.folder, self.arguments = name, folder, arguments
        self.model = configurations.model_path(configuration)
        self.inputs = []
        for number, (key, values) in enumerate(configurations.make_inputs(configuration["inputs"]).items()):
            path = os.path.join(folder, f"{number}.npy")
            np.save(path, values)
            self.inputs += ["--input", f"{key}=@{path}"]

    def tilewright(self, threads, runs):
        """From the cache of this run alone, so that only the first call compiles."""
        command = [self.arguments.program, "bench", self.model, *self.inputs, "--threads", str(threads), "--runs", str(runs),
                   "--cached", "--json"]
        return run_json(command, {**os.environ, "XDG_CACHE_HOME": self.folder})

    def measure(self, program, threads):
        if program == OURS:
            return self.tilewright(threads, self.arguments.runs)
        return run_json([self.arguments.python, os.path.join(HERE, "peer_process.py"), program, self.model, *self.inputs,
                         "--threads", str(threads), "--runs", str(self.arguments.runs)])


def middle(results):
    """The medians of the rounds of one program."""
    bad = next((result["error"] for result in results if "error" in result), None)
    if bad:
        return {"error": bad}
    figures = {key: statistics.median(result[key] for result in results) for key in ("load_ms", "peak_rss_mb")}
    figures["latency_ms"] = statistics.median(result["latency_ms"]["p50"] for result in results)
    figures["rounds_ms"] = [result["latency_ms"]["p50"] for result in results]
    figures.update({key: results[-1][key] for key in ("version", "kernels", "target") if key in results[-1]})
    return figures


def measure_case(case, threads, arguments):
    programs = [OURS, *arguments.peers]
    results = {program: [] for program in programs}
    cold = case.tilewright(threads, 1)
    for number in range(arguments.rounds):
        for program in programs if number % 2 == 0 else reversed(programs):
            if not any("error" in result for result in results[program]):
                results[program].append(case.measure(program, threads))
    row = {"configuration": case.name, "threads": threads}
    row.update({program: middle(results[program]) for program in programs})
    ours = row[OURS]
    if "error" not in ours:
        ours["compile_ms"] = cold["compile_ms"]
        ours["onnx_nodes"] = cold["summary"]["onnx_nodes"]
        ours["cached_ms"] = statistics.median(result["compile_ms"] for result in results[OURS])
        rivals = {peer: row[peer]["latency_ms"] for peer in arguments.peers if "error" not in row[peer]}
        if rivals:
            row["best"] = min(rivals, key=rivals.get)
            row["ratio"] = rivals[row["best"]] / ours["latency_ms"]
    return row


def machine():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        names = [line.split(":", 1)[1].strip() for line in file if line.startswith("model name")]
    return f"{names[0] if names else platform.processor()}, {len(os.sched_getaffinity(0))} processors"


def parse_arguments():
    with open(os.path.join(HERE, "models.json"), encoding="utf-8") as file:
        listed = json.load(file)["configurations"]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = lambda text: text.split(",")
    parser.add_argument("program", metavar="TILEWRIGHT", nargs="?")
    parser.add_argument("--threads", type=lambda text: [int(number) for number in text.split(",")], default=[2])
    parser.add_argument("--only", type=names, default=listed)
    parser.add_argument("--peers", type=names, default=PEERS)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--runs", type=int, default=0, help="per round and program; 0: two seconds' worth")
    parser.add_argument("--python", help="the interpreter that has the peers; else an environment of requirements.txt is made")
    parser.add_argument("--json", nargs="?", const="-", metavar="FILE")
    parser.add_argument("--from", dest="stored", metavar="FILE")
    parser.add_argument("--update-docs", action="store_true")
    arguments = parser.parse_args()
    for what, given, known in (("configuration", arguments.only, configurations.load()), ("peer", arguments.peers, PEERS)):
        unknown = [name for name in given if name not in known]
        if unknown:
            parser.error(f"no such {what}: {', '.join(unknown)}; there are {', '.join(known)}")
    if arguments.rounds < 1 or min(arguments.threads) < 1:
        parser.error("--rounds and --threads begin with 1")
    if not arguments.program and not arguments.stored:
        parser.error("where is the program tilewright, or --from FILE?")
    return arguments


def measure_all(arguments):
    if not arguments.python:
        arguments.python = peers_environment.make(os.path.join(HERE, "requirements.txt"))
    known, rows, load = configurations.load(), [], os.getloadavg()[0]
    for threads in arguments.threads:
        for name in arguments.only:
            with tempfile.TemporaryDirectory() as folder:
                rows.append(measure_case(Case(name, known[name], folder, arguments), threads, arguments))
            print(peers_report.line(rows[-1], arguments.peers), file=sys.stderr, flush=True)
    return {"machine": machine(), "load": load, "threads": arguments.threads, "rounds": arguments.rounds, "peers": arguments.peers, "rows": rows,
            "summary": {str(threads): peers_report.summary(rows, threads) for threads in arguments.threads}}


def main():
    arguments = parse_arguments()
    if arguments.stored:
        with open(arguments.stored, encoding="utf-8") as file:
            results = json.load(file)
    else:
        for name in arguments.only:
            if not os.path.exists(configurations.model_path(configurations.load()[name])):
                print(f"skipped: the model of {name} is not there; scripts/fetch_models.py fetches it")
                return 77
        results = measure_all(arguments)
    if arguments.json and arguments.json != "-":
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump(results, file, indent=1)
    print(json.dumps(results, indent=1) if arguments.json == "-" else peers_report.markdown(results))
    if arguments.update_docs:
        peers_report.update(os.path.join(HERE, ".."), results)
    return 1 if any("error" in row[OURS] for row in results["rows"]) else 0


if __name__ == "__main__":
    sys.exit(main())
