#!/usr/bin/env python3
"""run.py TILEWRIGHT CONFIGURATION [--reference] [--target TARGET]: one compiled module of a real model against stored expectations.

Compiles the model once and runs the module on both sets of inputs; element types, shapes, norms and sampled values must
agree (rtol 1e-3, atol 1e-4; the norm of the difference below 1e-3 of the norm). Exit code 0 when they do, 1 when they do not, 77 when the model is not there.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

import numpy as np

import configurations

RTOL, ATOL = 1e-3, 1e-4
SKIPPED = 77


def file_name(tensor):
    """The name that `tilewright run --output-dir` gives an output's file."""
    return re.sub(r"[^A-Za-z0-9._-]", "_", tensor) + ".npy"


def tilewright(*arguments):
    """Runs the program; returns what is wrong, or nothing."""
    process = subprocess.run(arguments, capture_output=True, text=True, check=False)
    sys.stdout.write(process.stdout)
    if process.returncode == 0:
        return None
    return f"`{arguments[1]}` ended with {process.returncode}: {process.stderr.strip()[-600:]}"


def compare(name, values, expected, samples):
    """What is wrong with an output, or nothing."""
    if str(values.dtype) != expected["dtype"] or list(values.shape) != expected["shape"]:
        return f"{name} is {values.dtype}{list(values.shape)}, expected {expected['dtype']}{expected['shape']}"
    actual = configurations.sample(name, values)
    wrong = ~np.isclose(actual, samples, rtol=RTOL, atol=ATOL, equal_nan=True)
    if wrong.any():
        difference = np.abs(actual.astype(np.float64) - samples)
        return (f"{name} differs in {wrong.sum()} of {wrong.size} sampled values, by up to {difference.max():.3g} "
                f"(first: {actual[wrong][0]!r}, expected {samples[wrong][0]!r})")
    # Probabilities are often below ATOL, which alone would let them be anything.
    error = configurations.norm(actual.astype(np.float64) - samples)
    if error > RTOL * configurations.norm(samples):
        return f"{name} differs by {error / configurations.norm(samples):.2g} of its norm, in the sampled values"
    if not np.isclose(configurations.norm(values), expected["norm"], rtol=RTOL, atol=ATOL):
        return f"the norm of {name} is {configurations.norm(values)}, expected {expected['norm']}"
    return None


def check_set(program, module, target, inputs, expected, samples, folder):
    """Runs the module on one set of inputs; returns the first thing that is wrong, or nothing."""
    arguments = []
    for name, values in configurations.make_inputs(inputs).items():
        path = os.path.join(folder, "in_" + file_name(name))
        np.save(path, values)
        arguments += ["--input", f"{name}=@{path}"]
    outputs = os.path.join(folder, "outputs")
    os.makedirs(outputs, exist_ok=True)
    problem = tilewright(program, "run", module, *target, *arguments, "--output-dir", outputs)
    for name, entry in expected.items():
        if problem:
            return problem
        path = os.path.join(outputs, file_name(name))
        if not os.path.exists(path):
            return f"there is no file {file_name(name)} of output {name}"
        problem = compare(name, np.load(path), entry, samples[entry["array"]])
        os.remove(path)
    return problem


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("configuration")
    parser.add_argument("--reference", action="store_true", help="compile without normalisation, fusion and tiling")
    parser.add_argument("--target", help="such as sim:sm_80; else the best CPU level")
    options = parser.parse_args()

    configuration = configurations.load()[options.configuration]
    model = configurations.model_path(configuration)
    if not os.path.exists(model):
        print(f"skipped: {os.path.basename(model)} is not there; scripts/fetch_models.py fetches it")
        return SKIPPED
    stored = np.load(configurations.expectations_path(options.configuration))
    summary = json.loads(str(stored["summary"]))
    with tempfile.TemporaryDirectory() as folder:
        module = os.path.join(folder, "model.twm")
        target = ["--target", options.target] if options.target else []
        extra = ["--reference"] if options.reference else []
        problem = tilewright(options.program, "compile", model, "-o", module, *target, *extra)
        for which in configurations.SETS:
            if not problem:
                problem = check_set(options.program, module, target, configuration[which], summary[which], stored, folder)
                problem = problem and f"{which}: {problem}"
    print(f"{options.configuration}: {problem or 'right'}")
    return 1 if problem else 0


if __name__ == "__main__":
    sys.exit(main())
