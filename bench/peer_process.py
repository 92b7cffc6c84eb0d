#!/usr/bin/env python3
"""peer_process.py PEER MODEL --threads N --runs N [--input NAME=@FILE.npy …]: times one peer on one model.

Prints one JSON object in the form of `tilewright bench --json`, or {"error": …} when the peer cannot run the model. Latencies
are of a whole call with its results in memory that the caller may read.
"""

import argparse
import json
import sys
import time

import numpy as np

MEASURED_SECONDS, FEWEST_RUNS, MOST_RUNS, WARMUP = 2, 10, 1000, 3  # as `tilewright bench` has them


def onnxruntime(model, inputs, threads):
    import onnxruntime as peer

    options = peer.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    start = time.perf_counter()
    session = peer.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    return peer.__version__, time.perf_counter() - start, lambda: session.run(None, inputs)


def openvino(model, inputs, threads):
    """With the sizes of the inputs fixed, which its users are told to do."""
    import openvino as peer

    start = time.perf_counter()
    core = peer.Core()
    read = core.read_model(model)
    ports = {name: port for port in read.inputs for name in port.get_names() if name in inputs}
    read.reshape({port: list(inputs[name].shape) for name, port in ports.items()})
    compiled = core.compile_model(read, "CPU", {"PERFORMANCE_HINT": "LATENCY", "INFERENCE_PRECISION_HINT": "f32",
                                                "INFERENCE_NUM_THREADS": threads})
    load = time.perf_counter() - start
    request = compiled.create_infer_request()
    given = {name: inputs[name] for name in ports}
    return peer.__version__.split("-")[0], load, lambda: request.infer(given, share_inputs=True)


def iree(model, inputs, threads):
    import iree_module

    return iree_module.load(model, inputs, threads)


def peak_megabytes():
    """The most memory that this process had, as `tilewright bench` counts it."""
    with open("/proc/self/status", encoding="utf-8") as file:
        for line in file:
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024 / 1e6
    return None


def measure(run, runs):
    def once():
        start = time.perf_counter()
        run()
        return 1e3 * (time.perf_counter() - start)

    first = once()
    warm = [once() for _ in range(WARMUP)]
    if runs == 0:
        runs = int(min(max(1e3 * MEASURED_SECONDS / warm[-1], FEWEST_RUNS), MOST_RUNS))
    times = [once() for _ in range(runs)]
    p50, p90, p99 = np.percentile(times, [50, 90, 99])
    return {"latency_ms": {"p50": p50, "p90": p90, "p99": p99, "min": min(times)}, "first_run_ms": first, "runs": runs}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    peers = {function.__name__: function for function in (onnxruntime, openvino, iree)}
    parser.add_argument("peer", choices=peers)
    parser.add_argument("model")
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--runs", type=int, required=True)
    parser.add_argument("--input", action="append", default=[])
    arguments = parser.parse_args()
    inputs = {name: np.load(path) for name, _, path in (text.rpartition("=@") for text in arguments.input)}
    try:
        version, load, run = peers[arguments.peer](arguments.model, inputs, arguments.threads)
        figures = measure(run, arguments.runs)
    except Exception as error:  # whatever a peer raises is its answer
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        print(json.dumps({"error": f"{type(error).__name__}: {lines[-1] if lines else ''}"[:300]}))
        return 0
    print(json.dumps({**figures, "version": version, "load_ms": 1e3 * load, "peak_rss_mb": peak_megabytes()}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
