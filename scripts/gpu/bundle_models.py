"""The real models for a bundle: one fixed set of inputs each, and of small models another one for a module with open sizes.

What must come out was computed by ONNX Runtime: test/models/expectations.
"""

import json
import os
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "test", "models"))
import configurations

TOLERANCE = [1e-3, 1e-4]
SMALL_MODEL = 4 << 20  # bytes; such a model is there twice


def sample_indices(name, size):
    """The positions that configurations.sample() takes; None: all."""
    if size <= configurations.SAMPLES:
        return None
    return configurations.sample(name, np.arange(size, dtype=np.int64))


def outputs_of(bundle, label, stored, which):
    for name, expected in json.loads(str(stored["summary"]))[which].items():
        output = {"name": name, "shape": expected["shape"], "norm": expected["norm"]}
        array = expected["array"]
        output["values"] = bundle.store(f"{label}/{array}", stored[array])
        indices = sample_indices(name, int(np.prod(expected["shape"], dtype=np.int64)))
        if indices is None:
            indices = np.arange(stored[array].size, dtype=np.int64)
        output["indices"] = bundle.store(f"{label}/{array}_indices", indices)
        yield output


def add_model(bundle, name, configuration, which, options):
    """Compiles a model and writes its data; returns its entry, or why there is none, and its files."""
    label = name if which == "inputs" else f"{name}_open"
    module, problem = bundle.compile(configurations.model_path(configuration), label, *options)
    if problem:
        return problem, []
    inputs = [bundle.store(f"{label}/input_{number}", values)
              for number, values in enumerate(configurations.make_inputs(configuration[which]).values())]
    with np.load(configurations.expectations_path(name)) as stored:
        outputs = list(outputs_of(bundle, label, stored, which))
    entry = {"name": label, "module": module, "tolerance": TOLERANCE, "measure": True, "weights": "real",
             "inputs": inputs, "outputs": outputs}
    return entry, [module, *inputs, *(output[key] for output in outputs for key in ("values", "indices"))]


def wanted(names):
    """Configurations and sets of inputs, small models first."""
    known = configurations.load()
    for name in sorted(known if names is None else names, key=lambda name: model_bytes(known[name])):
        yield name, known[name], "inputs", configurations.shape_options(known[name])
        if model_bytes(known[name]) <= SMALL_MODEL:
            yield name, known[name], "second", []


def model_bytes(configuration):
    path = configurations.model_path(configuration)
    return os.path.getsize(path) if os.path.exists(path) else 0


def collect(bundle, names, room, left_out):
    """The entries that fit."""
    entries = []
    for name, configuration, which, options in wanted(names):
        if not model_bytes(configuration):
            left_out.append({"section": "models", "name": name, "why": f"{configuration['model']}.onnx is not there"})
            continue
        if model_bytes(configuration) > 2 * room:  # compiling it would change nothing
            left_out.append({"section": "models", "name": name, "why": f"does not fit: {model_bytes(configuration)} bytes"})
            continue
        entry, files = add_model(bundle, name, configuration, which, options)
        size = bundle.packed_bytes(*files)
        if isinstance(entry, dict) and size <= room:
            entries.append(entry)
            room -= size
            continue
        bundle.remove(*files)
        why = f"does not fit: {size} bytes" if isinstance(entry, dict) else entry
        left_out.append({"section": "models", "name": name, "why": why})
    return entries
