"""Configuration of the lit tests, which lie in `test/` folders beside the code that they test.

The build writes lit.site.cfg.py, which says where the tools and the build folder are, and loads this file. (Under the
name lit.cfg.py, lit would take this folder for a suite of its own.) A part of the tests: `lit BUILD/test/lit/passes/fuse/test`.
"""

import os
import shutil

import lit.formats

config.name = "Tilewright"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test", ".ll", ".cu", ".json"]
config.excludes = ["build", ".git", ".cache", "docs", "bench", "examples", "scripts", "cmake", "Inputs", "models", "specs",
                   "conformance", "CMakePresets.json"]
config.test_source_root = config.source_root
config.test_exec_root = os.path.join(config.build_root, "test", "lit")

# Longest first: `tilewright` is the beginning of the others.
for tool in ("tilewright-opt", "tilewright"):
    config.substitutions.append((r"(?<![\w/.-])" + tool + r"(?![\w/.-])", os.path.join(config.build_root, "bin", tool)))
for tool in ("FileCheck", "not", "count", "split-file"):
    config.substitutions.append((r"(?<![\w/.-])" + tool + r"(?![\w/.-])", os.path.join(config.llvm_tools, tool)))
config.substitutions.append(("%python", config.python))
config.substitutions.append(("%source", config.source_root))

# A failing FileCheck shows the input around the failure.
config.environment["FILECHECK_OPTS"] = "--dump-input=fail"
# Compiled models of the tests stay out of the user's cache, and out of the next run's.
cache = os.path.join(config.test_exec_root, "cache")
shutil.rmtree(cache, ignore_errors=True)
config.environment["XDG_CACHE_HOME"] = cache
for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS", "TILEWRIGHT_CACHE"):
    if name in os.environ:
        config.environment[name] = os.environ[name]
