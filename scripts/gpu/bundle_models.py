"""The real models for a bundle: one fixed set of inputs each, and of small models another one for a module with open sizes.

What must come out was computed by ONNX Runtime: test/models/expectations. Models that do not fit come with seeded numbers in place
of their weights, made where the bundle is run; what must come out then was computed by the simulator.
"""

import json
import os
import re
import subprocess
import sys
import tempfile

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "test", "models"))
import configurations

TOLERANCE = [1e-3, 1e-4]
SMALL_MODEL = 4 << 20  # bytes; such a model is there twice
SEEDED_ROOM = 1 << 20  # bytes kept for each of the others


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


def store_inputs(bundle, label, module, inputs):
    """Writes inputs, by name, in the module's order."""
    names = [parameter["name"] for parameter in bundle.inspect(module)["inputs"]]
    return [bundle.store(f"{label}/input_{number}", inputs[name]) for number, name in enumerate(names)]


def files_of(entry):
    """The files of the bundle that an entry names."""
    return [entry["module"], *entry["inputs"], *(output[key] for output in entry["outputs"] for key in ("values", "indices"))]


def add_model(bundle, name, configuration, which, options):
    """Compiles a model and writes its data; returns its entry, or None and why not."""
    label = name if which == "inputs" else f"{name}_open"
    module, problem = bundle.compile(configurations.model_path(configuration), label, *options)
    if problem:
        return None, problem
    inputs = store_inputs(bundle, label, module, configurations.make_inputs(configuration[which]))
    with np.load(configurations.expectations_path(name)) as stored:
        outputs = list(outputs_of(bundle, label, stored, which))
    return {"name": label, "module": module, "tolerance": TOLERANCE, "measure": True, "weights": "real",
            "inputs": inputs, "outputs": outputs}, None


def simulate(bundle, module, inputs, scratch):
    """The outputs of a module for a GPU, by the simulator: name and values of each; or None and why not."""
    arguments = []
    for number, (name, values) in enumerate(inputs.items()):
        path = os.path.join(scratch, f"input_{number}.npy")
        np.save(path, values)
        arguments += ["--input", f"{name}=@{path}"]
    outputs = os.path.join(scratch, "outputs")
    process = subprocess.run([bundle.program, "run", module, "--target", "sim:sm_80", "--json", "--output-dir", outputs,
                              *arguments], capture_output=True, text=True, check=False,
                             env={**os.environ, "TILEWRIGHT_SIM_CHECKS": "0"})
    if process.returncode:
        return None, process.stderr.strip()[-300:]
    names = [output["name"] for output in json.loads(process.stdout)["outputs"]]
    return {name: np.load(os.path.join(outputs, re.sub(r"[^A-Za-z0-9._-]", "_", name) + ".npy")) for name in names}, None


def add_seeded(bundle, name, configuration):
    """The same with seeded weights."""
    label = f"{name}_seeded"
    module, problem = bundle.compile(configurations.model_path(configuration), label, *configurations.shape_options(configuration))
    if problem:
        return None, problem
    inputs = configurations.make_inputs(configuration["inputs"])
    with tempfile.TemporaryDirectory() as scratch:
        path, seeded = os.path.join(bundle.folder, module), os.path.join(scratch, "seeded.twm")
        hollow = os.path.join(scratch, "hollow.twm")
        weights = json.loads(subprocess.run([os.path.join(bundle.build, "bin", "tilewright-gpu-check"), "weights", path, seeded,
                                             hollow], capture_output=True, text=True, check=True).stdout)
        values, problem = simulate(bundle, seeded, inputs, scratch)
        with open(hollow, "rb") as source, open(path, "wb") as target:
            target.write(source.read())
    if problem is None and not all(np.isfinite(array).all() for array in values.values()):
        problem = "its values leave the range of f32 with seeded weights"
    if problem:
        bundle.remove(module)
        return None, problem
    entry = {"name": label, "module": module, "tolerance": TOLERANCE, "measure": True, "weights": "seeded", "seeded": weights,
             "inputs": store_inputs(bundle, label, module, inputs), "outputs": []}
    for number, (output, array) in enumerate(values.items()):
        indices = sample_indices(output, array.size)
        indices = np.arange(array.size, dtype=np.int64) if indices is None else indices
        entry["outputs"].append({"name": output, "shape": list(array.shape), "norm": configurations.norm(array),
                                 "values": bundle.store(f"{label}/output_{number}", array.reshape(-1)[indices]),
                                 "indices": bundle.store(f"{label}/indices_{number}", indices)})
    return entry, None


def model_bytes(configuration):
    path = configurations.model_path(configuration)
    return os.path.getsize(path) if os.path.exists(path) else 0


def attempts(name, configuration, room):
    """Ways to bring a model along, the best first; small models in two shapes."""
    if model_bytes(configuration) <= 2 * room:
        yield lambda bundle: add_model(bundle, name, configuration, "inputs", configurations.shape_options(configuration))
    yield lambda bundle: add_seeded(bundle, name, configuration)


def first_that_fits(bundle, ways, room):
    """The entry of the first way that fits and its packed bytes; or None and why none does."""
    why = None
    for way in ways:
        entry, problem = way(bundle)
        if problem:
            why = why or problem
            continue
        size = bundle.packed_bytes(*files_of(entry))
        if size <= room:
            return entry, size
        bundle.remove(*files_of(entry))
        why = why or f"does not fit: {size} bytes"
    return None, why


def collect(bundle, names, room, left_out):
    """The entries that fit, small models first."""
    entries = []
    known = configurations.load()
    # What seeded models take: code, inputs and samples.
    reserve = SEEDED_ROOM * sum(model_bytes(known[name]) > SMALL_MODEL for name in known) if names is None else 0
    for name in sorted(known if names is None else names, key=lambda name: model_bytes(known[name])):
        configuration = known[name]
        if not model_bytes(configuration):
            left_out.append({"section": "models", "name": name, "why": f"{configuration['model']}.onnx is not there"})
            continue
        is_small = model_bytes(configuration) <= SMALL_MODEL
        reserve -= 0 if is_small else SEEDED_ROOM
        ways = [attempts(name, configuration, room - reserve)]
        if is_small:
            ways.append([lambda bundle, name=name: add_model(bundle, name, known[name], "second", [])])
        for way in ways:
            entry, size = first_that_fits(bundle, way, room - reserve)
            if entry:
                entries.append(entry)
                room -= size
            else:
                left_out.append({"section": "models", "name": name, "why": size})
    return entries
