"""The configurations of the real models, and what is known of their outputs.

configs.json gives two sets of inputs for each configuration, `inputs` and `second`, of different sizes, for one compiled
module. An input is written `TYPE[SHAPE] VALUES`; VALUES are `normal [SCALE]`, `uniform`, `integers LOW HIGH` (HIGH left
out), `constant X` or `range START` (along the last axis). `{0-3}` in a name stands for several inputs. Random values come
from a seed made of the input's name.
"""

import json
import os
import re
import zlib

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
SETS = ("inputs", "second")
TYPES = {"f32": np.float32, "i32": np.int32, "i64": np.int64}
SAMPLES = 2000


def models_folder():
    return os.environ.get("TILEWRIGHT_MODELS") or os.path.expanduser("~/.cache/tilewright/models")


def load():
    with open(os.path.join(HERE, "configs.json"), encoding="utf-8") as file:
        return json.load(file)


def model_path(configuration):
    return os.path.join(models_folder(), configuration["model"] + ".onnx")


def parse(text):
    """The dtype, the shape and the kind of values with its numbers."""
    dtype, shape, kind, rest = re.fullmatch(r"(\w+)\[([\d,]*)\] (\w+)((?: -?[\d.]+)*)", text).groups()
    numbers = [float(number) if "." in number else int(number) for number in rest.split()]
    return TYPES[dtype], tuple(int(size) for size in shape.split(",") if size), kind, numbers


def generate(name, text):
    """The values of one input."""
    dtype, shape, kind, numbers = parse(text)
    generator = np.random.default_rng(zlib.crc32(name.encode()))
    if kind == "normal":
        values = generator.standard_normal(shape) * (numbers[0] if numbers else 1)
    elif kind == "uniform":
        values = generator.random(shape)
    elif kind == "integers":
        values = generator.integers(*numbers, shape)
    elif kind == "constant":
        values = np.full(shape, numbers[0])
    elif kind == "range":
        values = np.broadcast_to(np.arange(numbers[0], numbers[0] + shape[-1]), shape)
    else:
        raise ValueError(f"{name}: no kind of values is called {kind!r}")
    return np.array(values, dtype, order="C")


def expand(inputs):
    """Name and text of every input, with `{0-3}` written out."""
    for name, text in inputs.items():
        span = re.search(r"\{(\d+)-(\d+)\}", name)
        if not span:
            yield name, text
            continue
        for number in range(int(span[1]), int(span[2]) + 1):
            yield name[:span.start()] + str(number) + name[span.end():], text


def make_inputs(inputs):
    return {name: generate(name, text) for name, text in expand(inputs)}


def shape_options(configuration):
    """Options of `tilewright` that fix the sizes of the first set of inputs."""
    options = []
    for name, text in expand(configuration["inputs"]):
        shape = parse(text)[1]
        if shape:
            options += ["--shape", f"{name}={'x'.join(map(str, shape))}"]
    return options


def sample(name, values):
    """At most SAMPLES values of an output, at positions that its name and size decide."""
    flat = values.reshape(-1)
    if flat.size <= SAMPLES:
        return flat
    generator = np.random.default_rng(zlib.crc32(name.encode()))
    return flat[np.sort(generator.integers(0, flat.size, SAMPLES))]


def norm(values):
    """The L2 norm, summed in double precision."""
    return float(np.sqrt(np.sum(np.square(values.astype(np.float64)))))


def expectations_path(name):
    return os.path.join(HERE, "expectations", name + ".npz")
