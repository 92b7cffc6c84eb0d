#!/usr/bin/env python3
"""bundle.py BUILD OUT.tar.xz|.tar.gz|.tar.zst [OPTION…]: makes the bundle of gpu_check.sh.

The bundle is one folder `gpu-check`:

    gpu_check.sh check.py      what runs there
    bin/tilewright-gpu-check   the runtime and the checks
    lib/libtilewright-sim.so   with --simulator: the simulator, in place of the driver
    lib/libc/                  this machine's C library, for one that has an older one
    manifest.json              what there is to do, by section; entries as tools/gpu-check reads them
    modules/ data/             compiled modules; inputs and expected outputs

A module for an architecture that runs on no other GPU (sm_90a) holds a second variant for sm_80 and all newer ones.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zlib
from concurrent.futures import ThreadPoolExecutor

import numpy as np

import bundle_conformance
import bundle_models
import bundle_tables

HERE = os.path.dirname(os.path.abspath(__file__))
VERSION = 1
SMALL_MODULE = 1 << 20  # bytes
# How far a module's code packs further when other modules' lies before it.
LIKENESS = {".tar.xz": 0.4, ".tar.zst": 0.5, ".tar.gz": 1.0}
MARGIN = 1 << 20  # bytes, for the archive's own structure


class Bundle:
    """The folder under construction."""

    def __init__(self, build, folder, target, jobs, likeness=1.0):
        self.build, self.folder, self.target, self.jobs = build, folder, target, jobs
        self.likeness = likeness
        self.program = os.path.join(build, "bin", "tilewright")
        self.pool = ThreadPoolExecutor(jobs)
        for name in ("modules", "data"):
            os.makedirs(os.path.join(folder, name))

    def compile(self, model, name, *options, target=None):
        """Compiles a model; returns the module's path within the bundle, or None and why not."""
        relative = os.path.join("modules", name + ".twm")
        process = subprocess.run([self.program, "compile", model, "-o", os.path.join(self.folder, relative), "--target",
                                  target or self.target, *options], capture_output=True, text=True, check=False)
        if process.returncode:
            errors = [line for line in process.stderr.splitlines() if line.startswith("error TW")]
            return None, (errors or [process.stderr.strip()])[0][:300]
        return relative, None

    def store(self, name, values):
        """Writes an array; returns the file's path within the bundle."""
        relative = os.path.join("data", name + ".npy")
        path = os.path.join(self.folder, relative)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        np.save(path, values)
        return relative

    def packed_bytes(self, *files):
        """About how many bytes files of the bundle take when they are packed. Small modules hold code, and that of all is alike."""
        total = 0
        for file in files:
            with open(os.path.join(self.folder, file), "rb") as stream:
                content = stream.read()
            is_code = file.endswith(".twm") and len(content) < SMALL_MODULE
            total += len(zlib.compress(content, 6)) * (self.likeness if is_code else 1)
        return int(total)

    def remove(self, *files):
        for file in files:
            os.remove(os.path.join(self.folder, file))

    def inspect(self, module):
        """What the compiler says of a module."""
        text = subprocess.run([self.program, "inspect", os.path.join(self.folder, module), "--json"], capture_output=True,
                              text=True, check=True).stdout
        return json.loads(text)

    def variants(self, module):
        """The architectures that a module has code for."""
        return [variant["target"].removeprefix("cuda:") for variant in self.inspect(module)["variants"]]


def copy_programs(bundle, with_simulator):
    """Puts what is run into the bundle; returns its files."""
    program = os.path.join(bundle.build, "bin", "tilewright-gpu-check")
    libraries = re.findall(r"(/\S+) \(0x", subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout)
    sources = {"gpu_check.sh": os.path.join(HERE, "..", "gpu_check.sh"), "check.py": os.path.join(HERE, "check.py"),
               "bin/tilewright-gpu-check": program,
               **{f"lib/libc/{os.path.basename(library)}": library for library in libraries}}
    if with_simulator:
        sources["lib/libtilewright-sim.so"] = os.path.join(bundle.build, "lib", "libtilewright-sim.so")
    for file, source in sources.items():
        target = os.path.join(bundle.folder, file)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        shutil.copy(source, target)
        if "tilewright" in file:
            subprocess.run(["strip", target], check=True)
    return list(sources)


def fill(bundle, programs, options):
    """Compiles everything; returns the manifest. `programs` are files that are there already."""
    left_out = []
    manifest = {"version": VERSION, "target": options.target}
    manifest["bandwidth"] = bundle_tables.copies(options.small)
    manifest["gemm"] = bundle_tables.products(bundle, options.small, left_out)
    manifest["fused"] = bundle_tables.fused(bundle, options.small, left_out)
    manifest["attention"] = bundle_tables.attention(bundle, options.small, left_out)
    room = int(options.megabytes * 1e6) - MARGIN - bundle.packed_bytes(*programs)
    tables = [entry for table in ("gemm", "fused", "attention") for entry in manifest[table]]
    room -= bundle.packed_bytes(*(entry[key] for entry in tables for key in ("module", "library_module") if key in entry))
    names = bundle_conformance.SMALL if options.small else None
    manifest["conformance"], used = bundle_conformance.collect(bundle, options.cases, names, min(room, room // 2), left_out)
    models = [] if options.small else None
    manifest["models"] = bundle_models.collect(bundle, models, room - used, left_out)
    manifest["variants"] = bundle.variants(manifest["gemm"][0]["module"])
    manifest["left_out"] = left_out
    return manifest


def pack(folder, out):
    """Writes the archive, complete or not at all."""
    staged = f"{out}.{os.getpid()}"
    try:
        if out.endswith(".tar.zst"):
            tar = subprocess.Popen(["tar", "-C", os.path.dirname(folder), "-c", os.path.basename(folder)], stdout=subprocess.PIPE)
            subprocess.run(["zstd", "-q", "-19", "-T0", "-o", staged], stdin=tar.stdout, check=True)
            if tar.wait():
                sys.exit("error: tar failed")
        else:
            with tarfile.open(staged, "w:xz" if out.endswith(".tar.xz") else "w:gz") as archive:
                archive.add(folder, os.path.basename(folder))
        os.rename(staged, out)
    finally:
        if os.path.exists(staged):
            os.remove(staged)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("out")
    parser.add_argument("--target", default="cuda:sm_90a", help="what modules are compiled for (cuda:sm_90a)")
    parser.add_argument("--megabytes", type=float, default=64, help="how large the bundle may be (64)")
    parser.add_argument("--cases", default=bundle_conformance.default_folder(), help="ONNX's node tests, as make_cases.py writes them")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="compiles at a time")
    parser.add_argument("--simulator", action="store_true", help="add the simulator, for gpu_check.sh --target sim:sm_80")
    parser.add_argument("--small", action="store_true", help="a handful of everything, which the simulator runs in seconds")
    options = parser.parse_args()
    if not options.out.endswith(tuple(LIKENESS)):
        sys.exit(f"error: '{options.out}' is neither .tar.xz, .tar.gz nor .tar.zst")
    with tempfile.TemporaryDirectory() as scratch:
        bundle = Bundle(options.build, os.path.join(scratch, "gpu-check"), options.target, options.jobs,
                        next(share for suffix, share in LIKENESS.items() if options.out.endswith(suffix)))
        manifest = fill(bundle, copy_programs(bundle, options.simulator), options)
        with open(os.path.join(bundle.folder, "manifest.json"), "w", encoding="utf-8") as file:
            json.dump(manifest, file)
        pack(bundle.folder, options.out)
    size = os.path.getsize(options.out)
    counts = ", ".join(f"{len(manifest[section])} {section}" for section in ("conformance", "models", "gemm", "fused", "attention"))
    print(f"{options.out}: {size / 1e6:.1f} MB; {counts}; {len(manifest['left_out'])} left out")
    return 0 if size <= options.megabytes * 1e6 else 1


if __name__ == "__main__":
    sys.exit(main())
