#!/usr/bin/env python3
"""check.py BUNDLE [OPTION…]: what gpu_check.sh runs. Needs Python alone.

Each section of the bundle's manifest is done by a process of tilewright-gpu-check, which prints a line of JSON per entry. When one
crashes, hangs or reports a fault of the GPU, a new one goes on behind the entry that it was at.
"""

import argparse
import json
import os
import queue
import re
import subprocess
import sys
import tarfile
import tempfile
import threading
import time

VERSION = 1
NO_GPU = 77
MISSING = ("TW1301", "TW1302", "TW1305")  # no driver, no GPU, no simulator
SECONDS_PER_ENTRY = 60
PLAIN_STEP = 4  # every such node test is run on the second variant, too
FAULT = 4  # the exit code of tilewright-gpu-check after a fault of the GPU, which it has reported with its entry


class NoGpu(Exception):
    """There is nothing to check."""


class Program:
    """Starts tilewright-gpu-check for one GPU."""

    def __init__(self, folder, device, own_libc):
        self.folder, self.device = folder, device
        self.start = [os.path.join(folder, "bin", "tilewright-gpu-check")]
        simulator = os.path.join(folder, "lib", "libtilewright-sim.so")
        if os.path.exists(simulator):
            os.environ.setdefault("TILEWRIGHT_SIM_LIBRARY", simulator)
        if own_libc or not self.starts():
            libc = os.path.join(folder, "lib", "libc")
            self.start = [os.path.join(libc, "ld-linux-x86-64.so.2"), "--library-path", libc, *self.start]
        if not self.starts():
            raise SystemExit(f"error: {' '.join(self.start)} does not start on this machine")

    def starts(self):
        return subprocess.run([*self.start, "--help"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode == 0

    def command(self, section, target, *arguments):
        return [*self.start, section, *arguments, "--target", target, "--device", str(self.device)]

    def describe(self, target):
        process = subprocess.run(self.command("device", target), capture_output=True, text=True, timeout=120, check=False)
        if process.returncode:
            message = process.stderr.strip() or f"ended with {process.returncode}"
            if any(code in message for code in MISSING):
                raise NoGpu(message)
            raise SystemExit(f"error: {message}")
        return json.loads(process.stdout)

    def run(self, section, entries, target, deadline):
        """The results of entries, as many as there is time for: the program's objects, with `wrong` for what is not right."""
        results = []
        with tempfile.TemporaryDirectory() as scratch:
            manifest = os.path.join(scratch, "manifest.json")
            with open(manifest, "w", encoding="utf-8") as file:
                json.dump({section: entries}, file)
            while len(results) < len(entries) and time.monotonic() < deadline:
                first = len(results)
                results += self.run_once(section, manifest, target, first, deadline)
                if len(results) == first:
                    break  # out of time
        return results

    def run_once(self, section, manifest, target, first, deadline):
        """The results of one process, from entry `first` on; one more for the entry that ended it."""
        command = self.command(section, target, manifest, "--folder", self.folder, "--first", str(first))
        with open(manifest, encoding="utf-8") as file:
            entries = json.load(file)[section][first:]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace")
        lines = queue.Queue()
        errors = []
        readers = [threading.Thread(target=forward, args=(process.stdout, lines.put)),
                   threading.Thread(target=forward, args=(process.stderr, errors.append))]
        for reader in readers:
            reader.start()
        results, ended = [], "crashed"
        while len(results) < len(entries):
            wait = min(SECONDS_PER_ENTRY, deadline - time.monotonic())
            try:
                line = lines.get(timeout=max(wait, 0.01))
                results.append(json.loads(line or "end"))
            except queue.Empty:
                ended = "hangs" if wait >= SECONDS_PER_ENTRY else "out of time"
                break
            except ValueError:  # the end, perhaps in the middle of a line
                break
        code = stop(process, len(results) == len(entries) or ended == "crashed")
        for reader in readers:
            reader.join()
        if len(results) == len(entries) or ended == "out of time":
            return results
        text = "".join(error for error in errors if error).strip()[-300:]
        if ended == "hangs":
            results.append({"name": entries[len(results)]["name"], "wrong": f"did not end within {SECONDS_PER_ENTRY} s"})
        elif not (results and results[-1]["wrong"] and code == FAULT):
            results.append({"name": entries[len(results)]["name"], "wrong": f"crashed with {code}: {text}"})
        return results


def stop(process, gently):
    """Ends a process; returns its exit code."""
    try:
        return process.wait(SECONDS_PER_ENTRY if gently else 0)
    except subprocess.TimeoutExpired:
        process.kill()
        return process.wait()


def forward(stream, put):
    for line in stream:
        put(line)
    put(None)


def number_of(architecture):
    return int(re.fullmatch(r"sm_(\d+)a?", architecture)[1])


def runs_on(architecture, device):
    """Whether a GPU runs code: that of its own architecture, and plain code of an older one."""
    if architecture.endswith("a"):
        return number_of(architecture) == number_of(device)
    return number_of(architecture) <= number_of(device)


def tally(entries, results):
    """The figures of a section: what passed, what did not, and why."""
    failed = [{"name": result["name"], "wrong": result["wrong"]} for result in results if result.get("wrong")]
    return {"entries": len(entries), "passed": len(results) - len(failed), "failed": failed, "not_run": len(entries) - len(results)}


class Check:
    """One run over a bundle."""

    def __init__(self, folder, options):
        with open(os.path.join(folder, "manifest.json"), encoding="utf-8") as file:
            self.manifest = json.load(file)
        if self.manifest["version"] != VERSION:
            raise SystemExit(f"error: the bundle has version {self.manifest['version']}, this script reads {VERSION}")
        self.kind, _, architecture = options.target.partition(":")
        self.program = Program(folder, options.device, options.own_libc)
        self.start = time.monotonic()
        self.deadline = self.start + options.seconds
        self.device = self.program.describe(options.target)
        # The simulator plays the GPU that it is told to; code of each variant runs on one that fits.
        self.architecture = architecture if self.kind == "sim" else self.device["architecture"]
        self.report = {"version": VERSION, "target": options.target, "device": self.device, "bundle": self.manifest["target"],
                       "variants": {}, "sections": {}, "left_out": self.manifest["left_out"]}

    def section(self, name, label, entries, target, share=1.0):
        """Does a section in at most a share of the time that is left."""
        begin = time.monotonic()
        results = self.program.run(name, entries, target, begin + share * max(self.deadline - begin, 0))
        figures = {"target": target, "seconds": round(time.monotonic() - begin, 2), **tally(entries, results)}
        self.report["sections"][label] = figures
        print(f"{label:28} {figures['passed']} of {len(entries)} right, {figures['seconds']:.1f} s"
              + (f", {figures['not_run']} not run" if figures["not_run"] else ""), flush=True)
        for failure in figures["failed"][:10]:
            print(f"  {failure['name']}: {failure['wrong'].strip()[:200]}", flush=True)
        return results

    def entries(self, name):
        """Entries of a section that this GPU can do."""
        return [entry for entry in self.manifest[name] if runs_on(entry.get("needs", "sm_1"), self.architecture)]

    def table(self, name, target, share):
        """A section whose results are figures."""
        entries = self.entries(name)
        results = self.section(name, name, entries, target, share)
        described = {entry["name"]: entry for entry in entries}
        rows = [{**{key: value for key, value in described[result["name"]].items() if key not in ("module", "library_module")}, **result}
                for result in results]
        self.report[name] = rows
        return rows

    def target_of(self, variant):
        """What chooses the code for an architecture."""
        return f"{self.kind}:{variant}"

    def run(self):
        device = self.target_of(self.architecture) if self.kind == "sim" else self.kind
        self.table("bandwidth", device, 0.1)
        variants = [variant for variant in self.manifest["variants"] if runs_on(variant, self.architecture)]
        if not variants:
            raise SystemExit(f"error: the bundle holds code for {', '.join(self.manifest['variants'])}, none of which runs on "
                             f"{self.device['name']}; make one with --target cuda:{self.architecture}")
        self.report["variants"] = variants
        for variant in variants:
            results = self.section("models", f"models {variant}", self.manifest["models"], self.target_of(variant), 0.3)
            weights = {entry["name"]: entry["weights"] for entry in self.manifest["models"]}
            self.report.setdefault("models", []).extend(
                {"variant": variant, "weights": weights[result["name"]], **result} for result in results)
        self.table("gemm", device, 0.5)
        self.table("fused", device, 0.4)
        self.table("attention", device, 0.4)
        for number, variant in enumerate(variants):
            # The driver compiles PTX of older GPUs, which takes far longer than the cases.
            step = PLAIN_STEP if number > 0 else 1
            self.section("conformance", f"conformance {variant}", self.manifest["conformance"][::step], self.target_of(variant))
        self.report["seconds"] = round(time.monotonic() - self.start, 1)
        sections = self.report["sections"].values()
        self.report["right"] = not any(section["failed"] or section["not_run"] for section in sections)

    def summary(self):
        sections = self.report["sections"].values()
        total, passed = (sum(section[key] for section in sections) for key in ("entries", "passed"))
        not_run = sum(section["not_run"] for section in sections)
        return (f"gpu_check: {self.device['name']}: {passed} of {total} checks right, {total - passed - not_run} wrong, "
                f"{not_run} not run; {self.report['seconds']:.0f} s")


def format_rows(rows, columns):
    """A table of figures for people."""
    def cell(row, key):
        value = row.get(key, "")
        return f"{value:.4g}" if isinstance(value, float) else str(value)
    widths = [max([len(key)] + [len(cell(row, key)) for row in rows]) for key in columns]
    yield "  ".join(key.ljust(width) for key, width in zip(columns, widths)).rstrip()
    for row in rows:
        yield "  ".join(cell(row, key).ljust(width) for key, width in zip(columns, widths)).rstrip()


def print_tables(report):
    print(f"cuBLASLt: {report['device']['cublaslt']}")
    tables = [("bandwidth", ["name", "gb_per_s"]), ("models", ["name", "variant", "weights", "latency_ms", "kernel_ms", "launches"]),
              ("gemm", ["name", "ms", "tflops", "cublaslt_ms", "cublaslt_tflops", "ratio"]),
              ("fused", ["name", "ms", "tflops", "cublaslt_ms", "ratio"]),
              ("attention", ["name", "ms", "tflops"])]
    for name, columns in tables:
        if report.get(name) and not report["device"]["simulated"]:
            print("\n" + "\n".join(format_rows(report[name], columns)))


def unpack(path, scratch):
    """The folder of a bundle, which may be an archive."""
    if os.path.isdir(path):
        return path
    if not os.path.isfile(path):
        raise SystemExit(f"error: there is no bundle '{path}'; scripts/gpu_bundle.sh makes one")
    if path.endswith(".zst"):
        subprocess.run(["tar", "--zstd", "-C", scratch, "-xf", path], check=True)
    else:
        with tarfile.open(path) as archive:
            archive.extractall(scratch, filter="data")
    return os.path.join(scratch, "gpu-check")


def main():
    parser = argparse.ArgumentParser(prog="gpu_check.sh", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bundle", help="an archive or a folder that gpu_bundle.sh has made")
    parser.add_argument("--target", default="cuda", help="cuda, or sim:ARCHITECTURE with a bundle that holds the simulator")
    parser.add_argument("--device", type=int, default=0, help="which GPU (0)")
    parser.add_argument("--report", default="gpu_report.json", help="the report (gpu_report.json)")
    parser.add_argument("--seconds", type=float, default=450, help="how long it may take; what is left then is not run (450)")
    parser.add_argument("--own-libc", action="store_true",
                        help="use the bundle's C library, as is done anyway where this machine's is too old")
    options = parser.parse_args()
    if options.target != "cuda" and not re.fullmatch(r"sim:sm_\d+a?", options.target):
        parser.error(f"--target '{options.target}': expected cuda or sim:ARCHITECTURE")
    with tempfile.TemporaryDirectory() as scratch:
        try:
            check = Check(unpack(options.bundle, scratch), options)
        except NoGpu as missing:
            print(f"gpu_check: nothing was checked: {missing}")
            return NO_GPU
        print(f"{check.device['name']}, driver {check.device['driver']}, {check.device['memory_bytes'] / 1e9:.0f} GB", flush=True)
        check.run()
    with open(options.report, "w", encoding="utf-8") as file:
        json.dump(check.report, file, indent=1)
        file.write("\n")
    print_tables(check.report)
    print(f"\n{check.summary()}; {options.report}")
    return 0 if check.report["right"] else 1


if __name__ == "__main__":
    sys.exit(main())
