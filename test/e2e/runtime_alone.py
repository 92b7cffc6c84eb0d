#!/usr/bin/env python3
"""runtime_alone.py TILEWRIGHT RUN_MODULE STRIP: the example that links the runtime alone runs a compiled model, is small, and needs
neither LLVM nor protobuf nor ONNX.
"""
import os
import subprocess
import sys
import tempfile

LARGEST = 3_000_000  # bytes, stripped
FOREIGN = ("LLVM", "MLIR", "protobuf", "onnx", "lld")


def main() -> int:
    tilewright, program, strip = sys.argv[1:4]
    model = os.path.join(os.path.dirname(os.path.abspath(__file__)), "cases", "CONV_BN_BIAS", "model.onnx")
    with tempfile.TemporaryDirectory() as folder:
        module = os.path.join(folder, "model.twm")
        subprocess.run([tilewright, "compile", model, "-o", module], check=True, stdout=subprocess.DEVNULL)
        run = subprocess.run([program, module], capture_output=True, text=True)
        if run.returncode != 0 or not run.stdout.strip():
            print(f"{program} ended with {run.returncode}: {run.stderr.strip()}")
            return 1
        print(run.stdout.strip())

        stripped = os.path.join(folder, "stripped")
        subprocess.run([strip, "-o", stripped, program], check=True)
        size = os.path.getsize(stripped)
        print(f"{size} bytes stripped, at most {LARGEST} wanted")
        if size >= LARGEST:
            return 1
        libraries = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
        foreign = [name for name in FOREIGN if name.lower() in libraries.lower()]
        if foreign:
            print(f"needs {', '.join(foreign)}:\n{libraries}")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
