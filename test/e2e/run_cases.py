#!/usr/bin/env python3
"""run_cases.py TILEWRIGHT [--only ID] [OPTION…]: runs the folder cases/ through the program. See cases/README.md.

Other options go to `tilewright compile` and `run`: --target cpu:avx2, --reference. Cases that must fail are run where no
other option is given. Exit code 0 when all hold, 1 when one does not, 77 when this machine cannot run the target.
"""

import argparse
import csv
import glob
import os
import re
import resource
import subprocess
import sys
import tempfile
import time

import onnx

CASES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "cases")
TIMEOUT = 60  # seconds; nothing takes that long unless it hangs
MOST_SECONDS = 10  # of a compile whose time is bounded, and of a refusal
MOST_MODULE_BYTES = 64 << 10  # where the size is bounded; those models are below 2 kB
MOST_KILOBYTES = 1 << 20  # resident memory of any process
WRONG_MACHINE = "error TW1204"
SKIPPED = 77


class Failure(Exception):
    """What is wrong with a case."""


class WrongMachine(Exception):
    """The module is for another machine."""


def execute(*command):
    """Runs a command; returns its exit code, its standard error and its seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    start = time.monotonic()
    try:
        process = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=TIMEOUT, check=False)
    except subprocess.TimeoutExpired as expired:
        raise Failure(f"`{command[1]}` did not end within {TIMEOUT} s") from expired
    seconds = time.monotonic() - start
    # The figure is the largest of all children so far, so only the first case above the bound shows.
    largest = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    if largest > max(before, MOST_KILOBYTES):
        raise Failure(f"`{command[1]}` took {largest >> 10} MB of memory")
    return process.returncode, process.stderr.strip() or process.stdout.strip(), seconds


def is_refusal(code, message):
    return code in (2, 3) and re.match(r"error TW\d{4}: .{10}", message)


def data_arguments(option, names, folder, prefix):
    """`--input x=@FILE` or `--expect y=@FILE` for the files that are there."""
    files = [os.path.join(folder, f"{prefix}_{number}.npy") for number in range(len(names))]
    return [part for name, file in zip(names, files) if os.path.exists(file) for part in (option, f"{name}=@{file}")]


def check_values(program, case, options, scratch):
    """Compiles a case once and holds all its runs against their outputs."""
    folder = os.path.join(CASES, case["id"])
    path = os.path.join(folder, "model.onnx")
    module = os.path.join(scratch, "case.twm")
    code, message, seconds = execute(program, "compile", path, "-o", module, *options)
    if case["kind"] == "value-or-refuse" and is_refusal(code, message):
        return
    if code != 0:
        raise Failure(f"`compile` ended with {code}: {message[-300:]}")
    if case["category"] == "compile-time":
        size = os.path.getsize(module)
        if seconds > MOST_SECONDS or size > MOST_MODULE_BYTES:
            raise Failure(f"the compile took {seconds:.1f} s, the module has {size} bytes")
    graph = onnx.load(path, load_external_data=False).graph
    runs = [folder] + sorted(glob.glob(os.path.join(folder, "run_*")))
    if len(runs) != int(case["runs"]):
        raise Failure(f"there are {len(runs)} runs, not {case['runs']}")
    simulated = options if any(option.startswith("sim:") for option in options) else []
    for run in runs:
        code, message, _ = execute(
            program, "run", module, *simulated, "--rtol", case["rtol"], "--atol", case["atol"],
            *data_arguments("--input", [value.name for value in graph.input], run, "input"),
            *data_arguments("--expect", [value.name for value in graph.output], run, "output"))
        if WRONG_MACHINE in message:
            raise WrongMachine(message)
        if case["kind"] == "value-or-refuse" and is_refusal(code, message):
            return
        if code != 0:
            raise Failure(f"{os.path.basename(run)}: `run` ended with {code}: {message[-300:]}")


def check_refusal(program, case, scratch):
    """A case that must fail: by the compiler, or by the run where the fault is in the data."""
    path = os.path.join(CASES, case["id"], "model.onnx")
    module = os.path.join(scratch, "refused.twm")
    command = ["compile", path, "-o", module]
    if os.path.exists(os.path.join(CASES, case["id"], "input_0.npy")):
        name = onnx.load(path).graph.input[0].name
        command = ["run", path, "--no-cache", *data_arguments("--input", [name], os.path.dirname(path), "input")]
    code, message, seconds = execute(program, *command)
    if not is_refusal(code, message):
        raise Failure(f"`{command[0]}` ended with {code}: {message[-300:]}")
    if not re.search(case["says"], message, re.IGNORECASE):
        raise Failure(f"the message says nothing of {case['says']!r}: {message[-300:]}")
    if seconds > MOST_SECONDS:
        raise Failure(f"the refusal took {seconds:.1f} s")
    if os.path.exists(module):
        raise Failure("there is an output file")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--only", metavar="ID")
    arguments, options = parser.parse_known_args()
    with open(os.path.join(CASES, "cases.tsv"), newline="", encoding="utf-8") as file:
        cases = list(csv.DictReader(file, delimiter="\t"))
    held = failed = 0
    with tempfile.TemporaryDirectory() as scratch:
        for case in cases:
            must_fail = case["kind"] == "must-fail-cleanly"
            if (must_fail and options) or arguments.only not in (None, case["id"]):
                continue
            try:
                if must_fail:
                    check_refusal(arguments.program, case, scratch)
                else:
                    check_values(arguments.program, case, options, scratch)
                held += 1
            except WrongMachine as wrong:
                print(f"skipped: {wrong}")
                return SKIPPED
            except Failure as failure:
                failed += 1
                print(f"FAILED {case['id']} ({case['category']}): {failure}", flush=True)
    print(f"{held} of {held + failed} cases hold")
    return 0 if held and not failed else 1


if __name__ == "__main__":
    sys.exit(main())
