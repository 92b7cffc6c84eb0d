#!/usr/bin/env python3
"""check_includes.py ROOT: the include arrows of docs/design/architecture.md, and includes written from the project's root.

Also: the runtime includes nothing of LLVM, MLIR, protobuf or ONNX.
"""

import os
import re
import sys

# What each folder may include besides itself. `tilewright` is the runtime's public headers.
ARROWS = {
    "runtime": set(),
    "ir": {"tilewright"},
    "targets": {"tilewright"},
    "frontend": {"ir", "tilewright"},
    "passes": {"ir", "targets", "tilewright"},
    "codegen": {"ir", "passes", "targets", "tilewright"},
    "tools": {"ir", "passes", "targets", "codegen", "frontend", "runtime", "tools", "tilewright"},
    "examples": {"tilewright"},
}
# The kernel's calling convention, the generated module format, and what its expressions and commands mean, are the runtime's and the
# compiler's too.
# The simulator's library implements interfaces that the runtime calls, and converts elements as it does.
SHARED = {"runtime/Kernel.h", "runtime/Arena.h", "runtime/exec/Expressions.h", "runtime/exec/CommandAccess.h",
          "runtime/devices/cuda/SimulatorInterface.h", "runtime/devices/cuda/CublasLtApi.h", "runtime/builtins/Elements.h", "module_generated.h", "runtime/format/module_generated.h"}
FOREIGN_TO_RUNTIME = re.compile(r"(llvm|llvm-c|mlir|mlir-c|lld|clang|google|onnx)/")
SOURCES = (".cpp", ".h", ".td", ".inc", ".def", ".c")
INCLUDE = re.compile(r'^\s*#?\s*include\s+(["<])([^">]+)[">]')


def sources(root, folder):
    for path, folders, names in os.walk(os.path.join(root, folder)):
        folders[:] = sorted(name for name in folders if name != "build")
        for name in sorted(names):
            if name.endswith(SOURCES):
                yield os.path.relpath(os.path.join(path, name), root)


def complaint(root, path, quote, target):
    """What is wrong with an include, or nothing."""
    folder = path.split("/")[0]
    owner = target.split("/")[0]
    if folder in ("runtime", "examples") and FOREIGN_TO_RUNTIME.match(target):
        return "belongs to the compiler; the runtime stands alone"
    # Tests may include what they like; those of the runtime stand alone, but for the ones that compile CUDA C++.
    if target in SHARED or "/test/" in path and (folder != "runtime" or path.startswith("runtime/devices/cuda/test/")):
        return None
    if owner in ARROWS and owner != folder and owner not in ARROWS[folder]:
        return f"{folder} may not include {owner}"
    if quote == '"' and os.path.exists(os.path.join(root, os.path.dirname(path), target)) \
            and not os.path.exists(os.path.join(root, target)):
        return "is relative to the file; includes are written from the project's root"
    return None


def main(root):
    count, problems = 0, []
    for folder in ARROWS:
        for path in sources(root, folder):
            with open(os.path.join(root, path), encoding="utf-8") as file:
                for number, line in enumerate(file, 1):
                    match = INCLUDE.match(line)
                    if not match:
                        continue
                    count += 1
                    problem = complaint(root, path, *match.groups())
                    if problem:
                        problems.append(f"{path}:{number}: {match[2]} {problem}")
    print("\n".join(problems + [f"{count} includes, {len(problems)} wrong"]))
    return 1 if problems or not count else 0


if __name__ == "__main__":
    sys.exit(main(os.path.abspath(sys.argv[1])))
