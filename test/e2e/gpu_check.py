#!/usr/bin/env python3
"""gpu_check.py BUILD: scripts/gpu_bundle.sh and scripts/gpu_check.sh from end to end, with the simulator in place of a GPU.

A small bundle is right on two architectures; wrong data, a damaged module and kernels that do not end are found, and named, and
do not keep the rest from being checked. A machine without a GPU is told so. 77: NVRTC or the node tests are not there.
"""

import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SCRIPTS = os.path.join(HERE, "..", "..", "scripts")
SKIPPED, NO_GPU = 77, 77
SIMULATED_H100 = 3  # the number of that device of the simulator
NO_COMPILER, NO_CASES = "TW1311", "make_cases.py"


def check(folder, target, environment=None, device=0, options=()):
    """Runs the script of an unpacked bundle; returns its exit code, its output and its report."""
    report = os.path.join(folder, "..", "report.json")
    command = [os.path.join(folder, "gpu_check.sh"), "--target", target, "--report", report, "--device", str(device), *options]
    process = subprocess.run(command, text=True,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env={**os.environ, **(environment or {})},
                             check=False)
    if not os.path.exists(report):
        return process.returncode, process.stdout, None
    with open(report, encoding="utf-8") as file:
        described = json.load(file)
    os.remove(report)
    return process.returncode, process.stdout, described


def failures(report, section):
    return {failure["name"]: failure["wrong"] for failure in report["sections"][section]["failed"]}


def expect(condition, *shown):
    if not condition:
        print("\n".join(str(part) for part in shown))
        sys.exit(1)


def check_right(folder):
    for target, variants, options in (("sim:sm_90a", ["sm_90a", "sm_80"], []), ("sim:sm_80", ["sm_80"], ["--own-libc"])):
        code, output, report = check(folder, target, options=options)
        expect(code == 0 and report["right"] and report["variants"] == variants, output)
        # The products of e4m3 need sm_89.
        expect(report["sections"]["gemm"]["passed"] == len(report["gemm"]) == (7 if target == "sim:sm_90a" else 6), output)
        sections = ["bandwidth", "gemm", "fused", "attention", *(f"conformance {variant}" for variant in variants)]
        expect(all(report["sections"][section]["passed"] > 0 for section in sections), output)
        expect("checks right, 0 wrong, 0 not run" in output.splitlines()[-1], output)


def check_as_driver(folder):
    """The simulator by the name of NVIDIA's driver: everything is done as on a GPU, timed as well, and beside a cuBLASLt."""
    driver = os.path.join(folder, "..", "driver")
    os.makedirs(driver)
    library = os.path.join(driver, "libcuda.so.1")
    shutil.copy(os.path.join(folder, "lib", "libtilewright-sim.so"), library)
    environment = {"LD_LIBRARY_PATH": driver, "TILEWRIGHT_CUBLASLT_LIBRARY": library}
    code, output, report = check(folder, "cuda", environment, device=SIMULATED_H100)
    expect(code == 0 and report["variants"] == ["sm_90a", "sm_80"], output)
    expect(report["device"]["architecture"] == "sm_90" and not report["device"]["simulated"], output)
    expect(report["device"]["cublaslt"] == "13.0.0", output)
    for row in report["gemm"] + report["fused"]:
        expect(row["ms"] > 0 and row["tflops"] > 0 and row["kernels"], row)
        expect(row["cublaslt_ms"] > 0 and row["ratio"] > 0, row)
    expect(len(report["fused"]) == 12, output)
    expect(all(row["ms"] > 0 for row in report["attention"]), output)
    expect("ratio" in output and "cuBLASLt: 13.0.0" in output, output)


    # Without the library, kernels do what was left to it.
    environment["TILEWRIGHT_CUBLASLT_LIBRARY"] = "/no/such/library.so"
    code, output, report = check(folder, "cuda", environment, device=SIMULATED_H100)
    expect(code == 0 and "cannot be opened: /no/such/library.so" in report["device"]["cublaslt"], output)
    expect(all("cannot be opened" in row["cublaslt"] for row in report["fused"]), output)


def check_wrong(folder):
    """Plants two faults, which must be named, beside what is right."""
    with open(os.path.join(folder, "manifest.json"), encoding="utf-8") as file:
        manifest = json.load(file)
    conformance = manifest["conformance"]
    changed = os.path.join(folder, conformance[0]["outputs"][0]["values"])
    with open(changed, "r+b") as file:
        file.seek(-1, os.SEEK_END)
        last = file.read(1)[0]
        file.seek(-1, os.SEEK_END)
        file.write(bytes([last ^ 0x40]))
    with open(os.path.join(folder, conformance[1]["module"]), "r+b") as file:
        file.seek(200)
        file.write(b"damage")
    code, output, report = check(folder, "sim:sm_80")
    wrong = failures(report, "conformance sm_80")
    expect(code == 1 and not report["right"], output)
    expect(set(wrong) == {conformance[0]["name"], conformance[1]["name"]}, output)
    expect("expected" in wrong[conformance[0]["name"]] and "TW1202" in wrong[conformance[1]["name"]], output)
    expect(report["sections"]["conformance sm_80"]["not_run"] == 0, output)


def check_faults(folder):
    """No kernel ends: every entry has its own process, and its own error."""
    code, output, report = check(folder, "sim:sm_80", {"TILEWRIGHT_SIM_LIMIT": "10"})
    expect(code == 1 and report["sections"]["bandwidth"]["passed"] == 3, output)
    section = report["sections"]["attention"]
    expect(section["passed"] == section["not_run"] == 0 and len(section["failed"]) == 2, output)
    expect(all("TW9002" in failure["wrong"] for failure in section["failed"]), output)


def main(build):
    with tempfile.TemporaryDirectory() as scratch:
        archive = os.path.join(scratch, "bundle.tar.gz")
        made = subprocess.run([sys.executable, "-B", os.path.join(SCRIPTS, "gpu", "bundle.py"), build, archive, "--small",
                               "--simulator", "--jobs", "2"], capture_output=True, text=True, check=False)
        if NO_COMPILER in made.stderr or NO_CASES in made.stderr:
            print(f"skipped: {made.stderr.strip()}")
            return SKIPPED
        expect(made.returncode == 0, made.stdout, made.stderr)
        with tarfile.open(archive) as packed:
            packed.extractall(scratch)
        folder = os.path.join(scratch, "gpu-check")
        check_right(folder)
        check_as_driver(folder)
        check_faults(folder)
        check_wrong(folder)
        code, output, report = check(folder, "cuda")
        if "no CUDA driver" in output or "no GPU" in output:
            expect(code == NO_GPU and report is None and "nothing was checked: error TW130" in output, output)
        print(f"{os.path.getsize(archive)} bytes; right on two architectures; what was planted is found")
    return 0


if __name__ == "__main__":
    sys.exit(main(os.path.abspath(sys.argv[1])))
