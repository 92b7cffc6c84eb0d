#!/usr/bin/env python3
"""gpu_kernels.py TILEWRIGHT [--only CONFIGURATION,…] [--targets sm_80,…] [--times]: kernels for GPUs compile, and keep to their registers.

Compiles configurations of the real models for each architecture, which takes NVRTC and no GPU, and prints how many kernels there
are, their registers, and what they spill; with --times how long NVRTC takes for each, when nothing comes from the cache, and that
a second compile takes all from there. Exit code 1 when a model does not compile or a kernel spills; 77: the models or NVRTC
are not there.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "models"))
import configurations

ARCHITECTURES = ["sm_80", "sm_86", "sm_89", "sm_90a", "sm_100a", "sm_120a"]
SKIPPED, NO_COMPILER = 77, "TW1311"


def kernels_of(program, configuration, architecture, folder, times, cache):
    """What `inspect` says of the kernels of all variants, or an error; `times` gets those of NVRTC."""
    module = os.path.join(folder, "model.twm")
    command = [program, "compile", configurations.model_path(configuration), "-o", module, "--target", f"cuda:{architecture}", "--json"]
    environment = {**os.environ, "XDG_CACHE_HOME": cache} if cache else os.environ
    for is_second in (False, True) if cache else (False,):
        process = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
        if process.returncode:
            return process.stderr.strip()
        spent = json.loads(process.stdout)["nvrtc_ms"]
        if is_second and spent:
            return f"a second compile asks NVRTC for {len(spent)} kernels"
        times += spent
    text = subprocess.run([program, "inspect", module, "--json"], capture_output=True, text=True, check=True).stdout
    return [kernel for variant in json.loads(text)["variants"] for kernel in variant["device_kernels"]]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--only", default="squeezenet_b1")
    parser.add_argument("--targets", default=",".join(ARCHITECTURES))
    parser.add_argument("--times", action="store_true", help="with an empty cache")
    arguments = parser.parse_args()
    times, failures = [], 0
    with tempfile.TemporaryDirectory() as cache:
        failures = compile_all(arguments, times, cache if arguments.times else None)
    if times and arguments.times:
        print(f"NVRTC: {len(times)} kernels, {statistics.median(times):.0f} ms each (median), {max(times):.0f} ms at most")
    return failures


def compile_all(arguments, times, cache):
    known = configurations.load()
    failures = 0
    for name in known if arguments.only == "all" else arguments.only.split(","):
        if not os.path.exists(configurations.model_path(known[name])):
            print(f"skipped: {name} is not there")
            return SKIPPED
        for architecture in arguments.targets.split(","):
            with tempfile.TemporaryDirectory() as folder:
                kernels = kernels_of(arguments.program, known[name], architecture, folder, times, cache)
            if isinstance(kernels, str):
                print(f"{name} for {architecture}: {kernels}")
                if NO_COMPILER in kernels:
                    return SKIPPED
                failures += 1
                continue
            spilling = [kernel["name"] for kernel in kernels if kernel["spill_bytes"]]
            failures += len(spilling)
            most = max((kernel["registers"] for kernel in kernels), default=0)
            print(f"{name} for {architecture}: {len(kernels)} kernels of up to {most} registers, {len(spilling)} spill")
            print("".join(f"  {kernel}\n" for kernel in spilling), end="")
    return 1 if failures else 0


sys.exit(main())
