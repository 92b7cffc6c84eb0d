"""IREE: a model with fixed sizes, imported and compiled by its tools, and run by its runtime.

What is compiled is kept in ~/.cache/tilewright/iree: it takes up to minutes. So is the reason where that fails.
"""

import hashlib
import importlib.metadata
import json
import multiprocessing
import os
import subprocess
import sys
import time

COMPILE_SECONDS = 600
# The second is for models whose kernels want more stack than the default allows.
FLAGS = [["--iree-opt-level=O2"], ["--iree-opt-level=O2", "--iree-llvmcpu-stack-allocation-limit=1048576"], ["--iree-opt-level=O1"]]


def fix_sizes(model, inputs, path):
    """Writes the model with the sizes of `inputs`. Returns their names in the model's order."""
    import onnx

    loaded = onnx.load(model)
    for value in loaded.graph.input:
        if value.name in inputs:
            shape = value.type.tensor_type.shape
            del shape.dim[:]
            for size in inputs[value.name].shape:
                shape.dim.add().dim_value = size
    del loaded.graph.value_info[:]
    for value in loaded.graph.output:
        for dim in value.type.tensor_type.shape.dim:
            dim.Clear()
    onnx.save(loaded, path)
    return [value.name for value in loaded.graph.input if value.name in inputs]


def run_tool(command):
    process = subprocess.run(command, capture_output=True, text=True, check=False, timeout=COMPILE_SECONDS)
    if process.returncode:
        errors = [line for line in process.stderr.splitlines() if "error:" in line] or process.stderr.strip().splitlines()
        raise RuntimeError((errors or ["no message"])[0].rsplit("error: ", 1)[-1])


def compile_with(flags, base):
    run_tool([sys.executable, "-m", "iree.compiler.tools.import_onnx", base + ".onnx", "--opset-version", "17", "--data-prop",
              "-o", base + ".mlir"])
    run_tool([os.path.join(os.path.dirname(sys.executable), "iree-compile"), base + ".mlir", "--iree-hal-target-device=local",
              "--iree-hal-local-target-device-backends=llvm-cpu", "--iree-llvmcpu-target-cpu=host", *flags, "-o", base + ".vmfb"])


def compile_model(model, inputs, base):
    """Writes `base`.vmfb, and what came of it into `base`.json."""
    result = {"order": fix_sizes(model, inputs, base + ".onnx"), "error": None}
    for flags in FLAGS:
        try:
            compile_with(flags, base)
            result["error"] = None
            break
        except subprocess.TimeoutExpired:
            result["error"] = f"its compiler took more than {COMPILE_SECONDS} s"
            break
        except RuntimeError as error:
            result["error"] = result["error"] or f"its compiler: {error}"
    for suffix in (".onnx", ".mlir"):
        if os.path.exists(base + suffix):
            os.remove(base + suffix)
    with open(base + ".json", "w", encoding="utf-8") as file:
        json.dump(result, file)


def obtain(model, inputs, version):
    """The compiled module of a model and of sizes, from the cache if it is there, and the order of its inputs."""
    folder = os.path.expanduser("~/.cache/tilewright/iree")
    os.makedirs(folder, exist_ok=True)
    with open(model, "rb") as file:
        key = hashlib.file_digest(file, "sha256")
    key.update(repr((version, FLAGS, [(name, values.shape) for name, values in inputs.items()])).encode())
    base = os.path.join(folder, os.path.basename(model)[:-len(".onnx")] + "-" + key.hexdigest()[:16])
    if not os.path.exists(base + ".json"):
        # In a process of its own: this one's memory is measured.
        with multiprocessing.get_context("fork").Pool(1) as pool:
            pool.apply(compile_model, (model, inputs, base))
    with open(base + ".json", encoding="utf-8") as file:
        result = json.load(file)
    if result["error"]:
        raise RuntimeError(result["error"])
    return base + ".vmfb", result["order"]


def load(model, inputs, threads):
    """Version, seconds to load and a function that runs the model."""
    import iree.runtime as peer

    version = importlib.metadata.version("iree-base-runtime")
    path, order = obtain(model, inputs, version)
    arguments = [inputs[name] for name in order]
    start = time.perf_counter()
    peer.flags.parse_flags(f"--task_topology_group_count={threads}")
    config = peer.Config("local-task")
    module = peer.VmModule.mmap(config.vm_instance, path)
    context = peer.SystemContext(vm_modules=[peer.create_hal_module(config.vm_instance, config.device), module], config=config)
    (name,) = [name for name in module.function_names if not name.startswith("_") and not name.endswith("$async")]
    function = context.modules[module.name][name]
    seconds = time.perf_counter() - start

    def run():
        results = function(*arguments)
        return [result.to_host() for result in (results if isinstance(results, (tuple, list)) else [results])]

    return version, seconds, run
