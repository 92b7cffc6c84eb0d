#!/usr/bin/env python3
"""peer_onnxruntime.py CONFIGURATION --threads N --runs N: times ONNX Runtime on one configuration, in a process of its own.

Prints one JSON line in the form of `tilewright bench --json`.
"""

import argparse
import json
import os
import resource
import sys
import time

import numpy as np
import onnxruntime

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "test", "models"))
import configurations


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("configuration")
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--runs", type=int, required=True)
    arguments = parser.parse_args()

    configuration = configurations.load()[arguments.configuration]
    inputs = configurations.make_inputs(configuration["inputs"])
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = arguments.threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    start = time.perf_counter()
    session = onnxruntime.InferenceSession(configurations.model_path(configuration), options,
                                           providers=["CPUExecutionProvider"])
    load = time.perf_counter() - start
    times = []
    for _ in range(arguments.runs + 3):
        start = time.perf_counter()
        session.run(None, inputs)
        times.append(1e3 * (time.perf_counter() - start))
    p50, p90, p99 = np.percentile(times[3:], [50, 90, 99])
    print(json.dumps({"latency_ms": {"p50": p50, "p90": p90, "p99": p99}, "load_ms": 1e3 * load,
                      "peak_rss_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}))


if __name__ == "__main__":
    main()
